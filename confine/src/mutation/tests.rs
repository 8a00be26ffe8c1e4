//! A build without the feature has nothing switched off, whatever it is asked.

use super::{LAUNCHER_LOCKS, NAME_BYTES_MAX, is_off};

#[test]
fn nothing_is_off_in_a_program_as_it_is_built() {
    let steps = crate::sequence::explain();
    let steps = steps.iter().map(|(name, ..)| *name);
    for name in steps.chain(LAUNCHER_LOCKS.iter().map(|(name, _)| *name)) {
        assert!(!is_off(name), "{name}");
    }
    assert!(!is_off(""));
}

#[test]
fn every_name_fits_behind_the_marker_and_is_there_once() {
    let mut seen = std::collections::BTreeSet::new();
    let steps = crate::sequence::explain();
    let steps = steps.iter().map(|(name, ..)| *name);
    for name in steps.chain(LAUNCHER_LOCKS.iter().map(|(name, _)| *name)) {
        assert!(name.len() < NAME_BYTES_MAX, "{name}");
        assert!(seen.insert(name), "{name} twice");
    }
}
