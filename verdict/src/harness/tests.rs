//! The common decision, by rows of what was reported.

use super::decide::by_tests;
use super::{Observed, agree};
use crate::ending::Ending;
use crate::grade::Ended;
use crate::verdict::{Outcome, TamperNote, TestResult, TestStatus, Verdict};
use crate::verify::{HarnessSpec, OnTamper, Required};

use TestStatus::{Error, Failed, Passed, Skipped, Timeout, Xfail, Xpass};

fn observed(tests: &[(&str, TestStatus)]) -> Observed {
    let test = |(id, status): &(&str, TestStatus)| TestResult {
        id: (*id).to_owned(),
        status: *status,
        duration_ms: 1,
        message: String::new(),
        file: String::new(),
        line: None,
    };
    Observed {
        tests: tests.iter().map(test).collect(),
        ..Observed::default()
    }
}

fn decide(spec: &HarnessSpec, observed: Observed, ending: &Ending) -> Verdict {
    let ended = Ended {
        ending,
        oom_kills: 0,
    };
    by_tests(spec, observed, ended)
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn swe(fail_to_pass: &[&str], pass_to_pass: &[&str]) -> HarnessSpec {
    HarnessSpec {
        required: Required {
            fail_to_pass: ids(fail_to_pass),
            pass_to_pass: ids(pass_to_pass),
            ..Required::default()
        },
        ..HarnessSpec::default()
    }
}

const OK: Ending = Ending::Exited { code: 0 };

#[test]
fn without_required_ids_every_test_that_ran_must_have_passed() {
    let spec = HarnessSpec::default();
    let rows: &[(&[(&str, TestStatus)], Outcome)] = &[
        (&[], Outcome::NoTests),
        (&[("a", Skipped)], Outcome::NoTests),
        (&[("a", Xfail)], Outcome::Failed),
        (&[("a", Passed)], Outcome::Passed),
        (
            &[("a", Passed), ("b", Skipped), ("c", Xfail)],
            Outcome::Passed,
        ),
        (&[("a", Xpass)], Outcome::Passed),
        (&[("a", Passed), ("b", Failed)], Outcome::Failed),
        (&[("a", Passed), ("b", Error)], Outcome::Failed),
        (&[("a", Passed), ("b", Timeout)], Outcome::Failed),
        // A second, better line of the same name does not help.
        (&[("a", Failed), ("a", Passed)], Outcome::Failed),
    ];
    for (tests, outcome) in rows {
        let verdict = decide(&spec, observed(tests), &OK);
        assert_eq!(verdict.outcome(), *outcome, "{tests:?}");
        assert!(*outcome == Outcome::Passed || !verdict.reason.is_empty());
    }
}

#[test]
fn an_exit_code_against_the_report_is_no_pass() {
    let spec = HarnessSpec::default();
    let verdict = decide(
        &spec,
        observed(&[("a", Passed)]),
        &Ending::Exited { code: 1 },
    );
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert!(verdict.reason.contains("exited with code 1"), "{verdict:?}");
    // Other tests than the required ones may fail.
    let verdict = decide(
        &swe(&["a"], &[]),
        observed(&[("a", Passed), ("z", Failed)]),
        &Ending::Exited { code: 1 },
    );
    assert_eq!(verdict.outcome(), Outcome::Passed);
}

#[test]
fn required_ids_are_told_apart() {
    let spec = swe(&["f1", "f2"], &["p1", "p2"]);
    let all = |f2, p2| {
        observed(&[
            ("f1", Passed),
            ("f2", f2),
            ("p1", Passed),
            ("p2", p2),
            ("x", Failed),
        ])
    };
    assert_eq!(
        decide(&spec, all(Passed, Passed), &OK).outcome(),
        Outcome::Passed
    );
    assert_eq!(
        decide(&spec, all(Passed, Skipped), &OK).outcome(),
        Outcome::Passed
    );
    let skipped = decide(&spec, all(Skipped, Passed), &OK);
    assert_eq!(skipped.reason, "1 of 2 fail_to_pass tests did not pass: f2");
    let broken = decide(&spec, all(Passed, Failed), &OK);
    assert_eq!(broken.reason, "1 of 2 pass_to_pass tests did not pass: p2");
    let absent = decide(&spec, observed(&[("f1", Passed), ("p1", Passed)]), &OK);
    assert_eq!(absent.outcome(), Outcome::Failed);
    let missing: Vec<&str> = (absent.tests.iter())
        .filter(|test| test.status == TestStatus::Missing)
        .map(|test| test.id.as_str())
        .collect();
    assert_eq!(missing, ["f2", "p2"]);
}

#[test]
fn partial_credit_is_a_share_below_one() {
    let mut spec = swe(&["f1", "f2"], &["p1", "p2"]);
    spec.required.partial_credit = true;
    let tests = observed(&[
        ("f1", Passed),
        ("f2", Failed),
        ("p1", Passed),
        ("p2", Passed),
    ]);
    let verdict = decide(&spec, tests, &OK);
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Failed, Some(0.75))
    );
    // All passed, and the command says otherwise: no credit.
    let mut spec = HarnessSpec::default();
    spec.required.partial_credit = true;
    let verdict = decide(
        &spec,
        observed(&[("a", Passed)]),
        &Ending::Exited { code: 3 },
    );
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Failed, Some(0.0))
    );
}

#[test]
fn what_is_not_the_solutions_doing_has_no_reward() {
    let spec = HarnessSpec {
        argv: ids(&["pytest"]),
        ..HarnessSpec::default()
    };
    let absent = |path: &str| Ending::NotStarted {
        path: path.to_owned(),
        code: 127,
        reason: "no such file".to_owned(),
    };
    let verdict = decide(&spec, observed(&[]), &absent("pytest"));
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::VerifierError, None)
    );
    let own = HarnessSpec {
        argv: ids(&["./run.sh"]),
        ..HarnessSpec::default()
    };
    let verdict = decide(&own, observed(&[]), &absent("./run.sh"));
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Failed, Some(0.0))
    );
    let host = Ending::SandboxFailed {
        step: "clone".to_owned(),
        reason: "no".to_owned(),
    };
    let verdict = decide(&swe(&["a"], &[]), observed(&[("a", Passed)]), &host);
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::InfraError, None)
    );
}

#[test]
fn a_touched_framework_proves_nothing() {
    let note = TamperNote {
        path: "TestReport".to_owned(),
        what: "replaced".to_owned(),
    };
    let touched = |tests: &[(&str, TestStatus)]| Observed {
        tamper: vec![note.clone()],
        ..observed(tests)
    };
    let mut spec = HarnessSpec::default();
    let verdict = decide(&spec, touched(&[("a", Passed)]), &OK);
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert_eq!(verdict.tamper.len(), 1);
    spec.phase.on_tamper = OnTamper::Zero;
    let verdict = decide(&spec, touched(&[("a", Failed)]), &OK);
    assert_eq!(verdict.outcome(), Outcome::Tampered);
}

#[test]
fn repetitions_must_agree() {
    let spec = HarnessSpec::default();
    let verdict = |b| decide(&spec, observed(&[("a", Passed), ("b", b)]), &OK);
    let steady = agree(vec![verdict(Passed), verdict(Passed)]);
    assert_eq!(steady.outcome(), Outcome::Passed);
    let flake = steady.evidence.flake.expect("told");
    assert_eq!((flake.runs, flake.passed), (2, 2));
    let flaky = agree(vec![verdict(Passed), verdict(Failed), verdict(Passed)]);
    assert_eq!(flaky.outcome(), Outcome::Failed);
    assert!(flaky.reason.contains("passed 2 of 3"), "{}", flaky.reason);
    assert_eq!(flaky.evidence.flake.expect("told").test_ids, ["b"]);
    let broken = Verdict::new(Outcome::InfraError, "host");
    let broken = agree(vec![verdict(Passed), broken]);
    assert_eq!(
        (broken.outcome(), broken.reward()),
        (Outcome::InfraError, None)
    );
    assert_eq!(agree(Vec::new()).outcome(), Outcome::InfraError);
}
