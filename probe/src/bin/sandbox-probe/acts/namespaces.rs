//! New and other namespaces, and the calls that change the file tree.

use std::ffi::CStr;

use nix::errno::Errno;

use super::{Act, readable};
use crate::sys::{Arg, HERE, MINUS_ONE, call, exit_now};
use crate::told::{Told, worked};

const NEW_USER: i32 = libc::CLONE_NEWUSER;
const NEW_MOUNT: i32 = libc::CLONE_NEWNS;
const NEW_NET: i32 = libc::CLONE_NEWNET;
const NEW_PID: i32 = libc::CLONE_NEWPID;

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("unshare_user", |_| unshare(NEW_USER)),
    ("unshare_mount", |_| unshare(NEW_MOUNT)),
    ("unshare_net", |_| unshare(NEW_NET)),
    ("unshare_pid", |_| unshare(NEW_PID)),
    ("clone_user", |_| clone(NEW_USER)),
    ("clone_mount", |_| clone(NEW_MOUNT)),
    ("clone_net", |_| clone(NEW_NET)),
    ("clone_three", |_| clone_three()),
    ("enter_ns", |_| enter_ns()),
    ("mount_proc", |_| mount(c"proc", c"proc")),
    ("mount_tmpfs", |_| mount(c"none", c"tmpfs")),
    ("unmount", |_| unmount()),
    ("fs_open", |_| worked(call(libc::SYS_fsopen, &mut [Arg::S(c"tmpfs"), Arg::N(0)]))),
    ("tree_open", |_| worked(call(libc::SYS_open_tree, &mut [Arg::N(HERE), Arg::S(c"/"), Arg::N(1)]))),
    ("mount_move", |_| nothing(libc::SYS_move_mount)),
    ("mount_attr", |_| nothing(libc::SYS_mount_setattr)),
    ("pivot", |_| worked(call(libc::SYS_pivot_root, &mut [Arg::S(c"/"), Arg::S(c"/")]))),
    ("change_root", |_| worked(call(libc::SYS_chroot, &mut [Arg::S(c"/")]))),
    ("make_block", |_| node(c"/tmp/probe-block", libc::S_IFBLK, 0xfe00)),
    ("make_char", |_| node(c"/tmp/probe-char", libc::S_IFCHR, 0x101)),
    ("by_handle", |_| worked(call(libc::SYS_open_by_handle_at, &mut [Arg::N(MINUS_ONE)]))),
    ("to_handle", |_| to_handle()),
];

fn bits(flags: i32) -> u64 {
    u64::from(flags.cast_unsigned())
}

fn unshare(flags: i32) -> Told {
    worked(call(libc::SYS_unshare, &mut [Arg::N(bits(flags))]))
}

fn clone(flags: i32) -> Told {
    let flags = bits(flags) | bits(libc::SIGCHLD);
    match call(libc::SYS_clone, &mut [Arg::N(flags)])? {
        0 => exit_now(0),
        pid => worked(Ok::<u64, Errno>(pid)),
    }
}

fn clone_three() -> Told {
    // `exit_signal` is the fifth word.
    let mut words = [0u8; 64];
    let signal = u64::from(libc::SIGCHLD.unsigned_abs()).to_ne_bytes();
    words[32..40].copy_from_slice(&signal);
    match call(libc::SYS_clone3, &mut [Arg::B(&words), Arg::N(64)])? {
        0 => exit_now(0),
        pid => worked(Ok::<u64, Errno>(pid)),
    }
}

fn enter_ns() -> Told {
    let own = readable(c"/proc/self/ns/uts")?;
    worked(call(libc::SYS_setns, &mut [Arg::N(own), Arg::N(0)]))
}

fn mount(source: &CStr, kind: &CStr) -> Told {
    let mut arguments = [
        Arg::S(source),
        Arg::S(c"/tmp"),
        Arg::S(kind),
        Arg::N(0),
        Arg::N(0),
    ];
    worked(call(libc::SYS_mount, &mut arguments))
}

/// What was just mounted, so that nothing of the host's is unmounted where it works.
fn unmount() -> Told {
    let mounted = mount(c"none", c"tmpfs");
    let detach = bits(libc::MNT_DETACH);
    let gone = call(libc::SYS_umount2, &mut [Arg::S(c"/tmp"), Arg::N(detach)]);
    worked(gone).and(mounted)
}

/// With arguments that name nothing.
fn nothing(number: libc::c_long) -> Told {
    let mut arguments = [
        Arg::N(MINUS_ONE),
        Arg::S(c""),
        Arg::N(MINUS_ONE),
        Arg::S(c""),
        Arg::N(0),
    ];
    worked(call(number, &mut arguments))
}

fn node(path: &CStr, kind: u32, device: u64) -> Told {
    let mode = u64::from(kind) | 0o600;
    call(
        libc::SYS_mknod,
        &mut [Arg::S(path), Arg::N(mode), Arg::N(device)],
    )?;
    worked(call(libc::SYS_unlink, &mut [Arg::S(path)]))
}

fn to_handle() -> Told {
    let mut handle = [0u8; 136];
    handle[..4].copy_from_slice(&128u32.to_ne_bytes());
    let mut id = [0u8; 4];
    let mut arguments = [
        Arg::N(HERE),
        Arg::S(c"/"),
        Arg::O(&mut handle),
        Arg::O(&mut id),
        Arg::N(0),
    ];
    worked(call(libc::SYS_name_to_handle_at, &mut arguments))
}
