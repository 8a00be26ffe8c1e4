//! The daemon's folders, and the lock that makes it the only one of its state folder.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::config::Config;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A system call on a path failed.
    #[error("{act} {}", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Another daemon has the state folder.
    #[error(
        "state folder {} is in use by the daemon with pid {pid}; connect to that one, or give this \
         one another --state-dir",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Pid of the other daemon, as it wrote it.
        pid: String,
    },
}

fn failed(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { act, path, source }
}

fn make(path: &Path, mode: u32) -> Result<(), FolderError> {
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(failed("make folder", path))
}

/// Makes the state folder and locks it; the lock lasts as long as the file, in which stand our
/// pid and our socket, a line each, for those who want the same state.
pub(super) fn lock(state_dir: &Path, socket: &Path) -> Result<File, FolderError> {
    make(state_dir, 0o755)?;
    let path = state_dir.join("lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            file.read_to_string(&mut pid)
                .map_err(failed("read", &path))?;
            let path = state_dir.to_owned();
            return Err(FolderError::InUse {
                path,
                pid: pid.lines().next().unwrap_or_default().to_owned(),
            });
        }
        Err(TryLockError::Error(source)) => {
            return Err(FolderError::Io {
                act: "lock",
                path,
                source,
            });
        }
    }
    file.set_len(0).map_err(failed("empty", &path))?;
    file.rewind().map_err(failed("rewind", &path))?;
    let text = format!("{}\n{}\n", std::process::id(), socket.display());
    file.write_all(text.as_bytes())
        .map_err(failed("write", &path))?;
    Ok(file)
}

/// Makes the other folders; tells where results go. `owner`: uid and gid of the api.
pub(super) fn prepare(config: &Config, owner: Option<(u32, u32)>) -> Result<PathBuf, FolderError> {
    make(&config.runtime_dir, 0o755)?;
    let results = config.state_dir.join("results");
    make(&results, 0o700)?;
    std::fs::set_permissions(&results, Permissions::from_mode(0o700))
        .map_err(failed("set the mode of", &results))?;
    if let Some((uid, gid)) = owner {
        give_away(&results, uid, gid)?;
    }
    Ok(results.join("results.redb"))
}

/// Gives a folder and the files in it to the api.
fn give_away(folder: &Path, uid: u32, gid: u32) -> Result<(), FolderError> {
    chown(folder, Some(uid), Some(gid)).map_err(failed("give away", folder))?;
    for entry in std::fs::read_dir(folder).map_err(failed("read", folder))? {
        let path = entry.map_err(failed("read", folder))?.path();
        // Never through a link: the folder was the api's before, and this is root.
        std::os::unix::fs::lchown(&path, Some(uid), Some(gid))
            .map_err(failed("give away", &path))?;
    }
    Ok(())
}
