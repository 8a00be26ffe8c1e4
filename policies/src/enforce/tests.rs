//! Every field has a row, and what is not enforced refuses.

use std::collections::BTreeSet;

use super::*;
use crate::fields::tests::leaves;
use crate::parse;
use crate::testing::{FULL, policy};

#[test]
fn every_leaf_of_a_document_has_one_row() {
    let rows: BTreeSet<String> = CONTROLS.iter().map(|row| row.field.to_owned()).collect();
    assert_eq!(rows.len(), CONTROLS.len(), "a field stands twice");
    assert_eq!(leaves(&parse(FULL).expect("the full document")), rows);
}

#[test]
fn parts_point_to_rows_that_decide() {
    for row in CONTROLS {
        let Control::PartOf(whole) = row.control else {
            continue;
        };
        let found = CONTROLS.iter().find(|row| row.field == whole).expect(whole);
        assert!(matches!(
            found.control,
            Control::Missing { .. } | Control::Partly { .. }
        ));
    }
}

/// A field, a text that asks for it, and what is refused; `DIGEST` stands for a digest.
const UNENFORCED: &[(&str, &str, &str)] = &[
    ("limits.net_bytes_max", "limits.net_bytes_max = 1", "1"),
    (
        "limits.net_bytes_per_second_max",
        "limits.net_bytes_per_second_max = \"1 KiB\"",
        "1024",
    ),
    ("limits.connections_max", "limits.connections_max = 2", "2"),
    (
        "limits.io_bytes_per_second_max",
        "limits.io_bytes_per_second_max = 3",
        "3",
    ),
    (
        "syscalls.allow",
        "syscalls.allow = [\"splice\", \"mount\"]",
        "[\"mount\"]",
    ),
    (
        "network.mode",
        "network.mode = \"allowlist\"",
        "\"allowlist\"",
    ),
    ("code.mode", "code.mode = \"audit\"", "\"audit\""),
    ("code.mode", "code.mode = \"allowlist\"", "\"allowlist\""),
    (
        "code.allow_sha256",
        "code.allow_sha256 = [\"DIGEST\"]",
        "[\"DIGEST\"]",
    ),
    (
        "code.allow_signers",
        "code.allow_signers = [\"DIGEST\"]",
        "[\"DIGEST\"]",
    ),
    (
        "code.imports_deny",
        "code.imports_deny = [\"ctypes\"]",
        "[\"ctypes\"]",
    ),
    (
        "code.exec_allow_sha256",
        "code.exec_allow_sha256 = [\"DIGEST\"]",
        "[\"DIGEST\"]",
    ),
    ("process.run_as", "process.run_as = \"root\"", "\"root\""),
    (
        "grant.when.signed_by",
        "[[grant]]\nwhen = { signed_by = \"k\" }\ngpu = true",
        "[signed by \"k\": gpu]",
    ),
    ("gpu.enabled", "gpu.enabled = true", "true"),
];

#[test]
fn each_unenforced_field_alone_refuses() {
    let digest = "a".repeat(64);
    for (field, written, value) in UNENFORCED {
        let written = written.replace("DIGEST", &digest);
        let value = value.replace("DIGEST", &digest);
        let found = unenforceable(&policy(&format!("name = \"x\"\n{written}\n")));
        let [refusal] = found.as_slice() else {
            panic!("{written}: {found:?}")
        };
        assert_eq!(
            (refusal.field, refusal.value.as_str()),
            (*field, value.as_str())
        );
        let text = refusal.to_string();
        assert!(text.starts_with(&format!(
            "{field} = {value} cannot be enforced by this build: "
        )));
    }
    let rule = "name = \"x\"\nnetwork.mode = \"allowlist\"\nnetwork.allow = [{ host = \"a\" }]\n";
    let fields: Vec<_> = unenforceable(&policy(rule))
        .iter()
        .map(|found| found.field)
        .collect();
    assert_eq!(fields, ["network.mode", "network.allow.host"]);
    let tested: BTreeSet<&str> = UNENFORCED
        .iter()
        .map(|(field, ..)| *field)
        .chain(["network.allow.host"])
        .collect();
    let refusing = CONTROLS.iter().filter(|row| {
        matches!(
            row.control,
            Control::Missing { .. } | Control::Partly { .. }
        )
    });
    assert_eq!(
        tested,
        refusing.map(|row| row.field).collect::<BTreeSet<_>>()
    );
}

#[test]
fn what_is_enforced_does_not_refuse() {
    let text = "name = \"x\"\nsyscalls.allow = [\"splice\", \"ptrace\"]\nsyscalls.profile = \"debug\"\n\
                syscalls.deny_action = \"kill\"\nnetwork.mode = \"none\"\naudit.on_failure = \"degrade\"\n\
                enforcement.default = \"degradable\"\nverify.shared_reward = true\n\
                [limits]\npids_max = 3\n[files]\nread = [\"/usr\"]\nwritable_noexec = false\n";
    assert_eq!(unenforceable(&policy(text)), []);
}
