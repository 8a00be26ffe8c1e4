//! A tar archive, plain or gzipped, read into memory. Only regular files and folders; a link, a
//! device or a name that leads elsewhere is refused, never followed.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::tree::{TREE_BYTES_MAX, Tree, wrong_path};
use crate::pb;

/// Most entries of an archive.
const ENTRIES_MAX: usize = 200_000;

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// It is no archive, or cut.
    #[error("read the archive")]
    Read(#[source] std::io::Error),
    /// A name that leads elsewhere.
    #[error("the name `{path}` in the archive {problem}")]
    Path { path: String, problem: &'static str },
    /// A link or a device.
    #[error("`{path}` in the archive is neither a regular file nor a folder")]
    Kind { path: String },
    /// Too much.
    #[error("the archive holds more than {} MiB or {ENTRIES_MAX} files", TREE_BYTES_MAX >> 20)]
    TooLarge,
}

/// The files of the archive at `path`.
pub(super) fn read(path: &Path) -> Result<Tree, ArchiveError> {
    let bytes = std::fs::read(path).map_err(ArchiveError::Read)?;
    unpack(&bytes)
}

/// The files of an archive.
pub(super) fn unpack(bytes: &[u8]) -> Result<Tree, ArchiveError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // One byte too much tells a large archive from one that just fits; headers need room too.
        let limit = TREE_BYTES_MAX.saturating_mul(2);
        entries(MultiGzDecoder::new(bytes).take(limit))
    } else {
        entries(bytes)
    }
}

fn entries(reader: impl Read) -> Result<Tree, ArchiveError> {
    let mut archive = tar::Archive::new(reader);
    let mut files = Tree::new();
    let mut bytes = 0_u64;
    for (count, entry) in archive.entries().map_err(ArchiveError::Read)?.enumerate() {
        let entry = entry.map_err(ArchiveError::Read)?;
        let kind = entry.header().entry_type();
        let name = entry.path_bytes();
        let name = String::from_utf8_lossy(&name).into_owned();
        let path = name
            .trim_start_matches("./")
            .trim_end_matches('/')
            .to_owned();
        if count >= ENTRIES_MAX {
            return Err(ArchiveError::TooLarge);
        }
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        if let Some(problem) = wrong_path(&path) {
            return Err(ArchiveError::Path { path, problem });
        }
        if !kind.is_file() {
            return Err(ArchiveError::Kind { path });
        }
        let mode = entry.header().mode().map_err(ArchiveError::Read)?;
        let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
        let mut content = Vec::new();
        let left = TREE_BYTES_MAX.saturating_sub(bytes);
        entry
            .take(left.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(ArchiveError::Read)?;
        bytes = bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
        if bytes > TREE_BYTES_MAX {
            return Err(ArchiveError::TooLarge);
        }
        let mode = Some(mode);
        files.insert(path, pb::File { content, mode });
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
