//! What a process has from whoever started the daemon, and passes on over fork and exec: set back
//! to what a program may take for granted. Ids, descriptors, variables and limits that a plan sets
//! are not here.

use nix::errno::Errno;

use super::{SysResult, check};

/// Native execution of Linux programs: addresses are random, no emulation of any kind. personality(2).
pub fn native_execution() -> SysResult<()> {
    const PER_LINUX: libc::c_ulong = 0;
    // SAFETY: takes a number alone.
    check(libc::c_long::from(unsafe { libc::personality(PER_LINUX) })).map(|_before| ())
}

/// The ordinary scheduling policy, nice value 0 and no I/O priority, as far as our rights go: to
/// give up a favour needs none, to leave a disadvantage does. Raw calls: one of the C libraries has
/// only a stub of the first.
pub fn ordinary_scheduling() -> SysResult<()> {
    let ordinary = libc::sched_param { sched_priority: 0 };
    let process = libc::PRIO_PROCESS;
    // SAFETY: the struct outlives the call.
    unforced(unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_OTHER,
            &raw const ordinary,
        )
    })?;
    // SAFETY: takes numbers alone.
    unforced(unsafe { libc::syscall(libc::SYS_setpriority, process, 0, 0) })?;
    /// `IOPRIO_WHO_PROCESS`.
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: takes numbers alone.
    unforced(unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, 0) })
}

/// How this process is scheduled, where that is not the ordinary way.
pub fn unusual_scheduling() -> SysResult<Option<String>> {
    /// What the raw call gives for the nice value 0; it counts downwards.
    const ORDINARY: libc::c_long = 20;
    // SAFETY: takes numbers alone.
    let policy = check(unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) })?;
    // SAFETY: takes numbers alone.
    let priority = check(unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) })?;
    let nice = ORDINARY - priority;
    Ok(
        (policy != 0 || nice != 0)
            .then(|| format!("scheduling policy {policy}, nice value {nice}")),
    )
}

/// Timers as exact, and memory pages as large, as by default.
pub fn ordinary_timers_and_pages() -> SysResult<()> {
    const SLACK_NS: libc::c_ulong = 50_000;
    let none: libc::c_ulong = 0;
    // SAFETY: both options take integers alone; unused ones must be 0.
    check(libc::c_long::from(unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NS, none, none, none)
    }))?;
    // SAFETY: likewise.
    let pages = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, none, none, none, none) };
    match check(libc::c_long::from(pages)) {
        // A kernel built without large pages.
        Ok(_) | Err(Errno::EINVAL) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// A stack of 8 MiB, and as much memory that may be locked, as far as our rights go: a lowered hard
/// limit is raised with them alone.
pub fn ordinary_limits() -> SysResult<()> {
    const BYTES: u64 = 8 * 1024 * 1024;
    for resource in [libc::RLIMIT_STACK, libc::RLIMIT_MEMLOCK] {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the struct outlives the call.
        check(libc::c_long::from(unsafe {
            libc::getrlimit(resource, &raw mut limit)
        }))?;
        let raised = libc::rlimit {
            rlim_cur: BYTES,
            rlim_max: limit.rlim_max.max(BYTES),
        };
        // SAFETY: the struct outlives the call.
        let set = check(libc::c_long::from(unsafe {
            libc::setrlimit(resource, &raw const raised)
        }));
        match set {
            Ok(_) => continue,
            Err(Errno::EPERM) => limit.rlim_cur = limit.rlim_max.min(BYTES),
            Err(errno) => return Err(errno),
        }
        // SAFETY: the struct outlives the call.
        check(libc::c_long::from(unsafe {
            libc::setrlimit(resource, &raw const limit)
        }))?;
    }
    Ok(())
}

/// Lets the end of a child be waited for: where its signal is ignored, the kernel keeps nothing of
/// a child that ends. waitpid(2).
pub fn keep_ended_children() -> SysResult<()> {
    // SAFETY: SIG_DFL runs no code of ours.
    if unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(Errno::last());
    }
    Ok(())
}

/// A call for which we may lack the rights: then all stays as it was.
fn unforced(value: libc::c_long) -> SysResult<()> {
    match check(value) {
        Ok(_) | Err(Errno::EPERM | Errno::EACCES) => Ok(()),
        Err(errno) => Err(errno),
    }
}
