//! Readers of diagnostics, coverage and leaks against real files of the real tools, which lie
//! beside the checkout. Each disagreement that stays is listed here, with its reason.

#![expect(
    clippy::print_stdout,
    reason = "counts and counted skips are read by people"
)]

mod coverage;
mod diagnostics;
mod leaks;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use verdict::Untrusted;

/// The folder of a set, or a counted skip.
fn set(name: &str, files: usize) -> Option<PathBuf> {
    let data = std::env::var_os("ROLLCAGE_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    let folder = data.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let line = format!("SKIP measures/{name}: {files} files, the data set is not on this machine");
    println!("{line}");
    if let Some(path) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        let log = OpenOptions::new().create(true).append(true).open(path);
        writeln!(log.expect("opens the log of skips"), "{line}").expect("writes to it");
    }
    None
}

fn bytes(path: &Path) -> Untrusted<Vec<u8>> {
    Untrusted::new(fs::read(path).expect("a file of the set"))
}

/// Entries of a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the set");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}
