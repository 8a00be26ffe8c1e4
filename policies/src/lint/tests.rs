//! Findings, their place and their fix.

use super::*;
use crate::testing::builtin;

/// `severity line:column field` of every finding.
fn findings(text: &str) -> Vec<String> {
    lint(text, &builtin())
        .into_iter()
        .map(|found| {
            assert!(
                !found.message.is_empty() && !found.fix.is_empty(),
                "{found:?}"
            );
            let severity = format!("{:?}", found.severity).to_lowercase();
            format!("{severity} {}:{} {}", found.line, found.column, found.field)
        })
        .collect()
}

#[test]
fn a_good_policy_has_no_findings() {
    let text = "name = \"x\"\ndescription = \"Small.\"\nextends = \"python\"\n";
    assert_eq!(findings(text), [""; 0]);
}

#[test]
fn parse_errors_are_findings() {
    let found = lint("[limits]\npid_max = 1\n", &builtin());
    let [found] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (found.line, found.column, found.field.as_str()),
        (2, 1, "limits.pid_max")
    );
    assert_eq!(found.fix, "did you mean `pids_max`?");
}

#[test]
fn all_widenings_are_found_where_they_stand() {
    let text = "name = \"x\"\ndescription = \"d\"\nextends = \"python\"\n\n[limits]\npids_max = 65\n\
                [files]\n  read = [\"/usr\", \"/root\"]\n[gpu]\nenabled = true\n";
    assert_eq!(
        findings(text),
        [
            "error 6:1 limits.pids_max",
            "error 8:3 files.read",
            "error 10:1 gpu.enabled"
        ]
    );
    let found = lint(text, &builtin());
    assert_eq!(
        found[0].fix,
        "stay within limits.pids_max = 64, or leave it out"
    );
}

#[test]
fn errors_in_list_entries_stand_at_the_entry() {
    let text = "name = \"x\"\ndescription = \"d\"\nextends = \"python\"\n[files]\nread = [\"/usr\", \"etc\"]\n";
    assert_eq!(
        findings(text),
        ["error 5:1 files.read", "error 5:17 files.read[1]"]
    );
}

#[test]
fn defaults_are_checked() {
    let text = "name = \"x\"\ndescription = \"d\"\nextends = \"python\"\n[defaults]\nwall_ms = 1000\ncpu_ms = 500\n";
    assert_eq!(findings(text), ["error 5:1 defaults.wall_ms"]);
    let found = lint(text, &builtin());
    assert_eq!(
        found[0].fix,
        "set defaults.wall_ms = 2000 or defaults.cpu_ms = 250"
    );
}

#[test]
fn a_document_that_allows_nothing_says_what_is_missing() {
    let found = findings("name = \"x\"\ndescription = \"d\"\n");
    assert_eq!(
        found
            .iter()
            .filter(|found| found.starts_with("error"))
            .count(),
        10
    );
    assert!(found.contains(&"warning 1:1 defaults.wall_ms".to_owned()));
    assert!(found.contains(&"warning 1:1 files.execute".to_owned()));
}

const ROOT: &str = "name = \"x\"\ndescription = \"d\"\n[defaults]\nwall_ms = 1000\ncpu_ms = 100\nmemory_bytes = \"64 MiB\"\n\
    [limits]\nwall_ms_max = 1000\ncpu_ms_max = 100\ncpu_millicores_max = 100\nmemory_bytes_max = \"64 MiB\"\n\
    pids_max = 1\ndisk_bytes_max = \"1 MiB\"\nfiles_max = 100\noutput_bytes_max = 100\n\
    output_bytes_total_max = 100\nopen_files_max = 64\n[files]\nread = [\"/usr\"]\nexecute = [\"/usr\"]\n";

#[test]
fn odd_values_are_warned_of() {
    assert_eq!(findings(ROOT), [""; 0]);
    for (from, to, expected) in [
        (
            "output_bytes_max = 100",
            "output_bytes_max = 200",
            vec!["warning 15:1 limits.output_bytes_max"],
        ),
        (
            "\"1 MiB\"",
            "\"1 GiB\"",
            vec!["warning 13:1 limits.disk_bytes_max"],
        ),
        (
            "execute = [\"/usr\"]",
            "execute = [\"/usr\", \"/opt\"]",
            vec!["warning 20:1 files.execute"],
        ),
        (
            "execute = [\"/usr\"]",
            "execute = [\"/usr\"]\nwrite = [\"/etc\"]",
            vec!["warning 21:1 files.write"],
        ),
        ("description = \"d\"\n", "", vec!["note 1:1 description"]),
        (
            "open_files_max = 64",
            "open_files_max = 64\nconnections_max = 1",
            vec![
                "error 18:1 limits.connections_max",
                "warning 18:1 limits.connections_max",
            ],
        ),
        (
            "[files]",
            "[network]\nmode = \"allowlist\"\n[files]",
            vec![
                "warning 7:2 limits.net_bytes_max",
                "warning 7:2 limits.net_bytes_per_second_max",
                "warning 7:2 limits.connections_max",
                "error 19:1 network.mode",
                "warning 19:1 network.mode",
            ],
        ),
        (
            "[files]",
            "[code]\nallow_sha256 = [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]\n[files]",
            vec![
                "error 19:1 code.allow_sha256",
                "warning 19:1 code.allow_sha256",
            ],
        ),
    ] {
        let text = ROOT.replacen(from, to, 1);
        assert_ne!(text, ROOT, "{from}");
        assert_eq!(findings(&text), expected, "{to}");
    }
}
