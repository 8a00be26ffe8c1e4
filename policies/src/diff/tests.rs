//! Differences and their direction.

use super::*;
use crate::testing::{builtin, policy};

fn directions(left: &str, right: &str) -> Vec<(&'static str, Direction)> {
    let changes = diff(&policy(left), &policy(right));
    changes
        .into_iter()
        .map(|change| (change.field, change.direction))
        .collect()
}

#[test]
fn a_child_is_only_narrower() {
    let catalog = builtin();
    let (base, python) = (
        &catalog.get("base").expect("base").policy,
        &catalog.get("python").expect("python").policy,
    );
    let changes = diff(base, python);
    assert!(
        changes
            .iter()
            .any(|change| change.field == "files.writable_noexec")
    );
    for change in &changes {
        let text = matches!(change.field, "description" | "extends");
        let expected = if text {
            Direction::Other
        } else {
            Direction::Narrower
        };
        assert_eq!(change.direction, expected, "{}", change.field);
    }
    let back = diff(python, base);
    assert_eq!(back.len(), changes.len());
    let pids = back
        .iter()
        .find(|change| change.field == "limits.pids_max")
        .expect("pids");
    let expected = Change {
        field: "limits.pids_max",
        left: "64".to_owned(),
        right: "256".to_owned(),
        direction: Direction::Wider,
    };
    assert_eq!(*pids, expected);
    assert_eq!(diff(base, base), []);
}

#[test]
fn directions_of_single_fields() {
    use Direction::{Narrower, Other, Wider};
    for (left, right, field, direction) in [
        (
            "files.read = [\"/a\"]",
            "files.read = [\"/a/b\"]",
            "files.read",
            Narrower,
        ),
        (
            "files.read = [\"/a\"]",
            "files.read = [\"/a\", \"/b\"]",
            "files.read",
            Wider,
        ),
        (
            "files.read = [\"/a\"]",
            "files.read = [\"/b\"]",
            "files.read",
            Other,
        ),
        (
            "limits.io_bytes_per_second_max = 0",
            "limits.io_bytes_per_second_max = 9",
            "limits.io_bytes_per_second_max",
            Narrower,
        ),
        (
            "code.imports_deny = []",
            "code.imports_deny = [\"os\"]",
            "code.imports_deny",
            Narrower,
        ),
        (
            "network.mode = \"none\"",
            "network.mode = \"sealed\"",
            "network.mode",
            Narrower,
        ),
        (
            "gpu.enabled = false",
            "gpu.enabled = true",
            "gpu.enabled",
            Wider,
        ),
        (
            "description = \"a\"",
            "description = \"b\"",
            "description",
            Other,
        ),
    ] {
        let found = directions(
            &format!("name = \"x\"\n{left}"),
            &format!("name = \"x\"\n{right}"),
        );
        assert_eq!(found, [(field, direction)]);
    }
}

#[test]
fn every_field_of_a_policy_is_compared() {
    let full = crate::testing::FULL.replace("extends = \"base\"", "");
    let changes = diff(&policy("name = \"x\""), &policy(&full));
    let fields: Vec<&str> = changes.iter().map(|change| change.field).collect();
    for row in DIMENSIONS {
        // These are in the full document what silence means.
        let same = [
            "files.writable_noexec",
            "syscalls.profile",
            "syscalls.deny_action",
        ];
        assert!(
            same.contains(&row.field) || fields.contains(&row.field),
            "{}",
            row.field
        );
    }
}
