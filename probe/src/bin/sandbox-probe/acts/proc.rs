//! The kernel's own files: what `/proc` tells and takes, apart from the processes in it.

use std::ffi::CStr;
use std::fs;
use std::path::Path;

use nix::errno::Errno;
use probe::lists::PROC_NAMES;

use super::{Act, Origin, first_byte, read, readable, writable};
use crate::told::{Told, Word, errno_of, word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("core_pattern", |_| worked(writable(c"/proc/sys/kernel/core_pattern"))),
    ("modprobe", |_| worked(writable(c"/proc/sys/kernel/modprobe"))),
    ("binfmt", |_| worked(writable(c"/proc/sys/fs/binfmt_misc/register"))),
    ("namespace_limits", |_| worked(writable(c"/proc/sys/user/max_user_namespaces"))),
    ("randomize", |_| worked(writable(c"/proc/sys/kernel/randomize_va_space"))),
    ("panic_on_oops", |_| worked(writable(c"/proc/sys/kernel/panic_on_oops"))),
    ("sysrq", |_| worked(writable(c"/proc/sysrq-trigger"))),
    ("own_comm", |_| worked(writable(c"/proc/self/comm"))),
    ("proc_listing", |_| listing()),
    ("kcore", |_| first_byte(c"/proc/kcore")),
    ("kallsyms", |_| addresses(c"/proc/kallsyms")),
    ("kmsg", |_| worked(readable(c"/proc/kmsg")).and_then(|_| first_byte(c"/proc/kmsg"))),
    ("keys", |_| first_byte(c"/proc/keys")),
    ("key_users", |_| first_byte(c"/proc/key-users")),
    ("timer_list", |_| first_byte(c"/proc/timer_list")),
    ("sched_debug", |_| first_byte(c"/proc/sched_debug")),
    ("iomem", |_| addresses(c"/proc/iomem")),
    ("interrupts", |_| first_byte(c"/proc/interrupts")),
    ("kernel_command_line", |_| first_byte(c"/proc/cmdline")),
    ("modules", |_| first_byte(c"/proc/modules")),
    ("slabs", |_| first_byte(c"/proc/slabinfo")),
    ("partitions", |_| first_byte(c"/proc/partitions")),
    ("page_flags", |_| first_byte(c"/proc/kpageflags")),
    ("locks", |_| first_byte(c"/proc/locks")),
    ("abstract_sockets", |_| abstract_sockets()),
    ("listeners", |_| listeners()),
    ("other_processes", other_processes),
    ("shared_memory_files", |_| shared_memory()),
];

/// Names without addresses are no secret.
fn addresses(path: &CStr) -> Told {
    let mut bytes = [0u8; 4096];
    let count = read(readable(path)?, &mut bytes)?;
    let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
    let told = text.lines().any(|line| {
        let number = line
            .trim_start()
            .split([' ', '-'])
            .next()
            .unwrap_or_default();
        number.bytes().any(|digit| digit != b'0')
    });
    if told {
        Ok(Word::ok())
    } else {
        Err(Errno::ENODATA)
    }
}

fn is_process(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// `processes` where there is nothing else, `masked` where all else is on the list or empty.
fn listing() -> Told {
    let mut beyond = Vec::new();
    let mut whole = false;
    for entry in fs::read_dir("/proc").map_err(errno_of)? {
        let name = entry.map_err(errno_of)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if is_process(&name) || name == "self" || name == "thread-self" {
            continue;
        }
        whole = true;
        if !PROC_NAMES.contains(&name.as_str()) && !is_empty(&Path::new("/proc").join(&name)) {
            beyond.push(name);
        }
    }
    beyond.sort();
    match (beyond.is_empty(), whole) {
        (true, false) => word("processes"),
        (true, true) => word("masked"),
        (false, _) => word(&format!("also {}", beyond.join(","))),
    }
}

/// Whether nothing can be learnt from it.
fn is_empty(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    if let Ok(mut entries) = fs::read_dir(path) {
        return entries.next().is_none();
    }
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    match readable(&name) {
        Ok(file) => read(file, &mut [0]) == Ok(0),
        Err(errno) => matches!(errno, Errno::EACCES | Errno::EPERM),
    }
}

fn lines(path: &str) -> Result<Vec<String>, Errno> {
    let text = fs::read_to_string(path).map_err(errno_of)?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn abstract_sockets() -> Told {
    let all = lines("/proc/self/net/unix")?;
    let mut names = all.iter().filter_map(|line| line.split(' ').next_back());
    match names.find(|name| name.starts_with('@')) {
        Some(name) => word(name),
        None => word("none"),
    }
}

/// State `0A` is that of a listener.
fn listeners() -> Told {
    for path in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        let all = match lines(path) {
            // A kernel without IPv6.
            Err(Errno::ENOENT) => continue,
            other => other?,
        };
        let listens = |line: &&String| line.split_whitespace().nth(3) == Some("0A");
        if let Some(line) = all.iter().find(listens) {
            return word(line.trim());
        }
    }
    word("none")
}

/// This process and the one that started it are ours.
fn other_processes(origin: &Origin) -> Told {
    let own = std::process::id();
    let mut others = Vec::new();
    for entry in fs::read_dir("/proc").map_err(errno_of)? {
        let name = entry.map_err(errno_of)?.file_name();
        let Ok(number) = name.to_string_lossy().parse::<u32>() else {
            continue;
        };
        // One that is gone meanwhile is nobody's.
        if number != own && number != origin.process && Path::new("/proc").join(&name).exists() {
            others.push(number);
        }
    }
    others.sort_unstable();
    match others.first() {
        None => word("none"),
        Some(first) => word(&format!("{} others, the first {first}", others.len())),
    }
}

/// The first line is a heading.
fn shared_memory() -> Told {
    let all = lines("/proc/sysvipc/shm")?;
    word(if all.len() > 1 { "segments" } else { "none" })
}
