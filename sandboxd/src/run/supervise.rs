//! Following one sandbox from launch until nothing of it is left: all awaiting is here, all
//! deciding is in [`super::watch`].

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cancel::Cancel;
use super::cpu_clock::next_look;
use super::sandbox::{Sandbox, until};
use super::streams::OutputTotal;
use super::watch::{Facts, Input, Watch};

/// What may end a sandbox from outside, and who is told that the program runs.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Somebody cancels the run.
    pub cancel: Cancel,
    /// Nobody needs the sandbox any more; a name for who says so.
    pub release: (CancellationToken, &'static str),
    /// When the request's own time is up.
    pub deadline: Option<Instant>,
    /// Output of the program.
    pub output: Arc<OutputTotal>,
    /// Cancelled when the program runs (or never will).
    pub started: CancellationToken,
}

/// The CPU budget that is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuBudget {
    /// CPU time in microseconds.
    pub us: u64,
    /// CPU rate in thousandths of a CPU.
    pub millicores: u64,
}

/// Which of the outer signals have been taken already.
#[derive(Debug, Default)]
struct Taken {
    cancel: bool,
    release: bool,
    deadline: bool,
    output: bool,
}

/// Follows `sandbox` until it is over; everything that became known.
pub(crate) async fn supervise(
    mut sandbox: Sandbox,
    mut watch: Watch,
    signals: &Signals,
    cpu: CpuBudget,
) -> Facts {
    let opened_at = sandbox.opened_at();
    let mut taken = Taken::default();
    let mut look_at = None;
    while !watch.is_over() {
        if let Some(by) = watch.take_kill() {
            sandbox.kill(by).await;
        }
        if watch.is_running() {
            signals.started.cancel();
            if look_at.is_none() && sandbox.has_cpu_clock() {
                look_at = Some(Instant::now() + next_look(0, cpu.us, cpu.millicores));
            }
        }
        let due = opened_at + watch.deadline();
        let input = tokio::select! {
            biased;
            input = sandbox.next() => Some(input),
            input = outer(signals, &taken) => { taken.note(&input); Some(input) }
            () = until(look_at) => {
                let used = sandbox.cpu_used_us();
                look_at = used.map(|us| Instant::now() + next_look(us, cpu.us, cpu.millicores));
                used.map(|us| Input::CpuUsed { us })
            }
            () = tokio::time::sleep_until(due) => Some(Input::Time),
        };
        if let Some(input) = input {
            watch.on(input, opened_at.elapsed());
        }
    }
    signals.started.cancel();
    watch.into_facts()
}

impl Taken {
    fn note(&mut self, input: &Input) {
        match input {
            Input::Cancelled { by } if by == DEADLINE => self.deadline = true,
            Input::Cancelled { .. } => self.cancel = true,
            Input::Released { .. } => self.release = true,
            Input::OutputExceeded => self.output = true,
            _ => {}
        }
    }
}

/// Who cancels when the request's own time is up.
pub(crate) const DEADLINE: &str = "deadline";

/// The next signal from outside that was not taken yet.
async fn outer(signals: &Signals, taken: &Taken) -> Input {
    let (release, release_by) = &signals.release;
    tokio::select! {
        by = signals.cancel.cancelled(), if !taken.cancel => Input::Cancelled { by },
        () = release.cancelled(), if !taken.release => {
            Input::Released { by: (*release_by).to_owned() }
        }
        () = signals.output.exceeded(), if !taken.output => Input::OutputExceeded,
        () = until(signals.deadline), if !taken.deadline => {
            Input::Cancelled { by: DEADLINE.to_owned() }
        }
    }
}
