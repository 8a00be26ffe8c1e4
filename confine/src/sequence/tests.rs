//! The order constraints that the reasons in the tables state.

use super::{COMMAND, SESSION};

fn session(name: &str) -> usize {
    SESSION
        .iter()
        .position(|step| step.name == name)
        .expect("session step exists")
}

fn command(name: &str) -> usize {
    COMMAND
        .iter()
        .position(|step| step.name == name)
        .expect("command step exists")
}

#[test]
fn mounts_are_private_before_any_is_made() {
    for mount in ["root_tree", "workspace", "proc", "pivot"] {
        assert!(session("private_mounts") < session(mount), "{mount}");
    }
}

#[test]
fn read_only_mounts_are_locked_by_the_user_namespace() {
    for mount in ["root_tree", "workspace", "proc", "pivot"] {
        assert!(session(mount) < session("user_namespace"), "{mount}");
    }
}

#[test]
fn cpus_are_shown_and_leased_before_any_program_counts_them() {
    assert!(session("proc") < session("cpu_view"));
    assert!(session("cpu_view") < session("pivot"));
    // Where sched_setaffinity is denied the filter must not be there yet.
    assert!(command("cpu_lease") < command("seccomp"));
}

#[test]
fn init_guards_itself_last() {
    assert_eq!(session("init_guard"), SESSION.len() - 1);
    assert!(session("user_namespace") < session("init_guard"));
}

#[test]
fn limits_come_first_and_seccomp_last() {
    assert_eq!(command("cgroups"), 0);
    assert_eq!(command("seccomp"), COMMAND.len() - 1);
}

#[test]
fn capabilities_are_dropped_in_the_only_possible_order() {
    assert!(command("bounding_set") < command("identity"));
    assert!(command("identity") < command("capabilities"));
    assert!(command("identity") < command("parent_death"));
    assert!(command("no_new_privs") < command("landlock"));
    assert!(command("no_new_privs") < command("seccomp"));
}

#[test]
fn names_are_unique_and_reasoned() {
    let mut seen = std::collections::BTreeSet::new();
    for (name, _layer, why) in super::explain() {
        assert!(seen.insert(name), "{name} twice");
        assert!(why.len() > 20, "{name} has no reason");
    }
}
