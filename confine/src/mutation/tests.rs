//! A build without the feature has nothing switched off, whatever it is asked; and the tables.

use std::collections::BTreeSet;

use super::{NAME_BYTES_MAX, WEAKER_STEPS, all, is_off};

#[test]
fn nothing_is_off_in_a_program_as_it_is_built() {
    for (name, _) in all() {
        assert!(!is_off(name), "{name}");
    }
    assert!(!is_off(""));
}

#[test]
fn every_name_fits_behind_the_marker_and_is_there_once() {
    let mut seen = BTreeSet::new();
    for (name, what) in all() {
        assert!(name.len() < NAME_BYTES_MAX, "{name}");
        assert!(seen.insert(name), "{name} twice");
        assert!(!what.is_empty(), "{name}");
    }
    for (step, _) in WEAKER_STEPS {
        assert!(seen.contains(step), "{step} is no step");
    }
}
