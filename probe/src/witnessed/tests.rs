//! The table as such, and that silence and doubt are wrong.

use std::collections::BTreeSet;

use super::*;
use crate::setting::testing::{landlock, root, rootless};
use crate::{BATTERY, MISSING, judge, row_named};

fn facts(setting: &Setting) -> Vec<Finding> {
    let right = |row: &Row| match crate::expected(row, setting) {
        Expectation::OneOf(words) => words.first().map(|word| word.clone().into_owned()),
        _ => None,
    };
    WITNESSED
        .iter()
        .map(|row| Finding {
            name: row.name.to_owned(),
            result: right(row).unwrap_or_else(|| "unknown".to_owned()),
        })
        .collect()
}

#[test]
fn names_are_apart_from_those_of_the_battery() {
    let names: BTreeSet<&str> = WITNESSED.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), WITNESSED.len());
    for row in WITNESSED {
        assert!(row.name.starts_with("host:") || row.name.starts_with("init:"));
        assert!(BATTERY.iter().all(|other| other.name != row.name));
        assert_eq!(row_named(row.name).map(|found| found.what), Some(row.what));
    }
}

#[test]
fn all_is_right_when_all_is_told_rightly() {
    for setting in [root(), rootless(), landlock()] {
        let judged = judge_witnessed(&facts(&setting), &setting);
        let wrong: Vec<_> = judged
            .iter()
            .filter(|one| one.right == Some(false))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    let asked = judge_witnessed(&facts(&root()), &root());
    assert!(asked.iter().all(|one| one.right == Some(true)), "{asked:?}");
}

#[test]
fn silence_and_unknown_are_wrong() {
    let setting = root();
    for row in judge_witnessed(&[], &setting) {
        assert_eq!(row.found, MISSING, "{}", row.name);
        assert_eq!(row.right, Some(false), "{}", row.name);
    }
    let mut all = facts(&setting);
    for fact in &mut all {
        "unknown".clone_into(&mut fact.result);
    }
    for row in judge_witnessed(&all, &setting) {
        assert_eq!(row.right, Some(false), "{}", row.name);
    }
}

#[test]
fn a_program_cannot_tell_of_them() {
    let lie = Finding {
        name: "host:ns_user".to_owned(),
        result: "own".to_owned(),
    };
    let judged = judge(&[lie], &root());
    let row = judged.iter().find(|one| one.name == "host:ns_user");
    assert_eq!(row.and_then(|one| one.right), Some(false));
}
