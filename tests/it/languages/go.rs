//! Go: references with testify, built in sandboxes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::data::{Task, check, text};
use crate::world::World;

use super::{Set, judge};

/// Solution and test code of a line. The set means one file of both, whose imports are those of
/// either: each gets those that it names.
pub(crate) fn parts(line: &Value) -> (String, String) {
    let imports = format!("{}{}", text(line, "import"), text(line, "test_setup"));
    let paths: BTreeSet<&str> = imports.split('"').skip(1).step_by(2).collect();
    let with_imports = |code: &str| {
        let named = |path: &&&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            code.contains(&format!("{name}."))
        };
        let lines = paths.iter().filter(named).map(|path| format!("{path:?};"));
        format!(
            "package main; import ({})\n{code}",
            lines.collect::<String>()
        )
    };
    let prompt = text(line, "prompt");
    let body = prompt.strip_prefix(text(line, "import")).unwrap_or(prompt);
    let solution = format!("{body}{}", text(line, "canonical_solution"));
    (with_imports(&solution), with_imports(text(line, "test")))
}

#[test]
fn references_agree_with_the_truth() {
    let set = Set {
        folder: "humaneval_x",
        file: "humaneval_go.jsonl",
        table: ("humaneval_x_go", ""),
        language: "go",
        policy: "build",
        solution: "solution.go",
        parts,
        emptied: |_| None,
        broken: &[],
    };
    judge("languages::go::references_agree_with_the_truth", &set);
}

#[test]
fn what_does_not_compile_or_leaves_early_gets_nothing() {
    const TEST: &str = "languages::go::what_does_not_compile_or_leaves_early_gets_nothing";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let code = "package main\nimport \"testing\"\nfunc TestF(t *testing.T) {\n\tif F(1) != 2 {\n\t\tt.Error(\"one\")\n\t}\n}";
    let task = |id: &str, solution: &str, allowed| Task {
        line: json!({
            "id": id, "policy": "build", "limits": {"cpu_ms_max": 4_000},
            "files": {"a/solution.go": solution}, "argv": [],
            "verify": {"kind": "asserts", "file": "a/solution.go", "language": "go", "code": code},
        }),
        allowed,
    };
    let tasks = [
        task(
            "right",
            "func F(x int) int { return x + 1 }",
            &["passed"][..],
        ),
        task("wrong", "func F(x int) int { return 0 }", &["failed"]),
        task(
            "broken",
            "func F(x int) int {\n\treturn y\n}",
            &["compile_error"],
        ),
        task(
            "exit",
            "import \"os\"\nfunc init() { os.Exit(0) }\nfunc F(x int) int { return 2 }",
            &["no_tests"],
        ),
        task(
            "killed",
            "import \"syscall\"\nfunc F(x int) int { syscall.Kill(syscall.Getpid(), 9); return 2 }",
            &["failed"],
        ),
        task("endless", "func F(x int) int { for { } }", &["timeout"]),
    ];
    check(&world, "go", &tasks);
}
