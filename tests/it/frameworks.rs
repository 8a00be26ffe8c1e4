//! Cargo, go, node, Jest and commands that write a report, in sandboxes: Exercism's examples pass,
//! its stubs do not, and what leaves before its tests earns nothing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::data::{data_dir, text};
use crate::world::World;
use crate::{batch, skips, tools};

/// A request, and the outcomes that its verdict may have.
struct Asked {
    line: Value,
    outcomes: &'static [&'static str],
}

const PASSED: &[&str] = &["passed"];
const NO_TESTS: &[&str] = &["no_tests"];
/// A stub may miss what its tests name.
const NOT_SOLVED: &[&str] = &["failed", "compile_error"];
const NOT_PASSED: &[&str] = &["failed", "compile_error", "no_tests"];

/// Judged by a framework, without a run before.
fn asked(id: &str, kind: &str, files: Value, tests: Value, outcomes: &'static [&str]) -> Asked {
    let mut line = json!({
        "id": id, "policy": "task", "argv": [],
        "verify": {"kind": kind, "env": {"PATH": path()}},
    });
    line["files"] = files;
    line["verify"]["test_files"] = tests;
    Asked { line, outcomes }
}

/// The tools of `./x set-up`, then the system's. The system's Go comes first: its library is built
/// already.
fn path() -> String {
    let folder = tools::folder();
    let folder = folder.to_str().expect("the folder's name is text");
    let system = "/usr/local/bin:/usr/bin:/bin";
    format!("{folder}/rust/bin:{folder}/jest/node_modules/.bin:{system}:{folder}/go/go/bin")
}

/// Judges all in one batch: each gets one of its outcomes, and a reward accordingly.
fn judge(world: &World, asked: &[Asked]) {
    let lines: Vec<Value> = asked.iter().map(|asked| asked.line.clone()).collect();
    let results = batch::run(world, &lines);
    let mut wrong = Vec::new();
    for asked in asked {
        let result = &results[text(&asked.line, "id")];
        let verdict = &result["verdict"];
        let outcome = verdict["outcome"].as_str().unwrap_or_default();
        let reward = if outcome == "passed" { 1.0 } else { 0.0 };
        if !asked.outcomes.contains(&outcome)
            || verdict["reward"].as_f64() != Some(reward)
            || verdict["evidence"]["isolation"] != "shared"
        {
            wrong.push(format!("expected one of {:?}: {result:#}", asked.outcomes));
        }
        let errors = verdict["diagnostics"].as_array();
        let with_line = errors.is_some_and(|all| all.iter().any(|one| one["line"].is_u64()));
        if outcome == "compile_error" && !with_line {
            wrong.push(format!("a compile error without a line: {result:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files of a task of the set, by path.
fn files_of(task: &Path, paths: &[&str]) -> Value {
    let read = |path: &&str| {
        let text = fs::read_to_string(task.join(path)).expect("a file of the set");
        ((*path).to_owned(), json!(text))
    };
    Value::Object(paths.iter().map(read).collect())
}

fn file_of(task: &Path, path: &str) -> String {
    fs::read_to_string(task.join(path)).expect("a file of the set")
}

/// An example and the stub in its place, by the same tests.
fn pair(id: &str, kind: &str, solution: &str, texts: [String; 2], tests: &Value) -> [Asked; 2] {
    let names = ["example", "stub"];
    let outcomes = [PASSED, NOT_SOLVED];
    let [example, stub] = texts;
    [(example, 0), (stub, 1)].map(|(text, number)| {
        let id = format!("{id}-{}", names[number]);
        let files = json!({solution: text});
        asked(&id, kind, files, tests.clone(), outcomes[number])
    })
}

fn exercism(test: &str, language: &str) -> Option<std::path::PathBuf> {
    let folder = data_dir().join("exercism").join(language);
    skips::has_file(test, folder.to_str().expect("text")).then_some(folder)
}

#[test]
fn cargo_tests_are_judged() {
    const TEST: &str = "frameworks::cargo_tests_are_judged";
    if tools::tool(TEST, "rust/bin/cargo").is_none() {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let manifest = "[package]\nname = \"it\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let tests = "#[test]\nfn two() { assert_eq!(it::twice(1), 2); }\n";
    let tests = json!({"Cargo.toml": manifest, "tests/t.rs": tests});
    let own = |id: &str, lib: &str, outcomes| {
        asked(
            id,
            "cargo_test",
            json!({"src/lib.rs": lib}),
            tests.clone(),
            outcomes,
        )
    };
    let mut all = vec![
        own(
            "leaves",
            "pub fn twice(_: i32) -> i32 { std::process::exit(0) }",
            NO_TESTS,
        ),
        own(
            "type",
            "pub fn twice(n: i32) -> i32 {\n    \"2\"\n}\n",
            &["compile_error"],
        ),
    ];
    if let Some(folder) = exercism(TEST, "rust") {
        for slug in ["isogram", "clock"] {
            let task = folder.join(slug);
            let tests = files_of(&task, &["Cargo.toml", &format!("tests/{slug}.rs")]);
            let texts = [".meta/example.rs", "src/lib.rs"].map(|path| file_of(&task, path));
            let mut asked = pair(slug, "cargo_test", "src/lib.rs", texts, &tests);
            for asked in &mut asked {
                asked.line["verify"]["args"] = json!(["--", "--include-ignored"]);
            }
            all.extend(asked);
        }
    }
    judge(&world, &all);
}

/// Over a warm target folder, sources with old times are not built again: the target folder that
/// came with the files is not used.
#[test]
fn cargo_builds_what_is_there_and_not_what_was() {
    const TEST: &str = "frameworks::cargo_builds_what_is_there_and_not_what_was";
    if tools::tool(TEST, "rust/bin/cargo").is_none() {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let manifest = "[package]\nname = \"it\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let test = "#[test]\nfn two() { assert_eq!(it::twice(1), 2); }\n";
    let right = "pub fn twice(n: i32) -> i32 { n * 2 }";
    let files = json!({"Cargo.toml": manifest, "src/lib.rs": right, "tests/t.rs": test});
    let tests = json!({"Cargo.toml": manifest, "tests/t.rs": test});
    let mut stale = asked("stale", "cargo_test", files, tests, &["failed"]);
    // Builds the right solution, and puts a wrong one in its place that looks older.
    let script = "export PATH=\"$1\"; cargo test --offline -q >/dev/null 2>&1 || exit 9; \
        echo 'pub fn twice(n: i32) -> i32 { n + 9 }' > src/lib.rs; touch -d 2001-01-01 src/lib.rs";
    stale.line["argv"] = json!(["sh", "-c", script, "sh", path()]);
    judge(&world, &[stale]);
}

#[test]
fn go_tests_are_judged() {
    const TEST: &str = "frameworks::go_tests_are_judged";
    if !skips::has_file(TEST, "/usr/bin/go") {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let test = "package it\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\
        \tif Twice(1) != 2 {\n\t\tt.Fatal(\"not two\")\n\t}\n}\n";
    let tests = json!({"go.mod": "module it\n\ngo 1.18\n", "it_test.go": test});
    let own = |id: &str, text: &str, outcomes| {
        let text = format!("package it\n\n{text}");
        asked(
            id,
            "go_test",
            json!({"it.go": text}),
            tests.clone(),
            outcomes,
        )
    };
    let leaves = "import \"syscall\"\n\nfunc Twice(n int) int { syscall.Exit(0); return 0 }\n";
    let mut all = vec![
        own("leaves", leaves, NOT_PASSED),
        own(
            "type",
            "func Twice(n int) int { return \"2\" }\n",
            &["compile_error"],
        ),
    ];
    if let Some(folder) = exercism(TEST, "go") {
        for slug in ["isogram", "clock"] {
            let task = folder.join(slug);
            let paths = ["go.mod", "cases_test.go", &format!("{slug}_test.go")];
            let tests = files_of(&task, &paths);
            let solution = format!("{slug}.go");
            let texts = [".meta/example.go", &solution].map(|path| file_of(&task, path));
            all.extend(pair(slug, "go_test", &solution, texts, &tests));
        }
    }
    judge(&world, &all);
}

const NODE_TEST: &str = "const { test } = require('node:test');\n\
    const assert = require('node:assert');\nconst { twice } = require('./it.js');\n\
    test('two', () => assert.strictEqual(twice(1), 2));\n\
    test('four', () => console.assert(twice(2) === 4, 'not four'));\n";

#[test]
fn node_and_jest_are_judged() {
    const TEST: &str = "frameworks::node_and_jest_are_judged";
    if !skips::has_file(TEST, "/usr/bin/node") {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let tests = json!({"it.test.js": NODE_TEST});
    let own = |id: &str, text: &str, outcomes| {
        asked(
            id,
            "node_test",
            json!({"it.js": text}),
            tests.clone(),
            outcomes,
        )
    };
    let mut all = vec![
        own("right", "exports.twice = (n) => n * 2;", PASSED),
        own("wrong", "exports.twice = (n) => n + 9;", &["failed"]),
        own(
            "only-prints",
            "exports.twice = (n) => (n === 2 ? 9 : n * 2);",
            &["failed"],
        ),
        own("leaves", "process.exit(0);", NO_TESTS),
        own("syntax", "exports.twice = (n => n * 2;", &["compile_error"]),
    ];
    if tools::tool(&format!("{TEST}/jest"), "jest/node_modules/.bin/jest").is_some()
        && let Some(folder) = exercism(TEST, "javascript")
    {
        let task = folder.join("isogram");
        let spec = file_of(&task, "isogram.spec.js").replace("xtest(", "test(");
        let package = "{\"type\": \"module\", \"jest\": {\"transform\": {}}}";
        let tests = json!({"package.json": package, "isogram.spec.js": spec});
        let texts = [".meta/proof.ci.js", "isogram.js"].map(|path| file_of(&task, path));
        let mut asked = pair("jest", "jest", "isogram.js", texts, &tests);
        for asked in &mut asked {
            let options = "--experimental-vm-modules --no-warnings";
            asked.line["verify"]["env"]["NODE_OPTIONS"] = json!(options);
        }
        all.extend(asked);
    }
    judge(&world, &all);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row a report")]
fn reports_of_commands_are_judged() {
    const TEST: &str = "frameworks::reports_of_commands_are_judged";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let command = |id: &str, kind: &str, script: &str, more: Value, outcomes| {
        let mut asked = asked(id, kind, json!({}), json!({"t.txt": "x"}), outcomes);
        asked.line["verify"]["argv"] = json!(["sh", "-c", script]);
        for (name, value) in more.as_object().expect("an object") {
            asked.line["verify"][name.as_str()] = value.clone();
        }
        asked
    };
    let junit = "echo '<testsuite><testcase name=\"a\"/></testsuite>'";
    let cut = "echo '<testsuite><testcase name=\"a\"/><testcase name=\"b\">'";
    let both = json!({"fail_to_pass": ["a"], "pass_to_pass": ["b"]});
    let stdout = json!({"report": "stdout"});
    let file = json!({"report": "out/r.xml"});
    let format = json!({"format": "libtest", "report": "stderr"});
    let running =
        "printf 'running 1 test\\ntest a ... ok\\n\\ntest result: ok. 1 passed; 0 failed;\\n' >&2";
    let all = [
        command(
            "descriptor",
            "junit_xml",
            &format!("{junit} >&4"),
            json!({}),
            PASSED,
        ),
        command("stdout", "junit_xml", junit, stdout, PASSED),
        command(
            "file",
            "junit_xml",
            &format!("mkdir out; {junit} > out/r.xml"),
            file.clone(),
            PASSED,
        ),
        command("no-file", "junit_xml", "true", file, NO_TESTS),
        command(
            "cut",
            "junit_xml",
            &format!("{cut} >&4"),
            json!({}),
            NO_TESTS,
        ),
        command(
            "code",
            "junit_xml",
            &format!("{junit} >&4; exit 3"),
            json!({}),
            &["failed"],
        ),
        command(
            "tap",
            "tap",
            "printf '1..2\\nok 1 - a\\nok 2 - b\\n' >&4",
            both.clone(),
            PASSED,
        ),
        command(
            "plan",
            "tap",
            "printf '1..3\\nok 1 - a\\nok 2 - b\\n' >&4",
            both,
            NO_TESTS,
        ),
        command(
            "ctrf",
            "ctrf",
            "echo '{\"results\":{\"tests\":[{\"name\":\"a\",\"status\":\"passed\"}]}}' >&4",
            json!({}),
            PASSED,
        ),
        command("libtest", "command", running, format, PASSED),
        command(
            "nothing",
            "command",
            "true",
            json!({"format": "tap"}),
            NO_TESTS,
        ),
    ];
    judge(&world, &all);
}

#[test]
fn pytest_is_that_of_the_interpreter_on_the_path() {
    const TEST: &str = "frameworks::pytest_is_that_of_the_interpreter_on_the_path";
    let Some(python) = tools::tool(TEST, "pytest/bin/python3") else {
        return;
    };
    if !skips::has_file(TEST, "/usr/lib/python3/dist-packages/pytest") {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let path = format!("{}:/usr/bin:/bin", python.trim_end_matches("/python3"));
    let tests = "import pytest\n\
        from solution import twice\n\
        def test_version():\n    assert int(pytest.__version__.split('.')[0]) >= 9\n\
        def test_place():\n    assert '/pytest/lib/' in pytest.__file__\n\
        def test_twice():\n    assert twice(2) == 4\n";
    let with = |id: &str, path: &str, text: &str, outcomes| {
        let solution = json!({"solution.py": text});
        let mut asked = asked(
            id,
            "pytest",
            solution,
            json!({"test_it.py": tests}),
            outcomes,
        );
        asked.line["verify"]["env"]["PATH"] = json!(path);
        asked
    };
    let right = "def twice(n):\n    return 2 * n\n";
    // What is no solution is none under the newer framework either.
    let leaves = "import os\nos._exit(0)\n";
    let skips = "import pytest\ndef twice(n):\n    pytest.skip('later')\n";
    let equal = "class Equal:\n    def __eq__(self, other):\n        return True\n\
                 def twice(n):\n    return Equal()\n";
    let raised = "import _pytest.runner as runner\nimport _pytest.reports as reports\n\
                  original = reports.TestReport.from_item_and_call\n\
                  def forged(item, call):\n    report = original(item, call)\n    \
                  report.outcome = 'passed'\n    return report\n\
                  reports.TestReport.from_item_and_call = forged\n\
                  def twice(n):\n    return 0\n";
    // The framework is looked at before a conftest.py is loaded, and puts hooks of its own in later.
    let mut configured = with("configured", &path, right, PASSED);
    configured.line["verify"]["test_files"]["conftest.py"] = json!("");
    judge(
        &world,
        &[
            configured,
            with("newer", &path, right, PASSED),
            with("system", "/usr/bin:/bin", right, NOT_SOLVED),
            with("leaves", &path, leaves, NOT_PASSED),
            with("skips", &path, skips, NOT_PASSED),
            with("equal", &path, equal, NOT_PASSED),
            with("forged", &path, raised, NOT_PASSED),
        ],
    );
}
