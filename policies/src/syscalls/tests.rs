//! The list of calls that can be added.

use super::*;

#[test]
fn names_are_unique_and_never_of_the_strict_profile() {
    for (index, (name, profile)) in ALLOWABLE.iter().enumerate() {
        assert_ne!(*profile, SyscallProfile::Strict, "{name}");
        assert!(
            ALLOWABLE[index + 1..]
                .iter()
                .all(|(other, _)| other != name),
            "{name} twice"
        );
    }
    assert_eq!(profile_with("ptrace"), Some(Debug));
    assert_eq!(profile_with("mount"), None);
}
