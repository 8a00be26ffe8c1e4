//! Namespaces: the own ones, new and other ones, and the calls that change the file tree.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;

use super::{Act, readable};
use crate::sys::{Arg, HERE, MINUS_ONE, call, exit_now};
use crate::told::{Told, errno_of, word, worked};

const NEW_USER: i32 = libc::CLONE_NEWUSER;
const NEW_MOUNT: i32 = libc::CLONE_NEWNS;
const NEW_NET: i32 = libc::CLONE_NEWNET;
const NEW_PID: i32 = libc::CLONE_NEWPID;

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("own_user_namespace", |_| own("user", 0xefff_fffd)),
    ("own_mount_namespace", |_| own("mnt", 0xefff_fff8)),
    ("own_pid_namespace", |_| own("pid", 0xefff_fffc)),
    ("own_net_namespace", |_| own("net", 0xefff_fff9)),
    ("own_ipc_namespace", |_| own("ipc", 0xefff_ffff)),
    ("own_uts_namespace", |_| own("uts", 0xefff_fffe)),
    ("own_cgroup_namespace", |_| own("cgroup", 0xefff_fffb)),
    ("id_map", |_| id_map()),
    ("host_name", |_| word(&node_name()?)),
    ("unshare_user", |_| unshare(NEW_USER)),
    ("unshare_mount", |_| unshare(NEW_MOUNT)),
    ("unshare_net", |_| unshare(NEW_NET)),
    ("unshare_pid", |_| unshare(NEW_PID)),
    ("clone_user", |_| clone(NEW_USER)),
    ("clone_mount", |_| clone(NEW_MOUNT)),
    ("clone_net", |_| clone(NEW_NET)),
    ("unshare_ipc", |_| unshare(libc::CLONE_NEWIPC)),
    ("unshare_uts", |_| unshare(libc::CLONE_NEWUTS)),
    ("unshare_cgroup", |_| unshare(libc::CLONE_NEWCGROUP)),
    ("unshare_time", |_| unshare(0x80)),
    ("clone_pid", |_| clone(NEW_PID)),
    ("clone_ipc", |_| clone(libc::CLONE_NEWIPC)),
    ("clone_uts", |_| clone(libc::CLONE_NEWUTS)),
    ("clone_cgroup", |_| clone(libc::CLONE_NEWCGROUP)),
    ("clone_high_bits", |_| clone_bits(1 << 40 | bits(NEW_USER))),
    ("plain_clone", |_| clone(0)),
    ("clone_three", |_| clone_three()),
    ("enter_ns", |_| enter_ns()),
    ("mount_proc", |_| mount(c"proc", c"proc")),
    ("mount_tmpfs", |_| mount(c"none", c"tmpfs")),
    ("unmount", |_| unmount()),
    ("fs_open", |_| worked(call(libc::SYS_fsopen, &mut [Arg::S(c"tmpfs"), Arg::N(0)]))),
    ("fs_pick", |_| worked(call(libc::SYS_fspick, &mut [Arg::N(HERE), Arg::S(c"/"), Arg::N(0)]))),
    ("fs_config", |_| nothing(libc::SYS_fsconfig)),
    ("fs_mount", |_| nothing(libc::SYS_fsmount)),
    ("mount_status", |_| worked(call(STATMOUNT, &mut []))),
    ("mount_list", |_| worked(call(LISTMOUNT, &mut []))),
    ("mount_cgroup", |_| mount(c"none", c"cgroup2")),
    ("bind_over", |_| bind_over()),
    ("remount_usr", |_| remount_usr()),
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

const STATMOUNT: libc::c_long = 457;
const LISTMOUNT: libc::c_long = 458;

/// `host` where it is the first namespace of its kind, whose number is the same on every kernel
/// that gives it one.
fn own(kind: &str, first: u64) -> Told {
    let found = fs::metadata(format!("/proc/self/ns/{kind}")).map_err(errno_of)?;
    word(if found.ino() == first { "host" } else { "own" })
}

/// The id map in one word. Ranges of a lease start far above the ids of people.
fn id_map() -> Told {
    const LEASES_FROM: u64 = 0x1000_0000;
    let text = fs::read_to_string("/proc/self/uid_map").map_err(errno_of)?;
    let lines: Vec<Vec<u64>> = text
        .lines()
        .map(|line| {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect()
        })
        .collect();
    match lines
        .iter()
        .map(Vec::as_slice)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [[_, _, 1]] => word("one"),
        [[0, outer, 65_536]] if *outer >= LEASES_FROM => word("leased"),
        _ => word(&format!(
            "maps {}",
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        )),
    }
}

/// The second field of `struct utsname`, of 65 bytes each.
fn node_name() -> Result<String, Errno> {
    let mut names = [0u8; 390];
    call(libc::SYS_uname, &mut [Arg::O(&mut names)])?;
    let name = names.get(65..130).unwrap_or_default();
    let end = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    Ok(String::from_utf8_lossy(name.get(..end).unwrap_or_default()).into_owned())
}

fn bind_over() -> Told {
    let bind = Arg::N(libc::MS_BIND);
    let mut arguments = [Arg::S(c"/usr"), Arg::S(c"/tmp"), Arg::N(0), bind, Arg::N(0)];
    worked(call(libc::SYS_mount, &mut arguments))
}

fn remount_usr() -> Told {
    let flags = libc::MS_REMOUNT | libc::MS_BIND;
    let mut arguments = [
        Arg::N(0),
        Arg::S(c"/usr"),
        Arg::N(0),
        Arg::N(flags),
        Arg::N(0),
    ];
    worked(call(libc::SYS_mount, &mut arguments))
}

fn bits(flags: i32) -> u64 {
    u64::from(flags.cast_unsigned())
}

fn unshare(flags: i32) -> Told {
    worked(call(libc::SYS_unshare, &mut [Arg::N(bits(flags))]))
}

fn clone(flags: i32) -> Told {
    clone_bits(bits(flags) | bits(libc::SIGCHLD))
}

fn clone_bits(flags: u64) -> Told {
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
