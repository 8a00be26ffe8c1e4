//! A folder of files in memory: read from disk over no link, changed by patches, never written back.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::failure::Failure;
use super::super::run::files::Payload;
use super::super::units::Put;
use crate::pb;

/// Files by their path below `/workspace`.
pub(crate) type Tree = BTreeMap<String, pb::File>;

/// What the files of one task may take together.
pub(super) const TREE_BYTES_MAX: u64 = 60 << 20;

/// All files below a folder.
pub(super) fn read(folder: &Path) -> Result<Tree, Failure> {
    let mut payload = Payload::new(TREE_BYTES_MAX);
    let put = payload.put(&Put {
        source: folder.to_owned(),
        destination: Some(String::new()),
    });
    match put {
        Ok(()) => Ok(payload.into_files()),
        // Said there as for an option that was not given here.
        Err(Failure::Usage { message }) => {
            let message = message.trim_start_matches("--put ").to_owned();
            Err(Failure::Usage { message })
        }
        Err(other) => Err(other),
    }
}

/// All files below a folder that may be missing.
pub(super) fn read_if_there(folder: &Path) -> Result<Tree, Failure> {
    if folder.is_dir() {
        read(folder)
    } else {
        Ok(Tree::new())
    }
}

/// A text file, which must be there.
pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })
}

/// The same files with a folder before their paths.
pub(super) fn below(folder: &str, files: Tree) -> Tree {
    let folder = folder.trim_matches('/');
    files
        .into_iter()
        .map(|(path, file)| match folder {
            "" | "." => (path, file),
            folder => (format!("{folder}/{path}"), file),
        })
        .collect()
}

/// Why a path cannot be one of a task's files; `None`: it can.
pub(super) fn wrong_path(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.starts_with('/') {
        return Some("is not relative");
    }
    if path.contains(['\0', '\n']) {
        return Some("has a control character");
    }
    let bad = |part: &str| matches!(part, "" | "." | "..");
    path.split('/')
        .any(bad)
        .then_some("has an empty part, `.` or `..`")
}
