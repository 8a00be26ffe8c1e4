//! Linting without a daemon.

use super::*;
use crate::cli::terminal::Acts;

const PLAIN: Terminal = Terminal {
    json: false,
    moving: false,
    color: false,
    width: None,
    acts: Acts {
        stdout: false,
        stderr: false,
    },
};

fn check_text(text: &str, neighbours: &[(&str, &str)]) -> Report {
    let neighbours = neighbours
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    check(Path::new("mine.toml"), text, &neighbours)
}

#[test]
fn a_right_document_has_a_digest() {
    let report = check_text(
        "name = \"mine\"\ndescription = \"x\"\nextends = \"python\"\n",
        &[],
    );
    assert!(report.usable, "{report:?}");
    assert_eq!(report.policy_sha256.as_ref().map(String::len), Some(64));
}

#[test]
fn an_unknown_field_has_line_and_column() {
    let report = check_text(
        "name = \"mine\"\nextends = \"python\"\n[limits]\nwal_ms_max = 1\n",
        &[],
    );
    assert!(!report.usable);
    assert_eq!((report.findings[0].line, report.findings[0].column), (4, 1));
    let text = text_of(&PLAIN, &report);
    assert!(
        text.starts_with("mine.toml:4:1: error: ") && text.contains("wall_ms_max"),
        "{text}"
    );
}

#[test]
fn widening_is_an_error() {
    let report = check_text("extends = \"python\"\n[limits]\npids_max = 100000\n", &[]);
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.field == "limits.pids_max"),
        "{report:?}"
    );
}

#[test]
fn a_neighbour_may_be_extended() {
    let text = "name = \"mine\"\ndescription = \"x\"\nextends = \"team\"\n";
    assert!(!check_text(text, &[]).usable);
    let team = "name = \"team\"\ndescription = \"x\"\nextends = \"python\"\n";
    let broken = ("other", "not toml at all [");
    assert!(check_text(text, &[("team", team), broken]).usable);
}
