//! The same verification, done several times: all must agree.

use std::collections::{BTreeMap, BTreeSet};

use crate::verdict::{Flake, Outcome, TestStatus, Verdict};

/// Makes one verdict of those of repetitions. One that says nothing about the solution decides;
/// else it passed only if it always did, and what did not always end alike is told.
#[must_use]
pub fn agree(mut verdicts: Vec<Verdict>) -> Verdict {
    if verdicts.len() < 2 {
        let none = || Verdict::new(Outcome::InfraError, "no repetition was judged");
        return verdicts.pop().unwrap_or_else(none);
    }
    if let Some(unscored) = verdicts.iter().position(|verdict| !verdict.scorable()) {
        return verdicts.swap_remove(unscored);
    }
    let runs = verdicts.len();
    let is_pass = |verdict: &Verdict| verdict.outcome() == Outcome::Passed;
    let passed = verdicts.iter().filter(|verdict| is_pass(verdict)).count();
    let flake = Flake {
        runs: u32::try_from(runs).unwrap_or(u32::MAX),
        passed: u32::try_from(passed).unwrap_or(u32::MAX),
        test_ids: unsteady(&verdicts),
    };
    // What failed tells more than what passed.
    let shown = verdicts.iter().position(|verdict| !is_pass(verdict));
    let mut verdict = verdicts.swap_remove(shown.unwrap_or(0));
    if passed > 0 && passed < runs {
        verdict.reason = format!(
            "flaky: it passed {passed} of {runs} times; {}",
            verdict.reason
        );
    }
    verdict.evidence.flake = Some(flake);
    verdict
}

fn unsteady(verdicts: &[Verdict]) -> Vec<String> {
    let mut seen: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
    for verdict in verdicts {
        for test in &verdict.tests {
            let kind = match test.status {
                TestStatus::Passed | TestStatus::Xpass => 0,
                TestStatus::Skipped | TestStatus::Xfail => 1,
                _ => 2,
            };
            seen.entry(test.id.as_str()).or_default().insert(kind);
        }
    }
    (seen.into_iter())
        .filter(|(_, kinds)| kinds.len() > 1)
        .map(|(id, _)| id.to_owned())
        .collect()
}
