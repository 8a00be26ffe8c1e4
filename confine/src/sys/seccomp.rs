//! Installing a seccomp filter and answering its notifications. seccomp(2), seccomp_unotify(2).

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;

use super::{SysResult, check, check_fd};
use crate::seccomp::program::SockFilter;

const SECCOMP_SET_MODE_FILTER: libc::c_long = 1;
const FILTER_FLAG_NEW_LISTENER: libc::c_long = 1 << 3;

#[repr(C)]
struct Program {
    len: u16,
    filter: *const SockFilter,
}

/// Installs a filter on the calling (only) thread; with `listen` the notification descriptor is returned.
///
/// Preconditions: no_new_privs is set or the caller has CAP_SYS_ADMIN.
pub fn install(instructions: &[SockFilter], listen: bool) -> SysResult<Option<OwnedFd>> {
    let len = u16::try_from(instructions.len()).map_err(|_long| Errno::EINVAL)?;
    let program = Program {
        len,
        filter: instructions.as_ptr(),
    };
    let flags = if listen { FILTER_FLAG_NEW_LISTENER } else { 0 };
    // SAFETY: the program points to `len` instructions, both outlive the call; the kernel copies them.
    let value = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        )
    };
    if listen {
        check_fd(value).map(Some)
    } else {
        check(value).map(|_zero| None)
    }
}

/// Installs a filter on every thread of the process, or on none. seccomp(2), `TSYNC`.
///
/// Preconditions: as for [`install`]; no thread has a filter of its own.
pub fn install_on_all_threads(instructions: &[SockFilter]) -> SysResult<()> {
    const FILTER_FLAG_TSYNC: libc::c_long = 1;
    let len = u16::try_from(instructions.len()).map_err(|_long| Errno::EINVAL)?;
    let program = Program {
        len,
        filter: instructions.as_ptr(),
    };
    // SAFETY: the program points to `len` instructions, both outlive the call; the kernel copies them.
    let value = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SECCOMP_SET_MODE_FILTER,
            FILTER_FLAG_TSYNC,
            &raw const program,
        )
    };
    // Not an error number but the thread that could not take it.
    match check(value)? {
        0 => Ok(()),
        _thread => Err(Errno::EBUSY),
    }
}

/// The `index`-th filter that a process carries, 0 the one installed first; `None` beyond the
/// last one. ptrace(2).
///
/// Preconditions: the caller has CAP_SYS_ADMIN, carries no filter itself, and traces `pid`, which
/// is stopped.
pub fn carried_filter(pid: i32, index: usize) -> SysResult<Option<Vec<SockFilter>>> {
    const PTRACE_SECCOMP_GET_FILTER: libc::c_long = 0x420c;
    let none: *mut SockFilter = std::ptr::null_mut();
    // SAFETY: with a null buffer the kernel only counts.
    let count = unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            PTRACE_SECCOMP_GET_FILTER,
            pid,
            index,
            none,
        )
    };
    let count = match check(count) {
        Err(Errno::ENOENT) => return Ok(None),
        count => usize::try_from(count?).map_err(|_negative| Errno::EINVAL)?,
    };
    let empty = SockFilter {
        code: 0,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let mut program = vec![empty; count];
    // SAFETY: the buffer has room for the `count` instructions just told; the process is stopped,
    // so that its filters cannot change between the two calls.
    check(unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            PTRACE_SECCOMP_GET_FILTER,
            pid,
            index,
            program.as_mut_ptr(),
        )
    })?;
    Ok(Some(program))
}

/// A system call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub struct Notification {
    /// Names it when answering.
    pub id: u64,
    /// Thread that makes it, as numbered where the listener is.
    pub thread: i32,
    /// System call number.
    pub number: u32,
    /// Its arguments as given; pointers must not be followed.
    pub args: [u64; 6],
}

/// Takes the next waiting system call; `None` if the caller died meanwhile.
pub fn receive(listener: BorrowedFd<'_>) -> SysResult<Option<Notification>> {
    // SAFETY: an all-zero notification is a valid value, and the kernel demands zeroes.
    let mut event: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the ioctl writes one seccomp_notif, which outlives the call.
    let done = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            &raw mut event,
        )
    };
    match check(libc::c_long::from(done)) {
        Ok(_) => Ok(Some(Notification {
            id: event.id,
            thread: event.pid.cast_signed(),
            number: event.data.nr.unsigned_abs(),
            args: event.data.args,
        })),
        Err(Errno::ENOENT | Errno::EINTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Answers a waiting system call with an errno. It is not an error if the caller has died.
pub fn refuse(listener: BorrowedFd<'_>, id: u64, errno: i32) -> SysResult<()> {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: -errno,
        flags: 0,
    };
    // SAFETY: the ioctl reads one seccomp_notif_resp, which outlives the call.
    let done = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw mut answer,
        )
    };
    match check(libc::c_long::from(done)) {
        Ok(_) | Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
