//! Whether a run that ended at a time limit got the CPU that it was promised: the busy host's part in
//! a timeout, from kernel figures alone. It changes no verdict; it says what one is worth.

use serde::{Deserialize, Serialize};

use crate::ending::Ending;
use crate::usage::{PressureSource, Usage};

/// A host is called busy when the run waited for a CPU for at least one part in so many of its
/// wall time: below that the limit would have come as well.
const WAITED_PART: u64 = 4;

/// The host's part in a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Contention {
    /// Whether others kept the run from its CPUs for a quarter of its wall time or more: a wall-time
    /// limit then says little about the program.
    pub host_busy: bool,
    /// CPU time used, in milliseconds.
    pub cpu_ms: u64,
    /// CPU time that its rate allowed in its wall time, in milliseconds.
    pub cpu_share_ms: u64,
    /// Time in which it was ready to run and nothing of it ran, less what its rate held it back, in
    /// milliseconds; none where this host does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_waited_ms: Option<u64>,
    /// Whose pressure that was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<PressureSource>,
    /// Whether the verdict is that of a repetition with nothing else on the node; where that had time
    /// enough these figures are those of the first attempt.
    #[serde(skip_serializing_if = "is_false")]
    pub rerun_alone: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(is: &bool) -> bool {
    !is
}

/// The host's part in `ending` of a run with a rate of `cpu_millicores`; `None` where no time limit
/// ended it.
#[must_use]
pub fn contention(ending: &Ending, usage: &Usage, cpu_millicores: u64) -> Option<Contention> {
    if !matches!(ending, Ending::WallTimeUp { .. } | Ending::CpuTimeUp { .. }) {
        return None;
    }
    let wall_ms = usage.wall_ms;
    let waited = usage.cpu_waited_ms;
    Some(Contention {
        host_busy: waited
            .is_some_and(|waited| waited > 0 && waited.saturating_mul(WAITED_PART) >= wall_ms),
        cpu_ms: usage.cpu_user_ms.saturating_add(usage.cpu_system_ms),
        cpu_share_ms: wall_ms.saturating_mul(cpu_millicores) / 1000,
        cpu_waited_ms: waited,
        source: usage.pressure.map(|pressure| pressure.source),
        rerun_alone: false,
    })
}

/// For [`Usage::cpu_waited_ms`]: how long the run was kept from its CPUs by others.
///
/// The sandbox's own figure is the time in which all that could run waited; what the rate held back
/// is in it. The host's only says that somebody waited: as much of it as the run did not compute
/// is an upper bound.
#[must_use]
pub fn cpu_waited_ms(usage: &Usage) -> Option<u64> {
    let pressure = usage.pressure?;
    let cpu_ms = usage.cpu_user_ms.saturating_add(usage.cpu_system_ms);
    Some(match pressure.source {
        PressureSource::Sandbox => {
            (pressure.cpu_full_us / 1000).saturating_sub(usage.cpu_throttled_ms)
        }
        PressureSource::Host => {
            let idle_ms = usage.wall_ms.saturating_sub(cpu_ms);
            (pressure.cpu_some_us / 1000).min(idle_ms.saturating_sub(usage.cpu_throttled_ms))
        }
    })
}

#[cfg(test)]
mod tests;
