//! What crosses between test and solution, and what test code may expect of it.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, OnTamper, Outcome, TestCode, TestStatus};

use super::{assert_outcome, driver, judge_text, python_or_skip};

const SOLUTION: &str = include_str!("programs/solution.py");

#[test]
fn test_code_that_passes_in_one_process_passes_apart() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let verdict = judge_text(&python, SOLUTION, include_str!("programs/passes.py"));
    assert_outcome(&verdict, Outcome::Passed, "passes.py");
    assert_eq!(verdict.reward(), Some(1.0));
    assert_eq!(verdict.tests.len(), 1);
    assert_eq!(verdict.tests[0].id, "asserts");
}

#[test]
fn every_assert_that_does_not_hold_fails() {
    let rows = [
        "assert ident(1) == 2",
        "assert False",
        "assert hash(always()) == 41",
        "assert all(x == 5 for x in [ident(4)])",
        "assert abs(ident(5)) == 0",
        "raise SystemExit(0)",
        "import sys\nsys.exit(0)",
        "boom('x')",
        "undefined_name",
        "assert nt() == (1, 3)",
        "assert Point(1, 2) == Point(1, 3)",
        "l = []\nmut(l, {}, set(), bytearray(b'a'))\nassert l == []",
        "assert ident(float('nan')) == float('nan')",
        "assert ident(True) is False",
        "assert deep(3000)",
    ];
    let Some(python) = python_or_skip(rows.len()) else {
        return;
    };
    for code in rows {
        let verdict = judge_text(&python, SOLUTION, code);
        assert_outcome(&verdict, Outcome::Failed, code);
        assert_eq!(verdict.reward(), Some(0.0));
        assert!(!verdict.reason.is_empty());
    }
}

#[test]
fn a_failed_assert_names_its_line() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let code = "assert f(1) == 1\n\nassert f(2) == 3";
    let verdict = judge_text(&python, "def f(x):\n    return x\n", code);
    let test = &verdict.tests[0];
    assert_eq!((test.status, test.line), (TestStatus::Failed, Some(3)));
    assert!(
        test.message.contains("assert f(2) == 3"),
        "{}",
        test.message
    );
}

#[test]
fn how_loading_ends_decides_before_any_test() {
    let rows = [
        ("def f(:", Outcome::CompileError),
        ("x = \"\0\"", Outcome::CompileError),
        ("if True:\nx", Outcome::CompileError),
        ("1 / 0", Outcome::Failed),
        ("import no_such_module", Outcome::Failed),
        ("", Outcome::Failed),
        ("import os\nos.kill(os.getpid(), 11)", Outcome::Failed),
        ("raise SystemExit", Outcome::NoTests),
        ("import os\nos._exit(0)", Outcome::NoTests),
    ];
    let Some(python) = python_or_skip(rows.len()) else {
        return;
    };
    for (solution, expected) in rows {
        let verdict = judge_text(&python, solution, "assert f(1) == 1");
        assert_outcome(&verdict, expected, solution);
        assert_eq!(verdict.reward(), Some(0.0), "{solution}");
    }
    let verdict = judge_text(&python, "x = 1\ndef f(:\n", "assert f(1) == 1");
    let diagnostic = &verdict.diagnostics[0];
    assert_eq!(diagnostic.code, "SyntaxError");
    assert_eq!(
        (diagnostic.file.as_str(), diagnostic.line),
        ("solution.py", Some(2))
    );
    assert!(diagnostic.column.is_some());
}

#[test]
fn a_broken_test_is_the_verifiers_fault_and_has_no_reward() {
    let Some(python) = python_or_skip(3) else {
        return;
    };
    for code in [
        "assert f(",
        "import no_such_module\nassert f(1) == 1",
        "from os import nope",
    ] {
        let verdict = judge_text(&python, "def f(x): return x", code);
        assert_outcome(&verdict, Outcome::VerifierError, code);
        assert_eq!(verdict.reward(), None);
    }
    let missing = driver::judge(
        &python,
        &AssertsSpec {
            file: "x.py".into(),
            code: "assert f()".into(),
            ..AssertsSpec::default()
        },
        &BTreeMap::new(),
    );
    assert_outcome(&missing, Outcome::Failed, "no file");
}

#[test]
fn main_blocks_do_not_run_and_helpers_are_found() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let solution = "import helper\ndef f(x): return helper.g(x)\n\
                    if __name__ == '__main__':\n    raise SystemExit(1)\n";
    let files = BTreeMap::from([
        ("pkg/task.py".to_owned(), solution.into()),
        (
            "pkg/helper.py".to_owned(),
            b"def g(x): return x * 3".to_vec(),
        ),
    ]);
    let spec = AssertsSpec {
        file: "pkg/task.py".to_owned(),
        code: "import task\nfrom solution import f as g\n\
               assert f(2) == g(2) == task.f(2) == 6 and helper.g(1) == 3"
            .to_owned(),
        ..AssertsSpec::default()
    };
    assert_outcome(
        &driver::judge(&python, &spec, &files),
        Outcome::Passed,
        "helper",
    );
}

#[test]
fn lists_of_tests_report_one_by_one() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let test = |id: &str, code: &str| TestCode {
        id: id.into(),
        code: code.into(),
    };
    let mut spec = AssertsSpec {
        file: "solution.py".to_owned(),
        code: "import unittest\nlimit = 2".to_owned(),
        tests: vec![
            test("good", "assert f(1) == 1"),
            test("bad", "assert f(3) == limit"),
            test("skipped", "raise unittest.SkipTest('not today')"),
        ],
        ..AssertsSpec::default()
    };
    let files = BTreeMap::from([("solution.py".to_owned(), b"def f(x): return x".to_vec())]);
    let verdict = driver::judge(&python, &spec, &files);
    let statuses: Vec<TestStatus> = verdict.tests.iter().map(|test| test.status).collect();
    assert_eq!(
        statuses,
        [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped]
    );
    assert_outcome(&verdict, Outcome::Failed, "one failed");
    spec.tests.remove(1);
    assert_outcome(
        &driver::judge(&python, &spec, &files),
        Outcome::Failed,
        "required but skipped",
    );
    spec.test_ids = vec!["good".to_owned()];
    assert_outcome(
        &driver::judge(&python, &spec, &files),
        Outcome::Passed,
        "not required",
    );
    spec.tests.remove(0);
    spec.test_ids.clear();
    assert_outcome(
        &driver::judge(&python, &spec, &files),
        Outcome::NoTests,
        "all skipped",
    );
}

#[test]
fn names_of_built_ins_mean_the_judges_own_unless_the_task_is_about_them() {
    let Some(python) = python_or_skip(4) else {
        return;
    };
    let product = "def sum(a, b): return a * b";
    let verdict = judge_text(&python, product, "assert sum(10, 15) == 150");
    assert_outcome(&verdict, Outcome::Passed, "the task is about sum");
    let hack = "def f(x): return 0\ndef sum(*a): return 25\ndef all(*a): return True";
    for code in [
        "assert sum([f(10), 15]) == 25",
        "assert all(f(x) == x for x in [1, 2])",
    ] {
        assert_outcome(&judge_text(&python, hack, code), Outcome::Failed, code);
    }
    let spec = AssertsSpec {
        file: "solution.py".to_owned(),
        code: "assert sorted([f(1), 2]) == 'mine'".to_owned(),
        entry_points: vec!["sorted".to_owned()],
        ..AssertsSpec::default()
    };
    let solution = b"def f(x): return x\ndef sorted(l): return 'mine'".to_vec();
    let files = BTreeMap::from([("solution.py".to_owned(), solution)]);
    assert_outcome(
        &driver::judge(&python, &spec, &files),
        Outcome::Passed,
        "named by the author",
    );
}

#[test]
fn a_replaced_interpreter_is_flagged_and_judged_as_asked() {
    let Some(python) = python_or_skip(2) else {
        return;
    };
    let solution = b"import builtins\nbuiltins.AssertionError = ValueError\ndef f(): return 1";
    let files = BTreeMap::from([("solution.py".to_owned(), solution.to_vec())]);
    for (on_tamper, expected) in [
        (OnTamper::Grade, Outcome::Failed),
        (OnTamper::Zero, Outcome::Tampered),
    ] {
        let spec = AssertsSpec {
            file: "solution.py".to_owned(),
            code: "assert f() == 1".to_owned(),
            on_tamper,
            ..AssertsSpec::default()
        };
        let verdict = driver::judge(&python, &spec, &files);
        assert_outcome(&verdict, expected, "replaced");
        assert_eq!(verdict.tamper[0].path, "builtins.AssertionError");
    }
}
