//! What a run came to, in the words of SandboxFusion; or that nothing can be said of the program.
//!
//! The rule of the wire: time up or an exit code other than 0 is `Failed`, else `Success`. What is
//! the host's or the daemon's doing is neither, and never reaches a client as an answer about the
//! program.

#[cfg(test)]
mod tests;

use proto::v1::{Ending, EndingKind, Outcome, RunResult};

use super::response::{StageAnswer, StageStatus};
use crate::daemon::{Ran, Trouble};

/// What a stage is answered with that a limit other than time ended: as if by SIGKILL.
const KILLED: i32 = -9;
/// Likewise after a forbidden system call: SIGSYS.
const BAD_SYSCALL: i32 = -31;
/// Likewise where a full file system or the limit on processes made it fail.
const FAILED: i32 = 1;

/// What a time limit means that came while others kept the program from its CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BusyTimeouts {
    /// Nothing: the caller is told to try again.
    #[default]
    Retry,
    /// The program's time was up.
    Count,
}

/// A stage's answer, and what has to be said beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) answer: StageAnswer,
    pub(super) note: Option<String>,
}

/// What a run came to.
///
/// # Errors
/// It says nothing about the program.
pub(super) fn told(ran: &Ran, busy: BusyTimeouts) -> Result<Told, Trouble> {
    let result = &ran.result;
    let ending = ending_of(result)?;
    let (status, return_code, note) = match ending.kind() {
        EndingKind::Exited => exited(result, ending),
        EndingKind::Signalled => signalled(ending)?,
        EndingKind::WallTimeUp => wall_time_up(result, ending, busy)?,
        EndingKind::CpuTimeUp => time_up(ending, "CPU time"),
        EndingKind::MemoryUp => {
            let limit = ending.limit_bytes.unwrap_or_default();
            killed(format!("memory limit of {limit} bytes reached"))
        }
        EndingKind::OutputUp => {
            let cap = ending.cap_bytes.unwrap_or_default();
            killed(format!("more output than {cap} bytes"))
        }
        EndingKind::DiskUp => {
            let limit = ending.limit_bytes.unwrap_or_default();
            limited(format!("file system full: {limit} bytes"))
        }
        EndingKind::PidsUp => {
            let limit = ending.limit.unwrap_or_default();
            limited(format!("limit of {limit} processes and threads reached"))
        }
        EndingKind::SyscallDenied => {
            let syscall = ending.syscall.as_deref().unwrap_or_default();
            let note = format!("forbidden system call: {syscall}");
            (StageStatus::Finished, Some(BAD_SYSCALL), Some(note))
        }
        EndingKind::Cancelled => return Err(cancelled(ending)),
        EndingKind::NotStarted => return Err(not_started(ending)),
        EndingKind::SandboxFailed | EndingKind::Unspecified => return Err(sandbox_failed(ending)),
    };
    let usage = result.usage.unwrap_or_default();
    Ok(Told {
        answer: StageAnswer {
            status,
            execution_time: seconds(usage.wall_ms),
            cpu_time: seconds(usage.cpu_user_ms.saturating_add(usage.cpu_system_ms)),
            return_code,
            stdout: String::from_utf8_lossy(&ran.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&ran.stderr).into_owned(),
        },
        note,
    })
}

type Parts = (StageStatus, Option<i32>, Option<String>);

/// The ending, unless the daemon itself says that there is nothing to say.
fn ending_of(result: &RunResult) -> Result<&Ending, Trouble> {
    let outcome = result.verdict.as_ref().map(|verdict| verdict.outcome());
    if let Some(Outcome::InfraError | Outcome::VerifierError) = outcome {
        let reason = result.verdict.as_ref().map(|verdict| &verdict.reason);
        let ending = result.ending.as_ref().and_then(|it| it.reason.as_ref());
        let why = reason.filter(|text| !text.is_empty()).or(ending);
        let why = why.map_or("no reason given", String::as_str);
        return Err(Trouble::fault(format!(
            "the daemon's or the host's fault: {why}"
        )));
    }
    result
        .ending
        .as_ref()
        .ok_or_else(|| Trouble::fault("the daemon's result has no ending"))
}

fn exited(result: &RunResult, ending: &Ending) -> Parts {
    let oom_kills = result.usage.map_or(0, |usage| usage.oom_kills);
    match ending.code {
        // The kernel killed a part of it: what it says of itself is not all of it.
        Some(0) if oom_kills > 0 => killed(format!(
            "the kernel killed {oom_kills} of its processes at the memory limit"
        )),
        code => (StageStatus::Finished, code, None),
    }
}

fn signalled(ending: &Ending) -> Result<Parts, Trouble> {
    if let Some(by) = &ending.sent_by {
        return Err(Trouble::fault(format!(
            "the run was ended from outside: {by}"
        )));
    }
    let signal = ending.signal.unwrap_or_default();
    Ok((StageStatus::Finished, Some(-signal), None))
}

fn wall_time_up(result: &RunResult, ending: &Ending, busy: BusyTimeouts) -> Result<Parts, Trouble> {
    let evidence = result
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.evidence.as_ref());
    let contention = evidence.and_then(|evidence| evidence.contention);
    // A repetition alone on the node is nobody else's doing.
    let is_late = contention.is_some_and(|it| it.host_busy && !it.rerun_alone);
    if is_late && busy == BusyTimeouts::Retry {
        let waited_ms = contention.and_then(|it| it.cpu_waited_ms).unwrap_or(0);
        return Err(Trouble::Busy {
            message: format!(
                "its time was up on a busy host: others kept it from its CPUs for {waited_ms} ms"
            ),
            retry_after_ms: None,
        });
    }
    let (status, code, note) = time_up(ending, "time");
    let note = note.map(|note| match is_late {
        true => format!("{note} on a busy host"),
        false => note,
    });
    Ok((status, code, note))
}

fn time_up(ending: &Ending, what: &str) -> Parts {
    let limit = ending.limit_ms.unwrap_or_default();
    let note = format!("{what} limit of {limit} ms reached");
    (StageStatus::TimeLimitExceeded, None, Some(note))
}

fn killed(note: String) -> Parts {
    (StageStatus::Finished, Some(KILLED), Some(note))
}

fn limited(note: String) -> Parts {
    (StageStatus::Finished, Some(FAILED), Some(note))
}

fn cancelled(ending: &Ending) -> Trouble {
    let by = ending.by.as_deref().unwrap_or("nobody knows whom");
    if by == "deadline" {
        return Trouble::Busy {
            message: "its turn did not come before its client would give up".to_owned(),
            retry_after_ms: None,
        };
    }
    Trouble::fault(format!("the run was cancelled by {by}"))
}

fn not_started(ending: &Ending) -> Trouble {
    let path = ending.path.as_deref().unwrap_or_default();
    let reason = ending
        .reason
        .as_deref()
        .unwrap_or("it could not be started");
    Trouble::fault(format!("{path}: {reason}"))
}

fn sandbox_failed(ending: &Ending) -> Trouble {
    let step = ending.step.as_deref().unwrap_or("an unknown step");
    let reason = ending.reason.as_deref().unwrap_or("no reason given");
    Trouble::fault(format!("the sandbox failed at {step}: {reason}"))
}

/// Seconds of a time in milliseconds, exact for whatever a run can take.
#[expect(clippy::cast_precision_loss, reason = "exact below 285,000 years")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
