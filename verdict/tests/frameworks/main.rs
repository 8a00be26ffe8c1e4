//! Plans of test frameworks, run with plain processes and the real tools, and the verdicts on what
//! came of it. What a sandbox adds is not tested here.

#![expect(clippy::print_stdout, reason = "counted skips are read by people")]

mod cargo;
mod driver;
mod exercism;
mod go;
mod javascript;
mod tamper;

use std::fs::OpenOptions;
use std::io::Write;

use verdict::{Framework, HarnessSpec, Outcome, TestStatus, Verdict};

/// Whether the tool is on this machine; else a counted skip.
fn has(tool: &str, test: &str) -> bool {
    if driver::has(tool) {
        return true;
    }
    let line = format!("SKIP frameworks/{test}: there is no {tool} on this machine");
    println!("{line}");
    if let Some(path) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        let log = OpenOptions::new().create(true).append(true).open(path);
        writeln!(log.expect("opens the log of skips"), "{line}").expect("writes to it");
    }
    false
}

#[track_caller]
fn assert_outcome(verdict: &Verdict, expected: Outcome, says: &str) {
    assert_eq!(verdict.outcome(), expected, "{verdict:#?}");
    assert!(verdict.reason.contains(says), "{verdict:#?}");
}

/// Ids of the tests in that state, in order.
fn ids(verdict: &Verdict, status: TestStatus) -> Vec<&str> {
    let tests = verdict.tests.iter().filter(|test| test.status == status);
    let mut ids: Vec<&str> = tests.map(|test| test.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_tool_that_is_missing_says_nothing_about_the_solution() {
    for framework in [Framework::CargoTest, Framework::GoTest] {
        let mut spec = HarnessSpec {
            framework,
            ..HarnessSpec::default()
        };
        spec.env
            .insert("PATH".to_owned(), "/nonexistent".to_owned());
        let verdict = driver::run_spec(spec, &[("x", "")]);
        assert_outcome(&verdict, Outcome::VerifierError, "this image has no");
        assert_eq!(verdict.reward(), None);
    }
}
