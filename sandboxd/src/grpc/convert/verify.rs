//! The `verify` block of a request.

mod families;
mod fields;
#[cfg(test)]
mod tests;

use policies::EffectiveLimits;
use proto::v1;
use verdict::verify::{check_kind, supported_kinds};
use verdict::{ExitCodeSpec, StdoutSpec, VerifyError, VerifySpec};

use crate::grpc::status::ApiError;
use crate::run::request::InputFile;

const REASON: &str = "VERIFY_INVALID";

/// What is to be judged and how.
pub(super) fn spec(message: v1::Verify, limits: &EffectiveLimits) -> Result<VerifySpec, ApiError> {
    let spec = Reader {
        at: "verify".to_owned(),
        limits,
    }
    .spec(message)?;
    spec.validate().map_err(|error| invalid(&error))?;
    Ok(spec)
}

/// Reads one block; a part of a combination has a path of its own in errors.
struct Reader<'a> {
    at: String,
    limits: &'a EffectiveLimits,
}

impl Reader<'_> {
    fn refuse(&self, field: &str, problem: &str) -> ApiError {
        ApiError::invalid(REASON, format!("{}.{field}", self.at), problem)
    }

    fn kind(&self, message: &v1::Verify) -> Result<v1::VerifyKind, ApiError> {
        let supported = supported_kinds().join(", ");
        let kind = v1::VerifyKind::try_from(message.kind).map_err(|_unknown| {
            let problem = format!("number {} is unknown; known: {supported}", message.kind);
            ApiError::invalid("VERIFY_KIND_UNKNOWN", format!("{}.kind", self.at), problem)
        })?;
        if kind == v1::VerifyKind::Unspecified {
            let problem = format!("none given; name one of {supported}");
            return Err(self.refuse("kind", &problem));
        }
        check_kind(&kind_name(kind)).map_err(|error| {
            let field = format!("{}.kind", self.at);
            let code = ApiError::precondition("VERIFY_KIND_UNSUPPORTED", field, "");
            ApiError {
                message: error.to_string(),
                ..code
            }
        })?;
        Ok(kind)
    }

    fn spec(&self, message: v1::Verify) -> Result<VerifySpec, ApiError> {
        use v1::VerifyKind as Kind;
        let kind = self.kind(&message)?;
        fields::check(kind, &message, &self.at)?;
        Ok(match kind {
            Kind::ExitCode => VerifySpec::ExitCode(ExitCodeSpec {
                exit_code: message.exit_code.unwrap_or(0),
            }),
            Kind::Stdout => VerifySpec::Stdout(StdoutSpec {
                stdout: (message.stdout)
                    .ok_or_else(|| self.refuse("stdout", "missing; give the expected output"))?,
                ignore_trailing_space: message.ignore_trailing_space,
                float_tolerance: message.float_tolerance,
                exit_code: message.exit_code.unwrap_or(0),
            }),
            Kind::Answer => VerifySpec::Answer(self.answer(message)?),
            Kind::Cases => VerifySpec::Cases(self.cases(message)?),
            Kind::Compile | Kind::Coverage | Kind::Leaks | Kind::Lint => {
                VerifySpec::Measure(self.measure(kind, message)?)
            }
            Kind::Combined => VerifySpec::Combined(self.combined(message)?),
            // The kind was checked: it is not unspecified.
            Kind::Asserts | Kind::Unspecified => VerifySpec::Asserts(self.asserts(message)?),
            framework => VerifySpec::Harness(self.harness(framework, message)?),
        })
    }
}

/// As in JSON; the enum's own names carry a prefix.
fn kind_name(kind: v1::VerifyKind) -> String {
    let name = kind.as_str_name();
    name.strip_prefix("VERIFY_KIND_")
        .unwrap_or(name)
        .to_ascii_lowercase()
}

fn invalid(error: &VerifyError) -> ApiError {
    // Its text begins with the field already.
    let code = ApiError::invalid(REASON, format!("verify.{}", error.field()), "");
    ApiError {
        message: error.to_string(),
        ..code
    }
}

/// What only shows together with the rest of the request.
pub(super) fn check_against(
    spec: Option<&VerifySpec>,
    argv: &[Vec<u8>],
    files: &[InputFile],
) -> Result<(), ApiError> {
    let Some(spec) = spec else {
        return Ok(());
    };
    if !argv.is_empty() {
        return Ok(());
    }
    if spec.needs_run() {
        let problem = format!(
            "empty; verify.kind {} judges a run, so name a program",
            spec.kind()
        );
        return Err(ApiError::invalid("ARGV_EMPTY", "argv", problem));
    }
    let parts: Vec<&VerifySpec> = match spec {
        VerifySpec::Combined(combined) => combined.parts.iter().map(|part| &part.verify).collect(),
        one => vec![one],
    };
    for part in parts {
        if let VerifySpec::Asserts(asserts) = part
            && !files.iter().any(|file| file.path == asserts.file)
        {
            let problem = format!(
                "{:?} is not among files, and without argv nothing can make it",
                crate::grpc::status::shorten(&asserts.file),
            );
            return Err(ApiError::invalid(REASON, "verify.file", problem));
        }
    }
    Ok(())
}
