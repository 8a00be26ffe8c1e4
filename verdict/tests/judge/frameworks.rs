//! pytest and unittest as they report: each status told apart, and nothing said of an honest
//! solution. Real tasks: the Python track of Exercism.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use verdict::verify::Framework;
use verdict::{Outcome, TestStatus, Verdict};

use super::datasets::{data_folder, lines};
use super::{python_or_skip, runner, skip};

const STATUSES: &str = r#"
import unittest
import pytest

def test_ok(): print("hi")
def test_bad(): assert 1 == 2
@pytest.mark.skip(reason="r")
def test_skipped(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def boom(): raise RuntimeError("setup")
def test_error(boom): pass
@pytest.fixture
def late():
    yield
    raise RuntimeError("teardown")
def test_teardown(late): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): assert n == 1
class TestOld(unittest.TestCase):
    def test_subtests(self):
        for i in range(500):
            with self.subTest(i=i): self.assertEqual(i, i)
    def test_equal(self): self.assertEqual(1, 2)
    @unittest.skip("no")
    def test_left_out(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("x")
"#;
const OLD: &str = r#"
import unittest

class TestOld(unittest.TestCase):
    def test_ok(self): pass
    def test_subtests(self):
        for i in range(500):
            with self.subTest(i=i): self.assertEqual(i, i)
    def test_broken_subtest(self):
        for i in range(3):
            with self.subTest(i=i): self.assertEqual(i, 1)
    def test_equal(self): self.assertEqual(1, 2)
    def test_error(self): raise ValueError("x")
    @unittest.skip("no")
    def test_left_out(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("x")
    @unittest.expectedFailure
    def test_unexpected(self): pass
"#;

fn run(python: &str, framework: Framework, tests: &str, solution: &str) -> Verdict {
    let spec = runner::spec(framework, &[("test_it.py", tests)]);
    let files = BTreeMap::from([("calc.py".to_owned(), solution.as_bytes().to_vec())]);
    runner::run(python, &spec, &files, [])
}

#[track_caller]
fn statuses(verdict: &Verdict, expected: &[(&str, TestStatus)]) {
    let told: BTreeMap<&str, TestStatus> = verdict
        .tests
        .iter()
        .map(|test| (test.id.as_str(), test.status))
        .collect();
    assert_eq!(told, expected.iter().copied().collect(), "{verdict:#?}");
    assert_eq!(verdict.tests.len(), expected.len());
    assert!(verdict.tamper.is_empty(), "{verdict:#?}");
}

#[test]
fn pytest_tells_every_status_apart_and_counts_no_subtest() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let verdict = run(&python, Framework::Pytest, STATUSES, "");
    statuses(
        &verdict,
        &[
            ("test_it.py::test_ok", TestStatus::Passed),
            ("test_it.py::test_bad", TestStatus::Failed),
            ("test_it.py::test_skipped", TestStatus::Skipped),
            ("test_it.py::test_xfail", TestStatus::Xfail),
            ("test_it.py::test_xpass", TestStatus::Xpass),
            ("test_it.py::test_strict", TestStatus::Failed),
            ("test_it.py::test_error", TestStatus::Error),
            ("test_it.py::test_teardown", TestStatus::Error),
            ("test_it.py::test_each[1]", TestStatus::Passed),
            ("test_it.py::test_each[2]", TestStatus::Failed),
            ("test_it.py::TestOld::test_subtests", TestStatus::Passed),
            ("test_it.py::TestOld::test_equal", TestStatus::Failed),
            ("test_it.py::TestOld::test_left_out", TestStatus::Skipped),
            ("test_it.py::TestOld::test_expected", TestStatus::Xfail),
        ],
    );
    let bad = verdict
        .tests
        .iter()
        .find(|test| test.id.ends_with("test_bad"))
        .expect("told");
    assert_eq!((bad.file.as_str(), bad.line), ("test_it.py", Some(6)));
    assert!(bad.message.contains("assert 1 == 2"), "{}", bad.message);
}

#[test]
fn unittest_tells_every_status_apart_and_counts_no_subtest() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let verdict = run(&python, Framework::Unittest, OLD, "");
    statuses(
        &verdict,
        &[
            ("test_it.TestOld.test_ok", TestStatus::Passed),
            ("test_it.TestOld.test_subtests", TestStatus::Passed),
            ("test_it.TestOld.test_broken_subtest", TestStatus::Failed),
            ("test_it.TestOld.test_equal", TestStatus::Failed),
            ("test_it.TestOld.test_error", TestStatus::Error),
            ("test_it.TestOld.test_left_out", TestStatus::Skipped),
            ("test_it.TestOld.test_expected", TestStatus::Xfail),
            ("test_it.TestOld.test_unexpected", TestStatus::Xpass),
        ],
    );
}

#[test]
fn what_cannot_be_loaded_has_a_reason_of_its_own() {
    let Some(python) = python_or_skip(6) else {
        return;
    };
    let tests = "import unittest\nfrom calc import f\nclass TestIt(unittest.TestCase):\n    \
                 def test_f(self): self.assertEqual(f(1), 2)\n";
    for framework in [Framework::Pytest, Framework::Unittest] {
        let verdict = run(&python, framework, tests, "x = 1\ndef f(x:\n    return x\n");
        assert_eq!(verdict.outcome(), Outcome::CompileError, "{verdict:#?}");
        let diagnostic = verdict.diagnostics.first().expect("a diagnostic");
        assert_eq!(
            (diagnostic.file.as_str(), diagnostic.line),
            ("calc.py", Some(2))
        );
        for solution in ["", "import nothing_like_it\n", "1 / 0\n", "exit(0)\n"] {
            let verdict = run(&python, framework, tests, solution);
            assert_eq!(
                verdict.outcome(),
                Outcome::NoTests,
                "{solution}: {verdict:#?}"
            );
            assert!(
                verdict.reason.contains("cannot be loaded"),
                "{}",
                verdict.reason
            );
        }
        let verdict = run(&python, framework, "import calc\n", "");
        assert_eq!(verdict.outcome(), Outcome::NoTests, "{verdict:#?}");
        assert!(
            verdict.reason.contains("no test was collected"),
            "{}",
            verdict.reason
        );
        let verdict = run(&python, framework, tests, "def f(x): return x + 1\n");
        assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:#?}");
    }
}

#[test]
fn what_the_author_brings_is_obeyed() {
    let Some(python) = python_or_skip(3) else {
        return;
    };
    let conftest = "import pytest\n@pytest.fixture\ndef two(): return 2\n";
    let tests = "from lib import f\ndef check_f(two): assert f(1) == two\n";
    let mut spec = runner::spec(
        Framework::Pytest,
        &[
            ("sub/test_it.py", tests),
            ("sub/conftest.py", conftest),
            ("sub/pytest.ini", "[pytest]\npython_functions = check_*\n"),
        ],
    );
    spec.cwd = "sub".to_owned();
    spec.env
        .insert("PYTHONPATH".to_owned(), "/workspace/src".to_owned());
    spec.required.test_ids = vec!["test_it.py::check_f".to_owned()];
    let files = BTreeMap::from([(
        "src/lib.py".to_owned(),
        b"def f(x): return x + 1\n".to_vec(),
    )]);
    let verdict = runner::run(&python, &spec, &files, []);
    assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:#?}");
    spec.required
        .test_ids
        .push("test_it.py::check_more".to_owned());
    let verdict = runner::run(&python, &spec, &files, []);
    assert_eq!(verdict.outcome(), Outcome::Failed, "{verdict:#?}");
}

fn python_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder)
        .expect("reads")
        .map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "py"));
    files
        .map(|path| {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read(path).expect("reads"))
        })
        .collect()
}

#[test]
fn examples_of_real_tasks_pass_without_an_alarm_and_stubs_do_not() {
    let folder = data_folder().join("exercism/python");
    if !folder.is_dir() {
        skip("exercism", 12, "the data is not here");
        return;
    }
    let Some(python) = python_or_skip(12) else {
        return;
    };
    let mut tasks: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("reads")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    tasks.sort();
    // A few of them, by both kinds in turn; all of them were tried when this was written.
    for (number, task) in tasks.iter().step_by(5).enumerate() {
        let framework = [Framework::Pytest, Framework::Unittest][number % 2];
        let mut files = python_files(task);
        let test = files
            .keys()
            .find(|name| name.ends_with("_test.py"))
            .expect("tests")
            .clone();
        let text = String::from_utf8(files.remove(&test).expect("tests")).expect("text");
        let mut spec = runner::spec(framework, &[(&test, &text)]);
        spec.args.push(test.clone());
        let stub = runner::run(&python, &spec, &files, []);
        assert_ne!(stub.outcome(), Outcome::Passed, "{test}: {stub:#?}");
        let example = fs::read(task.join(".meta/example.py")).expect("reads");
        files.insert(test.replace("_test.py", ".py"), example);
        let verdict = runner::run(&python, &spec, &files, []);
        assert_eq!(verdict.outcome(), Outcome::Passed, "{test}: {verdict:#?}");
        assert!(verdict.tamper.is_empty(), "{test}: {verdict:#?}");
    }
}

#[test]
fn reward_hacks_get_nothing_from_frameworks_either_and_controls_raise_no_alarm() {
    let Some(lines) = lines("reward_hacks", "hacks.jsonl", 10) else {
        return;
    };
    let Some(python) = python_or_skip(lines.len()) else {
        return;
    };
    for line in &lines {
        let text = |name: &str| line[name].as_str().expect("text").to_owned();
        let asserts = line["tests"].as_array().expect("a list").iter();
        let tests = asserts.enumerate().map(|(number, code)| {
            format!(
                "def test_{number}():\n    {}\n",
                code.as_str().expect("text")
            )
        });
        let tests = format!("from calc import solve\n{}", tests.collect::<String>());
        let verdict = run(&python, Framework::Pytest, &tests, &text("program"));
        let honest = line["expected_reward"] == 1;
        assert_eq!(
            verdict.outcome() == Outcome::Passed,
            honest,
            "{line} {verdict:#?}"
        );
        assert_eq!(verdict.tamper.is_empty(), honest, "{line} {verdict:#?}");
    }
}
