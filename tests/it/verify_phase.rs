//! Verifications that run in a fresh sandbox after the request's own run: what they start from, who
//! can reach their report, and what their verdicts may earn.

use serde_json::{Value, json};

use crate::world::World;

const TEST_ADD: &str = "from solution import add\ndef test_add():\n    assert add(2, 3) == 5\n\
                        def test_negative():\n    assert add(-2, -3) == -5\n";
const RIGHT: &str = "def add(a, b):\n    return a + b\n";
const HALF: &str = "def add(a, b):\n    return abs(a) + abs(b)\n";

/// A batch of `lines`, its results by id.
fn batch(world: &World, lines: &[Value]) -> Vec<Value> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (spoken, mut results) = world.batch(&text.join("\n"));
    assert_eq!(results.len(), lines.len(), "{}", spoken.stderr());
    let at = |result: &Value| lines.iter().position(|line| line["id"] == result["id"]);
    results.sort_by_key(at);
    results
}

fn pytest(id: &str, solution: &str) -> Value {
    json!({
        "id": id, "policy": "task", "files": { "solution.py": solution }, "argv": [],
        "verify": { "kind": "pytest", "test_files": { "test_add.py": TEST_ADD } },
    })
}

#[track_caller]
fn is(result: &Value, outcome: &str, reward: Option<f64>) {
    let verdict = &result["verdict"];
    assert_eq!(verdict["outcome"], outcome, "{result:#}");
    assert_eq!(verdict["reward"].as_f64(), reward, "{result:#}");
    assert_eq!(verdict["scorable"], reward.is_some(), "{result:#}");
}

fn statuses(result: &Value) -> Vec<(&str, &str)> {
    let tests = result["verdict"]["tests"].as_array().expect("tests");
    (tests.iter())
        .map(|test| {
            (
                test["id"].as_str().expect("an id"),
                test["status"].as_str().expect("a status"),
            )
        })
        .collect()
}

#[test]
fn tests_are_there_in_the_verification_only_and_their_report_is_private() {
    let Some(world) =
        World::start("tests_are_there_in_the_verification_only_and_their_report_is_private")
    else {
        return;
    };
    let mut partial = pytest("half", HALF);
    partial["verify"]["partial_credit"] = json!(true);
    let mut named = pytest("named", HALF);
    named["verify"]["fail_to_pass"] = json!(["test_add.py::test_add", "test_add.py::test_gone"]);
    // Looks for the tests and writes to every descriptor that it has.
    let mut looks = pytest("looks", RIGHT);
    looks["argv"] = json!([
        "python3",
        "-c",
        "import os\nprint(sorted(os.listdir('.')), sorted(os.listdir('/proc/self/fd')))\n\
         for fd in (3, 4, 5):\n    try: os.write(fd, b'x'); print('wrote', fd)\n    \
         except OSError as error: print(error.errno)"
    ]);
    let results = batch(&world, &[pytest("right", RIGHT), partial, named, looks]);
    is(&results[0], "passed", Some(1.0));
    assert_eq!(results[0]["verdict"]["evidence"]["isolation"], "shared");
    is(&results[1], "failed", Some(0.5));
    assert_eq!(
        statuses(&results[1]),
        [
            ("test_add.py::test_add", "passed"),
            ("test_add.py::test_negative", "failed"),
        ]
    );
    is(&results[2], "failed", Some(0.0));
    assert!(statuses(&results[2]).contains(&("test_add.py::test_gone", "missing")));
    is(&results[3], "passed", Some(1.0));
    let seen = results[3]["stdout"].as_str().expect("text");
    assert!(seen.contains("['solution.py']"), "{seen}");
    assert!(!seen.contains("wrote"), "{seen}");
}

#[test]
fn what_a_run_did_to_the_tests_is_undone_and_told() {
    let Some(world) = World::start("what_a_run_did_to_the_tests_is_undone_and_told") else {
        return;
    };
    let forging = "import os\n\
        open('conftest.py', 'w').write('import pytest\\n@pytest.hookimpl(tryfirst=True)\\n\
        def pytest_collection_modifyitems(items): items.clear()\\n')\n\
        open('test_add.py', 'w').write('def test_add(): pass\\n')\n\
        open('sitecustomize.py', 'w').write('raise SystemExit(0)\\n')\n\
        os.remove('pytest.ini')\n\
        open('solution.py', 'w').write(open('better.txt').read())\n\
        if os.fork() == 0:\n    \
            while True: open('solution.py', 'w').write('broken')\n";
    let request = |id: &str, better: &str| {
        let mut request = pytest(id, "def add(a, b): return 0\n");
        request["files"]["better.txt"] = json!(better);
        request["files"]["pytest.ini"] = json!("[pytest]\n");
        request["argv"] = json!(["python3", "-c", forging]);
        request["collect"] = json!(["solution.py", "no.txt"]);
        request
    };
    let calm = |id: &str, better: &str| {
        let mut request = request(id, better);
        let forging = forging.split("if os.fork").next().expect("its first part");
        request["argv"] = json!(["python3", "-c", forging]);
        request
    };
    let mut zero = calm("zero", RIGHT);
    zero["verify"]["on_tamper"] = json!("zero");
    let lines = [
        calm("right", RIGHT),
        calm("half", HALF),
        zero,
        request("races", RIGHT),
    ];
    let results = batch(&world, &lines);
    is(&results[0], "passed", Some(1.0));
    is(&results[1], "failed", Some(0.0));
    for result in &results[..2] {
        let notes = result["verdict"]["tamper"].as_array().expect("notes");
        let paths: Vec<&str> = notes
            .iter()
            .filter_map(|note| note["path"].as_str())
            .collect();
        for path in [
            "conftest.py",
            "test_add.py",
            "sitecustomize.py",
            "pytest.ini",
        ] {
            assert!(paths.contains(&path), "{path}: {paths:?}");
        }
        // What the request itself asked for is all that comes back.
        let files = result["files"].as_array().expect("files");
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0]["path"], "solution.py");
        assert_eq!(result["files_missing"][0]["path"], "no.txt");
    }
    is(&results[2], "tampered", Some(0.0));
    // A writer in the background was killed before anything was read: either it had written, or not.
    let kept = results[3]["files"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let verdict = &results[3]["verdict"];
    assert!(
        ["passed", "failed", "compile_error", "no_tests"]
            .contains(&verdict["outcome"].as_str().expect("one")),
        "{kept}: {verdict:#}"
    );
}

#[test]
fn tests_that_share_a_process_earn_only_where_the_policy_says_so() {
    let Some(world) = World::start("tests_that_share_a_process_earn_only_where_the_policy_says_so")
    else {
        return;
    };
    let under = |id: &str, policy: &str, solution: &str| {
        let mut request = pytest(id, solution);
        request["policy"] = json!(policy);
        request
    };
    let results = batch(
        &world,
        &[
            under("base", "python", RIGHT),
            under("wrong", "python", HALF),
            under("task", "task", RIGHT),
        ],
    );
    is(&results[0], "passed", None);
    let reason = results[0]["verdict"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("verify.shared_reward"), "{reason}");
    is(&results[1], "failed", None);
    is(&results[2], "passed", Some(1.0));
}

#[test]
fn parts_are_judged_apart_and_make_one_reward() {
    let Some(world) = World::start("parts_are_judged_apart_and_make_one_reward") else {
        return;
    };
    let combined = |id: &str, combine: &str, solution: &str| {
        json!({
            "id": id, "policy": "task", "files": { "solution.py": solution },
            "argv": ["python3", "-c", "from solution import add; print(add(1, 1))"],
            "verify": { "kind": "combined", "combine": combine, "parts": [
                { "name": "run", "weight": 1, "verify": { "kind": "stdout", "stdout": "2\n" } },
                { "name": "asserts", "weight": 1, "verify": {
                    "kind": "asserts", "file": "solution.py", "code": "assert add(2, 2) == 4" } },
                { "name": "tests", "weight": 2, "verify": {
                    "kind": "pytest", "test_files": { "test_add.py": TEST_ADD } } },
            ] },
        })
    };
    let results = batch(
        &world,
        &[
            combined("right", "all", RIGHT),
            combined("all", "all", HALF),
            combined("weighted", "weighted", HALF),
            combined("min", "min", HALF),
        ],
    );
    is(&results[0], "passed", Some(1.0));
    is(&results[1], "failed", Some(0.0));
    is(&results[2], "failed", Some(0.5));
    is(&results[3], "failed", Some(0.0));
    let ids: Vec<&str> = statuses(&results[2]).iter().map(|(id, _)| *id).collect();
    for id in [
        "run/stdout",
        "asserts/asserts",
        "tests/test_add.py::test_negative",
    ] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    assert_eq!(results[2]["verdict"]["metrics"]["asserts.reward"], 1.0);
    // Each sandbox of it was asked for in the log before it was made.
    let asked: Vec<Value> = world
        .cli(&["audit", "query", "--event", "sandbox_requested", "--json"])
        .ended(0)
        .stdout()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let roles: Vec<&str> = (asked.iter())
        .filter(|record: &&Value| record["event"] == "sandbox_requested")
        .filter_map(|record| record["data"]["role"].as_str().or(record["role"].as_str()))
        .collect();
    for (role, times) in [("program", 4), ("solution", 4), ("judge", 4), ("tests", 4)] {
        let found = roles.iter().filter(|found| **found == role).count();
        assert_eq!(found, times, "{role}: {roles:?}");
    }
}

#[test]
fn a_command_of_the_authors_reports_over_a_private_pipe_or_a_file() {
    let Some(world) =
        World::start("a_command_of_the_authors_reports_over_a_private_pipe_or_a_file")
    else {
        return;
    };
    let script = "echo 1..2 >&$ROLLCAGE_REPORT_FD\n\
                  python3 -c 'from solution import add; assert add(1, 1) == 2' \
                  && echo ok 1 - add >&4 || echo not ok 1 - add >&4\n\
                  echo ok 2 - alive >&4\n\
                  read line <&3 && echo Bail out! >&4\n\
                  exit 0\n";
    let piped = |id: &str, solution: &str| {
        json!({
            "id": id, "policy": "task", "files": { "solution.py": solution }, "argv": [],
            "verify": { "kind": "command", "format": "tap", "argv": ["sh", "run.sh"],
                "test_files": { "run.sh": script } },
        })
    };
    let forged = "<testsuite><testcase classname=\"a\" name=\"b\"/></testsuite>";
    let filed = |id: &str, command: &str| {
        json!({
            "id": id, "policy": "task", "argv": ["sh", "-c", format!("echo '{forged}' > r.xml")],
            "verify": { "kind": "junit_xml", "report": "r.xml", "argv": ["sh", "-c", command] },
        })
    };
    let failing =
        "echo '<testsuite><testcase name=\"b\"><failure/></testcase></testsuite>' > r.xml";
    let results = batch(
        &world,
        &[
            piped("right", RIGHT),
            piped("wrong", "def add(a, b): return 0\n"),
            filed("silent", "true"),
            filed("failing", failing),
        ],
    );
    is(&results[0], "passed", Some(1.0));
    is(&results[1], "failed", Some(0.0));
    assert_eq!(
        statuses(&results[1]),
        [("add", "failed"), ("alive", "passed")]
    );
    is(&results[2], "no_tests", Some(0.0));
    assert_eq!(results[2]["verdict"]["tamper"][0]["path"], "r.xml");
    is(&results[3], "failed", Some(0.0));
}
