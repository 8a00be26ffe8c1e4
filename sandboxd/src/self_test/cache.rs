//! Outcomes of this boot, shared by all daemons of the host that have the same owner: a file each,
//! named by what it holds for, in a folder that vanishes with the boot.
//!
//! Only wholly right outcomes are kept. A file is trusted no more than its owner and its mode
//! allow; one that is odd is told and counts as absent.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::outcome::Outcome;

/// Longest file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most files; the oldest goes first.
const FILES_MAX: usize = 256;

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
enum Odd {
    /// It cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// Somebody else could have written it.
    #[error("it belongs to uid {uid} and has mode {mode:o}; expected uid {own} and 600")]
    Foreign { uid: u32, mode: u32, own: u32 },
    /// It is too long.
    #[error("it has {bytes} bytes, more than {FILE_BYTES_MAX}")]
    TooLong { bytes: u64 },
    /// It is no outcome.
    #[error("it is no outcome of a self-test")]
    Parse(#[source] serde_json::Error),
    /// It is one of something else, or of something wrong.
    #[error("it holds for something else, or not wholly")]
    Other,
}

/// The folder.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which [`make_folder`] has made.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    /// The outcome for `key`, if it is there and can be trusted.
    #[must_use]
    pub fn read(&self, key: &str) -> Option<Outcome> {
        let path = self.path(key);
        match read(&path, key) {
            Ok(outcome) => outcome,
            Err(odd) => {
                tracing::warn!(
                    path = %path.display(),
                    why = &odd as &dyn std::error::Error,
                    "an outcome of a self-test is not used; remove the file"
                );
                None
            }
        }
    }

    /// Keeps an outcome if it is wholly right. That it cannot be kept costs time only.
    pub fn keep(&self, outcome: &Outcome) {
        if outcome.is_right()
            && let Err(error) = self.write(outcome)
        {
            tracing::info!(
                folder = %self.folder.display(),
                why = &error as &dyn std::error::Error,
                "an outcome of the self-test is not kept; the next start tests again"
            );
        }
    }

    /// Forgets what was found for `key`.
    pub fn forget(&self, key: &str) {
        let path = self.path(key);
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(
                path = %path.display(),
                why = &error as &dyn std::error::Error,
                "an outcome that no longer holds cannot be removed; remove the file"
            );
        }
    }

    fn write(&self, outcome: &Outcome) -> io::Result<()> {
        self.make_room()?;
        let path = self.path(&outcome.key);
        // Another daemon may be writing the same: each its own file, the last one stays.
        let mine = self
            .folder
            .join(format!("{}.{}.new", outcome.key, std::process::id()));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
            .open(&mine)?;
        let text = serde_json::to_vec(outcome).map_err(io::Error::other)?;
        let written = file
            .write_all(&text)
            .and_then(|()| fs::rename(&mine, &path));
        if written.is_err() {
            fs::remove_file(&mine)?;
        }
        written
    }

    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another daemon may have removed it meanwhile.
            if let Ok(data) = entry.metadata() {
                files.push((data.mtime(), data.mtime_nsec(), entry.path()));
            }
        }
        files.sort();
        let surplus = (files.len() + 1).saturating_sub(FILES_MAX);
        for (_, _, path) in files.into_iter().take(surplus) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn read(path: &Path, key: &str) -> Result<Option<Outcome>, Odd> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC | nix::libc::O_NONBLOCK)
        .open(path);
    let file: File = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Odd::Read(error)),
    };
    let data = file.metadata().map_err(Odd::Read)?;
    let own = nix::unistd::geteuid().as_raw();
    if data.uid() != own || data.mode() & 0o7777 != 0o600 || !data.is_file() {
        return Err(Odd::Foreign {
            uid: data.uid(),
            mode: data.mode() & 0o7777,
            own,
        });
    }
    if data.len() > FILE_BYTES_MAX {
        return Err(Odd::TooLong { bytes: data.len() });
    }
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(Odd::Read)?;
    let outcome: Outcome = serde_json::from_slice(&text).map_err(Odd::Parse)?;
    if outcome.key != key || !outcome.is_right() {
        return Err(Odd::Other);
    }
    Ok(Some(outcome))
}

/// Makes the folder for its owner alone, as whoever starts the daemon. False where somebody else
/// has it: then nothing is kept.
///
/// # Errors
/// It can neither be made nor looked at.
pub fn make_folder(folder: &Path, owner: (u32, u32)) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {
            std::os::unix::fs::lchown(folder, Some(owner.0), Some(owner.1))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let data = fs::symlink_metadata(folder)?;
            let private = data.is_dir() && data.mode() & 0o077 == 0;
            Ok(private && data.uid() == owner.0)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
