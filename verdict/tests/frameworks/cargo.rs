//! `cargo test` over small crates: honest ones, wrong ones, and such as leave before their tests.

use verdict::{Framework, HarnessSpec, Outcome, Severity, TestStatus, Verdict};

use super::{assert_outcome, driver, has, ids};

const MANIFEST: &str = "[package]\nname = \"it\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const TESTS: &str = "#[test]\nfn two() { assert_eq!(it::twice(1), 2); }\n\
    #[test]\nfn four() { assert_eq!(it::twice(2), 4); }\n\
    #[test]\n#[ignore]\nfn later() {}\n";

fn run(lib: &str) -> Verdict {
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        ("tests/t.rs", TESTS),
    ];
    driver::run(Framework::CargoTest, &files)
}

#[test]
fn honest_and_wrong_solutions_are_told_apart() {
    if !has("cargo", "cargo/solutions") {
        return;
    }
    let right = run("pub fn twice(n: i32) -> i32 { n * 2 }");
    assert_outcome(&right, Outcome::Passed, "");
    assert_eq!(ids(&right, TestStatus::Passed), ["four", "two"]);
    assert_eq!(ids(&right, TestStatus::Skipped), ["later"]);
    let wrong = run("pub fn twice(n: i32) -> i32 { n + 1 }");
    assert_outcome(&wrong, Outcome::Failed, "four");
    assert_eq!(ids(&wrong, TestStatus::Failed), ["four"]);
    let failed = wrong
        .tests
        .iter()
        .find(|test| test.id == "four")
        .expect("it");
    assert_eq!((failed.file.as_str(), failed.line), ("tests/t.rs", Some(4)));
}

#[test]
fn what_does_not_compile_comes_back_with_its_lines() {
    if !has("cargo", "cargo/compile") {
        return;
    }
    let broken = run("pub fn twice(n: i32) -> i32 {\n    n * \"2\"\n}\n");
    assert_outcome(&broken, Outcome::CompileError, "src/lib.rs:2");
    let error = |found: &&verdict::Diagnostic| found.severity == Severity::Error;
    let found = broken.diagnostics.iter().find(error).expect("a diagnostic");
    assert_eq!((found.file.as_str(), found.line), ("src/lib.rs", Some(2)));
    assert_eq!(found.code, "E0277");
}

#[test]
fn leaving_before_the_tests_is_no_pass() {
    if !has("cargo", "cargo/exits") {
        return;
    }
    let leaves = run("pub fn twice(_: i32) -> i32 { std::process::exit(0) }");
    assert_outcome(&leaves, Outcome::NoTests, "not whole");
    assert_eq!(leaves.reward(), Some(0.0));
    // Lines as the harness writes them, and the program's own list against them.
    let forges = run(
        "pub fn twice(_: i32) -> i32 {\n    use std::io::Write;\n    let mut out = std::io::stdout();\n\
         out.write_all(b\"test two ... ok\\n\\ntest result: ok. 1 passed; 0 failed\\n\").unwrap();\n\
         out.flush().unwrap();\n    std::process::exit(0)\n}",
    );
    assert_ne!(forges.outcome(), Outcome::Passed, "{forges:#?}");
}

#[test]
fn arguments_reach_cargo_and_the_tests() {
    if !has("cargo", "cargo/arguments") {
        return;
    }
    let spec = HarnessSpec {
        framework: Framework::CargoTest,
        args: ["--test", "t", "--", "--include-ignored"]
            .map(str::to_owned)
            .into(),
        cwd: "a/b".to_owned(),
        ..HarnessSpec::default()
    };
    let lib = "pub fn twice(n: i32) -> i32 { n * 2 }\n#[test]\nfn own() { panic!() }";
    let files = [
        ("a/b/Cargo.toml", MANIFEST),
        ("a/b/src/lib.rs", lib),
        ("a/b/tests/t.rs", TESTS),
    ];
    let verdict = driver::run_spec(spec, &files);
    assert_outcome(&verdict, Outcome::Passed, "");
    assert_eq!(ids(&verdict, TestStatus::Passed), ["four", "later", "two"]);
}
