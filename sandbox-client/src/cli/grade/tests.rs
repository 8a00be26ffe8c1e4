//! Tasks of each format as requests, and what self-checks conclude.

use std::fs;
use std::path::Path;

use super::self_check::{code, findings};
use super::solution::{Solution, request};
use super::*;

/// Paths and contents.
type Files<'a> = &'a [(&'a str, &'a str)];

fn write(folder: &Path, files: Files<'_>) {
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    }
}

fn folder(files: Files<'_>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), files);
    folder
}

fn refused(files: Files<'_>) -> (String, u8) {
    let folder = folder(files);
    let failure = task::read(folder.path()).expect_err("no task");
    (super::super::failure::chain(&failure), failure.code())
}

const OWN: &str = "\
name = \"two\"
may_be_trained_on = true
policy = \"task\"
tests_at = \"checks\"
[limits]
wall_ms_max = 5000
[verify]
kind = \"pytest\"
test_ids = [\"checks/test_two.py::test_two\"]
";

#[test]
fn our_own_format_becomes_a_request() {
    let folder = folder(&[
        ("task.toml", OWN),
        ("environment/two.py", "def two(): pass\n"),
        ("environment/conftest.py", "# ours\n"),
        ("tests/test_two.py", "def test_two(): pass\n"),
        ("solution/two.py", "def two(): return 2\n"),
    ]);
    let task = task::read(folder.path()).expect("a task");
    assert_eq!(task.may_be_trained_on, Some(true));
    let oracle = task.oracle.clone().expect("an oracle");
    let made = request(&task, &oracle).expect("a request");
    assert_eq!(made.files["two.py"].content, b"def two(): return 2\n");
    assert_eq!(
        made.limits.and_then(|limits| limits.wall_ms_max),
        Some(5000)
    );
    let verify = made.verify.expect("verify");
    let tests: Vec<&str> = verify.test_files.keys().map(String::as_str).collect();
    assert_eq!(tests, ["checks/test_two.py", "conftest.py"]);
    // What a solution makes of a file of the harness does not count.
    let over = tree::Tree::from([("conftest.py".to_owned(), pb::File::default())]);
    let made = request(&task, &Solution::Files(over)).expect("a request");
    let verify = made.verify.expect("verify");
    assert_eq!(verify.test_files["conftest.py"].content, b"# ours\n");
    let script = request(&task, &Solution::Script("true".to_owned())).expect("a request");
    assert_eq!(script.argv, ["bash", "-c", "true"]);
}

#[test]
fn the_solutions_file_is_there_even_when_it_is_empty() {
    let text = "[verify]\nkind = \"asserts\"\nfile = \"a.py\"\ncode = \"assert f()\"\n";
    let folder = folder(&[("task.toml", text)]);
    let task = task::read(folder.path()).expect("a task");
    let made = request(&task, &Solution::Empty).expect("a request");
    assert_eq!(made.files["a.py"], pb::File::default());
}

/// A folder that is named and is not there would be a task without tests: everyone's 0.
#[test]
fn what_a_task_names_has_to_be_there() {
    let with = |line: &str| OWN.replace("may_be_trained_on = true", line);
    let cases = [
        (with("tests = \"test\""), "tests is \"test\""),
        (with("environment = \"env\""), "environment is \"env\""),
        (OWN.replace("checks", "/checks"), "tests_at is \"/checks\""),
        (
            "[verify]\nfile = \"a.py\"\n".to_owned(),
            "verify.kind is missing",
        ),
    ];
    for (text, says) in cases {
        let (said, code) = refused(&[("task.toml", &text)]);
        assert!(said.contains(says), "{said}");
        assert_eq!(code, 2, "{said}");
    }
}

#[test]
fn what_is_wrong_with_a_task_is_said() {
    let with = |line: &str| OWN.replace("may_be_trained_on = true", line);
    let asserts = "[verify]\nkind = \"asserts\"\nfile = \"a.py\"\ncode = \"assert f()\"\n";
    let cases: &[(Files<'_>, &str, u8)] = &[
        (&[("a.txt", "")], "is no task", 2),
        (
            &[("task.toml", "name = \"x\"")],
            "nothing says how to judge",
            2,
        ),
        (&[("task.toml", "name = ")], "task.toml", 2),
        (&[("task.toml", &with("oops = 1"))], "oops", 2),
        (&[("task.toml", &OWN.replace("kind", "knid"))], "knid", 2),
        (
            &[("task.toml", asserts), ("tests/a.py", "")],
            "takes no test files",
            2,
        ),
        (
            &[("t.json", "{\"FAIL_TO_PASS\": []}")],
            "FAIL_TO_PASS is empty",
            2,
        ),
        (
            &[(
                "t.json",
                "{\"FAIL_TO_PASS\": [\"a.py::b\"], \"repo\": \"x/y\"}",
            )],
            "the files of x/y",
            125,
        ),
        (
            &[
                (
                    "task.toml",
                    "version = \"1.0\"\n[[environment.mcp_servers]]\nname = \"d\"\n",
                ),
                ("tests/test.sh", "true"),
            ],
            "servers of tools",
            125,
        ),
        (
            &[
                ("task.toml", "version = \"1.0\"\n"),
                ("tests/test.sh", "curl -L x | sh\n"),
            ],
            "a network while it is judged",
            125,
        ),
        (
            &[("task.yaml", "parser_name: other\n")],
            "the parser `other`",
            125,
        ),
    ];
    for (files, says, exit) in cases {
        let (said, code) = refused(files);
        assert!(said.contains(says), "{files:?}: {said}");
        assert_eq!(code, *exit, "{said}");
    }
}

#[test]
fn a_repository_with_a_patch() {
    let document = "{\"instance_id\": \"x-1\", \"FAIL_TO_PASS\": \"[\\\"tests.test_a::test_a\\\"]\", \"PASS_TO_PASS\": []}";
    let patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n";
    let folder = folder(&[
        ("task.json", document),
        ("repo/a.py", "a = 1\n"),
        ("repo/tests/test_a.py", "def test_a(): pass\n"),
        ("fix.patch", patch),
    ]);
    let task = task::read(folder.path()).expect("a task");
    let made = request(&task, task.oracle.as_ref().expect("an oracle")).expect("a request");
    assert_eq!(made.files["a.py"].content, b"a = 2\n");
    let verify = made.verify.expect("verify");
    assert_eq!(verify.fail_to_pass, ["tests/test_a.py::test_a"]);
    assert_eq!(verify.args, ["tests/test_a.py"]);
    assert!(verify.test_files.contains_key("tests/test_a.py"));
    let bad = Solution::Patch {
        name: "bad.patch".to_owned(),
        content: patch.replace("a = 1", "a = 3").into_bytes(),
    };
    let failure = request(&task, &bad).expect_err("it does not fit");
    let said = super::super::failure::chain(&failure);
    assert!(
        said.contains("bad.patch does not apply: a.py: hunk 1"),
        "{said}"
    );
}

fn judged(outcome: pb::Outcome, tests: &[(&str, pb::TestStatus)]) -> pb::RunResult {
    let test = |(id, status): &(&str, pb::TestStatus)| pb::TestResult {
        id: (*id).to_owned(),
        status: (*status).into(),
        ..pb::TestResult::default()
    };
    let verdict = pb::Verdict {
        outcome: outcome.into(),
        tests: tests.iter().map(test).collect(),
        ..pb::Verdict::default()
    };
    pb::RunResult {
        verdict: Some(verdict),
        ..pb::RunResult::default()
    }
}

#[test]
fn a_self_check_needs_all_three() {
    use pb::Outcome::{Failed, InfraError, NoTests, Passed};
    let (good, bad) = (pb::TestStatus::Passed, pb::TestStatus::Failed);
    let passed = || judged(Passed, &[("a", good)]);
    let five = vec![passed(), passed(), passed(), passed(), passed()];
    let fails = judged(Failed, &[]);
    let mut flaky = five.clone();
    flaky[3] = judged(Failed, &[("a", bad)]);
    let mut other_test = five.clone();
    other_test[4] = judged(Passed, &[("b", good)]);
    let mut lost = five.clone();
    lost[2] = judged(InfraError, &[]);
    let cases = [
        (&fails, &five, 0),
        (&judged(NoTests, &[]), &five, 0),
        (&passed(), &five, 1),
        (&fails, &flaky, 1),
        (&fails, &other_test, 1),
        (&fails, &lost, 125),
        (&judged(InfraError, &[]), &five, 125),
        (&fails, &vec![], 1),
    ];
    for (index, (empty, oracle, wanted)) in cases.into_iter().enumerate() {
        assert_eq!(code(&findings(empty, oracle)), wanted, "case {index}");
    }
}
