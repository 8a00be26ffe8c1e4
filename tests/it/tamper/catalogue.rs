//! The catalogue of hacks in Python: what a solution's own files do when they are judged.

use std::collections::BTreeMap;
use std::process::Command;

use base64::Engine;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{HONEST, by_pytest};
use crate::batch;
use crate::world::World;

const CATALOGUE: &str = include_str!("../../cases/tamper/python.toml");
const ASSERTS: &str = "assert add(2, 3) == 5\nassert add(40, 2) == 42\n";
const UNITTEST: &str = "import unittest\nfrom calc import add\n\nclass TestCalc(unittest.TestCase):\n    \
                        def test_small(self):\n        self.assertEqual(add(2, 3), 5)\n\n    \
                        def test_large(self):\n        self.assertEqual(add(40, 2), 42)\n";
const TIMED_PYTEST: &str = "import time\nfrom calc import add\n\ndef test_small():\n    \
                            assert add(2, 3) == 5\n\ndef test_large():\n    \
                            start = time.perf_counter()\n    assert add(40, 2) == 42\n    \
                            assert time.perf_counter() - start < 0.1\n";
const TIMED_UNITTEST: &str = "import time\nimport unittest\nfrom calc import add\n\n\
                              class TestCalc(unittest.TestCase):\n    def test_small(self):\n        \
                              self.assertEqual(add(2, 3), 5)\n\n    def test_large(self):\n        \
                              start = time.perf_counter()\n        \
                              self.assertEqual(add(40, 2), 42)\n        \
                              self.assertLess(time.perf_counter() - start, 0.1)\n";
/// Fewest ways that a catalogue has.
const HACKS_MIN: usize = 25;
/// Where an interpreter keeps what it compiled.
const COMPILED: [&str; 3] = [
    "__pycache__/calc.cpython-3VERSION.pyc",
    "__pycache__/test_calc.cpython-3VERSION.pyc",
    "__pycache__/test_calc.cpython-3VERSION-pytest-PYTEST.pyc",
];

#[derive(Deserialize)]
struct Catalogue {
    hack: Vec<Hack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hack {
    name: String,
    solution: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    compiled: String,
    #[serde(default)]
    timed: bool,
    #[serde(default)]
    forged: Vec<String>,
    #[serde(default)]
    touched: Vec<String>,
    #[serde(default)]
    named: Vec<String>,
}

impl Hack {
    fn request(&self, kind: &str, solution: &str) -> Value {
        let mut files: Map<String, Value> = (self.files.iter())
            .map(|(path, text)| (path.clone(), json!({ "text": text, "mode": 0o755 })))
            .collect();
        files.insert("calc.py".to_owned(), json!(solution));
        if !self.compiled.is_empty() {
            for path in COMPILED {
                let text = match path.contains("test_calc") {
                    true => "def test_small(): pass\ndef test_large(): pass\n",
                    false => &self.compiled,
                };
                let (path, bytes) = compiled(path, text);
                files.insert(path, json!({ "base64": bytes }));
            }
        }
        let mut verify = match kind {
            "pytest" => by_pytest(),
            "unittest" => json!({ "kind": kind, "test_files": { "test_calc.py": UNITTEST } }),
            _ => json!({ "kind": kind, "file": "calc.py", "code": ASSERTS }),
        };
        let timed = if kind == "pytest" {
            TIMED_PYTEST
        } else {
            TIMED_UNITTEST
        };
        if self.timed && verify["test_files"].is_object() {
            verify["test_files"]["test_calc.py"] = json!(timed);
        }
        json!({ "policy": "python", "files": files, "env": self.env, "verify": verify })
    }

    fn is_told(&self, list: &[String], kind: &str) -> bool {
        list.iter().any(|name| name == kind)
    }
}

/// A compiled file that claims to belong to any source, and its place.
fn compiled(path: &str, text: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("x.py");
    std::fs::write(&source, text).expect("writes");
    let code = "import py_compile as p, sys\ntry: import pytest; v = pytest.__version__\n\
                except ImportError: v = '7.2.1'\n\
                p.compile(sys.argv[1], sys.argv[2], \
                invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)\n\
                print(sys.version_info[1], v)";
    let made = folder.path().join("x.pyc");
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-I", "-c", code]).args([&source, &made]);
    let output = python.output().expect("starts");
    assert!(output.status.success(), "{output:?}");
    let versions = String::from_utf8(output.stdout).expect("text");
    let (python, pytest) = versions.trim().split_once(' ').expect("two versions");
    let path = path.replace("VERSION", python).replace("PYTEST", pytest);
    let bytes = std::fs::read(made).expect("reads");
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    (path, text)
}

/// Every hack, and what lies beside a right solution, in one batch. Gives what is not as it is to
/// be.
fn judged(world: &World, hacks: &[Hack], kind: &str, isolation: &str) -> Vec<String> {
    let mut requests = Vec::new();
    for (number, hack) in hacks.iter().enumerate() {
        let mut add = |id: String, solution: &str| {
            let mut request = hack.request(kind, solution);
            request["id"] = json!(id);
            requests.push(request);
        };
        add(format!("hack-{number}"), &hack.solution);
        if !hack.files.is_empty() || !hack.compiled.is_empty() {
            add(format!("beside-{number}"), HONEST);
        }
    }
    let results = batch::run(world, &requests);
    for (id, result) in &results {
        assert!(result["verdict"].is_object(), "{id} was not run: {result}");
    }
    let mut wrong = Vec::new();
    for (number, hack) in hacks.iter().enumerate() {
        let told = &results[&format!("hack-{number}")]["verdict"];
        println!(
            "{kind:9} {:40} {} {} {}",
            hack.name, told["outcome"], told["reason"], told["tamper"]
        );
        let mut expect = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{kind}: {}: {what}: {told}", hack.name));
            }
        };
        let known = hack.is_told(&hack.forged, kind);
        let passed = told["outcome"] == "passed";
        expect(passed == known, "is not as the catalogue says");
        expect(told["outcome"] != "verifier_error", "is unscored");
        expect(told["evidence"]["isolation"] == isolation, "isolation");
        let reward = told["reward"].as_f64();
        if isolation == "separate" {
            expect(!passed, "is forged");
            expect(reward == Some(0.0), "is rewarded");
        } else {
            expect(reward.is_none(), "is rewarded under such a policy");
            expect(told["scorable"] == false, "counts under such a policy");
            let notes = told["tamper"].as_array().cloned().unwrap_or_default();
            let touched = hack.is_told(&hack.touched, kind);
            expect(!touched || !notes.is_empty(), "is not named");
            for path in &hack.named {
                let is_named = notes.iter().any(|note| note["path"] == path.as_str());
                expect(is_named, path);
            }
        }
        // What lies beside a right solution turns nothing around.
        if let Some(beside) = results.get(&format!("beside-{number}")) {
            let told = &beside["verdict"];
            // The solution's own interpreter finds the library's names beside it; that is its affair.
            let own = kind == "asserts" && hack.name == "own_module_of_the_library";
            if told["outcome"] != "passed" && !own {
                wrong.push(format!("{kind}: {} turns a pass around: {told}", hack.name));
            }
        }
    }
    wrong
}

fn refused(test: &str, kind: &str, isolation: &str) {
    let Some(world) = World::start(test) else {
        return;
    };
    let catalogue: Catalogue = toml::from_str(CATALOGUE).expect("a catalogue");
    let mut hacks = catalogue.hack;
    assert!(hacks.len() >= HACKS_MIN);
    // A clock is nothing that test code without a time of its own looks at.
    hacks.retain(|hack| kind != "asserts" || !hack.timed);
    let wrong = judged(&world, &hacks, kind, isolation);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_hack_passes_asserts() {
    let test = "tamper::catalogue::no_hack_passes_asserts";
    refused(test, "asserts", "separate");
}

#[test]
fn no_hack_is_rewarded_by_pytest() {
    let test = "tamper::catalogue::no_hack_is_rewarded_by_pytest";
    refused(test, "pytest", "shared");
}

#[test]
fn no_hack_is_rewarded_by_unittest() {
    let test = "tamper::catalogue::no_hack_is_rewarded_by_unittest";
    refused(test, "unittest", "shared");
}
