//! C++, C and Rust: programs that are built first, each end in a sandbox of its own.

use serde_json::{Value, json};

use crate::audit::records;
use crate::batch;
use crate::data::{Task, check};
use crate::skips;
use crate::tools;

const CPP_TESTS: &str = "#include <assert.h>\nint main() {\n    vector<int> a = {2, 1};\n    \
    assert(f(a) == 2);\n    assert(a.size() == 3);\n}\n";
const C_TESTS: &str = "#include <assert.h>\nint main(void) {\n    int a[] = {2, 1};\n    \
    assert(f(a, 2) == 2 && a[0] == 1);\n}\n";
const RUST_TESTS: &str = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    \
    fn grows() {\n        let mut a = vec![2, 1];\n        assert_eq!(f(&mut a), 2);\n        \
    assert_eq!(a.len(), 3);\n    }\n}\n";

/// Solution's file, declaration and test code of a language.
fn parts(language: &str) -> (&'static str, &'static str, &'static str) {
    match language {
        "cpp" => (
            "solution.cpp",
            "#include <vector>\nusing namespace std;\nint f(vector<int>& a);",
            CPP_TESTS,
        ),
        "c" => ("solution.c", "int f(int* a, int n);", C_TESTS),
        _rust => ("solution.rs", "fn f(a: &mut Vec<i32>) -> i32;", RUST_TESTS),
    }
}

fn request(language: &str, id: &str, solution: &str) -> Value {
    let (file, declaration, code) = parts(language);
    let path = format!("{}/rust/bin:/usr/bin:/bin", tools::folder().display());
    json!({
        "id": format!("{language}/{id}"), "policy": "build", "argv": [], "files": {file: solution},
        "env": {"PATH": path}, "limits": {"cpu_ms_max": 20_000},
        "verify": {
            "kind": "asserts", "language": language, "file": file, "declaration": declaration,
            "code": code,
        },
    })
}

fn task(language: &str, id: &str, solution: &str, allowed: &'static [&'static str]) -> Task {
    Task {
        line: request(language, id, solution),
        allowed,
    }
}

#[test]
fn each_trouble_is_told_as_what_it_is() {
    const TEST: &str = "languages::built::each_trouble_is_told_as_what_it_is";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let vector = "#include <vector>\n";
    let cpp = |body: &str| format!("{vector}int f(std::vector<int>& a) {{ {body} }}");
    let mut tasks = vec![
        task(
            "cpp",
            "right",
            &cpp("a.push_back(0); return 2;"),
            &["passed"],
        ),
        task("cpp", "wrong", &cpp("return 2;"), &["failed"]),
        task(
            "cpp",
            "exit",
            &cpp("__builtin_exit(0);"),
            &["failed", "compile_error"],
        ),
        task(
            "cpp",
            "endless",
            &cpp("for (volatile int i = 0;; i = 1) {}"),
            &["timeout"],
        ),
        task("cpp", "nothing", "", &["compile_error"]),
        task(
            "c",
            "right",
            "int f(int* a, int n) { a[0] = 1; return n; }",
            &["passed"],
        ),
        task(
            "c",
            "wrong",
            "int f(int* a, int n) { return n; }",
            &["failed"],
        ),
    ];
    if tools::tool(&format!("{TEST}/rust"), "rust/bin/rustc").is_some() {
        let right = "fn f(a: &mut Vec<i32>) -> i32 { a.push(0); 2 }";
        let exit = "fn f(a: &mut Vec<i32>) -> i32 { std::process::exit(0) }";
        tasks.push(task("rust", "right", right, &["passed"]));
        tasks.push(task("rust", "exit", exit, &["failed"]));
        tasks.push(task(
            "rust",
            "broken",
            "fn f(a: i32) -> i32 {",
            &["compile_error"],
        ));
    }
    check(&world, "built", &tasks);
}

/// What is recorded, and that the judge's program of a task is built once.
#[test]
fn every_build_is_recorded_before_it_starts() {
    const TEST: &str = "languages::built::every_build_is_recorded_before_it_starts";
    if !skips::has_file(TEST, "/usr/bin/g++") {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let right = "#include <vector>\nint f(std::vector<int>& a) { a.push_back(0); return 2; }";
    let broken = "#include <vector>\nint f(std::vector<int>& a) {\n    return x;\n}";
    let first = batch::run(&world, &[request("cpp", "first", right)]);
    let second = batch::run(&world, &[request("cpp", "second", broken)]);
    assert_eq!(first["cpp/first"]["verdict"]["reward"], 1.0, "{first:?}");
    let verdict = &second["cpp/second"]["verdict"];
    assert_eq!(verdict["outcome"], "compile_error", "{verdict}");
    let said = &verdict["diagnostics"][0];
    assert_eq!(
        (&said["file"], &said["line"]),
        (&json!("solution.cpp"), &json!(3)),
        "{verdict}"
    );
    let records = records(&world);
    let of = |event: &str| {
        let found = records.iter().filter(|record| record["event"] == event);
        found.collect::<Vec<&Value>>()
    };
    let roles: Vec<&str> = of("sandbox_requested")
        .iter()
        .filter_map(|record| record["data"]["role"].as_str())
        .collect();
    let mut sorted = roles.clone();
    sorted[..4].sort_unstable();
    assert_eq!(
        sorted,
        ["compile", "compile-judge", "judge", "solution", "compile"],
        "{roles:?}"
    );
    assert_eq!(of("sandbox_spawned").len(), roles.len());
    // Where nothing in /workspace may be executed there is no point in building.
    let mut refused = request("cpp", "refused", right);
    refused["policy"] = json!("python");
    let refused = batch::run(&world, &[refused]);
    let error = refused["cpp/refused"]["error"].to_string();
    assert!(error.contains("POLICY_FORBIDS_BUILD"), "{error}");
}
