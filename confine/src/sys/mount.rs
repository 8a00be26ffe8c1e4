//! The descriptor-based mount interface (fsopen, fsmount, open_tree, move_mount,
//! mount_setattr) and pivot_root.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::{SysResult, check, check_fd};

/// Mount attributes, as in mount_setattr(2).
pub const ATTR_RDONLY: u64 = 0x1;
/// No set-uid.
pub const ATTR_NOSUID: u64 = 0x2;
/// No devices.
pub const ATTR_NODEV: u64 = 0x4;
/// No program may be executed from here.
pub const ATTR_NOEXEC: u64 = 0x8;

const FSCONFIG_SET_FLAG: libc::c_long = 0;
const FSCONFIG_SET_STRING: libc::c_long = 1;
const FSCONFIG_CMD_CREATE: libc::c_long = 6;
const FSOPEN_CLOEXEC: libc::c_long = 1;
const FSMOUNT_CLOEXEC: libc::c_long = 1;
const OPEN_TREE_CLONE: libc::c_long = 1;
const AT_RECURSIVE: libc::c_long = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_long = 4;

#[repr(C)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Makes a file system of type `kind` with string options and returns it as a detached mount.
///
/// An option with an empty value is set as a flag.
pub fn make(kind: &CStr, options: &[(&CStr, &CStr)], attributes: u64) -> SysResult<OwnedFd> {
    // SAFETY: the name is NUL-terminated and lives across the call.
    let context =
        check_fd(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), FSOPEN_CLOEXEC) })?;
    for (key, value) in options {
        configure(&context, key, value)?;
    }
    let none: *const libc::c_char = std::ptr::null();
    // SAFETY: the create command takes no key and no value.
    check(unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            FSCONFIG_CMD_CREATE,
            none,
            none,
            0,
        )
    })?;
    // SAFETY: takes a descriptor and integers.
    check_fd(unsafe {
        libc::syscall(
            libc::SYS_fsmount,
            context.as_raw_fd(),
            FSMOUNT_CLOEXEC,
            attributes,
        )
    })
}

fn configure(context: &OwnedFd, key: &CStr, value: &CStr) -> SysResult<()> {
    let (command, value) = if value.is_empty() {
        (FSCONFIG_SET_FLAG, std::ptr::null())
    } else {
        (FSCONFIG_SET_STRING, value.as_ptr())
    };
    // SAFETY: key and value are NUL-terminated (or null for a flag) and live across the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            command,
            key.as_ptr(),
            value,
            0,
        )
    })?;
    Ok(())
}

/// Clones the mount at `path` (below `dir` when relative, `dir` itself when empty) as a detached
/// mount. open_tree(2).
pub fn clone_tree(dir: Option<BorrowedFd<'_>>, path: &CStr, recursive: bool) -> SysResult<OwnedFd> {
    let dir = dir.map_or(libc::AT_FDCWD, |fd| fd.as_raw_fd());
    let mut flags = OPEN_TREE_CLONE | libc::c_long::from(libc::O_CLOEXEC);
    if recursive {
        flags |= AT_RECURSIVE;
    }
    if path.is_empty() {
        flags |= libc::c_long::from(libc::AT_EMPTY_PATH);
    }
    // SAFETY: the path is NUL-terminated and lives across the call.
    check_fd(unsafe { libc::syscall(libc::SYS_open_tree, dir, path.as_ptr(), flags) })
}

/// Sets and clears attributes of a mount (and, if asked, of all below it). mount_setattr(2).
pub fn set_attributes(
    mount: BorrowedFd<'_>,
    set: u64,
    clear: u64,
    recursive: bool,
) -> SysResult<()> {
    let attributes = MountAttr {
        attr_set: set,
        attr_clr: clear,
        propagation: 0,
        userns_fd: 0,
    };
    let mut flags = libc::c_long::from(libc::AT_EMPTY_PATH);
    if recursive {
        flags |= AT_RECURSIVE;
    }
    // SAFETY: the path is an empty C string and the struct has the size told; both outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttr>(),
        )
    })?;
    Ok(())
}

/// Attaches a detached mount at `path` below `dir`. move_mount(2).
pub fn attach(mount: BorrowedFd<'_>, dir: BorrowedFd<'_>, path: &CStr) -> SysResult<()> {
    // SAFETY: both paths are NUL-terminated and live across the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            c"".as_ptr(),
            dir.as_raw_fd(),
            path.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    })?;
    Ok(())
}

/// Attaches a detached mount on top of the directory behind a descriptor. move_mount(2).
pub fn attach_onto(mount: BorrowedFd<'_>, dir: BorrowedFd<'_>) -> SysResult<()> {
    const MOVE_MOUNT_T_EMPTY_PATH: libc::c_long = 0x40;
    // SAFETY: both paths are empty C strings, constant.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            c"".as_ptr(),
            dir.as_raw_fd(),
            c"".as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH,
        )
    })?;
    Ok(())
}

/// Makes the current directory the root and stacks the old root on top of it. pivot_root(2).
pub fn pivot_here() -> SysResult<()> {
    // SAFETY: both paths are constant C strings.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) })?;
    Ok(())
}
