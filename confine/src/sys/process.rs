//! Making, replacing and restricting processes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;

use super::{SysResult, adopt_fd, check};

/// Which side of a fork we are on.
#[derive(Debug)]
pub enum Fork {
    /// The new process.
    Child,
    /// The old one, with the child's pid and, when asked for, its pidfd.
    Parent {
        /// Pid of the child in the caller's pid namespace.
        pid: i32,
        /// Its pidfd.
        pidfd: OwnedFd,
    },
}

/// Flags of clone3(2) that the launcher uses.
#[derive(Debug, Clone, Copy, Default)]
pub struct CloneFlags(pub u64);

/// The child becomes a child of the caller's own parent.
pub const CLONE_PARENT: u64 = 0x8000;
const CLONE_PIDFD: u64 = 0x1000;
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks with new namespaces, a pidfd, default signal handlers and, if given, straight into a v2 cgroup.
///
/// Preconditions: the caller has one thread, so that the child may run ordinary code.
pub fn clone_process(flags: CloneFlags, cgroup: Option<BorrowedFd<'_>>) -> SysResult<Fork> {
    let mut pidfd: libc::c_int = -1;
    let mut args = CloneArgs {
        flags: flags.0 | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
        pidfd: (&raw mut pidfd) as usize as u64,
        exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
        ..CloneArgs::default()
    };
    if flags.0 & CLONE_PARENT != 0 {
        // The kernel takes the signal from the caller's own creation and refuses another.
        args.exit_signal = 0;
    }
    if let Some(fd) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = u64::from(fd.as_raw_fd().unsigned_abs());
    }
    // SAFETY: the struct has the size told and outlives the call; `pidfd` outlives it too. No new
    // stack is given and CLONE_VM is not set, so the child continues here on a copy of the memory.
    let value = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<CloneArgs>()) };
    let cloned = match check(value) {
        // Filters of container engines cannot look into clone3's arguments and refuse all of it.
        Err(Errno::ENOSYS) if cgroup.is_none() => clone_by_registers(flags, &mut pidfd),
        cloned => cloned,
    };
    match cloned? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent {
            pid: i32::try_from(pid).map_err(|_wide| Errno::ERANGE)?,
            pidfd: adopt_fd(pidfd)?,
        }),
    }
}

/// The same through clone(2), which every kernel and filter knows. Handlers of signals stay, which
/// matters only until the next exec.
fn clone_by_registers(flags: CloneFlags, pidfd: &mut libc::c_int) -> SysResult<libc::c_long> {
    let mut bits = flags.0 | CLONE_PIDFD;
    if flags.0 & CLONE_PARENT == 0 {
        bits |= u64::from(libc::SIGCHLD.unsigned_abs());
    }
    // SAFETY: as above; the kernel writes the pidfd where the third argument says.
    check(unsafe {
        libc::syscall(
            libc::SYS_clone,
            bits,
            std::ptr::null_mut::<libc::c_void>(),
            std::ptr::from_mut(pidfd),
            std::ptr::null_mut::<libc::c_int>(),
            0 as libc::c_long,
        )
    })
}

/// Replaces the process by the program behind `program`, an open descriptor. execveat(2).
///
/// Returns only on failure.
pub fn exec_fd(program: BorrowedFd<'_>, argv: &[CString], env: &[CString]) -> Errno {
    let argv = pointers(argv);
    let env = pointers(env);
    // SAFETY: both arrays are null-terminated, point to C strings that outlive the call, and the
    // empty path with AT_EMPTY_PATH names the descriptor itself.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            argv.as_ptr(),
            env.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    debug_assert_eq!(failed, -1, "exec returns only on failure");
    Errno::last()
}

/// Replaces the process by the program at `path`. Returns only on failure. execve(2).
pub fn exec_path(path: &CStr, argv: &[CString], env: &[CString]) -> Errno {
    let argv = pointers(argv);
    let env = pointers(env);
    // SAFETY: both arrays are null-terminated and point to C strings that outlive the call.
    let failed = unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    debug_assert_eq!(failed, -1, "exec returns only on failure");
    Errno::last()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|s| s.as_ptr())
        .chain(std::iter::once(std::ptr::null()))
        .collect()
}

/// Ends the process at once, without running any handler of the copied memory image.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit has no preconditions and does not return.
    unsafe { libc::_exit(code) }
}

/// A prctl(2) that takes up to two integers.
fn prctl(option: libc::c_int, arg2: libc::c_ulong, arg3: libc::c_ulong) -> SysResult<()> {
    // SAFETY: every option used in this file takes integers only; unused ones must be 0.
    let value = unsafe { libc::prctl(option, arg2, arg3, 0 as libc::c_ulong, 0 as libc::c_ulong) };
    check(libc::c_long::from(value))?;
    Ok(())
}

/// Removes a capability from the bounding set for good.
pub fn drop_bounding(capability: u32) -> SysResult<()> {
    prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0)
}

/// Empties the ambient set.
pub fn clear_ambient() -> SysResult<()> {
    const CLEAR_ALL: libc::c_ulong = 4;
    prctl(libc::PR_CAP_AMBIENT, CLEAR_ALL, 0)
}

/// Sets the securebits of the calling thread. capabilities(7).
pub fn set_securebits(bits: u32) -> SysResult<()> {
    prctl(libc::PR_SET_SECUREBITS, libc::c_ulong::from(bits), 0)
}

/// Sets no_new_privs, which nothing can clear.
pub fn set_no_new_privs() -> SysResult<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0)
}

/// Sets whether others of the same uid may trace this process or open its /proc files.
pub fn set_dumpable(dumpable: bool) -> SysResult<()> {
    prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(dumpable), 0)
}

/// Has the kernel send SIGKILL when the thread that forked us ends.
pub fn die_with_parent() -> SysResult<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0)
}

/// Adopts orphans of the process tree below.
pub fn become_subreaper() -> SysResult<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0)
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Sets effective and permitted to exactly `mask` (bit n = capability n), inheritable to nothing.
pub fn set_capabilities(mask: u64) -> SysResult<()> {
    let [low, high] = halves(mask)?;
    set_capability_sets(&[low, high].map(|half| CapabilityData {
        effective: half,
        permitted: half,
        inheritable: 0,
    }))
}

/// Makes the capabilities that pid 1 keeps inheritable, so that an exec leaves them in that set.
#[cfg(feature = "mutation")]
pub fn keep_capabilities_inheritable() -> SysResult<()> {
    // KILL, SETGID, SETUID, SETPCAP.
    const KEPT: u32 = 0b1_1110_0000;
    let low = CapabilityData {
        effective: KEPT,
        permitted: KEPT,
        inheritable: KEPT,
    };
    set_capability_sets(&[low, CapabilityData::default()])
}

fn halves(mask: u64) -> SysResult<[u32; 2]> {
    let low = u32::try_from(mask & u64::from(u32::MAX)).map_err(|_wide| Errno::EINVAL)?;
    let high = u32::try_from(mask >> 32).map_err(|_wide| Errno::EINVAL)?;
    Ok([low, high])
}

fn set_capability_sets(data: &[CapabilityData; 2]) -> SysResult<()> {
    const LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;
    let header = CapabilityHeader {
        version: LINUX_CAPABILITY_VERSION_3,
        pid: 0,
    };
    // SAFETY: version 3 reads exactly one header and two data structs, which outlive the call.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) })?;
    Ok(())
}

/// The permitted capabilities of the calling thread (bit n = capability n). capget(2).
pub fn permitted_capabilities() -> SysResult<u64> {
    const LINUX_CAPABILITY_VERSION_3: u32 = 0x2008_0522;
    let mut header = CapabilityHeader {
        version: LINUX_CAPABILITY_VERSION_3,
        pid: 0,
    };
    let mut data = [CapabilityData::default(); 2];
    // SAFETY: version 3 reads one header and writes exactly two data structs, which outlive the call.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) })?;
    let [low, high] = data.map(|half| u64::from(half.permitted));
    Ok(low | high << 32)
}

/// Sets one resource limit, soft = hard, to `value` or to the present hard limit if that is lower.
pub fn lower_limit(resource: libc::__rlimit_resource_t, value: u64) -> SysResult<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct outlives the call.
    check(libc::c_long::from(unsafe {
        libc::getrlimit(resource, &raw mut limit)
    }))?;
    limit.rlim_max = limit.rlim_max.min(value);
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the struct outlives the call.
    check(libc::c_long::from(unsafe {
        libc::setrlimit(resource, &raw const limit)
    }))?;
    Ok(())
}

/// Gives every signal its default action back: "ignore" would pass to the payload. Our own runtime
/// ignores SIGPIPE; where a filter around us refuses clone3, and with it `CLONE_CLEAR_SIGHAND`,
/// whoever started the daemon may have left others. signal(7).
pub fn default_signals() -> SysResult<()> {
    let fixed = [libc::SIGKILL, libc::SIGSTOP];
    // The C library keeps the two below its first real-time signal to itself.
    let own = 32..libc::SIGRTMIN();
    for signal in 1..=libc::SIGRTMAX() {
        if fixed.contains(&signal) || own.contains(&signal) {
            continue;
        }
        // SAFETY: SIG_DFL runs no code of ours.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(Errno::last());
        }
    }
    Ok(())
}

/// Drops all supplementary groups, then sets all group and user ids.
pub fn set_identity(uid: u32, gid: u32, drop_groups: bool) -> SysResult<()> {
    if drop_groups {
        let none: *const libc::gid_t = std::ptr::null();
        // SAFETY: a count of 0 reads no memory.
        check(libc::c_long::from(unsafe { libc::setgroups(0, none) }))?;
    }
    // SAFETY: takes integers only.
    check(libc::c_long::from(unsafe {
        libc::setresgid(gid, gid, gid)
    }))?;
    // SAFETY: takes integers only.
    check(libc::c_long::from(unsafe {
        libc::setresuid(uid, uid, uid)
    }))?;
    Ok(())
}

/// Sends SIGKILL to process `pid` if `thread` is one of its threads, and says whether it is. tgkill(2).
pub fn kill_owner(pid: i32, thread: i32) -> SysResult<bool> {
    // SAFETY: takes integers only.
    let done = unsafe { libc::syscall(libc::SYS_tgkill, pid, thread, libc::SIGKILL) };
    match check(done) {
        Ok(_) => Ok(true),
        Err(Errno::ESRCH) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// A descriptor of a process, to wait for it or signal it without a pid being reused. pidfd_open(2).
pub fn open_pidfd(pid: i32) -> SysResult<OwnedFd> {
    // SAFETY: takes integers only.
    super::check_fd(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}

/// Sends SIGKILL to the process behind a pidfd; one that is gone already is fine. pidfd_send_signal(2).
pub fn kill_pidfd(pidfd: BorrowedFd<'_>) -> SysResult<()> {
    let none: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: a null info is documented to mean the usual one.
    let done = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            libc::SIGKILL,
            none,
            0,
        )
    };
    match check(done) {
        Ok(_) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Waits for a child by pidfd without blocking: `None` while it runs, else (exit code or -signal, core dumped).
pub fn wait_pidfd(pidfd: BorrowedFd<'_>) -> SysResult<Option<(i32, bool)>> {
    // SAFETY: an all-zero siginfo_t is a valid value of this plain C struct.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let id = libc::id_t::try_from(pidfd.as_raw_fd()).map_err(|_negative| Errno::EBADF)?;
    let options = libc::WEXITED | libc::WNOHANG;
    // SAFETY: `info` outlives the call.
    let done = unsafe { libc::waitid(libc::P_PIDFD, id, &raw mut info, options) };
    check(libc::c_long::from(done))?;
    // SAFETY: waitid filled the SIGCHLD part of the union, or left all zero (pid 0: still running).
    if unsafe { info.si_pid() } == 0 {
        return Ok(None);
    }
    // SAFETY: as above; the pid says the SIGCHLD part is filled.
    let status = unsafe { info.si_status() };
    Ok(Some(match info.si_code {
        libc::CLD_EXITED => (status, false),
        libc::CLD_DUMPED => (-status, true),
        _ => (-status, false),
    }))
}
