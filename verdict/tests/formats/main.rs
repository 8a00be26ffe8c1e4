//! The readers of reports against files that real tools wrote and others counted. Where we read
//! something else than the expected result says, the file stands in a table with the reason.

#![expect(
    clippy::print_stdout,
    reason = "counts and counted skips are read by people"
)]

mod enricomi;
mod go;
mod junit;
mod local;
mod tap;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use verdict::formats::parse;
use verdict::{FormatError, Report, ReportFormat, TestStatus, Untrusted};

/// The shared data beside the checkout, or the folder that `ROLLCAGE_TEST_DATA` names.
fn data_folder() -> PathBuf {
    std::env::var_os("ROLLCAGE_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    )
}

/// The folder of a set, or a counted skip.
fn set(name: &str, files: usize) -> Option<PathBuf> {
    let folder = data_folder().join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let line = format!("SKIP formats/{name}: {files} files, the data set is not on this machine");
    println!("{line}");
    if let Some(path) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        let log = OpenOptions::new().create(true).append(true).open(path);
        writeln!(log.expect("opens the log of skips"), "{line}").expect("writes to it");
    }
    None
}

/// All files below `folder` whose names end in `suffix`, in order.
fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(format: ReportFormat, path: &Path) -> Result<Report, FormatError> {
    let bytes = fs::read(path).expect("a file");
    parse(format, &Untrusted::new(bytes))
}

/// How many tests there are, failed, in error, skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    tests: usize,
    failed: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn of(report: &Report) -> Self {
        let count = |wanted: &[TestStatus]| {
            let tests = report.tests.iter();
            tests.filter(|test| wanted.contains(&test.status)).count()
        };
        Self {
            tests: report.tests.len(),
            failed: count(&[TestStatus::Failed]),
            errors: count(&[TestStatus::Error]),
            skipped: count(&[TestStatus::Skipped, TestStatus::Xfail]),
        }
    }
}

/// Compares what was read of each file with what is expected. `known` has the files on which we
/// differ, each with the reason; a file that agrees must not stand there.
fn compare(name: &str, pairs: &[(String, String, String)], known: &[(&str, &str)]) {
    let known: BTreeMap<&str, &str> = known.iter().copied().collect();
    let mut wrong = Vec::new();
    let (mut agree, mut explained) = (0, 0);
    for (file, expected, got) in pairs {
        match (expected == got, known.get(file.as_str())) {
            (true, None) => agree += 1,
            (false, Some(_)) => explained += 1,
            (true, Some(_)) => wrong.push(format!("{file} agrees and stands in the table")),
            (false, None) => wrong.push(format!("{file}: expected {expected}, got {got}")),
        }
    }
    println!(
        "{name}: {agree} of {} files agree, {explained} differ for a known reason",
        pairs.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        explained,
        known.len(),
        "a file of the table is not in the set"
    );
}

/// A path below its set, with `/`.
fn relative(path: &Path, set: &Path) -> String {
    let path = path.strip_prefix(set).expect("below its set");
    path.to_string_lossy().into_owned()
}
