//! One sandbox in the launcher's books, from its lease to the removal of its groups.

use std::os::fd::OwnedFd;

use confine::plan::LimitPlan;
use confine::wire::{KernelCounters, Stalls};

use crate::cgroup::SandboxGroups;
use crate::cpus::Lease;

/// Where a sandbox stands.
#[derive(Debug)]
pub(super) enum State {
    /// A forker has the request.
    Starting,
    /// Pid 1 exists.
    Running { pidfd: OwnedFd, pid: i32 },
    /// Pid 1 is reaped; its groups are still to be removed.
    Dead {
        status: i32,
        counters: Option<Box<KernelCounters>>,
        tries: u32,
    },
}

/// One sandbox.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: String,
    pub(super) range: u16,
    pub(super) uid_base: u32,
    pub(super) limits: LimitPlan,
    pub(super) groups: SandboxGroups,
    pub(super) cpus: Lease,
    /// Sandboxes of one group take turns: they share their CPUs.
    pub(super) group: Option<u64>,
    /// The host's pressure when it began, where its own is not told.
    pub(super) pressure_before: Option<Stalls>,
    pub(super) state: State,
    /// A kill came before pid 1 was known.
    pub(super) kill_asked: bool,
    /// A look from outside was asked for before that.
    pub(super) inspect_asked: bool,
    /// A forker looks at it.
    pub(super) being_inspected: bool,
}

impl Slot {
    pub(super) fn new(id: &str, range: u16, uid_base: u32, limits: LimitPlan) -> Self {
        Self {
            id: id.to_owned(),
            range,
            uid_base,
            limits,
            groups: SandboxGroups::None,
            cpus: Lease::default(),
            group: None,
            pressure_before: None,
            state: State::Starting,
            kill_asked: false,
            inspect_asked: false,
            being_inspected: false,
        }
    }

    /// Host pid of its pid 1; none unless it lives.
    pub(super) fn pid(&self) -> Option<i32> {
        match self.state {
            State::Running { pid, .. } => Some(pid),
            State::Starting | State::Dead { .. } => None,
        }
    }

    pub(super) fn pidfd(&self) -> Option<&OwnedFd> {
        match &self.state {
            State::Running { pidfd, .. } => Some(pidfd),
            State::Starting | State::Dead { .. } => None,
        }
    }
}
