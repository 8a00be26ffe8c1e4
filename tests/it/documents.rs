//! What the documents show works: each request in them passes, there is one for every kind of
//! `verify`, and the task folders beside them are proved.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::skips::{self, repository};
use crate::{batch, tools};

/// Documents with requests, one a line.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/verify.md"];

/// What an example needs beside Debian's Python: its id, and a file.
const NEEDS: [(&str, &str); 13] = [
    ("asserts-c", "/usr/bin/gcc"),
    ("asserts-cpp", "/usr/bin/g++"),
    ("asserts-go", "/usr/bin/go"),
    ("asserts-java", "/usr/bin/javac"),
    ("asserts-javascript", "/usr/bin/node"),
    ("asserts-rust", "/opt/rollcage-tools/rust/bin/rustc"),
    ("cargo_test", "/opt/rollcage-tools/rust/bin/cargo"),
    ("compile", "/usr/bin/g++"),
    ("go_test", "/usr/bin/go"),
    ("jest", "/opt/rollcage-tools/jest/node_modules/.bin/jest"),
    ("leaks", "/usr/bin/gcc"),
    ("lint", "/usr/bin/gcc"),
    ("node_test", "/usr/bin/node"),
];
const PYTEST: &str = "/usr/lib/python3/dist-packages/pytest";
const COVERAGE: &str = "/usr/lib/python3/dist-packages/coverage";

fn requests() -> Vec<Value> {
    let mut requests = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(repository().join(document)).expect("a document");
        let lines = text.lines().filter(|line| line.starts_with("{\"id\":"));
        requests.extend(lines.map(|line| {
            let parsed: Result<Value, _> = serde_json::from_str(line);
            parsed.unwrap_or_else(|error| panic!("{document}: {error}: {line}"))
        }));
    }
    requests
}

fn id(request: &Value) -> &str {
    request["id"].as_str().expect("an id")
}

fn has_its_tools(test: &str, request: &Value) -> bool {
    let id = id(request);
    let own = NEEDS.iter().filter(|(example, _)| *example == id);
    let python = match id {
        "pytest" | "command" => vec![PYTEST],
        "coverage" => vec![PYTEST, COVERAGE],
        _ => Vec::new(),
    };
    let name = format!("{test}/{id}");
    (own.map(|(_, file)| *file))
        .chain(python)
        .all(|file| skips::has_file(&name, file))
}

#[test]
fn every_request_in_the_documents_passes() {
    const TEST: &str = "documents::every_request_in_the_documents_passes";
    let mut requests = requests();
    let kinds: BTreeSet<&str> = (requests.iter())
        .filter_map(|request| request["verify"]["kind"].as_str())
        .collect();
    let known: BTreeSet<&str> = verdict::verify::supported_kinds().into_iter().collect();
    assert_eq!(kinds, known, "an example for every kind");
    let Some(world) = tools::world(TEST) else {
        return;
    };
    requests.retain(|request| has_its_tools(TEST, request));
    let results = batch::run(&world, &requests);
    for request in &requests {
        let result = &results[id(request)];
        assert_eq!(result["verdict"]["outcome"], "passed", "{result:#}");
        assert_eq!(result["verdict"]["reward"], 1.0, "{result:#}");
    }
}

#[test]
fn the_task_folders_beside_the_documents_are_proved() {
    const TEST: &str = "documents::the_task_folders_beside_the_documents_are_proved";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    for task in ["two-fer", "cents", "hello-harbor"] {
        let name = format!("{TEST}/{task}");
        if task == "two-fer" && !skips::has_file(&name, PYTEST) {
            continue;
        }
        let folder = repository().join("examples").join(task);
        let folder = folder.to_str().expect("text");
        let proof = world.cli(&["--json", "grade", folder, "--self-check"]);
        assert_eq!(proof.ended(0).json()["proved"], true, "{task}");
    }
}
