//! What became known about one sandbox: the evidence of its ending.
//!
//! The launcher's words are trusted, init's are allegations and bounded here. What follows from
//! them is decided in [`super::watch`] while it lives and in [`super::conclude`] afterwards.

use std::collections::BTreeMap;
use std::time::Duration;

use confine::report::{ControlReport, Status, StepReport};
use confine::wire::{CollectProblem, DeniedCall, DiskUse, Fact};
use verdict::ending::{Kill, ProgramEnd, SandboxFault};

use super::launcher_link::Reaped;

/// Rows kept of one sandbox's step reports.
pub(crate) const STEPS_MAX: usize = 256;
/// Kinds of denied calls counted one by one.
pub(crate) const DENIALS_MAX: usize = 256;
/// Problems of collecting that are kept.
pub(crate) const PROBLEMS_MAX: usize = 1000;
/// Facts of a self-test that are kept.
pub(crate) const WITNESSED_MAX: usize = 64;

/// Who looks at a sandbox from outside of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Witness {
    /// Pid 1, of itself.
    Init,
    /// The launcher, over `/proc` and the control groups.
    Launcher,
}

/// Bytes kept of any text from init.
pub(crate) const TEXT_BYTES_MAX: usize = 1024;

/// Denied calls, counted per number and error.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Denials {
    /// By number and errno.
    pub calls: BTreeMap<(u32, i32), DeniedCall>,
    /// Those that were not counted one by one.
    pub suppressed: u64,
    /// Number of the last one.
    pub last: Option<u32>,
}

impl Denials {
    /// Adds what init counted.
    pub(crate) fn note(&mut self, calls: Vec<DeniedCall>, suppressed: u64) {
        self.suppressed = self.suppressed.saturating_add(suppressed);
        for call in calls {
            self.last = Some(call.number);
            let key = (call.number, call.errno);
            if let Some(known) = self.calls.get_mut(&key) {
                known.count = known.count.saturating_add(call.count);
            } else if self.calls.len() < DENIALS_MAX {
                self.calls.insert(key, call);
            } else {
                self.suppressed = self.suppressed.saturating_add(call.count);
            }
        }
    }
}

/// All that became known about a sandbox.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Reports of controls, the launcher's first, then init's.
    pub steps: Vec<StepReport>,
    /// When the program was exec'd, since launch.
    pub spawned_at: Option<Duration>,
    /// When init was ready for commands, since launch.
    pub entered_at: Option<Duration>,
    /// From receipt of the command to its exec, in microseconds, as init says.
    pub spawn_us: u64,
    /// How the program ended.
    pub program: Option<ProgramEnd>,
    /// When, since launch.
    pub ended_at: Option<Duration>,
    /// When the sandbox was gone, since launch.
    pub over_at: Option<Duration>,
    /// Our kills.
    pub kills: Vec<Kill>,
    /// Denied calls.
    pub denials: Denials,
    /// Files that could not be collected.
    pub problems: Vec<CollectProblem>,
    /// What pid 1 and the launcher see of a self-test's sandbox.
    pub witnessed: Vec<Fact>,
    /// Use of the writable file system at the end.
    pub disk: Option<DiskUse>,
    /// Highest memory that init saw where there is no memory cgroup, in bytes.
    pub polled_peak_bytes: u64,
    /// CPU time that init measured where no cgroup could be made, in milliseconds.
    pub polled_cpu_ms: u64,
    /// The launcher's last word; `None` if there was none or nothing had been started.
    pub reaped: Option<Reaped>,
    /// The first fault of ours or the host's.
    pub fault: Option<SandboxFault>,
    /// Whether the launcher refused the plan.
    pub refused: bool,
    /// Whether the CPU time of the whole sandbox was watched.
    pub cpu_watched: bool,
}

impl Facts {
    /// Milliseconds the program has run at `now`; 0 before it started.
    pub(crate) fn ran_ms(&self, now: Duration) -> u64 {
        self.spawned_at
            .map_or(0, |spawned| millis(now.saturating_sub(spawned)))
    }

    /// Adds the controls that were applied from outside; they come first.
    pub(crate) fn note_controls(&mut self, controls: Vec<ControlReport>) {
        let rows = controls.into_iter().take(STEPS_MAX);
        self.steps.splice(0..0, rows);
    }

    /// Adds steps that init reports.
    pub(crate) fn note_steps(&mut self, steps: Vec<StepReport>) {
        let room = STEPS_MAX.saturating_sub(self.steps.len());
        let rows = steps.into_iter().take(room).map(|row| StepReport {
            step: bounded(row.step),
            status: match row.status {
                Status::Degraded(why) => Status::Degraded(bounded(why)),
                status => status,
            },
            applied: bounded(row.applied),
            ..row
        });
        self.steps.extend(rows);
    }

    /// Takes what `witness` sees of the sandbox from outside of its program. Nobody tells what is
    /// another's to tell: the first fact of a name counts, and pid 1 speaks first.
    pub(crate) fn note_witnessed(&mut self, witness: Witness, facts: Vec<Fact>) {
        let own = match witness {
            Witness::Init => "init:",
            Witness::Launcher => "host:",
        };
        let facts = facts.into_iter().filter(|fact| fact.name.starts_with(own));
        let room = WITNESSED_MAX.saturating_sub(self.witnessed.len());
        self.witnessed.extend(facts.take(room).map(|fact| Fact {
            name: bounded(fact.name),
            found: bounded(fact.found),
        }));
    }

    /// Takes init's list of files that were not collected.
    pub(crate) fn note_problems(&mut self, problems: Vec<CollectProblem>) {
        let problems = problems.into_iter().take(PROBLEMS_MAX);
        self.problems = problems
            .map(|problem| CollectProblem {
                path: bounded(problem.path),
                reason: bounded(problem.reason),
            })
            .collect();
    }
}

/// At most [`TEXT_BYTES_MAX`] bytes of a text from init.
pub(crate) fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

/// Whole milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
