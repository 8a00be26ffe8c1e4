//! What a result says to people, and the exit code it gives. Never asks a daemon.

use serde_json::Value;
use verdict::Ending;
use verdict::ending::MemorySource;

use super::failure::{Failure, SANDBOX};
use super::table::{cut, one_line};
use super::units::{show_bytes, show_ms};
use crate::pb;

/// Refusals named after a run; `rollcage explain` shows all of them.
const DENIALS_SHOWN_MAX: usize = 3;
/// Characters of a sentence that contains words of the program's choice.
const CHARS_MAX: usize = 400;

/// A message as JSON in the contract's shape.
pub(crate) fn to_json<T: prost::Message + prost::Name>(message: &T) -> Result<Value, Failure> {
    proto::json::to_json(message).map_err(|error| Failure::Answer {
        what: error.to_string(),
    })
}

/// How the process ended.
pub(crate) fn ending_of(result: &pb::RunResult) -> Result<Ending, Failure> {
    let Some(ending) = &result.ending else {
        return Err(Failure::Answer {
            what: "the result says nothing of its ending".to_owned(),
        });
    };
    serde_json::from_value(to_json(ending)?).map_err(|error| Failure::Answer {
        what: format!("its ending: {error}"),
    })
}

/// The exit code of `rollcage run` for an ending.
pub(crate) fn exit_code(ending: &Ending) -> u8 {
    // A code that no process can have is not the program's.
    u8::try_from(ending.shell_code()).unwrap_or(SANDBOX)
}

/// What to tell after a run that did not simply exit: nothing, or one line and the refusals.
pub(crate) fn explain_lines(ending: &Ending, result: &pb::RunResult) -> Vec<String> {
    let mut lines = Vec::new();
    let exited_well = matches!(ending, Ending::Exited { code: 0 });
    if !matches!(ending, Ending::Exited { .. }) {
        lines.push(match option_for_more(ending) {
            Some(option) => format!("{}; allow more with {option}", sentence(ending)),
            None => sentence(ending),
        });
    }
    if let Some(busy) = busy_host(result) {
        lines.push(busy);
    }
    let oom_kills = result.usage.as_ref().map_or(0, |usage| usage.oom_kills);
    let is_told = matches!(
        ending,
        Ending::MemoryUp { .. } | Ending::SandboxFailed { .. }
    );
    if oom_kills > 0 && !is_told {
        lines.push(format!(
            "the kernel killed {oom_kills} of its processes for lack of memory; allow more with \
             --memory"
        ));
    }
    let dropped = result
        .dropped_bytes
        .as_ref()
        .map_or(0, |dropped| dropped.stdout + dropped.stderr);
    if dropped > 0 && !matches!(ending, Ending::OutputUp { .. }) {
        lines.push(format!(
            "{} of output is not in the result",
            show_bytes(dropped)
        ));
    }
    if !exited_well {
        lines.extend(
            result
                .denials
                .iter()
                .take(DENIALS_SHOWN_MAX)
                .map(denial_sentence),
        );
        if result.denials.len() > DENIALS_SHOWN_MAX {
            lines.push(format!(
                "and {} further refusals: rollcage explain {}",
                result.denials.len() - DENIALS_SHOWN_MAX,
                result.run_id
            ));
        }
    }
    lines
        .iter()
        .map(|line| cut(&one_line(line), CHARS_MAX))
        .collect()
}

/// How it ended, with its evidence.
pub(crate) fn sentence(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code: 0 } => "it exited with code 0".to_owned(),
        Ending::Exited { code } => format!("it exited with code {code} by itself"),
        Ending::Signalled {
            signal,
            core_dumped,
            sent_by,
        } => signal_sentence(*signal, *core_dumped, sent_by.as_deref()),
        Ending::SyscallDenied { syscall, rule } => {
            format!("killed for the system call {syscall}, which the policy denies ({rule})")
        }
        Ending::Cancelled { by } => format!("cancelled by {by}"),
        Ending::NotStarted { code, path, .. } if *code == 127 => {
            format!("`{path}` is not in the image or not on its PATH")
        }
        Ending::NotStarted { path, reason, .. } => format!("`{path}` cannot be executed: {reason}"),
        Ending::SandboxFailed { step, reason } => format!(
            "the sandbox failed at step {step}: {reason}; the program is not to blame, see \
             rollcage doctor"
        ),
        limit => limit_sentence(limit),
    }
}

fn signal_sentence(signal: i32, core_dumped: bool, sent_by: Option<&str>) -> String {
    let name = match nix::sys::signal::Signal::try_from(signal) {
        Ok(known) => known.as_str(),
        Err(_real_time) => "no name",
    };
    let core = if core_dumped { ", core dumped" } else { "" };
    match sent_by {
        Some(by) => format!("ended by signal {signal} ({name}), sent for {by}{core}"),
        None => format!("ended by signal {signal} ({name}), which we did not send{core}"),
    }
}

/// How a run ended at one of its limits: what was allowed and what was used.
fn limit_sentence(ending: &Ending) -> String {
    let time = |what: &str, limit_ms: u64, used_ms: u64, throttled_ms: u64| {
        format!(
            "ended at the {what} limit: {} allowed, {} used{}",
            show_ms(limit_ms),
            show_ms(used_ms),
            throttled(throttled_ms)
        )
    };
    match ending {
        Ending::WallTimeUp {
            limit_ms,
            used_ms,
            throttled_ms,
        } => time("wall-clock", *limit_ms, *used_ms, *throttled_ms),
        Ending::CpuTimeUp {
            limit_ms,
            used_ms,
            throttled_ms,
        } => time("CPU time", *limit_ms, *used_ms, *throttled_ms),
        Ending::MemoryUp {
            limit_bytes,
            peak_bytes,
            source,
        } => {
            let evidence = match source {
                MemorySource::Cgroup => "the kernel killed it",
                MemorySource::RssPoll => "seen by polling",
            };
            let (limit, peak) = (show_bytes(*limit_bytes), show_bytes(*peak_bytes));
            format!("ended at the memory limit: {limit} allowed, {peak} reached ({evidence})")
        }
        Ending::OutputUp {
            cap_bytes,
            dropped_bytes,
        } => {
            let dropped = match dropped_bytes {
                0 => String::new(),
                bytes => format!(", {} of what was read not kept", show_bytes(*bytes)),
            };
            format!(
                "ended at the output limit: {} allowed{dropped}",
                show_bytes(*cap_bytes)
            )
        }
        Ending::DiskUp {
            limit_bytes,
            first_refusal,
        } => format!(
            "ended with a full disk: {} allowed, first refused: {first_refusal}",
            show_bytes(*limit_bytes)
        ),
        Ending::PidsUp {
            limit,
            first_refusal,
        } => format!(
            "ended at the limit of {limit} processes and threads, first refused: {first_refusal}"
        ),
        other => format!("ended as {}", other.kind()),
    }
}

/// The host's part in a timeout, where others kept the run from its CPUs.
pub(crate) fn busy_host(result: &pb::RunResult) -> Option<String> {
    let contention = contention_of(result)?;
    let waited_ms = contention.cpu_waited_ms.filter(|_| contention.host_busy)?;
    let bound = match contention.source() {
        pb::PressureSource::Host => "up to ",
        _ => "",
    };
    Some(format!(
        "the host was busy: the program was ready to run and got no CPU for {bound}{}; it used {} of \
         CPU time where its rate allowed {}, so that this says little about it: run it again, or \
         allow more wall-clock time and let the CPU time judge",
        show_ms(waited_ms),
        show_ms(contention.cpu_ms),
        show_ms(contention.cpu_share_ms)
    ))
}

/// What is known of the host's part in a timeout.
pub(crate) fn contention_of(result: &pb::RunResult) -> Option<&pb::Contention> {
    result
        .verdict
        .as_ref()?
        .evidence
        .as_ref()?
        .contention
        .as_ref()
}

/// The option of `rollcage run` that would have let it go on.
fn option_for_more(ending: &Ending) -> Option<&'static str> {
    match ending {
        Ending::WallTimeUp { .. } => Some("--time"),
        Ending::CpuTimeUp { .. } => Some("--cpu-time"),
        Ending::MemoryUp { .. } => Some("--memory"),
        Ending::OutputUp { .. } => Some("--output-cap"),
        Ending::DiskUp { .. } => Some("--disk"),
        Ending::PidsUp { .. } => Some("--pids"),
        _ => None,
    }
}

fn throttled(ms: u64) -> String {
    if ms == 0 {
        return String::new();
    }
    format!(", held back for {} by the CPU quota", show_ms(ms))
}

/// What is said where no setting helps.
const NOT_ALLOWED: &str = "no policy allows this";

/// One refusal as a sentence.
pub(crate) fn denial_sentence(denial: &pb::Denial) -> String {
    let mut text = format!("refused: {}", denial.act);
    if let Some(target) = denial.target.as_deref().filter(|target| !target.is_empty()) {
        text = format!("{text} {target}");
    }
    let layer = denial
        .layer()
        .as_str_name()
        .trim_start_matches("DENIAL_LAYER_")
        .to_ascii_lowercase();
    let times = denial.count.saturating_add(denial.suppressed);
    text = format!("{text}, by {layer}");
    if times > 1 {
        text = format!("{text}, {times} times");
    }
    let fix = denial.fix.as_deref().filter(|fix| !fix.is_empty());
    match fix.map(|fix| (fix, fix.strip_prefix("none: "))) {
        Some((_, Some(NOT_ALLOWED))) => format!("{text}; {NOT_ALLOWED}"),
        Some((_, Some(instead))) => format!("{text}; {NOT_ALLOWED}: {instead}"),
        Some((fix, None)) => format!("{text}; to allow it: {fix}"),
        None => text,
    }
}

/// The outcome of the verdict in lower snake_case, or the kind of ending where nothing was judged.
pub(crate) fn label(result: &pb::RunResult) -> String {
    if result.error.is_some() {
        return "not_run".to_owned();
    }
    let outcome = result
        .verdict
        .as_ref()
        .map_or(pb::Outcome::Unjudged, pb::Verdict::outcome);
    match outcome {
        pb::Outcome::Unjudged | pb::Outcome::Unspecified => ending_name(result),
        judged => outcome_name(judged),
    }
}

/// The outcome in lower snake_case.
pub(crate) fn outcome_name(outcome: pb::Outcome) -> String {
    outcome
        .as_str_name()
        .trim_start_matches("OUTCOME_")
        .to_ascii_lowercase()
}

/// The kind of ending in lower snake_case.
pub(crate) fn ending_name(result: &pb::RunResult) -> String {
    result
        .ending
        .as_ref()
        .map_or_else(String::new, |ending| ending_kind_name(ending.kind()))
}

/// A kind of ending in lower snake_case.
pub(crate) fn ending_kind_name(kind: pb::EndingKind) -> String {
    kind.as_str_name()
        .trim_start_matches("ENDING_KIND_")
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
