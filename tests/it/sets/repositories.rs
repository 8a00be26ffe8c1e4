//! Real repositories with a real bug and its fix, each proved as a task by `rollcage grade`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::folder;
use crate::tools;
use crate::world::{World, speak_within};

const PROOF_MAX: Duration = Duration::from_secs(900);

/// The folders of the set.
pub(super) fn folders() -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder("repo_bugs")?).ok()?;
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("task.json").is_file())
        .collect();
    folders.sort();
    Some(folders)
}

/// The fix passes with every test that must, the bug fails, five gradings agree.
pub(super) fn prove(world: &World, folders: &[PathBuf]) {
    // Debian's pytest names some parameters otherwise than the one that the ids are of.
    let path = tools::folder().join("pytest/bin");
    let path = format!("PATH={}:/usr/bin:/bin", path.display());
    let mut wrong = Vec::new();
    for folder in folders {
        let document = fs::read_to_string(folder.join("task.json")).expect("task.json");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let count = |field: &str| document[field].as_array().map_or(0, Vec::len);
        let required = count("FAIL_TO_PASS") + count("PASS_TO_PASS");
        let mut command = world.rollcage();
        command
            .args(["--json", "grade", "--self-check", "--env", &path])
            .arg(folder);
        let spoken = speak_within(&mut command, b"", PROOF_MAX);
        let proof: Value = serde_json::from_str(&spoken.stdout()).unwrap_or_default();
        let tests = proof["oracle"][0]["verdict"]["tests"].as_array();
        let passed = tests.map_or(0, |tests| {
            tests
                .iter()
                .filter(|test| test["status"] == "passed")
                .count()
        });
        if spoken.code != Some(0) || passed < required {
            let name = folder.display();
            let findings = &proof["findings"];
            let stderr = spoken.stderr();
            wrong.push(format!(
                "{name}: {passed} of {required}, {findings} {stderr}"
            ));
        }
    }
    let count = folders.len();
    println!("repo_bugs: {} of {count} proved", count - wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
