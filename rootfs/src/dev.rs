//! The `/dev` of a sandbox, as a directory tree that a plan binds: six harmless character
//! devices, the usual links, and empty places for `pts` and `shm`.
//!
//! It knows no sandbox: terminals and shared memory are mounted over `pts` and `shm` by the
//! confinement code. Needs root, as only root can make device nodes.

use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use thiserror::Error;

use crate::claim::{ClaimError, claim};

/// Name, major and minor number of each node; all have mode 0666.
pub const NODES: &[(&str, u64, u64)] = &[
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
];

/// Links and what they point to.
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Empty directories to mount on, with their permission bits.
const MOUNT_POINTS: &[(&str, u32)] = &[("pts", 0o755), ("shm", 0o1777)];

/// Why `/dev` could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DevError {
    /// The directory cannot be used.
    #[error("take the directory for /dev")]
    Claim {
        /// Why.
        #[source]
        source: ClaimError,
    },
    /// A node, link or directory could not be made.
    #[error("make {path}")]
    Make {
        /// What was to be made.
        path: PathBuf,
        /// Why it failed; device nodes need root.
        #[source]
        source: io::Error,
    },
    /// A node that was made is not the device it should be, or cannot be opened.
    #[error("{path} does not work as a device; its file system must not be mounted nodev")]
    Dead {
        /// The node.
        path: PathBuf,
    },
}

/// Builds the tree in `dir`, which has to be new or empty.
///
/// # Errors
/// The directory is not ours or not empty, a node cannot be made, or nodes do not work there.
pub fn prepare_dev(dir: &Path) -> Result<(), DevError> {
    claim(dir).map_err(|source| DevError::Claim { source })?;
    for &(name, major, minor) in NODES {
        make_node(&dir.join(name), major, minor)?;
    }
    for &(name, target) in LINKS {
        let path = dir.join(name);
        symlink(target, &path).map_err(|source| DevError::Make { path, source })?;
    }
    for &(name, mode) in MOUNT_POINTS {
        let path = dir.join(name);
        fs::create_dir(&path)
            .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(mode)))
            .map_err(|source| DevError::Make { path, source })?;
    }
    Ok(())
}

fn make_node(path: &Path, major: u64, minor: u64) -> Result<(), DevError> {
    let failed = |source| DevError::Make {
        path: path.to_path_buf(),
        source,
    };
    let device = makedev(major, minor);
    mknod(
        path,
        SFlag::S_IFCHR,
        Mode::from_bits_truncate(0o666),
        device,
    )
    .map_err(|errno| failed(io::Error::from(errno)))?;
    // mknod is subject to the umask.
    fs::set_permissions(path, Permissions::from_mode(0o666)).map_err(failed)?;
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    let right = metadata.file_type().is_char_device() && metadata.rdev() == device;
    if right && opens(path) {
        Ok(())
    } else {
        Err(DevError::Dead {
            path: path.to_path_buf(),
        })
    }
}

/// Whether the node leads to its driver. A terminal that this process does not have counts.
fn opens(path: &Path) -> bool {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(_) => true,
        Err(error) => error.raw_os_error() == Some(libc::ENXIO),
    }
}

#[cfg(test)]
mod tests;
