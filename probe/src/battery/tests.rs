//! The table as such: names, classes, and that each row asks for something in the strictest setting.

use std::collections::BTreeSet;

use super::*;
use crate::row::{Outside, expected};
use crate::setting::testing::{landlock, root, rootless};
use crate::{NAME_BYTES_MAX, RESULT_BYTES_MAX};

#[test]
fn names_are_unique_and_such_as_findings_may_have() {
    let names: BTreeSet<&str> = BATTERY.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), BATTERY.len());
    for row in BATTERY {
        let simple = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(row.name.bytes().all(simple), "{}", row.name);
        assert!(row.name.len() <= NAME_BYTES_MAX, "{}", row.name);
        assert!(
            !row.what.is_empty() && !row.what.contains('\n'),
            "{}",
            row.name
        );
        assert!(row_named(row.name).is_some_and(|found| found.what == row.what));
    }
    assert!(row_named("no_such_row").is_none());
}

#[test]
fn every_row_is_asked_somewhere_and_its_words_can_be_told() {
    let settings = [root(), rootless(), landlock()];
    for row in BATTERY {
        let mut asked = false;
        for setting in &settings {
            let expectation = expected(row, setting);
            asked |= !matches!(expectation, Expectation::NotAsked(_));
            if let Expectation::OneOf(words) = expectation {
                assert!(!words.is_empty(), "{}: nothing is right", row.name);
                for word in words {
                    let told = !word.is_empty() && word.len() <= RESULT_BYTES_MAX;
                    assert!(told, "{}: {word:?}", row.name);
                }
            }
        }
        assert!(asked, "{} is asked nowhere", row.name);
    }
}

#[test]
fn what_must_differ_outside_never_expects_to_work() {
    for row in BATTERY.iter().filter(|row| row.outside == Outside::Works) {
        let works = expected(row, &root()).allows("ok");
        assert_eq!(works, Some(true), "{}", row.name);
    }
    let strict = root();
    for row in BATTERY.iter().filter(|row| row.outside == Outside::Differs) {
        let works = expected(row, &strict).allows("ok");
        assert_ne!(works, Some(true), "{}", row.name);
    }
}

#[test]
fn every_lock_that_is_not_a_programs_own_has_a_row() {
    let named: BTreeSet<&str> = BATTERY.iter().flat_map(|row| row.steps).copied().collect();
    for lock in ["cgroup_memory", "cgroup_pids", "ns_net"] {
        assert!(named.contains(lock), "{lock}");
    }
}
