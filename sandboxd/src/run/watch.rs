//! What is known about one live sandbox and what to do next: a synchronous state machine.
//!
//! [`Watch::on`] takes one thing that happened and the time since the launch; afterwards
//! [`Watch::take_kill`], [`Watch::deadline`] and [`Watch::is_over`] say what to do. It does no
//! I/O and reads no clock. Whatever init says is an allegation: bounded, and checked for order.

use std::io;
use std::time::Duration;

use confine::report::StepReport;
use confine::wire::{CollectProblem, CommandToken, FromInit, Polled, PolledLimit};
use verdict::ending::{Kill, KillCause, ProgramEnd, SandboxFault};

use super::facts::{Facts, Witness, bounded};
use super::launcher_link::{LauncherEvent, Reaped};

/// The one command of a one-shot sandbox.
pub(crate) const MAIN: CommandToken = CommandToken(1);
/// From launch to the program's exec, staging included.
const START_MAX: Duration = Duration::from_secs(10);
/// From the end of the program (or of init) to the end of the sandbox.
const FINISH_MAX: Duration = Duration::from_secs(2);
/// From the end of the program to the end of collecting its files.
const COLLECT_MAX: Duration = Duration::from_secs(10);
/// From a kill through the control group to a kill through the launcher.
const KILL_MAX: Duration = Duration::from_secs(2);
/// From a kill to giving up: the kernel itself does not let go of a process.
const REAP_MAX: Duration = Duration::from_secs(60);

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// The launcher said something about this sandbox; `None` = it is gone.
    Launcher(Option<LauncherEvent>),
    /// A frame of init; `None` = it closed its end.
    Init(Option<FromInit>),
    /// Something that is no frame came from init.
    InitGarbage {
        /// What is wrong with it.
        reason: String,
    },
    /// CPU time used so far.
    CpuUsed {
        /// In microseconds.
        us: u64,
    },
    /// More output than allowed.
    OutputExceeded,
    /// Somebody cancelled the run, the request's own deadline has passed, or the grading does
    /// not need the sandbox any more.
    Cancelled {
        /// Who.
        by: String,
    },
    /// A fault of ours.
    Fault(SandboxFault),
    /// The time of [`Watch::deadline`] has come.
    Time,
}

/// How to kill a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillBy {
    /// Through its control group; through the launcher where that cannot be done.
    Cgroup,
    /// Through the launcher.
    Launcher,
}

/// Something to tell init, or to ask of the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Send the files that the request asked for.
    Collect,
    /// End the sandbox.
    Finish,
    /// Have the launcher look at the sandbox.
    Inspect,
}

/// Limits that the daemon enforces itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchLimits {
    /// From exec to the kill.
    pub wall: Duration,
    /// CPU time of all processes in microseconds.
    pub cpu_us: u64,
}

/// The state machine.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: WatchLimits,
    /// Whether files are to be collected: init then ends only when told so.
    collect: bool,
    /// Whether it is a self-test's, and looked at from outside.
    inspect: bool,
    facts: Facts,
    order: Option<Order>,
    /// Until when collecting may take.
    collecting_until: Option<Duration>,
    /// When the program or init was over.
    finishing_since: Option<Duration>,
    killed_at: Option<Duration>,
    kill_wanted: Option<KillBy>,
    escalated: bool,
}

impl Watch {
    /// A sandbox that was just asked for; `collect`: files are wanted when the program is over.
    pub(crate) fn new(limits: WatchLimits, collect: bool) -> Self {
        Self {
            limits,
            collect,
            inspect: false,
            order: None,
            collecting_until: None,
            facts: Facts::default(),
            finishing_since: None,
            killed_at: None,
            kill_wanted: None,
            escalated: false,
        }
    }

    /// Whether the launcher is to look at the sandbox once pid 1 is ready.
    pub(crate) fn inspecting(mut self, inspect: bool) -> Self {
        self.inspect = inspect;
        self
    }

    /// What is known so far.
    #[cfg(test)]
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is known, at the end.
    pub(crate) fn into_facts(mut self) -> Facts {
        if self.collecting_until.is_some() {
            // The files' pipe just ends then, as it does when all is well.
            self.facts.problems.push(CollectProblem {
                path: String::new(),
                reason: format!(
                    "collecting did not end within {} s; there may be more files",
                    COLLECT_MAX.as_secs()
                ),
            });
        }
        self.facts
    }

    /// Whether all is over: nothing of the sandbox is left, or it cannot be waited for any more.
    pub(crate) fn is_over(&self) -> bool {
        self.facts.over_at.is_some()
    }

    /// Whether the program runs.
    pub(crate) fn is_running(&self) -> bool {
        self.facts.spawned_at.is_some() && self.finishing_since.is_none() && !self.is_over()
    }

    /// A kill to do now, once.
    pub(crate) fn take_kill(&mut self) -> Option<KillBy> {
        self.kill_wanted.take()
    }

    /// Something to tell init now, once.
    pub(crate) fn take_order(&mut self) -> Option<Order> {
        self.order.take()
    }

    /// When [`Input::Time`] is due, since launch.
    pub(crate) fn deadline(&self) -> Duration {
        match (self.killed_at, self.finishing_since, self.facts.spawned_at) {
            (Some(killed), ..) if self.escalated => killed + REAP_MAX,
            (Some(killed), ..) => killed + KILL_MAX,
            (None, Some(since), _) => self.collecting_until.unwrap_or(since + FINISH_MAX),
            (None, None, Some(spawned)) => spawned + self.limits.wall,
            (None, None, None) => START_MAX,
        }
    }

    /// Takes what happened at `now` since the launch.
    pub(crate) fn on(&mut self, input: Input, now: Duration) {
        if self.is_over() {
            return;
        }
        match input {
            Input::Launcher(event) => self.on_launcher(event, now),
            Input::Init(Some(frame)) => self.on_init(frame, now),
            Input::Init(None) => self.finishing(now),
            Input::InitGarbage { reason } => self.protocol(&reason, now),
            Input::CpuUsed { us } => {
                if us >= self.limits.cpu_us && self.is_running() {
                    self.kill(KillCause::CpuTime, now);
                }
            }
            Input::OutputExceeded => self.kill(KillCause::Output { dropped_bytes: 0 }, now),
            Input::Cancelled { by } => self.kill(KillCause::Cancel { by }, now),
            Input::Fault(fault) => self.fault(fault, now),
            Input::Time => self.on_time(now),
        }
    }

    fn on_launcher(&mut self, event: Option<LauncherEvent>, now: Duration) {
        match event {
            Some(LauncherEvent::Started(started)) => {
                self.facts.note_controls(started.controls);
            }
            Some(LauncherEvent::StartFailed {
                step,
                reason,
                refused,
            }) => {
                self.facts.refused = refused;
                self.note_fault(SandboxFault { step, reason });
                self.facts.over_at = Some(now);
            }
            Some(LauncherEvent::Inspected(facts)) => {
                self.facts.note_witnessed(Witness::Launcher, facts);
            }
            Some(LauncherEvent::Reaped(reaped)) => {
                self.note_silent_end(&reaped);
                self.facts.reaped = Some(reaped);
                self.facts.over_at = Some(now);
            }
            None => {
                self.note_fault(fault("launcher", "the launcher is gone"));
                self.facts.over_at = Some(now);
            }
        }
    }

    /// Pid 1 is over and nobody knows why: not we, not init, not the kernel's memory counters.
    fn note_silent_end(&mut self, reaped: &Reaped) {
        let explained = self.facts.program.is_some()
            || self.killed_at.is_some()
            || !self.facts.kills.is_empty()
            || reaped.counters.oom_kills > 0;
        if !explained {
            let status = reaped.init_status;
            let reason = format!("sandbox-init ended with status {status} and without a report");
            self.note_fault(fault("init", &reason));
        }
    }

    fn on_init(&mut self, frame: FromInit, now: Duration) {
        match frame {
            FromInit::Entered { steps, state } => {
                self.facts.entered_at.get_or_insert(now);
                self.facts.note_steps(steps);
                if self.inspect {
                    self.facts.note_witnessed(Witness::Init, state);
                    self.order = Some(Order::Inspect);
                }
            }
            FromInit::EnterFailed {
                step,
                errno,
                reason,
            }
            | FromInit::SpawnFailed {
                step,
                errno,
                reason,
                ..
            } => {
                self.note_fault(SandboxFault {
                    step: bounded(step),
                    reason: with_errno(&bounded(reason), errno),
                });
                self.finish(now);
            }
            FromInit::Staged { .. } => {}
            FromInit::Collected { problems, .. } => {
                self.facts.note_problems(problems);
                self.finish(now);
            }
            FromInit::StageFailed { path, errno } => {
                let reason = format!("file {} could not be written", bounded(path));
                let reason = with_errno(&reason, errno);
                self.fault(fault("stage", &reason), now);
            }
            FromInit::Spawned {
                command,
                steps,
                spawn_us,
                ..
            } => self.on_spawned(command, steps, spawn_us, now),
            FromInit::NotStarted {
                command,
                errno,
                path,
                ..
            } => {
                let end = ProgramEnd::ExecFailed {
                    errno,
                    path: bounded(path),
                    reason: io::Error::from_raw_os_error(errno).to_string(),
                };
                let in_order = self.facts.spawned_at.is_none();
                self.on_program_end(command, in_order, end, now);
                self.finish(now);
            }
            FromInit::Exited {
                command,
                code,
                signal,
                core_dumped,
            } => self.on_exited(command, (code, signal, core_dumped), now),
            FromInit::Denied { calls, suppressed } => self.facts.denials.note(calls, suppressed),
            FromInit::Finished { disk, polled } => {
                self.facts.disk.get_or_insert(disk);
                self.note_polled(polled, now);
                self.finishing(now);
            }
        }
    }

    /// Where there are no cgroups, init itself watches the limits and kills for them.
    fn note_polled(&mut self, polled: Option<Polled>, now: Duration) {
        let Some(polled) = polled else { return };
        self.facts.polled_peak_bytes = polled.memory_peak_bytes;
        self.facts.polled_cpu_ms = polled.cpu_ms;
        if let Some(limit) = polled.over {
            // What ended the program came before the end, whenever it is told.
            self.facts.kills.push(Kill {
                cause: match limit {
                    PolledLimit::Memory => KillCause::MemoryPolled {
                        rss_bytes: polled.memory_peak_bytes,
                    },
                    PolledLimit::Cpu => KillCause::CpuTime,
                },
                at_ms: self.facts.ran_ms(self.facts.ended_at.unwrap_or(now)),
            });
        }
    }

    fn on_spawned(
        &mut self,
        command: CommandToken,
        steps: Vec<StepReport>,
        spawn_us: u64,
        now: Duration,
    ) {
        if command != MAIN || self.facts.spawned_at.is_some() || self.facts.program.is_some() {
            return self.protocol("a start that was not asked for", now);
        }
        self.facts.spawned_at = Some(now);
        self.facts.spawn_us = spawn_us;
        self.facts.note_steps(steps);
    }

    fn on_exited(
        &mut self,
        command: CommandToken,
        (code, signal, core_dumped): (Option<i32>, Option<i32>, bool),
        now: Duration,
    ) {
        let end = match (code, signal) {
            (Some(code), None) => ProgramEnd::Exited { code },
            (None, Some(signal)) => ProgramEnd::Signalled {
                signal,
                core_dumped,
            },
            _ => return self.protocol("an end with both or neither of code and signal", now),
        };
        if self.facts.spawned_at.is_none() && matches!(end, ProgramEnd::Exited { .. }) {
            let reason = "its process ended before the program was executed";
            self.note_fault(fault("spawn", reason));
            return self.finish(now);
        }
        self.on_program_end(command, true, end, now);
        if self.collect && self.facts.ended_at == Some(now) {
            self.order = Some(Order::Collect);
            self.collecting_until = Some(now + COLLECT_MAX);
        }
    }

    fn on_program_end(
        &mut self,
        command: CommandToken,
        in_order: bool,
        end: ProgramEnd,
        now: Duration,
    ) {
        if command != MAIN || !in_order || self.facts.program.is_some() {
            return self.protocol("the end of a program that does not run", now);
        }
        self.facts.program = Some(end);
        self.facts.ended_at = Some(now);
        self.finishing(now);
    }

    fn on_time(&mut self, now: Duration) {
        if now < self.deadline() {
            return;
        }
        if self.killed_at.is_some() {
            if self.escalated {
                let reason = "processes are still there a minute after they were killed";
                self.note_fault(fault("reap", reason));
                self.facts.over_at = Some(now);
            } else {
                self.escalated = true;
                self.kill_wanted = Some(KillBy::Launcher);
            }
        } else if self.finishing_since.is_some() {
            // The program's end is known (or never will be); this only clears up.
            self.kill_now(now);
        } else if self.facts.spawned_at.is_some() {
            self.kill(KillCause::WallTime, now);
        } else {
            let seconds = START_MAX.as_secs();
            let reason = format!("the program did not start within {seconds} seconds");
            self.fault(fault("start", &reason), now);
        }
    }

    /// Kills for `cause`, unless the program is already over.
    fn kill(&mut self, cause: KillCause, now: Duration) {
        let at_ms = self.facts.ran_ms(now);
        self.facts.kills.push(Kill { cause, at_ms });
        self.kill_now(now);
    }

    fn kill_now(&mut self, now: Duration) {
        if self.killed_at.is_none() {
            self.killed_at = Some(now);
            self.kill_wanted = Some(KillBy::Cgroup);
        }
    }

    fn finishing(&mut self, now: Duration) {
        self.finishing_since.get_or_insert(now);
    }

    /// The same where init may have to be told to end.
    fn finish(&mut self, now: Duration) {
        if self.collect {
            self.order = Some(Order::Finish);
        }
        self.collecting_until = None;
        self.finishing_since = Some(now);
    }

    fn protocol(&mut self, reason: &str, now: Duration) {
        self.fault(fault("protocol", reason), now);
    }

    fn fault(&mut self, fault: SandboxFault, now: Duration) {
        self.note_fault(fault);
        self.kill_now(now);
    }

    /// Only the first fault is a cause; later ones follow from it.
    fn note_fault(&mut self, fault: SandboxFault) {
        self.facts.fault.get_or_insert(fault);
    }
}

fn fault(step: &str, reason: &str) -> SandboxFault {
    SandboxFault {
        step: step.to_owned(),
        reason: reason.to_owned(),
    }
}

fn with_errno(reason: &str, errno: i32) -> String {
    if errno == 0 {
        return reason.to_owned();
    }
    format!("{reason}: {}", io::Error::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests;
