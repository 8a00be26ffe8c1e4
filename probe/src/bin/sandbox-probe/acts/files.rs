//! Files of the host and of pid 1, and what may be written.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;

use super::written::{folder, write_tiny};
use super::{Act, first_byte, open, readable, writable};
use crate::sys::{Arg, call};
use crate::told::{Told, Word, errno_of, word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("shadow_of_1", |_| worked(readable(c"/proc/1/root/etc/shadow"))),
    ("root_of_1", |_| worked(readable(c"/proc/1/root/"))),
    ("cwd_of_1", |_| worked(readable(c"/proc/1/cwd/"))),
    ("mem_of_1", |_| worked(open(c"/proc/1/mem", libc::O_RDWR))),
    ("environ_of_1", |_| first_byte(c"/proc/1/environ")),
    ("maps_of_1", |_| first_byte(c"/proc/1/maps")),
    ("fds_of_1", |_| worked(readable(c"/proc/1/fd"))),
    ("exe_of_1", |_| worked(open(c"/proc/1/exe", libc::O_RDWR))),
    ("shadow", |_| worked(readable(c"/etc/shadow"))),
    ("shadow_by_parents", |_| worked(readable(c"../../../../../../../../../../etc/shadow"))),
    ("shadow_by_self", |_| worked(readable(c"/proc/self/root/etc/shadow"))),
    ("machine_id", |_| first_byte(c"/etc/machine-id")),
    ("cgroup_fs", |_| worked(readable(c"/sys/fs/cgroup"))),
    ("release_agent", |_| release_agent()),
    ("sys_kernel", |_| worked(readable(c"/sys/kernel"))),
    ("cpu_count", |_| cpu_count()),
    ("uevent_helper", |_| worked(writable(c"/sys/kernel/uevent_helper"))),
    ("debug_fs", |_| worked(readable(c"/sys/kernel/debug"))),
    ("boot", |_| worked(readable(c"/boot"))),
    ("host_var", |_| worked(readable(c"/var/lib"))),
    ("host_logs", |_| worked(readable(c"/var/log"))),
    ("docker_socket", |_| found(&[c"/var/run/docker.sock", c"/run/docker.sock", c"/run/containerd/containerd.sock"])),
    ("dev_mem", |_| worked(readable(c"/dev/mem"))),
    ("dev_port", |_| worked(readable(c"/dev/port"))),
    ("dev_kmsg", |_| worked(readable(c"/dev/kmsg"))),
    ("dev_fuse", |_| worked(readable(c"/dev/fuse"))),
    ("dev_tun", |_| worked(readable(c"/dev/net/tun"))),
    ("dev_kvm", |_| worked(readable(c"/dev/kvm"))),
    ("dev_vsock", |_| worked(readable(c"/dev/vsock"))),
    ("dev_loop", |_| worked(readable(c"/dev/loop-control"))),
    ("dev_userfault", |_| worked(readable(c"/dev/userfaultfd"))),
    ("host_terminals", |_| host_terminals()),
    ("own_terminal", |_| worked(open(c"/dev/tty", libc::O_RDONLY | libc::O_NONBLOCK))),
    ("host_run", |_| anything_in("/run", false)),
    ("host_home", |_| operators("/root")),
    ("host_homes", |_| operators("/home")),
    ("own_exe", |_| own_exe()),
    ("write_root", |_| made_in(c"/")),
    ("write_usr", |_| made_in(c"/usr")),
    ("write_etc", |_| made_in(c"/etc")),
    ("write_dev", |_| made_in(c"/dev")),
    ("write_run", |_| made_in(c"/run")),
    ("write_var_tmp", |_| made_in(c"/var/tmp")),
    ("write_home", |_| made_in(c"/home")),
    ("write_opt", |_| made_in(c"/opt")),
    ("write_sh", |_| worked(open(c"/bin/sh", libc::O_WRONLY))),
    ("write_passwd", |_| worked(open(c"/etc/passwd", libc::O_WRONLY))),
    ("change_mode", |_| change_mode()),
    ("link_out", |_| link_out()),
    ("file_capabilities", |_| file_capabilities()),
    ("null_device", |_| worked(open(c"/dev/null", libc::O_RDWR))),
];

fn found(paths: &[&CStr]) -> Told {
    let mut last = Errno::ENOENT;
    for path in paths {
        match open(path, libc::O_PATH) {
            Ok(_) => return Ok(Word::ok()),
            Err(errno) => last = errno,
        }
    }
    Err(last)
}

fn release_agent() -> Told {
    writable(c"/sys/fs/cgroup/release_agent")
        .or_else(|_none| writable(c"/sys/fs/cgroup/memory/release_agent"))
        .map(|_file| Word::ok())
}

/// To its own length, so that nothing is lost where it works. Unlike opening, it is refused for a
/// read-only mount before it is for being executed.
fn own_exe() -> Told {
    let length = fs::metadata("/proc/self/exe").map_err(errno_of)?.len();
    worked(call(
        libc::SYS_truncate,
        &mut [Arg::S(c"/proc/self/exe"), Arg::N(length)],
    ))
}

/// Compares the CPUs that the kernel lets us use with those that are shown.
fn cpu_count() -> Told {
    let mut mask = [0u8; 1024];
    let length = mask.len() as u64;
    let mut arguments = [Arg::N(0), Arg::N(length), Arg::O(&mut mask)];
    call(libc::SYS_sched_getaffinity, &mut arguments)?;
    let usable: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
    let list = fs::read_to_string("/sys/devices/system/cpu/online").map_err(errno_of)?;
    if usable == listed(&list) {
        return word("as shown");
    }
    word(&format!("{usable} where {} are shown", list.trim()))
}

/// How many numbers a list such as `0-2,5` names.
fn listed(list: &str) -> u32 {
    let numbers = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let ranges = list.trim().split(',').filter_map(numbers);
    ranges.fold(0, u32::saturating_add)
}

fn anything_in(folder: &str, files_only: bool) -> Told {
    for entry in fs::read_dir(folder).map_err(errno_of)? {
        let entry = entry.map_err(errno_of)?;
        if !files_only || !entry.file_type().map_err(errno_of)?.is_dir() {
            return Ok(Word::ok());
        }
    }
    Err(Errno::ENOENT)
}

/// Where the root is our own tmpfs, folders in it lead to paths that the operator shows.
fn operators(path: &str) -> Told {
    let device = |path| fs::metadata(path).map(|data| data.dev()).map_err(errno_of);
    let memory = nix::sys::statfs::statfs("/")?.filesystem_type();
    let ours = memory == nix::sys::statfs::TMPFS_MAGIC && device(path)? == device("/")?;
    anything_in(path, ours)
}

/// `none` where there is none but the maker of new ones.
fn host_terminals() -> Told {
    let entries = match fs::read_dir("/dev/pts") {
        Ok(entries) => entries,
        Err(error) => return Err(errno_of(error)),
    };
    let mut refused = None;
    for entry in entries {
        let name = entry.map_err(errno_of)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name == "ptmx" {
            continue;
        }
        let path = CString::new(format!("/dev/pts/{name}")).map_err(|_nul| Errno::EINVAL)?;
        match open(&path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY) {
            Ok(_) => return word(&format!("read {name}")),
            Err(errno) => refused = Some(errno),
        }
    }
    match refused {
        Some(errno) => Err(errno),
        None => word("none"),
    }
}

/// A file without a name, so that nothing is left where it works.
fn made_in(folder: &CStr) -> Told {
    worked(open(folder, libc::O_TMPFILE | libc::O_WRONLY))
}

/// To the mode that it has.
fn change_mode() -> Told {
    let mode = fs::metadata("/bin/sh").map_err(errno_of)?.mode() & 0o7777;
    worked(call(
        libc::SYS_chmod,
        &mut [Arg::S(c"/bin/sh"), Arg::N(mode.into())],
    ))
}

fn link_out() -> Told {
    let name =
        CString::new(format!("{}/probe-link", folder("/tmp"))).map_err(|_nul| Errno::EINVAL)?;
    call(libc::SYS_link, &mut [Arg::S(c"/etc/passwd"), Arg::S(&name)])?;
    worked(call(libc::SYS_unlink, &mut [Arg::S(&name)]))
}

/// `cap_sys_admin` and no other, in the form that names no namespace.
fn file_capabilities() -> Told {
    let path = format!("{}/probe-capable", folder("/tmp"));
    write_tiny(&path)?;
    let name = CString::new(path.as_str()).map_err(|_nul| Errno::EINVAL)?;
    let mut value = [0u8; 20];
    value[..4].copy_from_slice(&0x0200_0001u32.to_le_bytes());
    value[4..8].copy_from_slice(&(1u32 << 21).to_le_bytes());
    let mut arguments = [
        Arg::S(&name),
        Arg::S(c"security.capability"),
        Arg::B(&value),
        Arg::N(20),
        Arg::N(0),
    ];
    let set = call(libc::SYS_setxattr, &mut arguments);
    fs::remove_file(&path).map_err(errno_of)?;
    worked(set)
}
