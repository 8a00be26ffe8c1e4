//! Exercism: real test runners on exercises with an example that must pass and a stub that must not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::{Set, Task, Truth, folder, set, truths};
use crate::tools;

/// Builds the tests with the one copy of Catch and reports as JUnit. Catch opens its report by path.
const CATCH: &str = "\
set -e
g++ -std=c++17 -O0 -DEXERCISM_RUN_ALL_TESTS -o /tmp/tests *.cpp test/tests-main.cpp
exec /tmp/tests -r junit -o /dev/fd/4
";

pub(super) fn sets() -> Vec<Set> {
    const PYTEST: &[&str] = &["/usr/lib/python3/dist-packages/pytest"];
    vec![
        set("exercism_python", 4, || exercises("python", "pytest")).with(PYTEST),
        set("exercism_python_unittest", 4, || {
            exercises("python", "unittest")
        })
        .with(PYTEST),
        set("exercism_rust", 0, || exercises("rust", "cargo_test"))
            .with(&["rust/bin/cargo", "crates/vendor/rand"]),
        set("exercism_go", 2, || exercises("go", "go_test")).with(&["/usr/bin/go"]),
        set("exercism_javascript", 2, || exercises("javascript", "jest"))
            .with(&["jest/node_modules/.bin/jest"]),
        set("exercism_cpp", 0, || exercises("cpp", "command")).with(&["/usr/bin/g++"]),
    ]
}

/// Example and stub of each exercise.
fn exercises(track: &str, kind: &str) -> Option<Vec<Task>> {
    let root = folder("exercism")?;
    let truth = truths("exercism", "exercism")?;
    let mut slugs: Vec<_> = fs::read_dir(root.join(track))
        .ok()?
        .map(|entry| entry.expect("an exercise").path())
        .collect();
    slugs.sort();
    let mut tasks = Vec::new();
    for exercise in slugs {
        let slug = exercise.file_name().and_then(|name| name.to_str());
        let id = format!("{track}/{}", slug.expect("a name"));
        let word = truth.get(&id).map(|(word, _)| word.as_str());
        let Some(word) = word else { continue };
        let exercise = Exercise::read(&exercise);
        for (name, is_example, truth) in [
            ("", true, Truth::of(word)),
            ("/stub", false, Truth::NotPassed),
        ] {
            tasks.push(Task {
                id: format!("{id}{name}"),
                line: exercise.request(&root, kind, is_example),
                truth,
            });
        }
    }
    Some(tasks)
}

/// Files of an exercise by path, and which of them are what.
struct Exercise {
    files: BTreeMap<String, Vec<u8>>,
    config: Value,
}

impl Exercise {
    fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        add(folder, "", &mut files);
        let config = &files[".meta/config.json"];
        let config = serde_json::from_slice(config).expect("config.json is JSON");
        Self { files, config }
    }

    fn names(&self, what: &str) -> Vec<&str> {
        let names = self.config["files"][what].as_array();
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The example's files under the names of the solution's: those of the same ending, in order.
    fn example(&self) -> Vec<(String, &Vec<u8>)> {
        let ending = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        let mut left = self.names("example");
        let solution = self.names("solution");
        let mut named = Vec::new();
        for name in solution {
            let found = left.iter().position(|other| ending(other) == ending(name));
            if let Some(index) = found {
                let example = left.remove(index);
                named.push((name.to_owned(), &self.files[example]));
            }
        }
        named
    }

    fn request(&self, root: &Path, kind: &str, is_example: bool) -> Value {
        let tests = self.names("test");
        let mut files = Map::new();
        let mut test_files = Map::new();
        for (path, content) in &self.files {
            if path.starts_with(".meta/") || path.starts_with(".docs/") {
                continue;
            }
            let of_tests = tests.contains(&path.as_str())
                || path.ends_with("_test.go")
                || path.starts_with("tests/")
                || path.starts_with("test/");
            let place = if of_tests {
                &mut test_files
            } else {
                &mut files
            };
            place.insert(path.clone(), encoded(content));
        }
        if is_example {
            for (name, content) in self.example() {
                files.insert(name, encoded(content));
            }
        }
        let mut verify = verify(kind, &tests);
        if kind == "command" {
            let catch = fs::read(root.join("_shared/catch.hpp")).expect("catch.hpp");
            test_files.insert("test/catch.hpp".to_owned(), encoded(&catch));
            test_files.insert(".task/judge.sh".to_owned(), json!(CATCH));
        }
        if kind == "cargo_test" {
            test_files.insert(".cargo/config.toml".to_owned(), json!(vendored()));
        }
        verify["test_files"] = Value::Object(test_files);
        json!({
            "policy": super::POLICY, "argv": [], "files": files, "verify": verify,
            "limits": {"wall_ms_max": 300_000, "cpu_ms_max": 120_000},
        })
    }
}

/// Cargo's configuration for crates without a registry.
fn vendored() -> String {
    let folder = tools::folder().join("crates/vendor");
    format!(
        "[source.crates-io]\nreplace-with = \"vendored\"\n\
         [source.vendored]\ndirectory = {folder:?}\n"
    )
}

fn verify(kind: &str, tests: &[&str]) -> Value {
    let path = format!(
        "{}:/usr/bin:/bin",
        tools::folder().join("rust/bin").display()
    );
    let jest = tools::folder().join("jest/node_modules");
    match kind {
        "pytest" => json!({"kind": kind, "args": tests}),
        "unittest" => {
            let modules: Vec<&str> = tests
                .iter()
                .map(|name| name.trim_end_matches(".py"))
                .collect();
            json!({"kind": kind, "args": modules})
        }
        // Tests that an exercise lets a learner take up one by one.
        "cargo_test" => json!({
            "kind": kind, "args": ["--", "--include-ignored"], "env": {"PATH": path},
        }),
        "jest" => json!({
            "kind": kind,
            "env": {"NODE_PATH": jest, "PATH": format!("{}:/usr/bin:/bin", jest.join(".bin").display())},
        }),
        "command" => json!({
            "kind": kind, "argv": ["bash", ".task/judge.sh"], "format": "junit_xml",
            "report": "/dev/fd/4",
        }),
        _go => json!({"kind": kind}),
    }
}

fn encoded(content: &[u8]) -> Value {
    match std::str::from_utf8(content) {
        Ok(text) => json!(text),
        Err(_not_text) => {
            json!({"base64": base64::engine::general_purpose::STANDARD.encode(content)})
        }
    }
}

fn add(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder of an exercise") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_str().expect("a name"));
        if entry.path().is_dir() {
            add(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(entry.path()).expect("a file of an exercise"));
        }
    }
}
