//! Following one sandbox from launch until nothing of it is left: all awaiting is here, all
//! deciding is in [`super::watch`].

use std::os::fd::OwnedFd;
use std::sync::Arc;

use confine::wire::CollectSpec;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use verdict::ENDED_BY_GRADER;

use super::cancel::Cancel;
use super::cpu_clock::next_look;
use super::facts::Facts;
use super::sandbox::{Sandbox, StartFault, until};
use super::streams::OutputTotal;
use super::watch::{Input, Order, Watch};

/// What may end a sandbox from outside, and who is told that the program runs.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Somebody cancels the run.
    pub cancel: Cancel,
    /// The grading does not need the sandbox any more.
    pub release: CancellationToken,
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
    mut collect: Option<(CollectSpec, OwnedFd)>,
) -> Facts {
    let opened_at = sandbox.opened_at();
    let mut taken = Taken::default();
    let mut look_at = None;
    let mut looking = false;
    while !watch.is_over() {
        if let Some(by) = watch.take_kill() {
            sandbox.kill(by).await;
        }
        if let Some(order) = watch.take_order()
            && let Err(fault) = carry_out(order, &sandbox, &mut collect).await
            && !fault.is_hangup()
        {
            watch.on(Input::Fault(fault.into()), opened_at.elapsed());
            continue;
        }
        if watch.is_running() {
            signals.started.cancel();
            if !looking && sandbox.has_cpu_clock() {
                look_at = Some(Instant::now() + next_look(0, cpu.us, cpu.millicores));
                looking = true;
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
    let mut facts = watch.into_facts();
    facts.cpu_watched = sandbox.had_cpu_clock();
    facts
}

async fn carry_out(
    order: Order,
    sandbox: &Sandbox,
    collect: &mut Option<(CollectSpec, OwnedFd)>,
) -> Result<(), StartFault> {
    match order {
        Order::Inspect => sandbox.inspect().await,
        Order::Collect => match collect.take() {
            Some((spec, pipe)) => sandbox.collect(&spec, pipe).await,
            None => sandbox.finish().await,
        },
        Order::Finish => sandbox.finish().await,
    }
}

impl Taken {
    fn note(&mut self, input: &Input) {
        match input {
            Input::Cancelled { by } if by == DEADLINE => self.deadline = true,
            Input::Cancelled { by } if by == ENDED_BY_GRADER => self.release = true,
            Input::Cancelled { .. } => self.cancel = true,
            Input::OutputExceeded => self.output = true,
            _ => {}
        }
    }
}

/// Who cancels when the request's own time is up.
pub(crate) const DEADLINE: &str = "deadline";

/// The next signal from outside that was not taken yet.
async fn outer(signals: &Signals, taken: &Taken) -> Input {
    tokio::select! {
        by = signals.cancel.cancelled(), if !taken.cancel => Input::Cancelled { by },
        () = signals.release.cancelled(), if !taken.release => Input::Cancelled {
            by: ENDED_BY_GRADER.to_owned(),
        },
        () = signals.output.exceeded(), if !taken.output => Input::OutputExceeded,
        () = until(signals.deadline), if !taken.deadline => {
            Input::Cancelled { by: DEADLINE.to_owned() }
        }
    }
}
