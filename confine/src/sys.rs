//! Every `unsafe` of this crate: thin wrappers of system calls that no safe
//! wrapper covers. They add no policy; each returns the kernel's errno.
//!
//! Callers are the steps of the sequence, `sandbox-init` and the launcher.

#![expect(
    unsafe_code,
    reason = "raw system calls have no safe form; this file and its children are the one place for them"
)]

pub mod inherited;
pub(crate) mod message;
pub mod mount;
pub mod process;
pub mod seccomp;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;

/// Result of one system call.
pub type SysResult<T> = Result<T, Errno>;

/// Turns a raw return value into a result.
pub(crate) fn check(value: libc::c_long) -> SysResult<libc::c_long> {
    if value == -1 {
        Err(Errno::last())
    } else {
        Ok(value)
    }
}

/// Turns a raw return value that is a new descriptor into its owner.
pub(crate) fn check_fd(value: libc::c_long) -> SysResult<OwnedFd> {
    let raw = check(value)?;
    let fd = RawFd::try_from(raw).map_err(|_overflow| Errno::EBADF)?;
    // SAFETY: the call just returned this descriptor, so it is open and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Takes ownership of a descriptor that was received over a socket or inherited at exec.
///
/// Preconditions: `fd` is open and no other owner exists in this process.
pub fn adopt_fd(fd: RawFd) -> SysResult<OwnedFd> {
    // SAFETY: F_GETFD only inspects the descriptor table; any number is allowed.
    check(libc::c_long::from(unsafe {
        libc::fcntl(fd, libc::F_GETFD)
    }))?;
    // SAFETY: just seen open; sole ownership is this function's stated precondition.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes (or marks close-on-exec) every descriptor from `first` up. close_range(2).
pub fn close_range(first: u32, cloexec_only: bool) -> SysResult<()> {
    let flags: libc::c_uint = if cloexec_only {
        libc::CLOSE_RANGE_CLOEXEC
    } else {
        0
    };
    // SAFETY: takes integers only. Callers own no Rust descriptor object from `first` up that
    // they use afterwards: the forker's child and a command's child exec right after it.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) })?;
    Ok(())
}

/// Duplicates `from` onto exactly `to`, without close-on-exec. dup2(2).
pub fn dup_onto(from: BorrowedFd<'_>, to: RawFd) -> SysResult<()> {
    // SAFETY: takes integers only; `to` is 0..=15, which callers hold no other Rust owner for.
    check(libc::c_long::from(unsafe {
        libc::dup2(from.as_raw_fd(), to)
    }))?;
    if from.as_raw_fd() == to {
        // dup2 onto itself is a no-op and would leave close-on-exec set.
        // SAFETY: takes integers only.
        check(libc::c_long::from(unsafe {
            libc::fcntl(to, libc::F_SETFD, 0)
        }))?;
    }
    Ok(())
}

/// Joins a new anonymous session keyring, leaving the host's behind. keyctl(2).
pub fn new_session_keyring() -> SysResult<()> {
    const KEYCTL_JOIN_SESSION_KEYRING: libc::c_long = 1;
    let anonymous: *const libc::c_char = std::ptr::null();
    // SAFETY: a null name is documented to mean an anonymous keyring.
    check(unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, anonymous) })?;
    Ok(())
}

/// Serial number of the session keyring of this process; never 0. keyctl(2).
pub fn session_keyring() -> SysResult<i32> {
    const KEYCTL_GET_KEYRING_ID: libc::c_long = 0;
    const KEY_SPEC_SESSION_KEYRING: libc::c_long = -3;
    // SAFETY: takes integers only; 0 asks not to make one.
    let serial = check(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            KEYCTL_GET_KEYRING_ID,
            KEY_SPEC_SESSION_KEYRING,
            0 as libc::c_long,
        )
    })?;
    i32::try_from(serial).map_err(|_wide| Errno::ERANGE)
}

/// Brings the loopback interface of the current network namespace up. netdevice(7).
pub fn loopback_up() -> SysResult<()> {
    // SAFETY: takes integers only.
    let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    let socket = check_fd(libc::c_long::from(raw))?;
    // SAFETY: an all-zero ifreq is a valid value of this plain C struct.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().zip(b"lo\0") {
        *slot = libc::c_char::from_ne_bytes([*byte]);
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).map_err(|_wide| Errno::EINVAL)?;
    // SAFETY: SIOCSIFFLAGS reads one ifreq, which lives across the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    check(libc::c_long::from(done))?;
    Ok(())
}

/// Highest capability number this kernel knows, by asking for each in turn. prctl(2).
pub fn last_capability() -> u32 {
    // Asked once: pid 1 asks before it forks, and its children inherit the answer.
    static LAST: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *LAST.get_or_init(probe_last_capability)
}

fn probe_last_capability() -> u32 {
    // SAFETY: takes integers only.
    let known = |cap: u32| unsafe { libc::prctl(libc::PR_CAPBSET_READ, cap, 0, 0, 0) } >= 0;
    (0..64).take_while(|cap| known(*cap)).last().unwrap_or(0)
}

/// ABI level of Landlock, 0 if the kernel has none. landlock_create_ruleset(2).
pub fn landlock_abi() -> u32 {
    const LANDLOCK_CREATE_RULESET_VERSION: libc::c_long = 1;
    let none: *const libc::c_void = std::ptr::null();
    // SAFETY: a null attribute with size 0 and the version flag is the documented query form.
    let level = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            none,
            0,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(level).unwrap_or(0)
}

/// Converts errno to `io::Error` for callers that speak std.
pub fn io_error(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno as i32)
}
