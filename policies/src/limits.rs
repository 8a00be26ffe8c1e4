//! From what a request asks to what a run gets.
//!
//! A request that says nothing gets `[defaults]` for wall time, CPU time and memory and
//! `[limits]` for the rest. An asked value must lie between the field's minimum (table
//! [`MINIMUMS`]) and the policy's maximum; nothing is ever clamped.
//! This module does not know how a limit is enforced.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;

/// What a request asks for; `None` is silence. Field names are those of a request's `limits`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestedLimits {
    /// Wall-clock time in milliseconds.
    pub wall_ms_max: Option<u64>,
    /// CPU time in milliseconds.
    pub cpu_ms_max: Option<u64>,
    /// CPU rate in thousandths of a core.
    pub cpu_millicores_max: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes_max: Option<u64>,
    /// Processes and threads at one time.
    pub pids_max: Option<u64>,
    /// Bytes written to `/workspace`, `/tmp` and `/dev/shm` together.
    pub disk_bytes_max: Option<u64>,
    /// Files and folders made.
    pub files_max: Option<u64>,
    /// Bytes kept of each output stream.
    pub output_bytes_max: Option<u64>,
    /// Bytes of output beyond which the run ends.
    pub output_bytes_total_max: Option<u64>,
    /// Open descriptors of one process.
    pub open_files_max: Option<u64>,
}

/// What a run gets. Every value is at least its minimum and at most the policy's maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectiveLimits {
    /// Wall-clock time in milliseconds.
    pub wall_ms_max: u64,
    /// CPU time in milliseconds.
    pub cpu_ms_max: u64,
    /// CPU rate in thousandths of a core.
    pub cpu_millicores_max: u64,
    /// Memory in bytes.
    pub memory_bytes_max: u64,
    /// Processes and threads at one time.
    pub pids_max: u64,
    /// Bytes written to `/workspace`, `/tmp` and `/dev/shm` together.
    pub disk_bytes_max: u64,
    /// Files and folders made.
    pub files_max: u64,
    /// Bytes kept of each output stream.
    pub output_bytes_max: u64,
    /// Bytes of output beyond which the run ends.
    pub output_bytes_total_max: u64,
    /// Open descriptors of one process.
    pub open_files_max: u64,
}

/// The least that can be asked of each limit, in the unit of its name. None is zero: to the
/// kernel a zero often means "no limit" (tmpfs size and inodes, for instance).
pub const MINIMUMS: EffectiveLimits = EffectiveLimits {
    wall_ms_max: 10,
    cpu_ms_max: 10,
    // The kernel's least CPU quota: one millisecond in each hundred.
    cpu_millicores_max: 10,
    memory_bytes_max: 4 << 20,
    pids_max: 1,
    disk_bytes_max: 64 << 10,
    files_max: 16,
    output_bytes_max: 1,
    output_bytes_total_max: 1,
    // Three standard streams, the program and what a loader opens meanwhile.
    open_files_max: 8,
};

/// A limit that the policy does not give.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.text())]
pub struct LimitError {
    /// Field of the request's `limits`.
    pub field: &'static str,
    /// What was asked, or what the policy gives to a request that says nothing.
    pub value: u64,
    /// The least that can be asked.
    pub min: u64,
    /// The most that the policy gives.
    pub max: u64,
    /// Whether the request named the value.
    pub asked: bool,
}

impl LimitError {
    fn text(&self) -> String {
        let Self {
            field,
            value,
            min,
            max,
            asked,
        } = self;
        if max < min {
            return format!(
                "limits.{field}: the policy allows at most {max}, which is below the least usable \
                 value {min}; choose a policy that sets limits.{field}"
            );
        }
        if *asked {
            return format!(
                "limits.{field} = {value} is outside {min}..={max}; ask for a value in that range"
            );
        }
        format!(
            "limits.{field}: the policy's default {value} is outside {min}..={max}; name a value in that \
             range or set the default in the policy"
        )
    }
}

impl Policy {
    /// The limits of a run under this policy for a request that asks for `asked`.
    ///
    /// # Errors
    /// The first value, in field order, that is outside its range; nothing is clamped.
    pub fn effective_limits(&self, asked: &RequestedLimits) -> Result<EffectiveLimits, LimitError> {
        let max = &self.limits;
        let defaults = &self.defaults;
        // One row per field: (field, asked, value on silence, minimum, maximum).
        macro_rules! take {
            ($field:ident, $silent:expr) => {
                in_range(
                    stringify!($field),
                    asked.$field,
                    $silent,
                    (MINIMUMS.$field, max.$field),
                )?
            };
        }
        Ok(EffectiveLimits {
            wall_ms_max: take!(wall_ms_max, defaults.wall_ms),
            cpu_ms_max: take!(cpu_ms_max, defaults.cpu_ms),
            cpu_millicores_max: take!(cpu_millicores_max, max.cpu_millicores_max),
            memory_bytes_max: take!(memory_bytes_max, defaults.memory_bytes),
            pids_max: take!(pids_max, max.pids_max),
            disk_bytes_max: take!(disk_bytes_max, max.disk_bytes_max),
            files_max: take!(files_max, max.files_max),
            output_bytes_max: take!(output_bytes_max, max.output_bytes_max),
            output_bytes_total_max: take!(output_bytes_total_max, max.output_bytes_total_max),
            open_files_max: take!(open_files_max, max.open_files_max),
        })
    }
}

fn in_range(
    field: &'static str,
    asked: Option<u64>,
    silent: u64,
    (min, max): (u64, u64),
) -> Result<u64, LimitError> {
    let value = asked.unwrap_or(silent);
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    Err(LimitError {
        field,
        value,
        min,
        max,
        asked: asked.is_some(),
    })
}
