//! What a request may use: the asked limits against the policy.

use policies::limits::MINIMUMS;
use policies::{EffectiveLimits, Policy, RequestedLimits};
use proto::v1;

use crate::grpc::status::ApiError;

const REASON: &str = "LIMIT_OUT_OF_RANGE";

/// The limits in force.
pub(super) fn effective(
    policy: &Policy,
    asked: Option<&v1::Limits>,
) -> Result<EffectiveLimits, ApiError> {
    let asked = asked.copied().unwrap_or_default();
    // One row per field: on the wire they are signed, so that a negative one can be told as such.
    macro_rules! requested {
        ($($field:ident),* $(,)?) => {
            RequestedLimits {
                $($field: match asked.$field {
                    None => None,
                    Some(value) => Some(u64::try_from(value).map_err(|_negative| negative(
                        stringify!($field),
                        value,
                        (MINIMUMS.$field, policy.limits.$field),
                    ))?),
                },)*
            }
        };
    }
    let requested = requested!(
        wall_ms_max,
        cpu_ms_max,
        cpu_millicores_max,
        memory_bytes_max,
        pids_max,
        disk_bytes_max,
        files_max,
        output_bytes_max,
        output_bytes_total_max,
        open_files_max,
    );
    policy.effective_limits(&requested).map_err(|error| {
        let field = format!("limits.{}", error.field);
        // Its text begins with the field already.
        ApiError {
            message: error.to_string(),
            ..ApiError::invalid(REASON, field, "")
        }
    })
}

fn negative(field: &str, value: i64, (min, max): (u64, u64)) -> ApiError {
    let problem = format!("{value} is outside {min}..={max}; ask for a value in that range");
    ApiError::invalid(REASON, format!("limits.{field}"), problem)
}
