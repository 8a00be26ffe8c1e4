//! The judge and the solution's host, run with plain processes against real data sets, programs
//! of our own and hacks. What a sandbox adds is not tested here.

#![expect(
    clippy::print_stdout,
    reason = "counts and counted skips are read by people"
)]

mod built;
mod cpp;
mod datasets;
mod driver;
mod frames;
mod frameworks;
mod git;
mod golang;
mod hacks;
mod java;
mod javascript;
mod languages;
mod reaching;
mod runner;
mod rust;
mod tamper;
mod values;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;

use verdict::{AssertsSpec, Outcome, Verdict};

/// The interpreter, or a counted skip.
fn python_or_skip(cases: usize) -> Option<String> {
    let python = driver::python();
    if python.is_none() {
        skip("python3", cases, "there is no python3 on this machine");
    }
    python
}

/// Says in one line, and in the log of skips if there is one, how many cases did not run.
fn skip(part: &str, cases: usize, why: &str) {
    let line = format!("SKIP judge/{part}: {cases} cases, {why}");
    println!("{line}");
    if let Some(path) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        let log = OpenOptions::new().create(true).append(true).open(path);
        writeln!(log.expect("opens the log of skips"), "{line}").expect("writes to it");
    }
}

/// Judges one file by one piece of test code.
fn judge_text(python: &str, solution: &str, code: &str) -> Verdict {
    let spec = AssertsSpec {
        file: "solution.py".to_owned(),
        code: code.to_owned(),
        ..AssertsSpec::default()
    };
    let files = BTreeMap::from([("solution.py".to_owned(), solution.as_bytes().to_vec())]);
    driver::judge(python, &spec, &files)
}

#[track_caller]
fn assert_outcome(verdict: &Verdict, expected: Outcome, label: &str) {
    assert_eq!(verdict.outcome(), expected, "{label}: {verdict:#?}");
}
