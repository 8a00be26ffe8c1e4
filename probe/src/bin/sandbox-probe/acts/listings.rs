//! All that a sandbox sees, against lists.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::errno::Errno;
use nix::sys::statvfs::{FsFlags, statvfs};
use probe::lists::{DEV_NAMES, DEVICES, KNOWN, ROOT_NAMES, SYS_NAMES, VARIABLES};

use super::{Act, Origin};
use crate::sys::{Arg, call};
use crate::told::{Told, errno_of, word};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("root_listing", |_| listing("/", ROOT_NAMES)),
    ("sys_listing", |_| sys_listing()),
    ("dev_listing", |_| listing("/dev", DEV_NAMES)),
    ("device_numbers", |_| device_numbers()),
    ("mount_table", |_| mount_table()),
    ("mounts_executable", |_| mounts_executable()),
    ("propagation", |_| propagation()),
    ("set_id_usr", |_| flags_of("/usr")),
    ("set_id_mounts", |_| flags_of("/workspace").or_else(|_none| flags_of("/"))),
    ("extra_descriptors", extra_descriptors),
    ("standard_streams", |_| standard_streams()),
    ("working_folder", |_| working_folder()),
    ("environment", |_| beyond(std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect(), VARIABLES)),
];

fn listing(folder: &str, known: &[&str]) -> Told {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(errno_of)? {
        names.push(
            entry
                .map_err(errno_of)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    beyond(names, known)
}

fn sys_listing() -> Told {
    let mut more = Vec::new();
    for (folder, known) in SYS_NAMES {
        for entry in fs::read_dir(folder).map_err(errno_of)? {
            let name = entry.map_err(errno_of)?.file_name();
            let name = name.to_string_lossy().into_owned();
            let cpu = name.strip_prefix("cpu").unwrap_or("x");
            let is_cpu = !cpu.is_empty() && cpu.bytes().all(|digit| digit.is_ascii_digit());
            if !is_cpu && !known.contains(&name.as_str()) {
                more.push(name);
            }
        }
    }
    beyond(more, &[])
}

/// `known`, or what is not, by name.
fn beyond(names: Vec<String>, known: &[&str]) -> Told {
    let mut more: Vec<String> = names
        .into_iter()
        .filter(|name| !known.contains(&name.as_str()))
        .collect();
    more.sort();
    if more.is_empty() {
        word(KNOWN)
    } else {
        word(&format!("also {}", more.join(",")))
    }
}

fn device_numbers() -> Told {
    for (name, major, minor) in DEVICES {
        let node = fs::symlink_metadata(format!("/dev/{name}")).map_err(errno_of)?;
        let number = node.rdev();
        let is = (nix::sys::stat::major(number), nix::sys::stat::minor(number));
        if !node.file_type().is_char_device() || is != (*major, *minor) {
            return word(&format!("{name} is {}:{}", is.0, is.1));
        }
    }
    word(KNOWN)
}

/// A line of `/proc/self/mountinfo`.
struct Mounted {
    at: String,
    flags: Vec<String>,
    /// `shared:N`, `master:N` and their like.
    tags: Vec<String>,
}

fn mounts() -> Result<Vec<Mounted>, Errno> {
    let text = fs::read_to_string("/proc/self/mountinfo").map_err(errno_of)?;
    let mounted = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let end = words.iter().position(|word| *word == "-")?;
        Some(Mounted {
            at: (*words.get(4)?).to_owned(),
            flags: words.get(5)?.split(',').map(str::to_owned).collect(),
            tags: words
                .get(6..end)?
                .iter()
                .map(|tag| (*tag).to_owned())
                .collect(),
        })
    };
    text.lines()
        .map(|line| mounted(line).ok_or(Errno::EPROTO))
        .collect()
}

const WRITABLE: [&str; 3] = ["/workspace", "/tmp", "/dev/shm"];

/// `locked`, or the first mount that lacks a flag.
fn mount_table() -> Told {
    let all = mounts()?;
    for mount in &all {
        let at = mount.at.as_str();
        let writes = WRITABLE.contains(&at) || at == "/dev/pts" || at == "/proc";
        let device = at == "/dev" || at.starts_with("/dev/") && !WRITABLE.contains(&at);
        let own = at == "/proc" || at.starts_with("/proc/") || at == "/etc" || device;
        let needed = [
            ("nosuid", true),
            ("ro", !writes),
            ("nodev", !device),
            ("noexec", own),
        ];
        for (flag, _) in needed.iter().filter(|(_, needed)| *needed) {
            if !mount.flags.iter().any(|has| has == flag) {
                return word(&format!("{at} lacks {flag}"));
            }
        }
    }
    let there = |at: &&str| all.iter().any(|mount| mount.at == **at);
    match ["/", "/proc", "/workspace", "/tmp"]
        .iter()
        .find(|at| !there(at))
    {
        Some(at) => word(&format!("{at} is no mount")),
        None => word("locked"),
    }
}

fn mounts_executable() -> Told {
    let all = mounts()?;
    let executable: Vec<&str> = WRITABLE
        .into_iter()
        .filter(|at| {
            let flags = all
                .iter()
                .rfind(|mount| mount.at == *at)
                .map(|mount| &mount.flags);
            flags.is_none_or(|flags| flags.iter().all(|flag| flag != "noexec"))
        })
        .collect();
    word(&if executable.is_empty() {
        "none".to_owned()
    } else {
        executable.join(",")
    })
}

fn propagation() -> Told {
    let all = mounts()?;
    match all.iter().find(|mount| !mount.tags.is_empty()) {
        Some(mount) => word(&format!("{} {}", mount.at, mount.tags.join(" "))),
        None => word("private"),
    }
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

fn extra_descriptors(origin: &Origin) -> Told {
    if origin.descriptors.is_empty() {
        Err(Errno::EBADF)
    } else {
        word(&format!("open: {:?}", origin.descriptors))
    }
}

/// Pipes, sockets, terminals and `/dev/null` belong to nobody.
fn standard_streams() -> Told {
    for (number, name) in ["input", "output", "error"].iter().enumerate() {
        let Ok(data) = fs::metadata(format!("/proc/self/fd/{number}")) else {
            // A closed one gives nothing.
            continue;
        };
        let kind = data.file_type();
        if kind.is_file() || kind.is_dir() || kind.is_block_device() {
            return word(&format!("{name} is a file"));
        }
    }
    word("plain")
}

/// The kernel marks a folder outside the root with words before the path.
fn working_folder() -> Told {
    let mut bytes = [0u8; 4096];
    call(libc::SYS_getcwd, &mut [Arg::O(&mut bytes), Arg::N(4096)])?;
    if bytes.starts_with(b"/") {
        return word("inside");
    }
    word(String::from_utf8_lossy(&bytes).trim_end_matches('\0'))
}
