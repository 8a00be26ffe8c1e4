//! Judgements: right answers pass, anything else and anything missing does not.

use super::*;
use crate::row::Expectation;
use crate::setting::testing::{landlock, root, rootless};

/// What a sandbox without any fault would tell.
fn right(setting: &Setting) -> Vec<Finding> {
    let rows = BATTERY.iter().filter(|row| !row.alone);
    rows.map(|row| Finding {
        name: row.name.to_owned(),
        result: match expected(row, setting) {
            Expectation::OneOf(words) => words.first().expect("a word").to_string(),
            Expectation::AtMost(most) => most.to_string(),
            Expectation::NotAsked(_) => "whatever".to_owned(),
        },
    })
    .collect()
}

#[test]
fn right_answers_are_right_in_every_mode() {
    for setting in [root(), rootless(), landlock()] {
        let judged = judge(&right(&setting), &setting);
        let wrong: Vec<&Judged> = judged
            .iter()
            .filter(|row| row.right == Some(false))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(judged.iter().filter(|row| row.right == Some(true)).count() > 60);
    }
}

#[test]
fn every_row_that_is_asked_notices_a_wrong_answer_and_a_missing_one() {
    let setting = root();
    let all = right(&setting);
    for at in 0..all.len() {
        let mut changed = all.clone();
        changed[at].result = "something else".to_owned();
        let mut without = all.clone();
        let name = without.remove(at).name;
        for findings in [changed, without] {
            let judged = judge(&findings, &setting);
            let row = judged.iter().find(|row| row.name == name).expect("the row");
            assert_ne!(row.right, Some(true), "{row:?}");
            let asked = row.right.is_some();
            let wrong = judged.iter().filter(|row| row.right == Some(false)).count();
            assert_eq!(wrong, usize::from(asked), "{name}");
        }
    }
}

#[test]
fn findings_of_no_row_are_wrong() {
    let setting = root();
    let mut findings = right(&setting);
    for name in ["no_such_row", "memory_limit"] {
        let (name, result) = (name.to_owned(), "ok".to_owned());
        findings.push(Finding { name, result });
    }
    let judged = judge(&findings, &setting);
    let wrong: Vec<&str> = judged
        .iter()
        .filter(|row| row.right == Some(false))
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(wrong, ["no_such_row", "memory_limit"]);
}

#[test]
fn a_row_alone_is_judged_by_the_end_of_its_run() {
    let mut setting = root();
    setting.memory_bytes_max = 64 << 20;
    let row = row_named("memory_limit").expect("the row");
    let cases = [
        (Some("memory_up"), Some(true)),
        (Some("signal 9"), Some(true)),
        (Some("more than 1073741824 bytes"), Some(false)),
        (Some("exited"), Some(false)),
        (None, Some(false)),
    ];
    for (found, wanted) in cases {
        assert_eq!(judge_row(row, found, &setting).right, wanted, "{found:?}");
    }
    setting.memory_bytes_max = 8 << 30;
    assert_eq!(judge_row(row, None, &setting).right, None);
}
