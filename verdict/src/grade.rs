//! From how the sandboxes ended, and what our judge reported, to a verdict. Pure.
//! The order of blame is the same for every kind: the host first, then limits, then the tests.

mod asserts;
mod build;
mod combined;
pub(crate) mod compare;
mod report;
#[cfg(test)]
mod tests;

use crate::ending::Ending;
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, TestResult, TestStatus, Verdict};
use crate::verify::{ExitCodeSpec, StdoutSpec};

pub use asserts::judge_asserts;
pub use build::{BuildEvidence, judge_build};
pub use combined::combine;

/// Who a cancellation by the grading itself is by: it ends a sandbox that is no longer needed.
pub const ENDED_BY_GRADER: &str = "grader";

/// The signal that cannot be caught; the same number on every architecture of Linux.
const SIGKILL: i32 = 9;

/// How one sandbox ended, as far as grading needs it.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// How its main process ended.
    pub ending: &'a Ending,
    /// How many of its processes the kernel killed for lack of memory.
    pub oom_kills: u64,
}

/// What a run wrote to standard output.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// The bytes kept.
    pub kept: &'a Untrusted<Vec<u8>>,
    /// Bytes that were not kept.
    pub dropped_bytes: u64,
}

/// Judges a run by its exit code.
#[must_use]
pub fn grade_exit_code(spec: &ExitCodeSpec, run: Ended<'_>) -> Verdict {
    if let Some(verdict) = by_ending(run) {
        return verdict;
    }
    let message = match run.ending {
        Ending::Exited { code } if *code == spec.exit_code => String::new(),
        ending => format!(
            "{}; expected exit code {}",
            describe(ending),
            spec.exit_code
        ),
    };
    of_one_test("exit_code", message)
}

/// Judges a run by what it wrote to standard output, and by its exit code.
#[must_use]
pub fn grade_stdout(spec: &StdoutSpec, run: Ended<'_>, output: Output<'_>) -> Verdict {
    if let Some(verdict) = by_ending(run) {
        return verdict;
    }
    if output.dropped_bytes > 0 {
        let reason = format!(
            "standard output is {} bytes longer than what is kept of it",
            output.dropped_bytes
        );
        return Verdict::new(Outcome::OutputLimit, reason);
    }
    let message = match run.ending {
        Ending::Exited { code } if *code == spec.exit_code => {
            let rules = compare::Rules {
                ignore_trailing_space: spec.ignore_trailing_space,
                float_tolerance: spec.float_tolerance,
            };
            compare::difference(rules, &spec.stdout, output.kept).unwrap_or_default()
        }
        ending => format!(
            "{}; expected exit code {}",
            describe(ending),
            spec.exit_code
        ),
    };
    of_one_test("stdout", message)
}

/// The verdict of a kind that has one test: passed without a message.
pub(crate) fn of_one_test(id: &str, message: String) -> Verdict {
    let (outcome, status) = if message.is_empty() {
        (Outcome::Passed, TestStatus::Passed)
    } else {
        (Outcome::Failed, TestStatus::Failed)
    };
    let mut verdict = Verdict::new(outcome, message.clone());
    verdict.tests.push(TestResult {
        id: id.to_owned(),
        status,
        duration_ms: 0,
        message,
        file: String::new(),
        line: None,
    });
    verdict
}

/// The verdict that an ending alone decides: host evidence, limits, memory.
#[must_use]
pub fn by_ending(ended: Ended<'_>) -> Option<Verdict> {
    if let Some(verdict) = by_host(ended.ending) {
        return Some(verdict);
    }
    let outcome = match ended.ending {
        Ending::MemoryUp { .. } => Outcome::OutOfMemory,
        _ if ended.oom_kills > 0 => Outcome::OutOfMemory,
        Ending::WallTimeUp { .. } | Ending::CpuTimeUp { .. } => Outcome::Timeout,
        Ending::OutputUp { .. } => Outcome::OutputLimit,
        Ending::SyscallDenied { .. } => Outcome::PolicyViolation,
        Ending::DiskUp { .. } | Ending::PidsUp { .. } => Outcome::Failed,
        _ => return None,
    };
    let reason = if outcome == Outcome::OutOfMemory && ended.oom_kills > 0 {
        format!(
            "the kernel killed {} of its processes for lack of memory",
            ended.oom_kills
        )
    } else {
        describe(ended.ending)
    };
    Some(Verdict::new(outcome, reason))
}

/// The verdict of an ending that says nothing about the solution.
pub(crate) fn by_host(ending: &Ending) -> Option<Verdict> {
    match ending {
        Ending::SandboxFailed { .. } => Some(Verdict::new(Outcome::InfraError, describe(ending))),
        Ending::Cancelled { by } if by != ENDED_BY_GRADER => {
            Some(Verdict::new(Outcome::InfraError, describe(ending)))
        }
        _ => None,
    }
}

/// The verdict where the judge was killed before its report was whole, although nothing in its
/// sandbox and nothing of the solution can have done it: by a signal 9 that is neither ours nor the
/// kernel's for lack of memory. To be asked only where no process of the solution can send a signal
/// to the judge's; elsewhere a killed judge is the solution's own loss.
#[must_use]
pub fn killed_judge(judge: Ended<'_>, report: &Untrusted<Vec<u8>>, nonce: &str) -> Option<Verdict> {
    let by_signal = matches!(
        judge.ending,
        Ending::Signalled {
            signal: SIGKILL,
            sent_by: None,
            ..
        }
    );
    let killed = by_signal && judge.oom_kills == 0 && report::read(report, nonce).is_err();
    killed.then(|| {
        let reason = "the judge was killed from outside its sandbox";
        Verdict::new(Outcome::InfraError, reason)
    })
}

/// What to do where the image lacks a program.
pub(crate) const WHERE_PROGRAMS_ARE: &str = "programs are looked for along PATH of `env`, and a \
    folder outside /usr has to be named in host_image.extra_read_paths of the daemon, too";

/// An ending in words.
pub(crate) fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code } => format!("exited with code {code}"),
        Ending::Signalled { signal, .. } => format!("ended by signal {signal}"),
        Ending::WallTimeUp { limit_ms, .. } => format!("wall time of {limit_ms} ms was up"),
        Ending::CpuTimeUp { limit_ms, .. } => format!("processor time of {limit_ms} ms was up"),
        Ending::MemoryUp { limit_bytes, .. } => format!("memory of {limit_bytes} bytes was up"),
        Ending::OutputUp { cap_bytes, .. } => format!("wrote more than {cap_bytes} bytes"),
        Ending::DiskUp { limit_bytes, .. } => format!("disk of {limit_bytes} bytes was full"),
        Ending::PidsUp { limit, .. } => format!("limit of {limit} tasks was hit"),
        Ending::SyscallDenied { syscall, rule } => {
            format!("system call {syscall} is denied by rule {rule}")
        }
        Ending::Cancelled { by } => format!("cancelled by {by}"),
        Ending::NotStarted { path, reason, .. } => format!("{path} did not start: {reason}"),
        Ending::SandboxFailed { step, reason } => format!("sandbox failed at {step}: {reason}"),
    }
}
