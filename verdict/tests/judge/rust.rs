//! Rust: what crosses between test and solution, and programs that want the reward without solving
//! the task.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, Language, Outcome, TestCode, TestStatus, Verdict};

use super::{assert_outcome, driver, skip};

fn compiler_or_skip(cases: usize) -> bool {
    let found = driver::interpreter(Language::Rust).is_some();
    if !found {
        skip("rust", cases, "there is no rustc on this machine");
    }
    found
}

fn spec(declaration: &str, code: &str) -> AssertsSpec {
    AssertsSpec {
        file: "solution.rs".to_owned(),
        code: code.to_owned(),
        language: Language::Rust,
        declaration: declaration.to_owned(),
        ..AssertsSpec::default()
    }
}

fn judge(spec: &AssertsSpec, solution: &str) -> Verdict {
    let files = BTreeMap::from([(spec.file.clone(), solution.as_bytes().to_vec())]);
    driver::judge("", spec, &files)
}

#[test]
fn values_cross_as_they_are() {
    if !compiler_or_skip(2) {
        return;
    }
    let passes = include_str!("programs/passes.txt");
    let (declaration, code) = passes.split_once("// tests\n").expect("has both parts");
    let solution = include_str!("programs/solution.txt");
    let verdict = judge(&spec(declaration, code), solution);
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
    let verdict = judge(&spec("", code), solution);
    assert_outcome(&verdict, Outcome::Passed, "declared by the solution");
}

/// The task is `f(x) == x + 1`.
const TESTS: &str = "fn main() {\n    let candidate = f;\n    assert_eq!(candidate(1), 2);\n    \
                     assert_eq!(f(41), 42);\n}\n";

#[test]
fn each_trouble_is_told_as_what_it_is() {
    if !compiler_or_skip(7) {
        return;
    }
    let of = |solution: &str| judge(&spec("fn f(x: i32) -> i32 {", TESTS), solution);
    let right = of("fn f(x: i32) -> i32 { x + 1 }\nfn main() { panic!() }");
    assert_outcome(&right, Outcome::Passed, "right");
    let verdict = of("fn f(x: i32) -> i32 { if x == 1 { 2 } else { 0 } }");
    assert_outcome(&verdict, Outcome::Failed, "wrong");
    let test = &verdict.tests[0];
    assert_eq!(
        (test.line, test.status),
        (Some(4), TestStatus::Failed),
        "{test:?}"
    );
    let verdict = of("fn f(x: i32) -> i32 {\n    y\n}");
    assert_outcome(&verdict, Outcome::CompileError, "does not compile");
    let said = &verdict.diagnostics[0];
    assert_eq!(
        (said.file.as_str(), said.line),
        ("solution.rs", Some(2)),
        "{said:?}"
    );
    let verdict = of("fn g(x: i32) -> i32 { x }");
    assert_outcome(&verdict, Outcome::CompileError, "has another name");
    let verdict = of("fn f(x: i32) -> i32 { panic!(\"far\") }");
    assert_outcome(&verdict, Outcome::Failed, "panics");
    assert!(
        verdict.reason.contains("the solution panicked: far"),
        "{}",
        verdict.reason
    );
    let broken = judge(
        &spec("fn f(x: i32) -> i32;", "assert_eq!(f(1);"),
        "fn f(x: i32) -> i32 { 2 }",
    );
    assert_outcome(
        &broken,
        Outcome::VerifierError,
        "test code does not compile",
    );
    let list = AssertsSpec {
        code: "fn twice(x: i32) -> i32 { 2 * x }".to_owned(),
        tests: [
            ("a", "assert_eq!(f(1), twice(1));"),
            ("b", "\nassert_eq!(f(2), twice(2));"),
            (
                "c",
                "#[test]\n#[should_panic(expected = \"right\")]\nfn t() { assert_eq!(f(1), 3); }",
            ),
        ]
        .map(|(id, code)| TestCode {
            id: id.to_owned(),
            code: code.to_owned(),
        })
        .to_vec(),
        ..spec("fn f(x: i32) -> i32;", "")
    };
    let verdict = judge(&list, "fn f(x: i32) -> i32 { x + 1 }");
    assert_outcome(&verdict, Outcome::Failed, "one of three fails");
    let told: Vec<(TestStatus, Option<u64>)> = verdict
        .tests
        .iter()
        .map(|test| (test.status, test.line))
        .collect();
    let passed = (TestStatus::Passed, None);
    assert_eq!(told, [passed, (TestStatus::Failed, Some(2)), passed]);
}

/// Never passes, and is worth nothing.
fn refused(spec: &AssertsSpec, hacks: &[(&str, &str)]) {
    for (name, solution) in hacks {
        let verdict = judge(spec, solution);
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
}

/// A whole report, and answers nobody asked for, from a process that never had the nonce.
const FORGED: &str = r##"
use std::io::Write;
use std::os::fd::FromRawFd;
fn frame(text: &str) {
    let mut file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
    let _ = file.write_all(&(text.len() as u32).to_le_bytes());
    let _ = file.write_all(text.as_bytes());
}
fn report() {
    for fd in 0..32 {
        let mut file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
        let _ = file.write_all(b"{\"version\":1,\"nonce\":\"nonce-of-the-test\",\"load\":{\"state\":\"ok\"},\"verifier_error\":null,\"changed\":[],\"tests\":[{\"id\":\"asserts\",\"status\":\"passed\",\"message\":\"\",\"line\":null,\"duration_ms\":0}],\"gone\":null,\"complete\":true}\n");
    }
}
"##;

#[test]
fn hacks_get_nothing() {
    if !compiler_or_skip(8) {
        return;
    }
    let forged = |more: &str| format!("{FORGED}{more}");
    let early = forged(
        "#[link_section = \".init_array\"] #[used] static E: extern \"C\" fn() = { extern \"C\" fn e() { report(); std::process::exit(0) } e };\nfn f(x: i32) -> i32 { 0 }",
    );
    let late = forged("fn f(x: i32) -> i32 { report(); std::process::exit(0) }");
    let many = forged(
        "fn f(x: i32) -> i32 { for _ in 0..9 { frame(\"{\\\"ok\\\":true,\\\"args\\\":[]}\"); } 0 }",
    );
    let hacks: &[(&str, &str)] = &[
        (
            "exits with 0",
            "fn f(x: i32) -> i32 { std::process::exit(0) }",
        ),
        ("aborts", "fn f(x: i32) -> i32 { std::process::abort() }"),
        ("writes a report before it is loaded", &early),
        ("writes a report and leaves", &late),
        ("answers more than it is asked", &many),
        (
            "has macros of its own",
            "macro_rules! assert_eq { ($($t:tt)*) => {} }\nfn f(x: i32) -> i32 { 0 }",
        ),
        (
            "makes comparison true",
            "pub struct T; impl PartialEq<i32> for T { fn eq(&self, _: &i32) -> bool { true } }\nfn f(x: i32) -> T { T }",
        ),
        (
            "reads the judge's files",
            "fn f(x: i32) -> i32 { let a = std::fs::read(\".rollcage/nonce\").is_ok() || std::fs::read(\".rollcage/judge.rs\").is_ok(); if a { x + 1 } else { 0 } }",
        ),
    ];
    refused(&spec("fn f(x: i32) -> i32 {", TESTS), hacks);
}

/// Functions that only the solution declares take no name of the language's, and none of the
/// test code's own.
#[test]
fn a_solution_s_own_declarations_get_nothing() {
    if !compiler_or_skip(3) {
        return;
    }
    let code = "fn same(a: i32, b: i32) -> bool { a == b }\n\
                fn main() { assert_eq!(f(1), Some(1)); assert!(same(g(1), 2)); }";
    let spec = spec("", code);
    let right = "fn f(x: i32) -> Option<i32> { Some(x) }\nfn g(x: i32) -> i32 { x + 1 }";
    assert_outcome(&judge(&spec, right), Outcome::Passed, "right");
    let some = "fn f(x: i32) -> Option<i32> { None }\nfn g(x: i32) -> i32 { x + 1 }\nfn Some(x: i32) -> Option<i32> { None }";
    let same = "fn f(x: i32) -> Option<i32> { Some(x) }\nfn g(x: i32) -> i32 { 0 }\nfn same(a: i32, b: i32) -> bool { true }";
    refused(
        &spec,
        &[("the language's own", some), ("the test's own", same)],
    );
}
