//! Local files on their way into a request, and collected files on their way back.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use super::super::failure::Failure;
use super::super::units::Put;
use crate::pb;

/// Files of one request, counted against what one message can hold.
pub(super) struct Payload {
    files: BTreeMap<String, pb::File>,
    bytes: u64,
    bytes_max: u64,
}

impl Payload {
    /// Nothing yet.
    pub(super) fn new(bytes_max: u64) -> Self {
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
    pub(super) fn put(&mut self, put: &Put) -> Result<(), Failure> {
        let destination = match &put.destination {
            Some(written) => workspace_path(written)?,
            None => base_name(&put.source)?,
        };
        let metadata =
            std::fs::metadata(&put.source).map_err(|source| read(&put.source, source))?;
        if metadata.is_dir() {
            self.folder(&put.source, &destination)
        } else {
            self.file(&put.source, &destination).map(drop)
        }
    }

    /// Adds the program under its own name; gives the name and the contents.
    pub(super) fn put_program(&mut self, path: &Path) -> Result<(String, &[u8]), Failure> {
        let name = base_name(path)?;
        let content = self.file(path, &name)?;
        Ok((name, content))
    }

    /// All files by their path below /workspace.
    pub(super) fn into_files(self) -> BTreeMap<String, pb::File> {
        self.files
    }

    fn folder(&mut self, folder: &Path, destination: &str) -> Result<(), Failure> {
        let entries = std::fs::read_dir(folder).map_err(|source| read(folder, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| read(folder, source))?;
            let path = entry.path();
            let below = join(destination, &base_name(&path)?);
            let kind = entry.file_type().map_err(|source| read(&path, source))?;
            if kind.is_dir() {
                self.folder(&path, &below)?;
            } else if kind.is_file() {
                self.file(&path, &below)?;
            } else {
                return Err(Failure::Usage {
                    message: format!(
                        "--put {}: only regular files and folders can be put; a link or device is \
                         among them",
                        path.display()
                    ),
                });
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, destination: &str) -> Result<&[u8], Failure> {
        let metadata = std::fs::metadata(path).map_err(|source| read(path, source))?;
        // Before it is read: a file of many gigabytes must not be.
        if metadata.len() > self.bytes_left() {
            let bytes = self.bytes.saturating_add(metadata.len());
            return Err(Failure::TooLarge {
                what: path.display().to_string(),
                bytes,
            });
        }
        let content = std::fs::read(path).map_err(|source| read(path, source))?;
        self.count(&path.display().to_string(), content.len())?;
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
            .map(std::ffi::OsStr::to_owned),
    };
    named
        .as_deref()
        .and_then(std::ffi::OsStr::to_str)
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

/// Writes collected files below `folder`, and nowhere else whatever a path says.
pub(super) fn save(folder: &Path, files: &[pb::CollectedFile]) -> Result<(), Failure> {
    for file in files {
        let path = below(folder, &file.path)?;
        let write = |source| Failure::Write {
            path: path.clone(),
            source,
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(write)?;
        }
        // A link left there by somebody else is replaced, not followed.
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => std::fs::remove_file(&path).map_err(write)?,
            Ok(_) | Err(_) => {}
        }
        std::fs::write(&path, &file.content).map_err(write)?;
        let permissions = std::fs::Permissions::from_mode(file.mode & 0o777 | 0o600);
        std::fs::set_permissions(&path, permissions).map_err(write)?;
    }
    Ok(())
}

fn below(folder: &Path, path: &str) -> Result<PathBuf, Failure> {
    let plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || !plain {
        return Err(Failure::Answer {
            what: format!("a collected file has the path `{path}`, which leaves its folder"),
        });
    }
    Ok(folder.join(path))
}

#[cfg(test)]
mod tests;
