//! The decision on a report of tests: the host first, then limits, then what the module of the
//! kind found wrong, then the tests.

use std::collections::BTreeMap;

use super::Observed;
use crate::ending::Ending;
use crate::grade::{Ended, WHERE_PROGRAMS_ARE, by_ending, by_host, describe};
use crate::verdict::{Outcome, TestResult, TestStatus, Verdict};
use crate::verify::{HarnessSpec, OnTamper, Required};

/// Most ids named in one reason.
const NAMED_MAX: usize = 5;

/// The verdict on tests.
pub(super) fn by_tests(spec: &HarnessSpec, observed: Observed, ended: Ended<'_>) -> Verdict {
    let argv = &spec.argv;
    let mut verdict = by_host_or_start(argv, ended)
        .or_else(|| by_ending(ended))
        .or_else(|| by_trouble(&observed))
        .unwrap_or_else(|| by_results(spec, &observed, ended.ending));
    if !observed.tamper.is_empty() && verdict.scorable() {
        verdict = touched(spec, &observed, verdict);
    }
    verdict.tests = observed.tests;
    if verdict.scorable() {
        let missing = missing(&spec.required, &verdict.tests);
        verdict.tests.extend(missing);
    }
    verdict.diagnostics = observed.diagnostics;
    verdict.metrics = observed.metrics;
    verdict.tamper = observed.tamper;
    verdict.tamper.extend(observed.noticed);
    count(&mut verdict);
    verdict
}

/// What says nothing about the solution, or that the command was not there.
pub(super) fn by_host_or_start(argv: &[String], ended: Ended<'_>) -> Option<Verdict> {
    if let Some(verdict) = by_host(ended.ending) {
        return Some(verdict);
    }
    let Ending::NotStarted { path, .. } = ended.ending else {
        return None;
    };
    let how = describe(ended.ending);
    // What lies below /workspace may be the solution's to make; all else is the image's.
    let own = argv.first().is_some_and(|program| {
        program.starts_with("/workspace/") || (program.contains('/') && !program.starts_with('/'))
    }) || path.starts_with("/workspace/");
    Some(if own {
        let reason = format!("the command of the tests is not there: {how}");
        Verdict::new(Outcome::Failed, reason)
    } else {
        let what = "the command of the tests cannot run in this image";
        let reason = format!("{what}: {how}; {WHERE_PROGRAMS_ARE}");
        Verdict::new(Outcome::VerifierError, reason)
    })
}

fn by_trouble(observed: &Observed) -> Option<Verdict> {
    let (outcome, reason) = observed.trouble.as_ref()?;
    Some(Verdict::new(*outcome, reason.clone()))
}

/// A report whose framework was touched from within proves nothing.
fn touched(spec: &HarnessSpec, observed: &Observed, verdict: Verdict) -> Verdict {
    let names = named(observed.tamper.iter().map(|note| note.path.as_str()));
    match spec.phase.on_tamper {
        OnTamper::Zero => Verdict::new(Outcome::Tampered, format!("the solution touched {names}")),
        OnTamper::Grade if verdict.outcome() == Outcome::Passed => {
            let reason = format!("the solution touched {names}, so that the report proves nothing");
            Verdict::new(Outcome::Failed, reason)
        }
        OnTamper::Grade => verdict,
    }
}

fn by_results(spec: &HarnessSpec, observed: &Observed, ending: &Ending) -> Verdict {
    let tests = &observed.tests;
    if tests.is_empty() {
        let reason = format!("no test was reported; the command {}", describe(ending));
        return Verdict::new(Outcome::NoTests, reason);
    }
    let worst = worst(tests);
    if worst.values().all(|status| *status == TestStatus::Skipped) {
        let reason = format!("all {} tests were skipped", worst.len());
        return Verdict::new(Outcome::NoTests, reason);
    }
    let failure = if spec.required.is_empty() {
        all_passed(&worst, tests, ending)
    } else {
        required_passed(&spec.required, &worst)
    };
    match failure {
        None => Verdict::new(Outcome::Passed, ""),
        Some(Failure { passed, of, reason }) if spec.required.partial_credit && of > 0 => {
            #[expect(clippy::cast_precision_loss, reason = "at most 100,000 tests")]
            let share = passed as f64 / of as f64;
            // All tests passed but something else is wrong: no credit for that.
            Verdict::failed_share(share, reason.as_str())
                .unwrap_or_else(|_whole| Verdict::new(Outcome::Failed, reason))
        }
        Some(Failure { reason, .. }) => Verdict::new(Outcome::Failed, reason),
    }
}

/// Why it is no pass, and the share that did pass.
struct Failure {
    passed: usize,
    of: usize,
    reason: String,
}

/// The worst status of each id: a name that stands twice has passed only if both have.
fn worst(tests: &[TestResult]) -> BTreeMap<&str, TestStatus> {
    let mut all: BTreeMap<&str, TestStatus> = BTreeMap::new();
    for test in tests {
        let status = all.entry(test.id.as_str()).or_insert(test.status);
        if badness(test.status) > badness(*status) {
            *status = test.status;
        }
    }
    all
}

fn badness(status: TestStatus) -> u8 {
    match status {
        TestStatus::Passed => 0,
        TestStatus::Xpass => 1,
        TestStatus::Xfail => 2,
        TestStatus::Skipped => 3,
        TestStatus::Missing => 4,
        TestStatus::Timeout => 5,
        TestStatus::Failed => 6,
        TestStatus::Error => 7,
    }
}

fn has_passed(status: TestStatus) -> bool {
    matches!(status, TestStatus::Passed | TestStatus::Xpass)
}

/// No test is named: every one that ran must have passed, one at least, and the command must not
/// say otherwise.
fn all_passed(
    worst: &BTreeMap<&str, TestStatus>,
    tests: &[TestResult],
    ending: &Ending,
) -> Option<Failure> {
    let passed = (worst.values())
        .filter(|status| has_passed(**status))
        .count();
    let kept_out = |status: &TestStatus| matches!(status, TestStatus::Skipped | TestStatus::Xfail);
    let of = worst.values().filter(|status| !kept_out(status)).count();
    let failure = |reason| Some(Failure { passed, of, reason });
    let bad: Vec<&str> = (worst.iter())
        .filter(|(_, status)| !has_passed(**status) && !kept_out(status))
        .map(|(id, _)| *id)
        .collect();
    if let Some(first) = bad.first() {
        let message = tests
            .iter()
            .find(|test| test.id == *first && !has_passed(test.status))
            .map_or("", |test| test.message.as_str());
        let count = bad.len();
        return failure(match (count, message) {
            (1, "") => format!("test {first} did not pass"),
            (1, message) => format!("{first}: {}", first_line(message)),
            _ => format!("{count} of {of} tests did not pass: {}", named(bad)),
        });
    }
    if passed == 0 {
        return failure("every test that ran was expected to fail".to_owned());
    }
    match ending {
        Ending::Exited { code: 0 } => None,
        ending => failure(format!(
            "every test is reported as passed, but the command {}",
            describe(ending)
        )),
    }
}

/// Only the tests that are named count.
fn required_passed(required: &Required, worst: &BTreeMap<&str, TestStatus>) -> Option<Failure> {
    let rows = [
        ("required", &required.test_ids, false),
        ("fail_to_pass", &required.fail_to_pass, false),
        ("pass_to_pass", &required.pass_to_pass, true),
    ];
    let (mut passed, mut of) = (0, 0);
    let mut reasons = Vec::new();
    for (name, ids, may_be_left_out) in rows {
        let fine = |id: &&String| match worst.get(id.as_str()) {
            Some(TestStatus::Skipped | TestStatus::Xfail) => may_be_left_out,
            Some(status) => has_passed(*status),
            None => false,
        };
        let bad: Vec<&str> = (ids.iter())
            .filter(|id| !fine(id))
            .map(String::as_str)
            .collect();
        passed += ids.len() - bad.len();
        of += ids.len();
        if !bad.is_empty() {
            let (count, all) = (bad.len(), ids.len());
            reasons.push(format!(
                "{count} of {all} {name} tests did not pass: {}",
                named(bad)
            ));
        }
    }
    let reason = reasons.join("; ");
    (!reason.is_empty()).then_some(Failure { passed, of, reason })
}

/// Required tests that nothing was reported of.
fn missing(required: &Required, tests: &[TestResult]) -> Vec<TestResult> {
    let lists = [
        &required.test_ids,
        &required.fail_to_pass,
        &required.pass_to_pass,
    ];
    if required.is_empty() {
        return Vec::new();
    }
    let seen: std::collections::BTreeSet<&str> =
        tests.iter().map(|test| test.id.as_str()).collect();
    (lists.into_iter().flatten())
        .filter(|id| !seen.contains(id.as_str()))
        .map(|id| TestResult {
            id: id.clone(),
            status: TestStatus::Missing,
            duration_ms: 0,
            message: "required, but not reported".to_owned(),
            file: String::new(),
            line: None,
        })
        .collect()
}

/// The tests in numbers, for those who do not want the list.
fn count(verdict: &mut Verdict) {
    let all = verdict.tests.len();
    if all == 0 {
        return;
    }
    let passed = (verdict.tests.iter())
        .filter(|test| has_passed(test.status))
        .count();
    #[expect(clippy::cast_precision_loss, reason = "at most 100,000 tests")]
    let numbers = [("tests", all as f64), ("tests_passed", passed as f64)];
    for (name, number) in numbers {
        verdict.metrics.insert(name.to_owned(), number);
    }
}

fn named<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids = ids.into_iter();
    let first: Vec<&str> = ids.by_ref().take(NAMED_MAX).collect();
    let more = ids.count();
    let names = first.join(", ");
    if more == 0 {
        names
    } else {
        format!("{names} and {more} more")
    }
}

fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or(text)
}
