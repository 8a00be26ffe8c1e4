//! The log's folder on disk, used through one open descriptor: segments `00000001.jsonl` …,
//! `head.json`, `key.pem`, `key.pub`. Knows no record.

use std::fs::{File, Permissions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, fchown};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;

use super::log::Store;
use super::{FOLDER, Settings};

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A system call on a path failed.
    #[error("cannot {act} {path}")]
    Io {
        /// What was tried.
        act: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another audit process writes this log and does not end.
    #[error("{path} is still written by another audit process; end that one")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

/// The open folder, and the segment being written.
#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
    /// Held as long as we write.
    _lock: File,
    segment: Option<File>,
}

/// How long the audit process of a daemon that was killed may still write: the time that it gives
/// the launcher for its last attestations, and as much again for a slow disk.
const LOCK_MAX: Duration = Duration::from_secs(10);
/// How often the lock is tried.
const LOCK_TRY_MS: u8 = 20;

/// Log lines and head: the api's group reads them.
const SHARED_MODE: u32 = 0o640;
/// The key: nobody else.
pub(super) const SECRET_MODE: u32 = 0o600;
/// The public key.
pub(super) const PUBLIC_MODE: u32 = 0o644;

impl Folder {
    /// Makes the folder where it is missing and hands it to the audit user; still with the rights
    /// the process was started with. Returns once no other process writes the log.
    pub(super) fn prepare(settings: &Settings, api: BorrowedFd<'_>) -> Result<Self, FolderError> {
        let path = settings.state_dir.join(FOLDER);
        let failed = |act, source: io::Error| FolderError::Io {
            act,
            path: path.clone(),
            source,
        };
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed("make", error));
            }
            _ => {}
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = open(&path, flags, Mode::empty()).map_err(|errno| failed("open", errno.into()))?;
        let folder = File::from(fd);
        let lock = folder
            .try_clone()
            .map_err(|error| failed("open again", error))?;
        match wait_for_lock(&lock, api) {
            Ok(true) => {}
            Ok(false) => return Err(FolderError::InUse { path }),
            Err(error) => return Err(failed("lock", error)),
        }
        if settings.run_as.is_some() || settings.reader_gid.is_some() {
            let uid = settings.run_as.map(|user| user.uid);
            let gid = settings.reader_gid.or(settings.run_as.map(|user| user.gid));
            fchown(&folder, uid, gid).map_err(|error| failed("give away", error))?;
        }
        // Set-group-id: files made later get the reading group without a right to chown.
        let mode = if settings.reader_gid.is_some() {
            0o2750
        } else {
            0o750
        };
        folder
            .set_permissions(Permissions::from_mode(mode))
            .map_err(|error| failed("set the mode of", error))?;
        Ok(Self {
            fd: folder.into(),
            _lock: lock,
            segment: None,
        })
    }

    fn open_at(&self, name: &str, flags: OFlag, mode: u32) -> io::Result<File> {
        let flags = flags | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let fd = openat(&self.fd, name, flags, Mode::from_bits_truncate(mode))?;
        let file = File::from(fd);
        if flags.contains(OFlag::O_CREAT) {
            // Whatever the umask is.
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(file)
    }

    fn open_existing(&self, name: &str) -> io::Result<Option<File>> {
        match self.open_at(name, OFlag::O_RDONLY, 0) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(Errno::ENOENT as i32) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The whole of a small file, or `None` if there is none.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open_existing(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(1 << 20).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Replaces a small file so that a crash leaves the old or the new one, durably.
    pub(super) fn replace(&self, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let new = format!("{name}.new");
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC;
        let mut file = self.open_at(&new, flags, mode)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        renameat(&self.fd, new.as_str(), &self.fd, name)?;
        self.sync_names()
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(nix::unistd::fsync(&self.fd)?)
    }

    fn current(&mut self) -> io::Result<&mut File> {
        self.segment
            .as_mut()
            .ok_or_else(|| io::Error::other("no segment is open"))
    }
}

/// Waits for the lock of the folder; false if it is not to be had in time, or the api ends.
///
/// Two writers would break the chain: a killed daemon's audit process lives on for its launcher's
/// last words while the next daemon starts.
fn wait_for_lock(folder: &File, api: BorrowedFd<'_>) -> io::Result<bool> {
    let deadline = Instant::now() + LOCK_MAX;
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(false),
            Err(TryLockError::WouldBlock) => {}
        }
        // Asked for nothing, it still tells of the other side's end.
        let mut events = [PollFd::new(api, PollFlags::empty())];
        match poll(&mut events, PollTimeout::from(LOCK_TRY_MS)) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// File name of segment `number`.
pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:08}.jsonl")
}

impl Store for Folder {
    fn reader(&self, number: u64) -> io::Result<Option<Box<dyn BufRead>>> {
        let file = self.open_existing(&segment_name(number))?;
        Ok(file.map(|file| Box::new(BufReader::new(file)) as Box<dyn BufRead>))
    }

    fn read_head(&self) -> io::Result<Option<Vec<u8>>> {
        self.read("head.json")
    }

    fn create(&mut self, number: u64) -> io::Result<()> {
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL;
        let file = self.open_at(&segment_name(number), flags, SHARED_MODE)?;
        self.sync_names()?;
        self.segment = Some(file);
        Ok(())
    }

    fn reopen(&mut self, number: u64) -> io::Result<()> {
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND;
        self.segment = Some(self.open_at(&segment_name(number), flags, 0)?);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.current()?.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.current()?.sync_data()
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let file = self.current()?;
        file.set_len(bytes)?;
        file.sync_all()
    }

    fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.replace("head.json", bytes, SHARED_MODE)
    }

    fn tail(&self, number: u64, from: u64) -> io::Result<Vec<u8>> {
        let Some(file) = self.open_existing(&segment_name(number))? else {
            return Ok(Vec::new());
        };
        let length = file.metadata()?.len().saturating_sub(from);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}
