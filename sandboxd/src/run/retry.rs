//! Whether a run is done again before its result is told: after a fault that says nothing about the
//! program, or alone where a busy host may have made it late. Each at most once, and only while a
//! budget lasts: a broken host, or a crowd of programs that never end, must not double its own load.

use std::sync::{Mutex, PoisonError};

use verdict::{Contention, Ending, Outcome};

use super::request::{Attempt, Request, RunResult, Why};

/// Runs that earn one more repetition.
const RUNS_PER_TOKEN: f64 = 20.0;

/// How many repetitions may be had before others have been earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// After faults.
    pub infra_max: u32,
    /// Alone, after a time limit on a busy host.
    pub alone_max: u32,
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self {
            infra_max: 64,
            alone_max: 16,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Left {
    infra: f64,
    alone: f64,
}

/// What is left of both.
#[derive(Debug)]
pub(super) struct Budget {
    limits: RetryLimits,
    left: Mutex<Left>,
}

impl Budget {
    pub(super) fn new(limits: RetryLimits) -> Self {
        let left = Mutex::new(Left {
            infra: f64::from(limits.infra_max),
            alone: f64::from(limits.alone_max),
        });
        Self { limits, left }
    }

    /// Takes one repetition for this reason, if there is one.
    fn takes(&self, why: Why) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let left = match why {
            Why::InfraError => &mut left.infra,
            Why::HostBusy => &mut left.alone,
        };
        if *left < 1.0 {
            return false;
        }
        *left -= 1.0;
        true
    }

    /// A run was told whose first attempt counted.
    fn earn(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let earned = 1.0 / RUNS_PER_TOKEN;
        left.infra = (left.infra + earned).min(f64::from(self.limits.infra_max));
        left.alone = (left.alone + earned).min(f64::from(self.limits.alone_max));
    }

    /// Why the run has to be done again, given the attempts before this result.
    pub(super) fn again(
        &self,
        request: &Request,
        result: &RunResult,
        earlier: &[Attempt],
    ) -> Option<Why> {
        let Some(why) = reason(request, result) else {
            if earlier.is_empty() {
                self.earn();
            }
            return None;
        };
        if earlier.iter().any(|attempt| attempt.why == why) {
            return None;
        }
        let is_granted = self.takes(why);
        if !is_granted {
            let run_id = &request.run_id;
            tracing::warn!(run_id, ?why, "not done again: the budget is used up");
        }
        is_granted.then_some(why)
    }
}

/// Why a result says little, if it does.
fn reason(request: &Request, result: &RunResult) -> Option<Why> {
    if request.probe || matches!(result.ending, Ending::Cancelled { .. }) {
        return None;
    }
    let verdict = &result.verdict;
    let is_infra = result.ending.is_host_fault() || verdict.outcome() == Outcome::InfraError;
    if is_infra {
        return request.retries_infra.then_some(Why::InfraError);
    }
    let is_late = verdict.outcome() == Outcome::Timeout
        && !matches!(result.ending, Ending::CpuTimeUp { .. })
        && verdict.evidence.contention.is_some_and(|it| it.host_busy);
    is_late.then_some(Why::HostBusy)
}

/// What is told of an attempt that was not the last.
pub(super) fn attempt(result: &RunResult, why: Why) -> Attempt {
    let reason = match (&result.ending, result.verdict.reason.as_str()) {
        (Ending::SandboxFailed { step, reason }, "") => {
            format!("sandbox failed at {step}: {reason}")
        }
        (_, reason) => reason.to_owned(),
    };
    Attempt {
        why,
        sandbox_id: result.sandbox_id.clone(),
        outcome: result.verdict.outcome(),
        reason,
        audit: result.audit.clone(),
    }
}

/// Whether a repetition came to less than what it was to replace: it never ran.
pub(super) fn is_worse(result: &RunResult, why: Why) -> bool {
    match why {
        Why::InfraError => false,
        Why::HostBusy => {
            matches!(result.ending, Ending::Cancelled { .. }) || result.ending.is_host_fault()
        }
    }
}

/// The repetition's result with what it says of the first attempt.
pub(super) fn marked(mut next: RunResult, first: &RunResult, why: Why) -> RunResult {
    if why == Why::HostBusy {
        let evidence = &mut next.verdict.evidence;
        let contention = evidence.contention.or(first.verdict.evidence.contention);
        evidence.contention = contention.map(|it| Contention {
            rerun_alone: true,
            ..it
        });
    }
    next
}

/// Says that a repetition was due and could not be had.
pub(super) fn mark_in_vain(result: &mut RunResult) {
    let reason = &mut result.verdict.reason;
    if !reason.is_empty() {
        reason.push_str("; ");
    }
    reason.push_str("doing it again was due and could not be had");
}
