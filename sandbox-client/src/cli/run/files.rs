//! Local files on their way into a request, and collected files on their way back.

mod save;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode as FileMode;

use super::super::failure::Failure;
use super::super::units::Put;
use crate::pb;

pub(super) use save::{asked_for, save};

/// Most files of one request; the daemon's own limit is lower.
const FILES_MAX: usize = 200_000;
/// Longest path below /workspace, as for the daemon.
const PATH_BYTES_MAX: usize = 4096;

/// Files of one request, counted against what one message can hold.
pub(crate) struct Payload {
    files: BTreeMap<String, pb::File>,
    bytes: u64,
    bytes_max: u64,
}

impl Payload {
    /// Nothing yet.
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            bytes: 0,
            bytes_max,
        }
    }

    /// How much more fits.
    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes_max.saturating_sub(self.bytes)
    }

    /// Counts bytes, and refuses what is too much.
    pub(super) fn count(&mut self, what: &str, bytes: usize) -> Result<(), Failure> {
        self.bytes = self
            .bytes
            .saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if self.bytes > self.bytes_max {
            return Err(Failure::TooLarge {
                what: what.to_owned(),
                bytes: self.bytes,
            });
        }
        Ok(())
    }

    /// Adds a file, or a folder with all below it.
    pub(crate) fn put(&mut self, put: &Put) -> Result<(), Failure> {
        let destination = match &put.destination {
            Some(written) => workspace_path(written)?,
            None => base_name(&put.source)?,
        };
        let (file, metadata) = open_named(&put.source)?;
        if metadata.is_dir() {
            self.folder(file.into(), &put.source, &destination)
        } else {
            self.file(file, &put.source, &destination).map(drop)
        }
    }

    /// Adds the program under its own name; gives the name and the contents.
    pub(super) fn put_program(&mut self, path: &Path) -> Result<(String, &[u8]), Failure> {
        let name = base_name(path)?;
        let (file, _metadata) = open_named(path)?;
        let content = self.file(file, path, &name)?;
        Ok((name, content))
    }

    /// All files by their path below /workspace.
    pub(crate) fn into_files(self) -> BTreeMap<String, pb::File> {
        self.files
    }

    /// By descriptor, and over no link: whoever else can write in the folder must not choose which of
    /// our files go into a sandbox.
    fn folder(&mut self, folder: OwnedFd, path: &Path, destination: &str) -> Result<(), Failure> {
        let failed = |errno: Errno| read(path, errno.into());
        let mut entries = Dir::from_fd(folder).map_err(failed)?;
        let mut names = Vec::new();
        for entry in entries.iter() {
            let name = OsStr::from_bytes(entry.map_err(failed)?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        for name in names {
            let path = path.join(&name);
            let below = join(destination, &base_name(&path)?);
            if below.len() > PATH_BYTES_MAX {
                let message = format!("--put {}: too deep a folder", path.display());
                return Err(Failure::Usage { message });
            }
            let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
            let opened = openat(&entries, name.as_os_str(), flags, FileMode::empty());
            let file = match opened {
                Ok(fd) => File::from(fd),
                Err(Errno::ELOOP | Errno::ENXIO) => return Err(neither(&path)),
                Err(errno) => return Err(read(&path, errno.into())),
            };
            let metadata = file.metadata().map_err(|source| read(&path, source))?;
            if metadata.is_dir() {
                self.folder(file.into(), &path, &below)?;
            } else if metadata.is_file() {
                self.file(file, &path, &below)?;
            } else {
                return Err(neither(&path));
            }
        }
        Ok(())
    }

    fn file(&mut self, file: File, path: &Path, destination: &str) -> Result<&[u8], Failure> {
        let failed = |source| read(path, source);
        let metadata = file.metadata().map_err(failed)?;
        // Before it is read: a file of many gigabytes must not be.
        if metadata.len() > self.bytes_left() {
            let bytes = self.bytes.saturating_add(metadata.len());
            return Err(Failure::TooLarge {
                what: path.display().to_string(),
                bytes,
            });
        }
        let mut content = Vec::new();
        // What has no size, or grows, is read until there is one byte too much.
        file.take(self.bytes_left().saturating_add(1))
            .read_to_end(&mut content)
            .map_err(failed)?;
        self.count(&path.display().to_string(), content.len())?;
        if self.files.len() >= FILES_MAX {
            let message = format!("--put {}: more than {FILES_MAX} files", path.display());
            return Err(Failure::Usage { message });
        }
        let mode = if metadata.permissions().mode() & 0o111 == 0 {
            0o644
        } else {
            0o755
        };
        let file = pb::File {
            content,
            mode: Some(mode),
        };
        match self.files.entry(destination.to_owned()) {
            Entry::Vacant(free) => Ok(&free.insert(file).content),
            Entry::Occupied(taken) if taken.get().content == file.content => {
                Ok(&taken.into_mut().content)
            }
            Entry::Occupied(_) => Err(Failure::Usage {
                message: format!(
                    "{}: another file already goes to /workspace/{destination}; give one of them \
                     another place with --put SRC:DEST",
                    path.display()
                ),
            }),
        }
    }
}

/// What the user names may be a link or a pipe: he means what it leads to.
fn open_named(path: &Path) -> Result<(File, Metadata), Failure> {
    let file = File::open(path).map_err(|source| read(path, source))?;
    let metadata = file.metadata().map_err(|source| read(path, source))?;
    Ok((file, metadata))
}

fn neither(path: &Path) -> Failure {
    Failure::Usage {
        message: format!(
            "--put {}: only regular files and folders can be put; a link or device is among them",
            path.display()
        ),
    }
}

fn read(path: &Path, source: std::io::Error) -> Failure {
    Failure::Read {
        path: path.to_owned(),
        source,
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The last part of a local path, as text.
fn base_name(path: &Path) -> Result<String, Failure> {
    let named = match path.file_name() {
        Some(name) => Some(name.to_owned()),
        // `.` and `..` have a name all the same.
        None => std::fs::canonicalize(path)
            .map_err(|source| read(path, source))?
            .file_name()
            .map(OsStr::to_owned),
    };
    named
        .as_deref()
        .and_then(OsStr::to_str)
        .map(str::to_owned)
        .ok_or_else(|| Failure::Usage {
            message: format!(
                "{}: a name that is not UTF-8 cannot be put; name one with SRC:DEST",
                path.display()
            ),
        })
}

/// A path relative to /workspace, from a relative one or an absolute one below it.
fn workspace_path(written: &str) -> Result<String, Failure> {
    let relative = match written.strip_prefix("/workspace") {
        Some(below) if below.is_empty() || below.starts_with('/') => below,
        _ => written,
    };
    let relative = if relative == written {
        relative
    } else {
        relative.trim_start_matches('/')
    };
    let mut parts = Vec::new();
    for component in Path::new(relative).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Failure::Usage {
                    message: format!(
                        "--put: `{written}` is outside /workspace; write a path relative to it, \
                         without `..`"
                    ),
                });
            }
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests;
