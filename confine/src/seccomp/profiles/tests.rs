//! The tables are complete and say nothing twice.

use std::collections::BTreeMap;

use super::arguments::{RULED, rule};
use super::{ALLOWED, CLOSED, OPTIONAL, meaning};
use crate::seccomp::rule::{Meaning, Outcome};
use crate::seccomp::table::{SYSCALLS, number_of};
use crate::seccomp::{Network, Profile};

const PROFILES: [Profile; 3] = [Profile::Strict, Profile::Compat, Profile::Debug];
const NETWORKS: [Network; 2] = [Network::Sealed, Network::Loopback];

fn listed() -> Vec<&'static str> {
    let allowed = ALLOWED.iter().flat_map(|group| group.names);
    let optional = OPTIONAL.iter().flat_map(|group| group.names);
    let closed = CLOSED.iter().flat_map(|group| group.names);
    allowed
        .chain(optional)
        .chain(closed)
        .chain(RULED)
        .copied()
        .collect()
}

#[test]
fn every_call_is_decided_on_exactly_once() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for name in listed() {
        *seen.entry(name).or_default() += 1;
        assert!(number_of(name).is_some(), "{name} is no system call");
    }
    for &(_, name) in SYSCALLS {
        assert_eq!(seen.get(name), Some(&1), "{name}");
    }
}

#[test]
fn ruled_names_have_a_rule_in_every_profile_and_others_have_none() {
    for profile in PROFILES {
        for network in NETWORKS {
            for &(_, name) in SYSCALLS {
                let has_rule = rule(name, profile, network).is_some();
                assert_eq!(has_rule, RULED.contains(&name), "{name}");
            }
        }
    }
}

#[test]
fn wider_profiles_only_add() {
    for network in NETWORKS {
        for &(_, name) in SYSCALLS {
            let allows =
                |profile| meaning(name, profile, network) == Meaning::Plain(Outcome::Allow);
            assert!(
                !allows(Profile::Strict) || allows(Profile::Compat),
                "{name}"
            );
            assert!(!allows(Profile::Compat) || allows(Profile::Debug), "{name}");
        }
    }
}

#[test]
fn acts_are_told_and_probing_is_not() {
    let told = |name| match meaning(name, Profile::Strict, Network::Sealed) {
        Meaning::Plain(Outcome::Deny(denial)) => Some((denial.errno, denial.told)),
        _ => None,
    };
    for name in [
        "unshare",
        "mount",
        "ptrace",
        "bpf",
        "keyctl",
        "io_uring_setup",
        "splice",
    ] {
        assert_eq!(told(name), Some((1, true)), "{name}");
    }
    for name in ["clone3", "futex_waitv", "uselib"] {
        assert_eq!(told(name), Some((38, false)), "{name}");
    }
}
