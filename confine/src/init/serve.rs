//! The loop of pid 1: one poll over the channel, child deaths, children on their way to exec,
//! and listeners of denied calls. All state of the sandbox's commands is here.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use landlock::RulesetCreated;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::child::ChildFrame;
use super::denials::Denials;
use super::files;
use super::usage::{self, UsageWatch};
use crate::boot::Boot;
use crate::packet::{self, PacketError};
use crate::sys::process::kill_owner;
use crate::wire::{CommandToken, DiskUse, FromInit};

/// What a child is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Command { token: CommandToken, last: bool },
    Stage,
    Collect,
}

/// One child of ours, from fork to death.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) role: Role,
    /// Open until the exec or the end.
    pub(super) report: Option<OwnedFd>,
    pub(super) born: Instant,
    /// Late steps, once told.
    pub(super) steps: Option<Vec<crate::report::StepReport>>,
    /// The api was told that it did not start; its death is no exit of a program.
    pub(super) failed: bool,
}

/// Pid 1 at work.
#[derive(Debug)]
pub(super) struct Init {
    pub(super) channel: OwnedFd,
    pub(super) boot: Boot,
    pub(super) rules: Option<RulesetCreated>,
    pub(super) cgroups: Vec<OwnedFd>,
    deaths: SignalFd,
    pub(super) children: BTreeMap<i32, Child>,
    listeners: Vec<OwnedFd>,
    denials: Denials,
    /// Commands that were ended for a call, until they are reaped.
    killed_for_call: BTreeSet<i32>,
    usage: Option<UsageWatch>,
    /// A stage failed: nothing may be started any more.
    pub(super) incomplete: bool,
    /// Set when all is to end.
    pub(super) finishing: bool,
}

/// What became readable in one round.
struct Ready {
    pub(super) channel: bool,
    deaths: bool,
    reports: Vec<i32>,
    listeners: Vec<(usize, bool)>,
}

pub(super) fn os(doing: &'static str) -> impl Fn(Errno) -> PacketError {
    move |errno| PacketError::Os { doing, errno }
}

/// Kills the process that `thread` belongs to; gives its pid if it is one of our children.
fn kill_caller(children: &BTreeMap<i32, Child>, thread: i32) -> Result<Option<i32>, Errno> {
    for &pid in children.keys() {
        if kill_owner(pid, thread)? {
            return Ok(Some(pid));
        }
    }
    match nix::sys::signal::kill(Pid::from_raw(thread), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => Ok(None),
        Err(errno) => Err(errno),
    }
}

impl Init {
    pub(super) fn new(
        channel: OwnedFd,
        boot: Boot,
        rules: Option<RulesetCreated>,
        cgroups: Vec<OwnedFd>,
    ) -> Result<Self, PacketError> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_block().map_err(os("block SIGCHLD"))?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let deaths = SignalFd::with_flags(&mask, flags).map_err(os("make a signal descriptor"))?;
        let denials = Denials::new(boot.filter_spec.clone());
        let usage = UsageWatch::new(&boot);
        Ok(Self {
            channel,
            boot,
            rules,
            cgroups,
            deaths,
            children: BTreeMap::new(),
            listeners: Vec::new(),
            denials,
            killed_for_call: BTreeSet::new(),
            usage,
            incomplete: false,
            finishing: false,
        })
    }

    /// Serves until told to finish, the last command ends, or the api is gone.
    pub(super) fn serve(&mut self) -> Result<(), PacketError> {
        while !self.finishing {
            let ready = self.wait()?;
            for (index, readable) in ready.listeners.into_iter().rev() {
                self.serve_listener(index, readable)?;
            }
            for pid in ready.reports {
                self.read_reports(pid)?;
            }
            if ready.deaths {
                self.reap()?;
            }
            if let Some(usage) = &mut self.usage
                && usage.over(disk_use(&self.boot).bytes)
            {
                self.finishing = true;
            }
            if ready.channel && !self.finishing {
                self.serve_channel()?;
            }
        }
        self.finish()
    }

    fn staging(&self) -> bool {
        self.children
            .values()
            .any(|child| child.role == Role::Stage)
    }

    fn wait(&self) -> Result<Ready, PacketError> {
        let pids: Vec<i32> = self
            .children
            .iter()
            .filter(|(_, c)| c.report.is_some())
            .map(|(pid, _)| *pid)
            .collect();
        let mut set = vec![PollFd::new(self.deaths.as_fd(), PollFlags::POLLIN)];
        let reports = self
            .children
            .values()
            .filter_map(|child| child.report.as_ref());
        set.extend(reports.map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
        set.extend(
            self.listeners
                .iter()
                .map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)),
        );
        // While files are being written the next order waits in the socket: a command must find
        // all of them.
        if !self.staging() {
            set.push(PollFd::new(self.channel.as_fd(), PollFlags::POLLIN));
        }
        let timeout = match &self.usage {
            Some(_) if !self.children.is_empty() => PollTimeout::from(usage::POLL_MS),
            Some(_) | None => PollTimeout::NONE,
        };
        loop {
            match poll(&mut set, timeout) {
                Ok(_) => break,
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    return Err(PacketError::Os {
                        doing: "wait for events",
                        errno,
                    });
                }
            }
        }
        let flags: Vec<PollFlags> = set
            .iter()
            .map(|fd| fd.revents().unwrap_or(PollFlags::empty()))
            .collect();
        let at = |index: usize| flags.get(index).copied().unwrap_or(PollFlags::empty());
        let first_listener = 1 + pids.len();
        let channel = first_listener + self.listeners.len();
        Ok(Ready {
            channel: !at(channel).is_empty(),
            deaths: !at(0).is_empty(),
            reports: (1..)
                .zip(&pids)
                .filter(|(i, _)| !at(*i).is_empty())
                .map(|(_, p)| *p)
                .collect(),
            listeners: (0..self.listeners.len())
                .filter(|i| !at(first_listener + i).is_empty())
                .map(|i| (i, at(first_listener + i).contains(PollFlags::POLLIN)))
                .collect(),
        })
    }

    fn serve_listener(&mut self, index: usize, readable: bool) -> Result<(), PacketError> {
        if readable {
            self.refuse_next(index)?;
        } else if index < self.listeners.len() {
            // Hung up: every process under this filter is gone.
            drop(self.listeners.swap_remove(index));
        }
        Ok(())
    }

    /// Refuses one call, or ends the process that makes it where the policy says so: as the filter
    /// itself would, but with the call known. Nothing of the call is done either way.
    fn refuse_next(&mut self, index: usize) -> Result<(), PacketError> {
        let Some(listener) = self.listeners.get(index) else {
            return Ok(());
        };
        let doing = "answer a denied call";
        let Some(refusal) = self.denials.next(listener).map_err(os(doing))? else {
            return Ok(());
        };
        if self.boot.plan.syscalls.deny_action == policies::DenyAction::Kill {
            let killed = kill_caller(&self.children, refusal.thread).map_err(os(doing))?;
            self.killed_for_call.extend(killed);
            refusal.give(listener).map_err(os(doing))?;
            // One by one, so that the last one told is the one that counted.
            return self.tell_denials();
        }
        refusal.give(listener).map_err(os(doing))
    }

    pub(super) fn tell(&self, frame: &FromInit) -> Result<(), PacketError> {
        packet::send(self.channel.as_fd(), frame, &[])
    }

    fn tell_denials(&mut self) -> Result<(), PacketError> {
        match self.denials.take() {
            Some((calls, suppressed)) => self.tell(&FromInit::Denied { calls, suppressed }),
            None => Ok(()),
        }
    }

    /// Reads what a child told so far; end of file means it has exec'd or is dead.
    fn read_reports(&mut self, pid: i32) -> Result<(), PacketError> {
        loop {
            let Some(report) = self
                .children
                .get(&pid)
                .and_then(|child| child.report.as_ref())
            else {
                return Ok(());
            };
            match packet::receive::<ChildFrame>(report.as_fd(), true) {
                Ok(Some((frame, fds))) => self.child_told(pid, frame, fds)?,
                Ok(None) => return self.child_silent(pid),
                Err(PacketError::Os {
                    errno: Errno::EAGAIN,
                    ..
                }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn child_told(
        &mut self,
        pid: i32,
        frame: ChildFrame,
        fds: Vec<OwnedFd>,
    ) -> Result<(), PacketError> {
        let Some(child) = self.children.get_mut(&pid) else {
            return Ok(());
        };
        let token = match child.role {
            Role::Command { token, .. } => token,
            Role::Stage | Role::Collect => CommandToken(0),
        };
        let told = match frame {
            ChildFrame::Steps { steps } => {
                child.steps = Some(steps);
                self.listeners.extend(fds);
                return Ok(());
            }
            ChildFrame::StepFailed {
                step,
                errno,
                reason,
            } => {
                child.failed = true;
                FromInit::SpawnFailed {
                    command: token,
                    step,
                    errno,
                    reason,
                }
            }
            ChildFrame::ExecFailed { code, errno, path } => {
                child.failed = true;
                FromInit::NotStarted {
                    command: token,
                    code,
                    errno,
                    path,
                }
            }
            ChildFrame::Staged { files, bytes } => {
                child.failed = true;
                FromInit::Staged { files, bytes }
            }
            ChildFrame::StageFailed { path, errno } => {
                child.failed = true;
                self.incomplete = true;
                FromInit::StageFailed { path, errno }
            }
            ChildFrame::Collected { files, problems } => {
                child.failed = true;
                FromInit::Collected { files, problems }
            }
        };
        self.tell(&told)
    }

    fn child_silent(&mut self, pid: i32) -> Result<(), PacketError> {
        let Some(child) = self.children.get_mut(&pid) else {
            return Ok(());
        };
        child.report = None;
        let spawn_us = u64::try_from(child.born.elapsed().as_micros()).unwrap_or(u64::MAX);
        match (child.role, child.failed, child.steps.take()) {
            (Role::Command { token, .. }, false, Some(steps)) => self.tell(&FromInit::Spawned {
                command: token,
                pid,
                steps,
                spawn_us,
            }),
            _ => Ok(()),
        }
    }

    /// Collects every dead child; orphans of commands are ours too and only reaped.
    fn reap(&mut self) -> Result<(), PacketError> {
        while let Ok(Some(_)) = self.deaths.read_signal() {}
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => {
                    self.child_died(pid.as_raw(), Some(code), None, false)?;
                }
                Ok(WaitStatus::Signaled(pid, signal, core)) => {
                    self.child_died(pid.as_raw(), None, Some(signal as i32), core)?;
                }
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => {
                    return Err(PacketError::Os {
                        doing: "reap",
                        errno,
                    });
                }
            }
        }
    }

    fn child_died(
        &mut self,
        pid: i32,
        code: Option<i32>,
        signal: Option<i32>,
        core_dumped: bool,
    ) -> Result<(), PacketError> {
        if !self.children.contains_key(&pid) {
            return Ok(());
        }
        // What it said before it died comes first.
        self.read_reports(pid)?;
        let Some(child) = self.children.remove(&pid) else {
            return Ok(());
        };
        // What the filter itself would have sent.
        let for_call = self.killed_for_call.remove(&pid) && signal == Some(Signal::SIGKILL as i32);
        let signal = if for_call {
            Some(Signal::SIGSYS as i32)
        } else {
            signal
        };
        match child.role {
            Role::Command { token, last } => {
                if !child.failed {
                    self.answer_waiting()?;
                    self.tell_denials()?;
                    self.tell(&FromInit::Exited {
                        command: token,
                        code,
                        signal,
                        core_dumped,
                    })?;
                }
                self.finishing |= last;
                Ok(())
            }
            Role::Stage if !child.failed => {
                // Killed before it could tell: out of the sandbox's memory, most likely.
                self.incomplete = true;
                let errno = Errno::ENOMEM as i32;
                self.tell(&FromInit::StageFailed {
                    path: String::new(),
                    errno,
                })
            }
            Role::Collect if !child.failed => {
                let problem = crate::wire::CollectProblem {
                    path: String::new(),
                    reason: "the reader was killed".into(),
                };
                self.tell(&FromInit::Collected {
                    files: 0,
                    problems: vec![problem],
                })
            }
            Role::Stage | Role::Collect => Ok(()),
        }
    }

    /// Denied calls that wait unanswered belong to what the command did.
    fn answer_waiting(&mut self) -> Result<(), PacketError> {
        for index in (0..self.listeners.len()).rev() {
            let Some(listener) = self.listeners.get(index) else {
                continue;
            };
            let mut set = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
            let ready = poll(&mut set, PollTimeout::ZERO).unwrap_or(0);
            let readable = set[0]
                .revents()
                .is_some_and(|f| f.contains(PollFlags::POLLIN));
            if ready > 0 && readable {
                self.serve_listener(index, true)?;
            }
        }
        Ok(())
    }

    /// Ends all, then says so.
    fn finish(&mut self) -> Result<(), PacketError> {
        self.end_commands()?;
        self.tell_denials()?;
        self.tell(&FromInit::Finished {
            disk: disk_use(&self.boot),
            polled: self.usage.as_ref().map(UsageWatch::seen),
        })
    }
}

fn disk_use(boot: &Boot) -> DiskUse {
    if boot.workspace.is_some() {
        // A folder of the host's file system: its figures are not the sandbox's.
        return DiskUse::default();
    }
    match nix::sys::statvfs::statvfs(files::WORKSPACE) {
        Ok(stat) => {
            let block = stat.fragment_size();
            DiskUse {
                bytes: stat
                    .blocks()
                    .saturating_sub(stat.blocks_free())
                    .saturating_mul(block),
                bytes_max: stat.blocks().saturating_mul(block),
                inodes: stat.files().saturating_sub(stat.files_free()),
                inodes_max: stat.files(),
            }
        }
        Err(_errno) => DiskUse::default(),
    }
}
