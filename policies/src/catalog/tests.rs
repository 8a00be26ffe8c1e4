//! The built-in policies, and documents over them.

use super::*;
use crate::enforce::unenforceable;
use crate::limits::RequestedLimits;
use crate::lint::lint;
use crate::narrow::widenings;
use crate::policy::{NetworkMode, SyscallProfile};
use crate::testing::{builtin, catalog_with};

#[test]
fn builtin_policies_can_be_used() {
    let catalog = builtin();
    assert_eq!(
        catalog.names().collect::<Vec<_>>(),
        ["base", "build", "node", "python", "shell", "task"]
    );
    for (name, entry) in catalog.iter() {
        assert!(entry.builtin);
        assert_eq!(unenforceable(&entry.policy), [], "{name}");
        assert!(
            entry
                .policy
                .effective_limits(&RequestedLimits::default())
                .is_ok(),
            "{name}"
        );
        assert_eq!(lint(&entry.source, &catalog), [], "{name}");
        assert_eq!(entry.policy.network.mode, NetworkMode::None, "{name}");
        let base = &catalog.get("base").expect("base").policy;
        let wider = widenings(&entry.policy, base);
        let wider: Vec<&str> = wider.iter().map(|row| row.field).collect();
        // A choice that has to be made by name.
        let (allowed, first): (&[&str], _) = match name {
            "task" => (&["verify.shared_reward"], "task"),
            _ => (&[], "base"),
        };
        assert_eq!(wider, allowed, "{name}");
        let lineage = entry.policy.lineage.first().map(String::as_str);
        assert_eq!(lineage, Some(first), "{name}");
    }
}

#[test]
fn builtin_policies_fit_their_programs() {
    let catalog = builtin();
    let policy = |name: &str| catalog.get(name).expect(name).policy.clone();
    assert_eq!(policy("python").limits.pids_max, 64);
    assert_eq!(policy("python").syscalls.profile, SyscallProfile::Strict);
    assert_eq!(policy("node").syscalls.profile, SyscallProfile::Compat);
    assert!(
        policy("node").limits.pids_max >= 64,
        "threads of node count"
    );
    assert!(
        policy("build")
            .files
            .execute
            .contains(&"/workspace".to_owned())
    );
    assert!(!policy("build").files.writable_noexec);
    let apart = widenings(&policy("task"), &policy("build"));
    let apart: Vec<&str> = apart.iter().map(|row| row.field).collect();
    assert_eq!(apart, ["verify.shared_reward"], "else like build");
    assert_eq!(widenings(&policy("build"), &policy("task")), []);
    for name in ["python", "node", "shell"] {
        assert!(policy(name).files.writable_noexec, "{name}");
        assert!(
            !policy(name)
                .files
                .execute
                .contains(&"/workspace".to_owned()),
            "{name}"
        );
    }
}

#[test]
fn documents_lie_over_the_builtin_ones() {
    let text = "extends = \"python\"\n[limits]\npids_max = 4\n";
    let catalog = catalog_with(&[("small", text), ("shell", "extends = \"small\"")]);
    let small = catalog.get("small").expect("small");
    assert_eq!((small.source.as_str(), small.builtin), (text, false));
    assert_eq!(small.policy.name, "small");
    assert_eq!(
        catalog.get("shell").expect("shell").policy.limits.pids_max,
        4
    );
    assert_eq!(
        catalog.get("shell").expect("shell").policy.lineage,
        ["base", "python", "small", "shell"]
    );
    assert_eq!(catalog.get("other"), None);
}

#[test]
fn every_error_names_the_policy() {
    use std::error::Error;
    for (documents, expected, cause) in [
        (
            vec![("x", "nam = 1")],
            "parse policy \"x\"",
            "line 1, column 1, nam: unknown field",
        ),
        (
            vec![("x", "name = \"y\"")],
            "policy \"x\" has name = \"y\" in its document; make them equal",
            "",
        ),
        (
            vec![("x", ""), ("x", "")],
            "two policies are named \"x\"; rename one",
            "",
        ),
        (
            vec![
                ("x", "extends = \"y\""),
                ("y", "extends = \"z\""),
                ("z", "extends = \"y\""),
            ],
            "resolve policy \"y\"",
            "extends forms a cycle: y -> z -> y; remove one extends",
        ),
        (
            vec![("x", "extends = \"x\"")],
            "resolve policy \"x\"",
            "extends forms a cycle: x -> x",
        ),
        (
            vec![("x", "extends = \"y\"")],
            "resolve policy \"x\"",
            "extends = \"y\" names no policy",
        ),
        (
            vec![("base", "[limits]\npids_max = 1\n")],
            "resolve policy \"build\"",
            "limits.wall_ms_max = 900000 is wider than policy \"base\"",
        ),
    ] {
        let error = Catalog::from_documents(documents).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        assert!(source.starts_with(cause), "{source}");
    }
}
