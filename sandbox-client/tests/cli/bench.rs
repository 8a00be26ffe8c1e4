//! `rollcage bench start`: bare processes and whatever peers are installed, beside the daemon.

use serde_json::Value;

use crate::fake::{Daemon, stderr};

#[test]
fn every_contender_is_measured_or_named_with_the_reason() {
    let output = Daemon::start().rollcage(&["bench", "start", "--runs", "2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = document["figures"].as_array().unwrap();
    let measured = |name: &str| {
        figures
            .iter()
            .filter(|figure| figure["started_by"] == name)
            .all(|figure| figure["runs"] == 2 && figure["median_us"].as_u64().unwrap() > 0)
            && figures.iter().any(|figure| figure["started_by"] == name)
    };
    assert!(measured("bare") && measured("rollcage"));
    let absent = document["not_installed"].as_array().unwrap();
    for peer in ["bubblewrap", "firejail", "runc", "crun"] {
        let told = stderr(&output).contains(&format!("{peer} is left out"));
        assert!(
            measured(peer) || absent.contains(&peer.into()) || told,
            "{peer}: {output:?}"
        );
    }
}

#[test]
fn the_table_has_ratios_to_bare() {
    let output = Daemon::start().rollcage(&["bench", "start", "--runs", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.lines()
            .any(|line| line.starts_with("/bin/true") && line.contains("1.00")),
        "{text}"
    );
}
