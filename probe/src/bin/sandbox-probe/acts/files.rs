//! Files of the host, of pid 1 and of the kernel.

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;
use nix::sys::statvfs::{FsFlags, statvfs};

use super::{Act, Origin, open, read, readable, writable};
use crate::sys::{Arg, call};
use crate::told::{Told, Word, errno_of, word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("shadow_of_1", |_| worked(readable(c"/proc/1/root/etc/shadow"))),
    ("shadow", |_| worked(readable(c"/etc/shadow"))),
    ("root_of_1", |_| worked(readable(c"/proc/1/root/"))),
    ("mem_of_1", |_| worked(open(c"/proc/1/mem", libc::O_RDWR))),
    ("environ_of_1", |_| first_byte(c"/proc/1/environ")),
    ("maps_of_1", |_| first_byte(c"/proc/1/maps")),
    ("fds_of_1", |_| worked(readable(c"/proc/1/fd"))),
    ("exe_of_1", |_| worked(open(c"/proc/1/exe", libc::O_RDWR))),
    ("own_exe", own_exe),
    ("core_pattern", |_| worked(writable(c"/proc/sys/kernel/core_pattern"))),
    ("modprobe", |_| worked(writable(c"/proc/sys/kernel/modprobe"))),
    ("sysrq", |_| worked(writable(c"/proc/sysrq-trigger"))),
    ("kcore", |_| worked(readable(c"/proc/kcore"))),
    ("kallsyms", kallsyms),
    ("keys", |_| first_byte(c"/proc/keys")),
    ("cgroup_fs", |_| worked(readable(c"/sys/fs/cgroup"))),
    ("sys_kernel", |_| worked(readable(c"/sys/kernel"))),
    ("cpu_count", |_| cpu_count()),
    ("dev_mem", |_| worked(readable(c"/dev/mem"))),
    ("dev_kmsg", |_| worked(readable(c"/dev/kmsg"))),
    ("dev_fuse", |_| worked(readable(c"/dev/fuse"))),
    ("dev_tun", |_| worked(readable(c"/dev/net/tun"))),
    ("dev_kvm", |_| worked(readable(c"/dev/kvm"))),
    ("host_run", |_| anything_in("/run", false)),
    ("host_home", host_home),
    ("write_root", |_| made_in(c"/")),
    ("write_usr", |_| made_in(c"/usr")),
    ("write_etc", |_| made_in(c"/etc")),
    ("write_sh", |_| worked(open(c"/bin/sh", libc::O_WRONLY))),
    ("write_passwd", |_| worked(open(c"/etc/passwd", libc::O_WRONLY))),
    ("remount_usr", remount_usr),
    ("set_id_usr", |_| flags_of("/usr")),
    ("set_id_mounts", |_| flags_of("/workspace").or_else(|_none| flags_of("/"))),
];

/// Whether there is anything to read; an empty file is no secret.
fn first_byte(path: &CStr) -> Told {
    match read(readable(path)?, &mut [0])? {
        0 => Err(Errno::ENODATA),
        _ => Ok(Word::ok()),
    }
}

/// To its own length, so that nothing is lost where it works. Unlike opening, it is refused for a
/// read-only mount before it is for being executed.
fn own_exe(_: &Origin) -> Told {
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

/// Names without addresses are no secret.
fn kallsyms(_: &Origin) -> Told {
    let mut bytes = [0u8; 4096];
    let count = read(readable(c"/proc/kallsyms")?, &mut bytes)?;
    let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
    let told = text.lines().any(|line| {
        let number = line.split(' ').next().unwrap_or_default();
        number.bytes().any(|digit| digit != b'0')
    });
    if told {
        Ok(Word::ok())
    } else {
        Err(Errno::ENODATA)
    }
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
fn host_home(_: &Origin) -> Told {
    let device = |path| fs::metadata(path).map(|data| data.dev()).map_err(errno_of);
    let ours = is_memory("/")? && device("/root")? == device("/")?;
    anything_in("/root", ours)
}

fn is_memory(path: &str) -> Result<bool, Errno> {
    let found = nix::sys::statfs::statfs(path)?;
    Ok(found.filesystem_type() == nix::sys::statfs::TMPFS_MAGIC)
}

/// A file without a name, so that nothing is left where it works.
fn made_in(folder: &CStr) -> Told {
    worked(open(folder, libc::O_TMPFILE | libc::O_WRONLY))
}

fn remount_usr(_: &Origin) -> Told {
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

/// The flags of a mount that matter, in words.
fn flags_of(path: &str) -> Told {
    let flags = statvfs(path)?.flags();
    let words: Vec<&str> = [
        (FsFlags::ST_NOSUID, "nosuid"),
        (FsFlags::ST_NODEV, "nodev"),
        (FsFlags::ST_RDONLY, "ro"),
    ]
    .into_iter()
    .filter_map(|(flag, name)| flags.contains(flag).then_some(name))
    .collect();
    word(&words.join(","))
}
