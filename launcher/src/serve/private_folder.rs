//! Landlock mode has no mount namespace: each sandbox gets a folder of its own on the host instead
//! of `/workspace` and `/tmp`, removed with it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::attest::warn;
use crate::remove::remove_tree;

fn folder(instance: &Path, id: &str) -> PathBuf {
    instance.join("sandboxes").join(id)
}

/// Makes `workspace` and `tmp` for a sandbox; returns the path of `workspace`.
pub(super) fn make(instance: &Path, id: &str) -> io::Result<String> {
    let top = folder(instance, id);
    for part in ["workspace", "tmp"] {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(top.join(part))?;
    }
    Ok(top.join("workspace").to_string_lossy().into_owned())
}

/// Removes what a sandbox left.
pub(super) fn remove(instance: &Path, id: &str) {
    let top = folder(instance, id);
    if let Err(error) = remove_tree(&top) {
        warn(&format!("remove {}: {error}", top.display()));
    }
}

/// Processes of this user now: RLIMIT_NPROC counts them all. Told by their status: the folder of
/// one that is not dumpable, as ours are, belongs to root.
pub(super) fn user_processes() -> u64 {
    let own = nix::unistd::getuid().to_string();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
        .filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok())
        .filter(|status| {
            let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
            ids.and_then(|ids| ids.split_whitespace().next()) == Some(own.as_str())
        })
        .count() as u64
}
