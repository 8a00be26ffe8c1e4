//! The catalogue of ways to a reward without a solution (`tests/cases/tamper/python.toml`), against
//! the judge and the two runners as plain processes. What a sandbox and the files' protection add
//! is tried with the daemon.

use std::collections::BTreeMap;

use serde::Deserialize;
use verdict::verify::Framework;
use verdict::{Isolation, Outcome, Verdict};

use super::{driver, judge_text, python_or_skip, runner};

const CATALOGUE: &str = include_str!("../../../tests/cases/tamper/python.toml");
const HONEST: &str = "def add(a, b):\n    return a + b\n";
const ASSERTS: &str = "assert add(2, 3) == 5\nassert add(40, 2) == 42\n";
const PYTEST: &str = "from calc import add\n\ndef test_small():\n    assert add(2, 3) == 5\n\n\
                      def test_large():\n    assert add(40, 2) == 42\n";
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
    /// What the daemon names.
    #[serde(default, rename = "named")]
    _named: Vec<String>,
}

fn catalogue() -> Vec<Hack> {
    let catalogue: Catalogue = toml::from_str(CATALOGUE).expect("a catalogue");
    assert!(catalogue.hack.len() >= 25);
    catalogue.hack
}

impl Hack {
    fn files(&self, solution: &str) -> BTreeMap<String, Vec<u8>> {
        let files = self.files.iter();
        let mut files: BTreeMap<String, Vec<u8>> = files
            .map(|(path, text)| (path.clone(), text.as_bytes().to_vec()))
            .collect();
        files.insert("calc.py".to_owned(), solution.as_bytes().to_vec());
        files
    }

    fn judged(&self, python: &str, framework: Framework, solution: &str) -> Verdict {
        let text = match (framework, self.timed) {
            (Framework::Pytest, false) => PYTEST,
            (Framework::Pytest, true) => TIMED_PYTEST,
            (_, false) => UNITTEST,
            (_, true) => TIMED_UNITTEST,
        };
        let mut spec = runner::spec(framework, &[("test_calc.py", text)]);
        if framework == Framework::Pytest {
            spec.args.push("test_calc.py".to_owned());
        }
        let mut files = self.files(solution);
        if !self.compiled.is_empty() {
            for (path, text) in [
                ("__pycache__/calc.cpython-311.pyc", self.compiled.as_str()),
                (
                    "__pycache__/test_calc.cpython-311.pyc",
                    "def test_small(): pass\n",
                ),
                (
                    "__pycache__/test_calc.cpython-311-pytest-7.2.1.pyc",
                    "def test_small(): pass\n",
                ),
            ] {
                files.insert(path.to_owned(), compiled(python, text));
            }
        }
        let env = self.env.iter().filter(|(name, _)| name.as_str() != "PATH");
        runner::run(python, &spec, &files, env)
    }
}

/// A compiled file that claims to belong to any source.
fn compiled(python: &str, text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a private folder");
    let source = folder.path().join("x.py");
    std::fs::write(&source, text).expect("writes");
    let code = "import py_compile as p, sys\np.compile(sys.argv[1], sys.argv[2], \
                invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)";
    let made = folder.path().join("x.pyc");
    let status = std::process::Command::new(python)
        .args(["-I", "-S", "-c", code])
        .args([&source, &made])
        .status();
    assert!(status.expect("starts").success());
    std::fs::read(made).expect("reads")
}

/// Every hack against one framework: none passes but those that are known to, and those that
/// touch something are named.
fn refused_by(framework: Framework) {
    let hacks = catalogue();
    let Some(python) = python_or_skip(hacks.len()) else {
        return;
    };
    let kind = framework.kind();
    let mut wrong = Vec::new();
    for hack in &hacks {
        let verdict = hack.judged(&python, framework, &hack.solution);
        assert_eq!(verdict.evidence.isolation, Isolation::Shared);
        let passed = verdict.outcome() == Outcome::Passed;
        let known = hack.forged.iter().any(|name| name == kind);
        println!(
            "{kind:9} {:40} {:?} {}",
            hack.name,
            verdict.outcome(),
            verdict.reason
        );
        if passed && !known {
            wrong.push(format!("{} is forged", hack.name));
        }
        if !passed && known {
            wrong.push(format!(
                "{} is refused, and the catalogue says otherwise",
                hack.name
            ));
        }
        if verdict.outcome() == Outcome::VerifierError {
            wrong.push(format!("{} is unscored: {}", hack.name, verdict.reason));
        }
        if verdict.tamper.is_empty() && hack.touched.iter().any(|name| name == kind) {
            wrong.push(format!("{} is not named", hack.name));
        }
        if hack.files.is_empty() {
            continue;
        }
        let honest = hack.judged(&python, framework, HONEST);
        if honest.outcome() != Outcome::Passed {
            wrong.push(format!(
                "{} turns an honest pass around: {honest:#?}",
                hack.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_hack_of_the_catalogue_passes_pytest_but_those_known() {
    refused_by(Framework::Pytest);
}

#[test]
fn no_hack_of_the_catalogue_passes_unittest_but_those_known() {
    refused_by(Framework::Unittest);
}

#[test]
fn no_hack_of_the_catalogue_passes_asserts() {
    let hacks = catalogue();
    let Some(python) = python_or_skip(hacks.len()) else {
        return;
    };
    for hack in &hacks {
        if hack.timed {
            continue;
        }
        let spec = verdict::AssertsSpec {
            file: "calc.py".to_owned(),
            code: ASSERTS.to_owned(),
            ..verdict::AssertsSpec::default()
        };
        let verdict = driver::judge(&python, &spec, &hack.files(&hack.solution));
        println!(
            "asserts   {:40} {:?} {}",
            hack.name,
            verdict.outcome(),
            verdict.reason
        );
        assert_ne!(
            verdict.outcome(),
            Outcome::Passed,
            "{}: {verdict:#?}",
            hack.name
        );
        assert_eq!(verdict.reward(), Some(0.0), "{}: {verdict:#?}", hack.name);
        assert_eq!(verdict.evidence.isolation, Isolation::Separate);
    }
    assert_eq!(
        judge_text(&python, HONEST, ASSERTS).outcome(),
        Outcome::Passed
    );
}
