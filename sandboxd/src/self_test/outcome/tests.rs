//! What an outcome means, and which controls it proves.

use super::*;
use probe::Class;

pub(in crate::self_test) fn judged(name: &str, right: Option<bool>) -> Judged {
    Judged {
        name: name.to_owned(),
        class: Class::Escape,
        found: "ok".to_owned(),
        expected: "EPERM".to_owned(),
        right,
    }
}

pub(in crate::self_test) fn outcome(rows: Vec<Judged>) -> Outcome {
    Outcome {
        key: "k".repeat(64),
        plan_sha256: "1".repeat(64),
        mode: "root".to_owned(),
        kernel: "6.1".to_owned(),
        boot_id: "boot".to_owned(),
        at_unix_ms: 1_790_000_000_000,
        rows,
        fault: String::new(),
    }
}

#[test]
fn right_means_that_something_was_asked_and_nothing_is_wrong() {
    let (right, wrong, unasked) = (Some(true), Some(false), None);
    assert!(outcome(vec![judged("a", right), judged("b", unasked)]).is_right());
    assert!(!outcome(vec![judged("a", right), judged("b", wrong)]).is_right());
    assert!(!outcome(vec![judged("a", unasked)]).is_right());
    assert!(!outcome(vec![]).is_right());
    let cut_short = Outcome {
        fault: "killed".to_owned(),
        ..outcome(vec![judged("a", right)])
    };
    assert!(!cut_short.is_right());
}

#[test]
fn trouble_names_row_found_and_expected() {
    let two = outcome(vec![judged("a", Some(false)), judged("b", Some(false))]);
    let trouble = two.trouble();
    for part in ["`a`", "escape", "`ok`", "`EPERM`", "1 more"] {
        assert!(trouble.contains(part), "{part}: {trouble}");
    }
    assert_eq!(outcome(vec![judged("a", Some(true))]).trouble(), "");
    assert!(outcome(vec![]).trouble().contains("no row"));
    let cut_short = |key: &str| Outcome {
        key: key.to_owned(),
        fault: "it is not there".to_owned(),
        ..outcome(vec![])
    };
    assert_eq!(
        cut_short("k").trouble(),
        "the probe could not be run to its end: it is not there"
    );
    // What was never begun did not end early.
    assert_eq!(cut_short("").trouble(), "it is not there");
}

#[test]
fn a_control_is_proved_by_its_right_rows_alone() {
    let row = BATTERY
        .iter()
        .find(|row| !row.steps.is_empty())
        .expect("a row");
    let step = row.steps[0];
    let tested = Tested::new(outcome(vec![judged(row.name, Some(true))]), false);
    let proof = tested.proof_of(step);
    assert_eq!(proof, format!("{} at 2026-09-21T14:13:20Z", row.name));
    for right in [Some(false), None] {
        let tested = Tested::new(outcome(vec![judged(row.name, right)]), false);
        assert_eq!(tested.proof_of(step), "");
    }
    assert_eq!(tested.proof_of("no such control"), "");
}

#[test]
fn known_moments() {
    assert_eq!(utc(0), "1970-01-01T00:00:00Z");
    assert_eq!(utc(951_782_400_000), "2000-02-29T00:00:00Z");
    assert_eq!(utc(1_704_067_199_999), "2023-12-31T23:59:59Z");
    assert_eq!(utc(4_107_542_400_000), "2100-03-01T00:00:00Z");
}
