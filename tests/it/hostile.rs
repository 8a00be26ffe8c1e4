//! Traps for what works outside of the cell: for those who write and collect files, show names and
//! output, and start daemons; laid by programs, by files, by images, by the caller's surroundings.
//! Which known technique each one stands for is told in `docs/escapes.md`.

mod file_sets;
mod grader;
mod images;
mod inside;
mod racers;
mod screens;
mod surroundings;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What nobody may read or change.
const SENTINEL: &str = "sentinel of the host";

/// A folder below `parent` that is removed at the end, open to all readers.
fn place(parent: &Path) -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .prefix("rollcage-it-")
        .tempdir_in(parent)
        .expect("a folder");
    open_to_all(folder.path());
    folder
}

fn open_to_all(folder: &Path) {
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder, open).expect("open a folder");
}

fn plant(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, SENTINEL).expect("plant the sentinel");
    path
}

#[track_caller]
fn is_unchanged(sentinel: &Path) {
    let text = fs::read_to_string(sentinel).expect("the sentinel is there");
    assert_eq!(text, SENTINEL, "{}", sentinel.display());
}

/// The text of a collected file, where it is text.
fn content(file: &Value) -> Option<&str> {
    let content = &file["content"];
    content.as_str().or_else(|| content["text"].as_str())
}
