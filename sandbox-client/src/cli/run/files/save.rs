//! Collected files on their way to the user's disk: a program chose their names and contents, and
//! others may write in the folder they go to. Everything is done by descriptor, over no link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{Mode as FileMode, fchmod, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::super::super::failure::Failure;
use super::super::super::visible::is_acted_on;
use super::workspace_path;
use crate::pb;

/// The owner's bits, and what others need to read and run; never a right of others to write.
const MODE_KEPT: u32 = 0o755;
const MODE_ALWAYS: u32 = 0o600;
/// Names tried for a file that is being written.
const ATTEMPTS_MAX: u32 = 1_000;

/// The files that may be written, and the paths of the others. What tools read by themselves
/// (`.git/hooks`, `.envrc`) has hidden names: a wildcard alone does not ask for those, nor for names
/// that act on terminals.
pub(in super::super) fn asked_for<'a>(
    asked: &[String],
    files: &'a [pb::CollectedFile],
) -> (Vec<&'a pb::CollectedFile>, Vec<&'a str>) {
    let asked: Vec<String> = asked
        .iter()
        .filter_map(|written| workspace_path(written).ok())
        .collect();
    let (wanted, hidden): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|file| asked.contains(&file.path) || parts_named(&asked, &file.path));
    let hidden = hidden.into_iter().map(|file| file.path.as_str()).collect();
    (wanted, hidden)
}

/// Whether each hidden part of the path is one that a pattern names, or begins to.
fn parts_named(asked: &[String], path: &str) -> bool {
    let names = |part: &str| {
        let mut words = asked.iter().flat_map(|pattern| pattern.split('/'));
        words.any(|word| word == part || (word.starts_with('.') && word.contains(['*', '?'])))
    };
    !path.contains(is_acted_on)
        && path
            .split('/')
            .all(|part| !part.starts_with('.') || names(part))
}

/// Writes files below `folder`, and nowhere else whatever a path says.
pub(in super::super) fn save(folder: &Path, files: &[&pb::CollectedFile]) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let failed = |source| Failure::Write {
        path: folder.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = open(folder, flags, FileMode::empty()).map_err(|errno| failed(errno.into()))?;
    for file in files {
        let parts = parts_of(&file.path)?;
        write_below(&root, &parts, file).map_err(|source| Failure::Write {
            path: folder.join(&file.path),
            source,
        })?;
    }
    Ok(())
}

fn parts_of(path: &str) -> Result<Vec<&OsStr>, Failure> {
    let parts: Option<Vec<&OsStr>> = Path::new(path)
        .components()
        .map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    parts
        .filter(|parts| !parts.is_empty())
        .ok_or_else(|| Failure::Answer {
            what: format!("a collected file has the path `{path}`, which leaves its folder"),
        })
}

fn write_below(root: &OwnedFd, parts: &[&OsStr], file: &pb::CollectedFile) -> std::io::Result<()> {
    let Some((name, folders)) = parts.split_last() else {
        return Err(Errno::EINVAL.into());
    };
    let mut place = root.try_clone()?;
    for folder in folders {
        match mkdirat(&place, *folder, FileMode::from_bits_truncate(0o755)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        place = openat(&place, *folder, flags, FileMode::empty()).map_err(over_a_link)?;
    }
    let (new, mut out) = create(&place)?;
    let written = out
        .write_all(&file.content)
        .and_then(|()| {
            let mode = file.mode & MODE_KEPT | MODE_ALWAYS;
            Ok(fchmod(out.as_fd(), FileMode::from_bits_truncate(mode))?)
        })
        // What stood there, a link or a second name of another file too, is replaced, not written to.
        .and_then(|()| Ok(renameat(&place, new.as_str(), &place, *name)?));
    if written.is_err() {
        unlinkat(&place, new.as_str(), UnlinkatFlags::NoRemoveDir)?;
    }
    written
}

fn over_a_link(errno: Errno) -> std::io::Error {
    match errno {
        Errno::ENOTDIR | Errno::ELOOP => std::io::Error::other(
            "leads over a link or a file; take them away, or name another --get-to",
        ),
        other => other.into(),
    }
}

/// A new file of a name of our own.
fn create(place: &OwnedFd) -> std::io::Result<(String, File)> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
    for attempt in 0..ATTEMPTS_MAX {
        let name = format!(".rollcage-{}-{attempt}", std::process::id());
        match openat(
            place,
            name.as_str(),
            flags | OFlag::O_CLOEXEC,
            FileMode::from_bits_truncate(MODE_ALWAYS),
        ) {
            Ok(fd) => return Ok((name, File::from(fd))),
            Err(Errno::EEXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EEXIST.into())
}
