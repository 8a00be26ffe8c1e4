//! What a child of pid 1 does between fork and exec. See [`crate::sequence::COMMAND`] for the
//! order and the reasons.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use landlock::RulesetCreated;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::session::PAYLOAD_ID;
use super::{StepError, Taken};
use crate::boot::Boot;
use crate::plan::Mode;
use crate::sys::{self, inherited, process};

/// What the command steps work on. Owned by the child: it is a copy made by fork.
#[derive(Debug)]
pub struct Command {
    /// What the sandbox is, with the filter.
    pub boot: Boot,
    /// `cgroup.procs` files to attach to, opened by the launcher.
    pub cgroups: Vec<OwnedFd>,
    /// Landlock rules, if the kernel has Landlock.
    pub rules: Option<RulesetCreated>,
    /// Descriptors 0 up to here stay open.
    pub keep_below: u32,
    /// Notification descriptor, once the filter is installed.
    pub listener: Option<OwnedFd>,
}

/// Attaches to the payload's cgroups. `0` names the writer itself, whatever its pid here is.
pub fn cgroups(command: &mut Command) -> Result<Taken, StepError> {
    if command.cgroups.is_empty() {
        return Ok(Taken::degraded("no cgroup could be made on this host"));
    }
    let count = command.cgroups.len();
    for fd in command.cgroups.drain(..) {
        std::fs::File::from(fd)
            .write_all(b"0")
            .map_err(StepError::io("attach to a cgroup"))?;
    }
    Ok(Taken::enforced(format!("{count} groups")))
}

/// Stays on the leased CPUs, so that whoever counts them finds as many as the rate is worth. The
/// program may widen that: it then counts more and gets no more, since the rate is the limit.
pub fn cpu_lease(command: &mut Command) -> Result<Taken, StepError> {
    let cpus = &command.boot.cpus;
    let mut set = CpuSet::new();
    for cpu in &cpus.numbers {
        // Beyond what a set of this size can name: the kernel's answer below decides.
        if usize::try_from(*cpu).is_ok_and(|cpu| set.set(cpu).is_err()) {}
    }
    match sched_setaffinity(Pid::from_raw(0), &set) {
        Ok(()) => Ok(Taken::enforced(format!("CPU {}", cpus.list))),
        // None of them is there any more: they went offline, or another group took them.
        Err(Errno::EINVAL) => Ok(Taken::degraded(format!(
            "CPU {} cannot be had; the program may use any",
            cpus.list
        ))),
        Err(errno) => Err(StepError::at("stay on the leased CPUs")(errno)),
    }
}

/// An own session; native execution; default signals, since handlers and masks of pid 1 would be inherited.
pub fn session(_command: &mut Command) -> Result<Taken, StepError> {
    use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
    nix::unistd::setsid().map_err(StepError::at("start a session"))?;
    process::default_signals().map_err(StepError::at("reset the signals' actions"))?;
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)
        .map_err(StepError::at("unblock signals"))?;
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o022));
    inherited::native_execution().map_err(StepError::at("leave an execution domain"))?;
    // The forker has done what it may; without privileges a disadvantage of the starter stays.
    let unusual = inherited::unusual_scheduling().map_err(StepError::at("read the priority"))?;
    Ok(Taken::enforced(unusual.map_or_else(String::new, |found| {
        format!("{found}, as whoever started the daemon")
    })))
}

/// Limits of one process. Memory is never limited here: RLIMIT_AS breaks node, go, java and ASan.
pub fn rlimits(command: &mut Command) -> Result<Taken, StepError> {
    const LOCKED_BYTES: u64 = 8 * 1024 * 1024;
    const SIGNALS_PENDING: u64 = 4096;
    let limits = &command.boot.plan.limits;
    let cpu_seconds = limits.cpu_ms_max.div_ceil(1000).saturating_add(1);
    // A little more than the file system has: it is the one to refuse, with an error that programs
    // know. This limit would kill them.
    let file_bytes_max = limits.disk_bytes_max.saturating_add(4096);
    let mut rows = vec![
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_NOFILE, limits.open_files_max),
        (libc::RLIMIT_FSIZE, file_bytes_max),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_MEMLOCK, LOCKED_BYTES),
        (libc::RLIMIT_SIGPENDING, SIGNALS_PENDING),
        (libc::RLIMIT_RTPRIO, 0),
        (libc::RLIMIT_NICE, 0),
        (libc::RLIMIT_CPU, cpu_seconds),
    ];
    if command
        .boot
        .plan
        .degradable
        .iter()
        .any(|name| name == "pids")
    {
        // Counted per user: in landlock mode together with the user's other processes.
        let processes_max = command.boot.user_processes_max.unwrap_or(limits.pids_max);
        rows.push((libc::RLIMIT_NPROC, processes_max));
    }
    for (resource, value) in rows {
        process::lower_limit(resource, value)
            .map_err(StepError::at(format!("set rlimit {resource} to {value}")))?;
    }
    Ok(Taken::enforced(format!(
        "{} open files, {cpu_seconds} s CPU a process, no core",
        limits.open_files_max
    )))
}

/// Empties the bounding and ambient sets and locks the securebits.
pub fn bounding_set(command: &mut Command) -> Result<Taken, StepError> {
    /// NOROOT, NO_SETUID_FIXUP, KEEP_CAPS (off, locked), NO_CAP_AMBIENT_RAISE, each with its lock.
    const SECUREBITS: u32 = 0xef;
    if command.boot.plan.mode == Mode::Landlock {
        return Ok(Taken::not_asked("the launcher has no privileges"));
    }
    for capability in 0..=sys::last_capability() {
        process::drop_bounding(capability)
            .map_err(StepError::at(format!("drop capability {capability}")))?;
    }
    process::clear_ambient().map_err(StepError::at("clear the ambient set"))?;
    process::set_securebits(SECUREBITS).map_err(StepError::at("lock the securebits"))?;
    Ok(Taken::enforced("empty, securebits 0xef"))
}

/// Becomes the payload's user.
pub fn identity(command: &mut Command) -> Result<Taken, StepError> {
    match command.boot.plan.mode {
        Mode::Root => {
            process::set_identity(PAYLOAD_ID, PAYLOAD_ID, true)
                .map_err(StepError::at("become the payload's user"))?;
            Ok(Taken::enforced(format!("uid {PAYLOAD_ID}")))
        }
        Mode::Rootless => Ok(Taken::degraded(
            "one mapped id: pid 1 and the payload share it",
        )),
        Mode::Landlock => Ok(Taken::degraded("runs as the launcher's own user")),
    }
}

/// No capability in any set.
pub fn capabilities(_command: &mut Command) -> Result<Taken, StepError> {
    process::set_capabilities(0).map_err(StepError::at("drop all capabilities"))?;
    Ok(Taken::enforced("none"))
}

/// Dies with pid 1. Not dumpable until the exec, which resets that: what runs already as the
/// payload's user must not trace a child that still holds descriptors of pid 1.
pub fn parent_death(command: &mut Command) -> Result<Taken, StepError> {
    process::die_with_parent().map_err(StepError::at("set the parent-death signal"))?;
    process::set_dumpable(false).map_err(StepError::at("become untraceable"))?;
    if command.boot.plan.mode == Mode::Landlock {
        return Ok(Taken::degraded(
            "no pid namespace: a program that leaves its session and clears the signal outlives a \
             killed launcher",
        ));
    }
    Ok(Taken::enforced(""))
}

/// Nothing executed from here on gains privileges.
pub fn no_new_privs(_command: &mut Command) -> Result<Taken, StepError> {
    process::set_no_new_privs().map_err(StepError::at("set no_new_privs"))?;
    Ok(Taken::enforced(""))
}

/// Lays the rules on this process and all it will start.
pub fn landlock(command: &mut Command) -> Result<Taken, StepError> {
    let Some(rules) = command.rules.take() else {
        return Ok(Taken::degraded(
            "the kernel has no Landlock; the mount namespace stands alone",
        ));
    };
    let status = rules.restrict_self().map_err(|error| StepError {
        doing: format!("lay the Landlock rules: {error}"),
        errno: Errno::EPERM,
    })?;
    Ok(match status.ruleset {
        landlock::RulesetStatus::FullyEnforced => Taken::enforced(""),
        landlock::RulesetStatus::PartiallyEnforced => Taken::degraded("partly enforced"),
        landlock::RulesetStatus::NotEnforced => {
            return Err(StepError {
                doing: "lay the Landlock rules: the kernel took none".into(),
                errno: Errno::ENOSYS,
            });
        }
    })
}

/// Everything else closes at exec; nothing may follow that still needs a descriptor by then.
pub fn descriptors(command: &mut Command) -> Result<Taken, StepError> {
    sys::close_range(command.keep_below, true).map_err(StepError::at("close descriptors"))?;
    Ok(Taken::enforced(format!(
        "0 to {}",
        command.keep_below.saturating_sub(1)
    )))
}

/// The filter.
pub fn seccomp(command: &mut Command) -> Result<Taken, StepError> {
    let listen = command.boot.plan.syscalls.notify;
    command.listener = sys::seccomp::install(&command.boot.filter, listen)
        .map_err(StepError::at("install the seccomp filter"))?;
    Ok(Taken::enforced(format!(
        "{}, {} instructions{}",
        format!("{:?}", command.boot.plan.syscalls.profile).to_lowercase(),
        command.boot.filter.len(),
        if listen { ", denials told" } else { "" }
    )))
}

/// The part of the sequence that also holds for helpers of our own inside the sandbox (writing
/// and reading files): they run as the payload, in its cgroups, without its filter. Of the
/// descriptors they have only `kept`, at the first places: the channel to the api, the listeners of
/// denied calls and other children's reports are pid 1's alone.
pub fn become_payload(
    command: &mut Command,
    kept: Vec<OwnedFd>,
) -> Result<Vec<OwnedFd>, StepError> {
    cgroups(command)?;
    session(command)?;
    identity(command)?;
    capabilities(command)?;
    parent_death(command)?;
    no_new_privs(command)?;
    only(kept)
}

/// Moves descriptors to 0, 1, ... and closes all others of this process.
fn only(kept: Vec<OwnedFd>) -> Result<Vec<OwnedFd>, StepError> {
    // The first places hold nothing that is owned: pid 1 reserves them.
    let mut count = 0;
    for fd in &kept {
        sys::dup_onto(fd.as_fd(), count).map_err(StepError::at("place a descriptor"))?;
        count += 1;
    }
    drop(kept);
    sys::close_range(count.unsigned_abs(), false).map_err(StepError::at("close descriptors"))?;
    let own = |fd| sys::adopt_fd(fd).map_err(StepError::at("keep a descriptor"));
    (0..count).map(own).collect()
}

/// Sends the notification descriptor to pid 1.
pub fn hand_over<'a>(listener: Option<&'a OwnedFd>) -> Vec<std::os::fd::BorrowedFd<'a>> {
    listener.map(AsFd::as_fd).into_iter().collect()
}
