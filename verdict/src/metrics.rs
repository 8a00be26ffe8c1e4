//! The measures that every verdict carries, whatever its kind: how long it took, how many tests
//! there were and what share of them passed, what compilers and checkers said. A kind's own
//! measures (coverage, leaks) are put in by its module and are never replaced here.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::verdict::{Outcome, Severity, TestStatus, Verdict};

/// Adds what is known from the verdict itself and from `wall_ms`, the wall time of the program
/// that was judged, in milliseconds. What was not judged has no measures.
pub fn add(verdict: &mut Verdict, wall_ms: u64) {
    if verdict.outcome() == Outcome::Unjudged {
        return;
    }
    let mut known: BTreeMap<&str, f64> = BTreeMap::new();
    known.insert("duration_ms", number(wall_ms));
    if verdict.outcome() == Outcome::CompileError {
        known.insert("compile_ok", 0.0);
    }
    if !verdict.tests.is_empty() {
        let passed = verdict.tests.iter().filter(|test| has_passed(test.status));
        let (all, passed) = (count(verdict.tests.len()), count(passed.count()));
        known.insert("tests", all);
        known.insert("tests_passed", passed);
        known.insert("tests_passed_share", passed / all);
    }
    if !verdict.diagnostics.is_empty() {
        for (name, severity) in [("errors", Severity::Error), ("warnings", Severity::Warning)] {
            let same = verdict
                .diagnostics
                .iter()
                .filter(|said| said.severity == severity);
            known.insert(name, count(same.count()));
        }
    }
    for (name, value) in known {
        verdict.metrics.entry(name.to_owned()).or_insert(value);
    }
}

fn has_passed(status: TestStatus) -> bool {
    matches!(status, TestStatus::Passed | TestStatus::Xpass)
}

fn count(count: usize) -> f64 {
    number(u64::try_from(count).unwrap_or(u64::MAX))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and milliseconds below 2^53"
)]
fn number(value: u64) -> f64 {
    value as f64
}
