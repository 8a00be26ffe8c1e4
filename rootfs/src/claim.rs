//! Taking a directory for our own use: it has to be new or empty, ours, and closed to others.
//!
//! Not knowing what is then put there, it is shared by [`crate::etc`] and [`crate::dev`].

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a directory cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// It could not be made, read or changed.
    #[error("{act} {path}")]
    Io {
        /// What was being done.
        act: &'static str,
        /// The directory.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Another user could change what we put there.
    #[error(
        "{path} belongs to uid {uid} with mode {mode:o}; it has to belong to uid {wanted} and be writable by nobody else"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        uid: u32,
        /// Its permission bits.
        mode: u32,
        /// The uid of this process.
        wanted: u32,
    },
    /// There is something at the path that is not an empty directory.
    #[error("{path} is not an empty directory; give a new one")]
    NotEmpty {
        /// The path.
        path: PathBuf,
    },
}

/// Makes `dir` if there is none and checks that nothing and nobody else is in it.
///
/// # Errors
/// It is not an empty directory, not ours, or cannot be made.
pub(crate) fn claim(dir: &Path) -> Result<(), ClaimError> {
    let failed = |act| {
        move |source| ClaimError::Io {
            act,
            path: dir.to_path_buf(),
            source,
        }
    };
    match fs::create_dir(dir) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed("make directory")(error)),
    }
    let metadata = fs::symlink_metadata(dir).map_err(failed("look at"))?;
    if !metadata.is_dir() {
        return Err(ClaimError::NotEmpty {
            path: dir.to_path_buf(),
        });
    }
    let wanted = nix::unistd::geteuid().as_raw();
    if metadata.uid() != wanted || metadata.mode() & 0o022 != 0 {
        return Err(ClaimError::NotOurs {
            path: dir.to_path_buf(),
            uid: metadata.uid(),
            mode: metadata.mode() & 0o7777,
            wanted,
        });
    }
    if fs::read_dir(dir).map_err(failed("read"))?.next().is_some() {
        return Err(ClaimError::NotEmpty {
            path: dir.to_path_buf(),
        });
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).map_err(failed("set mode of"))
}

#[cfg(test)]
mod tests;
