//! What every verdict says in numbers.

use super::add;
use crate::verdict::{Diagnostic, Outcome, Severity, TestResult, TestStatus, Verdict};

fn test(status: TestStatus) -> TestResult {
    TestResult {
        id: String::new(),
        status,
        duration_ms: 0,
        message: String::new(),
        file: String::new(),
        line: None,
    }
}

#[test]
fn tests_their_share_and_the_time_are_told() {
    let mut verdict = Verdict::new(Outcome::Failed, "");
    let statuses = [
        TestStatus::Passed,
        TestStatus::Xpass,
        TestStatus::Failed,
        TestStatus::Skipped,
    ];
    verdict.tests.extend(statuses.map(test));
    add(&mut verdict, 120);
    let told = ["duration_ms", "tests", "tests_passed", "tests_passed_share"];
    let told = told.map(|name| verdict.metrics[name]);
    assert_eq!(told, [120.0, 4.0, 2.0, 0.5]);
    assert!(!verdict.metrics.contains_key("compile_ok"));
}

#[test]
fn a_compile_error_is_a_number_and_what_a_kind_counted_stays() {
    let mut verdict = Verdict::new(Outcome::CompileError, "");
    verdict.diagnostics.push(Diagnostic {
        tool: String::new(),
        severity: Severity::Error,
        code: String::new(),
        message: String::new(),
        file: String::new(),
        line: None,
        column: None,
    });
    verdict.metrics.insert("errors".to_owned(), 5_000.0);
    add(&mut verdict, 1);
    let told = ["compile_ok", "errors", "warnings"].map(|name| verdict.metrics[name]);
    assert_eq!(told, [0.0, 5_000.0, 0.0]);
}

#[test]
fn what_was_not_judged_has_no_measures() {
    let mut verdict = Verdict::unjudged();
    add(&mut verdict, 5);
    assert!(verdict.metrics.is_empty());
}
