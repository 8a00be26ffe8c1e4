//! Removing a folder that a program filled: as deep, as wide and as closed as it liked. Nothing in it
//! is followed, no path is put together, and neither depth nor width cost descriptors or stack.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

const OPEN_FOLDER: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// Removes `folder` with all in it; a link in its place is removed itself. None there is no error.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(Errno::EINVAL.into());
    };
    let parent = match open(
        parent,
        OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        Mode::empty(),
    ) {
        Err(Errno::ENOENT) => return Ok(()),
        opened => opened?,
    };
    match unlinkat(&parent, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => return Ok(()),
        Err(Errno::EISDIR | Errno::EPERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    let name = CString::new(name.as_encoded_bytes())?;
    empty(enter(&parent, &name)?)?;
    Ok(unlinkat(
        &parent,
        name.as_c_str(),
        UnlinkatFlags::RemoveDir,
    )?)
}

/// Opens a folder that may have been closed against its owner.
fn enter(above: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    match fchmodat(above, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink) {
        // A link that was put there meanwhile has no mode; opening it fails.
        Ok(()) | Err(Errno::EOPNOTSUPP | Errno::EPERM) => {}
        Err(errno) => return Err(errno),
    }
    openat(above, name, OPEN_FOLDER, Mode::empty())
}

/// A folder on the way down.
struct Level {
    /// Device and inode, to know it again.
    id: (u64, u64),
    /// Folders in it that are still there.
    folders: Vec<CString>,
}

/// Empties a folder. Only the one being looked at is open; the way back up is checked, as somebody
/// may have moved a folder meanwhile.
fn empty(top: OwnedFd) -> Result<(), Errno> {
    let mut levels = vec![Level {
        id: id(&top)?,
        folders: sweep(&top)?,
    }];
    let mut at = top;
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.folders.last() {
            let inner = enter(&at, name)?;
            let folders = sweep(&inner)?;
            if folders.is_empty() {
                unlinkat(&at, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
                level.folders.pop();
            } else {
                let id = id(&inner)?;
                levels.push(Level { id, folders });
                at = inner;
            }
            continue;
        }
        levels.pop();
        if let Some(above) = levels.last_mut() {
            at = openat(&at, "..", OPEN_FOLDER, Mode::empty())?;
            if id(&at)? != above.id {
                return Err(Errno::ESTALE);
            }
            if let Some(name) = above.folders.pop() {
                unlinkat(&at, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
            }
        }
    }
    Ok(())
}

fn id(folder: &OwnedFd) -> Result<(u64, u64), Errno> {
    let stat = fstat(folder)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Removes all files and empty folders; gives the names of the others.
fn sweep(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut full = Vec::new();
    for name in names(folder)? {
        if unlink(folder, &name)? {
            continue;
        }
        match unlinkat(folder, name.as_c_str(), UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(_not_empty) => full.push(name),
        }
    }
    Ok(full)
}

/// Removes what is no folder; whether it was none.
fn unlink(above: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
    match unlinkat(above, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(Errno::EISDIR | Errno::EPERM) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    // Opened anew: a copy would share its place in the list.
    let mut entries = Dir::openat(folder.as_fd(), ".", OPEN_FOLDER, Mode::empty())?;
    let mut names = Vec::new();
    for entry in entries.iter() {
        let name = entry?.file_name().to_owned();
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
