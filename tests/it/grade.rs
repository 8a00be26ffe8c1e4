//! `rollcage grade`: solutions of task folders in each format, proofs of tasks, and what is said of
//! those that this machine's own programs cannot judge.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::data::data_dir;
use crate::skips;
use crate::world::{Spoken, World};

const PYTEST: &str = "/usr/lib/python3/dist-packages/pytest";

/// Files of a folder by path, below the world's folder of work.
fn folder(world: &World, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = world.work().join(name);
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    }
    folder
}

/// `rollcage --json grade TASK ARGUMENTS`.
fn grade(world: &World, task: &Path, arguments: &[&str]) -> Spoken {
    let task = task.to_str().expect("text");
    let mut words = vec!["--json", "grade", task];
    words.extend(arguments);
    world.cli(&words)
}

fn outcome(spoken: &Spoken) -> String {
    spoken.json()["result"]["verdict"]["outcome"]
        .as_str()
        .expect("an outcome")
        .to_owned()
}

const TASK: &str = "\
name = \"double\"
description = \"Twice a number.\"
may_be_trained_on = true
[limits]
wall_ms_max = 60_000
[verify]
kind = \"pytest\"
fail_to_pass = [\"test_double.py::test_two\"]
pass_to_pass = [\"test_double.py::test_zero\"]
";
const TESTS: &str = "\
from double import double
def test_zero(): assert double(0) == 0
def test_two(): assert double(2) == 4
";

#[test]
fn a_task_of_our_own_format() {
    const TEST: &str = "grade::a_task_of_our_own_format";
    if !skips::has_file(TEST, PYTEST) {
        return;
    }
    let Some(world) = World::start(TEST) else {
        return;
    };
    let task = folder(
        &world,
        "double",
        &[
            ("task.toml", TASK),
            ("environment/double.py", "def double(n):\n    return n\n"),
            ("tests/test_double.py", TESTS),
            ("solution/double.py", "def double(n):\n    return 2 * n\n"),
        ],
    );
    let oracle = grade(&world, &task, &["--oracle"]);
    assert_eq!(outcome(oracle.ended(0)), "passed");
    let document = oracle.json();
    assert_eq!(document["task"]["may_be_trained_on"], true);
    assert_eq!(document["result"]["verdict"]["reward"], 1.0);

    let patch = "--- a/double.py\n+++ b/double.py\n@@ -1,2 +1,2 @@\n def double(n):\n-    return n\n+    return n + n\n";
    world.write("right.patch", patch);
    world.write("wrong.patch", patch.replace("n + n", "n + 1"));
    world.write(
        "other.patch",
        patch.replace("-    return n", "-    return m"),
    );
    let given = |name: &str| grade(&world, &task, &["--solution", name]);
    assert_eq!(outcome(given("right.patch").ended(0)), "passed");
    assert_eq!(outcome(given("wrong.patch").ended(1)), "failed");
    let unfit = given("other.patch");
    unfit.ended(2);
    assert!(
        unfit.stderr().contains("are not in the file"),
        "{}",
        unfit.stderr()
    );
    world.write("work.sh", "sed -i 's/return n/return n * 2/' double.py\n");
    assert_eq!(outcome(given("work.sh").ended(0)), "passed");

    // Tests and what says how they are run are the task's.
    let hack = "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    out = yield\n    out.get_result().outcome = 'passed'\n";
    folder(
        &world,
        "hack",
        &[
            ("conftest.py", hack),
            (
                "test_double.py",
                "def test_two(): pass\ndef test_zero(): pass\n",
            ),
        ],
    );
    let hacked = given("hack");
    assert_ne!(outcome(hacked.ended(1)), "passed", "{}", hacked.stdout());

    // For people: the outcome and each test that did not pass.
    let spoken = world.cli(&["grade", "double", "--solution", "wrong.patch"]);
    let said = spoken.ended(1).stdout();
    assert!(said.contains("double  failed, reward 0"), "{said}");
    assert!(said.contains("failed test_double.py::test_two"), "{said}");
}

#[test]
fn tasks_are_proved() {
    const TEST: &str = "grade::tasks_are_proved";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let asserts = |code: &str| {
        format!(
            "policy = \"python\"\n[verify]\nkind = \"asserts\"\nfile = \"s.py\"\ncode = \"{code}\"\n"
        )
    };
    let proof = |name: &str, code: &str, solution: Option<&str>, exit: i32| -> Value {
        let text = asserts(code);
        let mut files = vec![("task.toml", text.as_str())];
        files.extend(solution.map(|solution| ("solution/s.py", solution)));
        let task = folder(&world, name, &files);
        grade(&world, &task, &["--self-check"]).ended(exit).json()
    };
    let right = "def f():\n    return 1\n";
    let good = proof("good", "assert f() == 1", Some(right), 0);
    assert_eq!(good["proved"], true);
    assert_eq!(good["oracle"].as_array().map(Vec::len), Some(5));
    let holds = |proof: &Value| -> Vec<Value> {
        let findings = proof["findings"].as_array().expect("findings");
        findings
            .iter()
            .map(|finding| finding["holds"].clone())
            .collect()
    };
    let broken = proof("broken", "assert f() == 2", Some(right), 1);
    assert_eq!(holds(&broken), [false, true, true]);
    let lax = proof("lax", "x = 1", Some(right), 1);
    assert_eq!(holds(&lax), [true, false, true]);
    let flaky = "import os\ndef f():\n    return os.urandom(1)[0] % 2\n";
    let drawn: String = (0..8).map(|_| "assert f() == 1\\n").collect();
    let flaky = proof("flaky", &drawn, Some(flaky), 1);
    assert_eq!(flaky["proved"], false);
    let none = proof("none", "assert f() == 1", None, 1);
    assert_eq!(holds(&none), [false, true]);
}

#[test]
fn a_harbor_task_is_graded_by_its_own_script() {
    const TEST: &str = "grade::a_harbor_task_is_graded_by_its_own_script";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let script = "#!/bin/bash\nif [ \"$(cat /app/hello.txt)\" = hello ] && [ -f /tests/data.txt ]; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n";
    let task = folder(
        &world,
        "hello",
        &[
            (
                "task.toml",
                "version = \"1.0\"\n[verifier]\ntimeout_sec = 60.0\n",
            ),
            ("instruction.md", "Write hello.\n"),
            (
                "environment/Dockerfile",
                "FROM ubuntu:24.04\nWORKDIR /app\n",
            ),
            (
                "solution/solve.sh",
                "#!/bin/bash\necho hello > /app/hello.txt\n",
            ),
            ("tests/test.sh", script),
            ("tests/data.txt", "1\n"),
        ],
    );
    let oracle = grade(&world, &task, &["--oracle"]);
    assert_eq!(outcome(oracle.ended(0)), "passed", "{}", oracle.stdout());
    assert!(
        oracle
            .stderr()
            .contains("stand in for the image ubuntu:24.04")
    );
    // A reward that is there before the tests ran is none.
    let forged = "mkdir -p .task/logs/verifier; echo 1 > .task/logs/verifier/reward.txt\n";
    world.write("forged.sh", forged);
    let forged = grade(&world, &task, &["--solution", "forged.sh"]);
    assert_eq!(outcome(forged.ended(1)), "failed", "{}", forged.stdout());
}

/// Tasks of others need images, networks and servers: each says so, and is never scored.
#[test]
fn what_a_task_needs_is_said() {
    const TEST: &str = "grade::what_a_task_needs_is_said";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let needs = [
        (
            "harbor_cookbook/simple-task",
            "a network while it is judged",
        ),
        ("harbor_cookbook/mcp-tools", "servers of tools"),
        ("harbor_cookbook/multi-container", "several containers"),
        (
            "harbor_cookbook/skills",
            "an image built with `RUN apt-get update",
        ),
        ("harbor_cookbook/computer-use-windows", "several containers"),
        ("harbor_templates/check-task", "the container image"),
        ("terminal_bench_adapted/hf-model-inference", "setup.sh"),
        ("terminal_bench_adapted/pytorch-model-recovery", "setup.sh"),
    ];
    if !data_dir().join("harbor_cookbook").is_dir() {
        skips::skip(TEST, "the data sets lie beside the checkout, not in it");
        return;
    }
    for (task, says) in needs {
        let task = data_dir().join(task);
        let spoken = grade(&world, &task, &["--oracle"]);
        spoken.ended(125);
        let said = spoken.stderr();
        assert!(said.contains(says), "{}: {said}", task.display());
    }
}
