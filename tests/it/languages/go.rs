//! Go: references with testify, built in sandboxes.

use serde_json::json;

use crate::data::{Task, check, text};
use crate::world::World;

use super::{Set, judge, reference};

#[test]
fn references_agree_with_the_truth() {
    let set = Set {
        folder: "humaneval_x",
        file: "humaneval_go.jsonl",
        table: ("humaneval_x_go", ""),
        language: "go",
        policy: "build",
        solution: "solution.go",
        parts: |line| {
            let (solution, code) = reference(line);
            (solution, format!("{}\n{code}", text(line, "test_setup")))
        },
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
