//! The two forms of `/proc`: processes only, or the full tree behind an allow list.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{Mode as FileMode, SFlag, fstatat, mkdirat};

use super::StepError;
use crate::sys::mount as mounts;

/// Top-level entries that stay visible beside the processes themselves. Each shows what any
/// program on the machine could measure for itself, or belongs to the caller's own namespaces.
const VISIBLE: &[&str] = &[
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "mounts",
    "net",
    "self",
    "stat",
    "sys",
    "thread-self",
    "uptime",
    "version",
];

const HARD: u64 = mounts::ATTR_NOSUID | mounts::ATTR_NODEV | mounts::ATTR_NOEXEC;

/// `subset=pid`: there is nothing but process folders, and of those only the caller's own.
pub fn attach_pids_only(root: BorrowedFd<'_>) -> Result<(), StepError> {
    let options = [(c"subset", c"pid"), (c"hidepid", c"ptraceable")];
    let proc = mounts::make(c"proc", &options, HARD).map_err(StepError::at("make procfs"))?;
    mounts::attach(proc.as_fd(), root, c"proc").map_err(StepError::at("attach /proc"))
}

/// Everything, writable: what the two forms below and above keep away.
#[cfg(feature = "mutation")]
pub(crate) fn attach_whole(root: BorrowedFd<'_>) -> Result<(), StepError> {
    let proc = mounts::make(c"proc", &[], HARD).map_err(StepError::at("make procfs"))?;
    mounts::attach(proc.as_fd(), root, c"proc").map_err(StepError::at("attach /proc"))
}

/// The full tree, read-only, with everything outside [`VISIBLE`] covered. Returns how many were.
pub fn attach_masked(root: BorrowedFd<'_>) -> Result<usize, StepError> {
    let options = [(c"hidepid", c"ptraceable")];
    let attributes = HARD | mounts::ATTR_RDONLY;
    let proc = mounts::make(c"proc", &options, attributes).map_err(StepError::at("make procfs"))?;
    mounts::attach(proc.as_fd(), root, c"proc").map_err(StepError::at("attach /proc"))?;
    let masks = make_masks(root)?;
    let mut covered = 0;
    for (name, is_dir) in hidden_entries(&proc)? {
        let mask = if is_dir { &masks.0 } else { &masks.1 };
        // A bind of our own empty file or folder: nothing of the image takes part in it.
        let cover = mounts::clone_tree(Some(mask.as_fd()), c"", false)
            .map_err(StepError::at("copy a mask"))?;
        mounts::set_attributes(cover.as_fd(), attributes, 0, false)
            .map_err(StepError::at("make a mask read-only"))?;
        let target = CString::new(format!("proc/{name}")).map_err(|_nul| StepError {
            doing: "name a masked entry".into(),
            errno: Errno::EINVAL,
        })?;
        mounts::attach(cover.as_fd(), root, &target)
            .map_err(StepError::at(format!("cover /proc/{name}")))?;
        covered += 1;
    }
    Ok(covered)
}

/// An empty directory and an empty file on the root tmpfs, reached by descriptor only.
fn make_masks(root: BorrowedFd<'_>) -> Result<(OwnedFd, OwnedFd), StepError> {
    mkdirat(root, ".mask", FileMode::from_bits_truncate(0o555))
        .map_err(StepError::at("make the mask folder"))?;
    let path = OFlag::O_PATH | OFlag::O_CLOEXEC;
    let dir = nix::fcntl::openat(root, ".mask", path, FileMode::empty())
        .map_err(StepError::at("open the mask folder"))?;
    let file = {
        let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        nix::fcntl::openat(
            root,
            ".mask-file",
            flags,
            FileMode::from_bits_truncate(0o444),
        )
        .map_err(StepError::at("make the mask file"))?
    };
    Ok((dir, file))
}

/// Entries of a procfs root that are neither processes nor on the list, with whether they are folders.
fn hidden_entries(proc: &OwnedFd) -> Result<Vec<(String, bool)>, StepError> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = Dir::openat(proc, ".", flags, FileMode::empty())
        .map_err(StepError::at("open the new /proc"))?;
    let mut hidden = Vec::new();
    for entry in dir.iter() {
        let entry = entry.map_err(StepError::at("list the new /proc"))?;
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        let process = name.bytes().all(|byte| byte.is_ascii_digit());
        if process || name == "." || name == ".." || VISIBLE.contains(&name) {
            continue;
        }
        let stat = fstatat(proc, name, nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW)
            .map_err(StepError::at(format!("inspect /proc/{name}")))?;
        let kind = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits());
        if kind == SFlag::S_IFDIR || kind == SFlag::S_IFREG {
            hidden.push((name.to_owned(), kind == SFlag::S_IFDIR));
        }
    }
    Ok(hidden)
}
