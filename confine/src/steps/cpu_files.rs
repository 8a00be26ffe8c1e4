//! The files from which programs and libraries count CPUs: a small `/sys` of our own, and two files
//! over those of a masked `/proc`.
//!
//! All of it lies on the root tree, which becomes read-only with the pivot. What the files say is
//! the launcher's business.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use nix::fcntl::OFlag;
use nix::sys::stat::{Mode as FileMode, mkdirat, umask};

use super::session::Session;
use super::{StepError, Taken};
use crate::boot::CpuView;
use crate::sys::mount as mounts;

/// Folders from the top of `/sys` down to that of the CPUs.
const FOLDERS: [&str; 4] = [
    "sys",
    "sys/devices",
    "sys/devices/system",
    "sys/devices/system/cpu",
];
/// Lists of CPUs that libraries read, each with the same content: there are no others for the
/// sandbox, neither switched off nor to come.
const LISTS: [&str; 3] = ["online", "possible", "present"];
/// Where the files that cover `/proc`'s lie.
const COVERS: &str = ".proc";

/// Shows the leased CPUs and no others, in `/sys` and, where it has the files, in `/proc`.
pub fn cpu_view(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded(
            "the host's /proc and /sys are seen in landlock mode",
        ));
    }
    let cpus = &session.boot.cpus;
    make(session.root()?, cpus)?;
    Ok(Taken::enforced(format!("CPU {}", cpus.list)))
}

/// Makes the files below `root` and covers those of `/proc`, where it is masked.
fn make(root: BorrowedFd<'_>, cpus: &CpuView) -> Result<(), StepError> {
    // Whatever the daemon was started with: every user of the sandbox reads these.
    let before = umask(FileMode::empty());
    let made = make_all(root, cpus);
    umask(before);
    made
}

fn make_all(root: BorrowedFd<'_>, cpus: &CpuView) -> Result<(), StepError> {
    for folder in FOLDERS {
        make_folder(root, folder)?;
    }
    for list in LISTS {
        let path = format!("sys/devices/system/cpu/{list}");
        make_file(root, &path, &format!("{}\n", cpus.list))?;
    }
    for cpu in &cpus.numbers {
        make_folder(root, &format!("sys/devices/system/cpu/cpu{cpu}"))?;
    }
    // A /proc of processes only has no place for them.
    let texts = [
        ("cpuinfo", c".proc/cpuinfo", c"proc/cpuinfo", &cpus.cpuinfo),
        ("stat", c".proc/stat", c"proc/stat", &cpus.stat),
    ];
    if texts.iter().all(|(.., text)| text.is_empty()) {
        return Ok(());
    }
    make_folder(root, COVERS)?;
    for (name, source, target, text) in texts {
        make_file(root, &format!("{COVERS}/{name}"), text)?;
        let doing = |what: &str| StepError::at(format!("{what} /proc/{name}"));
        let cover =
            mounts::clone_tree(Some(root), source, false).map_err(doing("copy the cover of"))?;
        let attributes =
            mounts::ATTR_RDONLY | mounts::ATTR_NOSUID | mounts::ATTR_NODEV | mounts::ATTR_NOEXEC;
        mounts::set_attributes(cover.as_fd(), attributes, 0, false)
            .map_err(doing("make read-only the cover of"))?;
        mounts::attach(cover.as_fd(), root, target).map_err(doing("cover"))?;
    }
    Ok(())
}

fn make_folder(root: BorrowedFd<'_>, path: &str) -> Result<(), StepError> {
    mkdirat(root, path, FileMode::from_bits_truncate(0o555))
        .map_err(StepError::at(format!("make /{path}")))
}

fn make_file(root: BorrowedFd<'_>, path: &str, text: &str) -> Result<(), StepError> {
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    let file = nix::fcntl::openat(root, path, flags, FileMode::from_bits_truncate(0o444))
        .map_err(StepError::at(format!("make /{path}")))?;
    File::from(file)
        .write_all(text.as_bytes())
        .map_err(StepError::io(format!("write /{path}")))
}
