//! The daemon's folders, and the lock that makes it the only one of its state folder.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown,
};
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::self_test::cache;

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
    /// Somebody else could replace a folder of ours.
    #[error(
        "{} belongs to uid {uid} and has mode {mode:o}: others could replace what we keep in it; \
         give a folder that only you can change with --state-dir, runtime_dir or XDG_RUNTIME_DIR",
        path.display()
    )]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        uid: u32,
        /// Its permissions.
        mode: u32,
    },
    /// A file in the api's folder is not what the api makes there.
    #[error("{} has {links} names or is no plain file; remove it", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
}

fn failed(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { act, path, source }
}

/// Makes a folder that nobody else can replace, and looks before anything is made by its path.
fn make_private(path: &Path) -> Result<(), FolderError> {
    if let Some(there) = path.ancestors().find(|folder| folder.exists()) {
        check_private(there)?;
    }
    make(path, 0o755)?;
    check_private(path)
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
    make_private(state_dir)?;
    let path = state_dir.join("lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(nix::libc::O_NOFOLLOW)
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
    make_private(&config.runtime_dir)?;
    if owner.is_some() {
        // Root binds there, and sets mode and group by the socket's path.
        for folder in socket_folders(config) {
            make_private(folder)?;
        }
    }
    let results = config.state_dir.join("results");
    make(&results, 0o700)?;
    std::fs::set_permissions(&results, Permissions::from_mode(0o700))
        .map_err(failed("set the mode of", &results))?;
    if let Some((uid, gid)) = owner {
        give_away(&results, uid, gid)?;
    }
    Ok(results.join("results.redb"))
}

fn socket_folders(config: &Config) -> impl Iterator<Item = &Path> {
    let metrics = config.metrics.as_ref();
    let metrics = metrics.and_then(|metrics| metrics.listen.strip_prefix("unix:"));
    let sockets = [Some(config.socket.as_path()), metrics.map(Path::new)];
    sockets
        .into_iter()
        .flatten()
        .filter_map(Path::parent)
        .filter(|folder| !folder.as_os_str().is_empty())
}

/// What root's daemons of a host share.
const HOST_FOLDER: &str = "/run/rollcage";

/// Makes the folder that right outcomes of self-tests are kept in; `None` where none can be kept.
/// Root's is one for the host, wherever a daemon has its folders.
pub(super) fn prepare_proof(config: &Config, owner: Option<(u32, u32)>) -> Option<PathBuf> {
    let folder = config.self_test.cache_dir.clone();
    let folder = folder.unwrap_or_else(|| match owner {
        Some(_root) => Path::new(HOST_FOLDER).join("proof"),
        None => config.runtime_dir.join("proof"),
    });
    let own = (nix::unistd::geteuid(), nix::unistd::getegid());
    let owner = owner.unwrap_or((own.0.as_raw(), own.1.as_raw()));
    let made = match folder.parent() {
        // The one that holds the numbers of the host's launchers.
        Some(parent) if parent == Path::new(HOST_FOLDER) => {
            DirBuilder::new().recursive(true).mode(0o755).create(parent)
        }
        _ => Ok(()),
    };
    match made.and_then(|()| cache::make_folder(&folder, owner)) {
        Ok(true) => Some(folder),
        Ok(false) => {
            tracing::warn!(
                folder = %folder.display(),
                "the folder for outcomes of self-tests is not ours alone (mode 700, the api's user): \
                 nothing is kept in it; remove it or set self_test.cache_dir"
            );
            None
        }
        Err(error) => {
            tracing::warn!(
                folder = %folder.display(),
                why = &error as &dyn std::error::Error,
                "no folder for outcomes of self-tests: each start tests again"
            );
            None
        }
    }
}

/// Refuses a folder that another user could replace, with a link to a folder of root's for instance.
fn check_private(folder: &Path) -> Result<(), FolderError> {
    let (own, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let root = root_as_seen(&map);
    let whole = std::fs::canonicalize(folder).map_err(failed("resolve", folder))?;
    for path in whole.ancestors() {
        let meta = std::fs::metadata(path).map_err(failed("inspect", path))?;
        if !is_safe(&meta, [root, own.as_raw()], group.as_raw()) {
            return Err(FolderError::NotPrivate {
                path: path.to_owned(),
                uid: meta.uid(),
                mode: meta.mode() & 0o7777,
            });
        }
    }
    Ok(())
}

/// The uid under which root's files are seen: in a user namespace that does not map root, that of
/// all unmapped users, as which nobody can act there.
pub(super) fn root_as_seen(uid_map: &str) -> u32 {
    const UNMAPPED: u32 = 65_534;
    let first = |line: &str| line.split_whitespace().next() == Some("0");
    if uid_map.is_empty() || uid_map.lines().any(first) {
        0
    } else {
        UNMAPPED
    }
}

/// Whether only these owners can replace what is in a folder.
pub(super) fn is_safe(meta: &std::fs::Metadata, owners: [u32; 2], own_gid: u32) -> bool {
    const STICKY: u32 = 0o1000;
    let mode = meta.mode();
    let ours = owners.contains(&meta.uid());
    // A group of one's own name is the usual case; a sticky folder keeps others' names.
    let group = mode & 0o020 == 0 || meta.gid() == own_gid || meta.gid() == 0;
    ours && (mode & STICKY != 0 || (group && mode & 0o002 == 0))
}

/// Gives a folder and the files in it to the api.
fn give_away(folder: &Path, uid: u32, gid: u32) -> Result<(), FolderError> {
    chown(folder, Some(uid), Some(gid)).map_err(failed("give away", folder))?;
    for entry in std::fs::read_dir(folder).map_err(failed("read", folder))? {
        let path = entry.map_err(failed("read", folder))?.path();
        give_away_file(&path, uid, gid)?;
    }
    Ok(())
}

/// The folder was the api's before, and this is root: a link there, symbolic or hard, may lead to
/// any file of the host.
pub(super) fn give_away_file(path: &Path, uid: u32, gid: u32) -> Result<(), FolderError> {
    let meta = std::fs::symlink_metadata(path).map_err(failed("inspect", path))?;
    if (meta.uid(), meta.gid()) == (uid, gid) {
        return Ok(());
    }
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(failed("open", path))?;
    let meta = file.metadata().map_err(failed("inspect", path))?;
    if !meta.is_file() || meta.nlink() != 1 {
        return Err(FolderError::Foreign {
            path: path.to_owned(),
            links: meta.nlink(),
        });
    }
    std::os::unix::fs::fchown(file.as_fd(), Some(uid), Some(gid)).map_err(failed("give away", path))
}
