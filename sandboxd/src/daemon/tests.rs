//! The parts of the start that need no root.

use super::folders::{self, FolderError};
use super::privileges::first_left;

#[test]
fn a_second_daemon_is_refused_with_the_pid_of_the_first() {
    let folder = tempfile::tempdir().expect("folder");
    let state_dir = folder.path().join("state");
    let socket = std::path::Path::new("/run/x.sock");
    let first = folders::lock(&state_dir, socket).expect("first");
    match folders::lock(&state_dir, socket) {
        Err(FolderError::InUse { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
        other => panic!("{other:?}"),
    }
    drop(first);
    folders::lock(&state_dir, socket).expect("the lock is free again");
    let text = std::fs::read_to_string(state_dir.join("lock")).expect("lock file");
    assert_eq!(text, format!("{}\n/run/x.sock\n", std::process::id()));
}

#[test]
fn any_privilege_left_is_seen() {
    let clean = "Uid:\t64810\t64810\t64810\t64810\nGid:\t9\t9\t9\t9\nGroups:\t \n\
                 CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n\
                 CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n\
                 CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";
    assert_eq!(first_left(clean), None);
    for (from, to, field) in [
        ("CapPrm:\t0", "CapPrm:\t8", "CapPrm"),
        ("CapInh:\t0", "CapInh:\t1", "CapInh"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
        ("Groups:\t ", "Groups:\t0 ", "Groups"),
        ("Uid:\t64810\t64810\t64810", "Uid:\t64810\t64810\t0", "Uid"),
    ] {
        let left = clean.replace(from, to);
        assert_eq!(first_left(&left).map(|(field, _)| field), Some(field));
    }
}
