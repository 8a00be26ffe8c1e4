//! `go test` over small modules.

use verdict::{Framework, Outcome, Severity, TestStatus, Verdict};

use super::{assert_outcome, driver, has, ids};

const TESTS: &str = "package it\n\nimport \"testing\"\n\n\
    func TestTwo(t *testing.T) {\n\tif Twice(1) != 2 {\n\t\tt.Fatal(\"not two\")\n\t}\n}\n\n\
    func TestMore(t *testing.T) {\n\tt.Run(\"four\", func(t *testing.T) {\n\t\tif Twice(2) != 4 {\n\t\t\tt.Fatal(\"not four\")\n\t\t}\n\t})\n}\n";

fn run(text: &str) -> Verdict {
    let files = [
        ("go.mod", "module it\n\ngo 1.18\n"),
        ("it.go", text),
        ("it_test.go", TESTS),
    ];
    driver::run(Framework::GoTest, &files)
}

#[test]
fn honest_and_wrong_solutions_are_told_apart() {
    if !has("go", "go/solutions") {
        return;
    }
    let right = run("package it\n\nfunc Twice(n int) int { return n * 2 }\n");
    assert_outcome(&right, Outcome::Passed, "");
    let all = ["it::TestMore", "it::TestMore/four", "it::TestTwo"];
    assert_eq!(ids(&right, TestStatus::Passed), all);
    let wrong = run("package it\n\nfunc Twice(n int) int { return n + 1 }\n");
    assert_outcome(&wrong, Outcome::Failed, "did not pass");
    assert_eq!(
        ids(&wrong, TestStatus::Failed),
        ["it::TestMore", "it::TestMore/four"]
    );
    let failed = wrong
        .tests
        .iter()
        .find(|test| test.id.ends_with("four"))
        .expect("it");
    assert_eq!(
        (failed.file.as_str(), failed.line),
        ("it_test.go", Some(14))
    );
    let panics = run("package it\n\nfunc Twice(n int) int { panic(\"no\") }\n");
    assert_outcome(&panics, Outcome::Failed, "");
}

#[test]
fn what_does_not_compile_comes_back_with_its_lines() {
    if !has("go", "go/compile") {
        return;
    }
    let broken = run("package it\n\nfunc Twice(n int) int { return n * m }\n");
    assert_outcome(&broken, Outcome::CompileError, "it.go:3");
    let error = |found: &&verdict::Diagnostic| found.severity == Severity::Error;
    let found = broken.diagnostics.iter().find(error).expect("a diagnostic");
    assert_eq!((found.file.as_str(), found.line), ("./it.go", Some(3)));
}

#[test]
fn leaving_before_the_tests_is_no_pass() {
    if !has("go", "go/exits") {
        return;
    }
    // `os.Exit` is noticed by the framework, the system call is not.
    for exit in ["os.Exit(0)", "syscall.Exit(0)"] {
        let import = exit.split('.').next().expect("a package");
        let text = format!(
            "package it\n\nimport \"{import}\"\n\nfunc Twice(n int) int {{ {exit}; return 0 }}\n"
        );
        let leaves = run(&text);
        assert_ne!(leaves.outcome(), Outcome::Passed, "{leaves:#?}");
        assert_eq!(leaves.reward(), Some(0.0), "{leaves:#?}");
    }
    let early = "package it\n\nimport \"syscall\"\n\nfunc init() { syscall.Exit(0) }\n\n\
        func Twice(n int) int { return 0 }\n";
    assert_outcome(&run(early), Outcome::NoTests, "");
}
