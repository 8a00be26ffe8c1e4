//! Verdicts as tables: endings, reports and outputs in, outcome and reward out.

use serde_json::{Value, json};

use super::{
    ENDED_BY_GRADER, Ended, Output, grade_exit_code, grade_stdout, judge_asserts, killed_judge,
};
use crate::ending::{Ending, MemorySource};
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{AssertsSpec, ExitCodeSpec, OnTamper, StdoutSpec, TestCode};

const NONCE: &str = "n-1";

fn exited(code: i32) -> Ending {
    Ending::Exited { code }
}

fn cancelled(by: &str) -> Ending {
    Ending::Cancelled { by: by.to_owned() }
}

fn sandbox_failed() -> Ending {
    Ending::SandboxFailed {
        step: "run".into(),
        reason: "host_oom".into(),
    }
}

fn wall() -> Ending {
    Ending::WallTimeUp {
        limit_ms: 1,
        used_ms: 2,
        throttled_ms: 0,
    }
}

fn memory() -> Ending {
    Ending::MemoryUp {
        limit_bytes: 1,
        peak_bytes: 1,
        source: MemorySource::Cgroup,
    }
}

fn not_started() -> Ending {
    Ending::NotStarted {
        code: 127,
        path: "python3".into(),
        reason: "not found".into(),
    }
}

/// Endings that decide by themselves, with their outcome for a run of the program.
fn deciding() -> Vec<(Ending, u64, Outcome)> {
    vec![
        (sandbox_failed(), 0, Outcome::InfraError),
        (sandbox_failed(), 1, Outcome::InfraError),
        (cancelled("uid 1"), 0, Outcome::InfraError),
        (memory(), 1, Outcome::OutOfMemory),
        (exited(0), 1, Outcome::OutOfMemory),
        (exited(1), 2, Outcome::OutOfMemory),
        (wall(), 0, Outcome::Timeout),
        (
            Ending::CpuTimeUp {
                limit_ms: 1,
                used_ms: 2,
                throttled_ms: 0,
            },
            0,
            Outcome::Timeout,
        ),
        (
            Ending::OutputUp {
                cap_bytes: 1,
                dropped_bytes: 1,
            },
            0,
            Outcome::OutputLimit,
        ),
        (
            Ending::SyscallDenied {
                syscall: "ptrace".into(),
                rule: "r".into(),
            },
            0,
            Outcome::PolicyViolation,
        ),
        (
            Ending::DiskUp {
                limit_bytes: 1,
                first_refusal: "w".into(),
            },
            0,
            Outcome::Failed,
        ),
        (
            Ending::PidsUp {
                limit: 1,
                first_refusal: "f".into(),
            },
            0,
            Outcome::Failed,
        ),
    ]
}

#[test]
fn exit_code_table() {
    let grade = |expected, ending: &Ending, oom_kills| {
        grade_exit_code(
            &ExitCodeSpec {
                exit_code: expected,
            },
            Ended { ending, oom_kills },
        )
    };
    for (ending, oom_kills, expected) in deciding() {
        let verdict = grade(0, &ending, oom_kills);
        assert_eq!(verdict.outcome(), expected, "{ending:?} {oom_kills}");
        assert!(!verdict.reason.is_empty());
    }
    let signalled = Ending::Signalled {
        signal: 11,
        core_dumped: false,
        sent_by: None,
    };
    let rows = [
        (0, exited(0), Outcome::Passed),
        (3, exited(3), Outcome::Passed),
        (0, exited(3), Outcome::Failed),
        (137, exited(137), Outcome::Passed),
        (0, exited(137), Outcome::Failed),
        (139, signalled, Outcome::Failed),
        (127, not_started(), Outcome::Failed),
    ];
    for (expected_code, ending, expected) in rows {
        let verdict = grade(expected_code, &ending, 0);
        assert_eq!(verdict.outcome(), expected, "{ending:?}");
        assert_eq!(verdict.tests.len(), 1);
    }
}

fn stdout(spec: &StdoutSpec, got: &[u8]) -> Outcome {
    let (kept, ending) = (Untrusted::new(got.to_vec()), exited(0));
    let output = Output {
        kept: &kept,
        dropped_bytes: 0,
    };
    grade_stdout(
        spec,
        Ended {
            ending: &ending,
            oom_kills: 0,
        },
        output,
    )
    .outcome()
}

#[test]
fn stdout_comparisons() {
    let exact = |text: &str| StdoutSpec {
        stdout: text.into(),
        ..StdoutSpec::default()
    };
    let loose = |text: &str| StdoutSpec {
        ignore_trailing_space: true,
        ..exact(text)
    };
    let near = |text: &str| StdoutSpec {
        float_tolerance: Some(1e-6),
        ..loose(text)
    };
    let rows: &[(StdoutSpec, &str, bool)] = &[
        (exact("1\n"), "1\n", true),
        (exact("1\n"), "1", false),
        (exact("1\n2\n"), "1\n", false),
        (exact("1\n"), "1\n2\n", false),
        (exact(""), "", true),
        (loose("1\n2"), "1 \n2\t\n\n", true),
        (loose("1\n2"), " 1\n2", false),
        (loose("1\n\n2"), "1\n2", false),
        (loose("1\n2\n3"), "1", false),
        (near("0.5 x"), "0.50000001  x", true),
        (near("0.5"), "0.51", false),
        (near("1e9"), "1000000000.5", true),
        (near("3"), "3.0", true),
        (near("1000000000000000007"), "1000000000000000008", false),
        (near("nan"), "nan", true),
        (near("nan"), "0.0", false),
        (near("inf"), "1e308", false),
        (near("1.0"), "nan", false),
        (near("a b"), "a", false),
        (near("1.0\n2.0"), "1.0", false),
        (near("yes"), "no", false),
    ];
    for (spec, got, same) in rows {
        let expected = if *same {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        assert_eq!(stdout(spec, got.as_bytes()), expected, "{spec:?} {got:?}");
    }
    assert_eq!(stdout(&exact("\u{e9}"), b"\xe9"), Outcome::Failed);
}

#[test]
fn stdout_needs_all_of_it_and_the_right_exit_code() {
    let spec = StdoutSpec {
        stdout: b"1".to_vec(),
        ..StdoutSpec::default()
    };
    let kept = Untrusted::new(b"1".to_vec());
    let grade = |ending: &Ending, dropped_bytes| {
        let output = Output {
            kept: &kept,
            dropped_bytes,
        };
        grade_stdout(
            &spec,
            Ended {
                ending,
                oom_kills: 0,
            },
            output,
        )
        .outcome()
    };
    assert_eq!(grade(&exited(0), 0), Outcome::Passed);
    assert_eq!(grade(&exited(0), 1), Outcome::OutputLimit);
    assert_eq!(grade(&exited(1), 0), Outcome::Failed);
    assert_eq!(grade(&wall(), 0), Outcome::Timeout);
}

/// A report of two passed tests.
fn good_report() -> Value {
    let test = |id: &str| json!({"id": id, "status": "passed", "message": "", "line": null, "duration_ms": 1});
    json!({
        "version": 1, "nonce": NONCE, "load": {"state": "ok"}, "verifier_error": null,
        "tests": [test("a"), test("b")], "changed": [], "gone": null, "complete": true,
    })
}

fn two_tests() -> AssertsSpec {
    let test = |id: &str| TestCode {
        id: id.into(),
        code: "x".into(),
    };
    AssertsSpec {
        file: "s.py".into(),
        tests: vec![test("a"), test("b")],
        ..Default::default()
    }
}

fn judged(report: &str, solution: (&Ending, u64), judge: (&Ending, u64)) -> Verdict {
    judge_asserts(
        &two_tests(),
        NONCE,
        &Untrusted::new(report.as_bytes().to_vec()),
        Ended {
            ending: solution.0,
            oom_kills: solution.1,
        },
        Ended {
            ending: judge.0,
            oom_kills: judge.1,
        },
    )
}

fn line(report: &Value) -> String {
    format!("{report}\n")
}

#[test]
fn a_good_report_passes_only_between_clean_endings() {
    let report = line(&good_report());
    let fine = exited(0);
    let by_grader = cancelled(ENDED_BY_GRADER);
    for solution in [&fine, &by_grader, &wall(), &exited(1)] {
        let verdict = judged(&report, (solution, 0), (&fine, 0));
        assert_eq!(
            verdict.outcome(),
            Outcome::Passed,
            "{solution:?}: {}",
            verdict.reason
        );
        assert_eq!((verdict.reward(), verdict.tests.len()), (Some(1.0), 2));
    }
    // (solution, its oom kills, judge, its oom kills) -> outcome
    let rows = [
        (sandbox_failed(), 0, exited(0), 0, Outcome::InfraError),
        (exited(0), 0, sandbox_failed(), 0, Outcome::InfraError),
        (cancelled("uid 1"), 0, exited(0), 0, Outcome::InfraError),
        (exited(0), 0, cancelled("uid 1"), 0, Outcome::InfraError),
        (memory(), 1, sandbox_failed(), 0, Outcome::InfraError),
        (not_started(), 0, exited(0), 0, Outcome::VerifierError),
        (exited(0), 0, not_started(), 0, Outcome::VerifierError),
        (exited(0), 1, exited(0), 0, Outcome::OutOfMemory),
        (wall(), 1, exited(0), 0, Outcome::OutOfMemory),
        (memory(), 1, exited(0), 0, Outcome::OutOfMemory),
        (exited(0), 0, exited(0), 1, Outcome::Failed),
        (exited(0), 0, memory(), 1, Outcome::Failed),
        (
            Ending::OutputUp {
                cap_bytes: 1,
                dropped_bytes: 9,
            },
            0,
            exited(0),
            0,
            { Outcome::OutputLimit },
        ),
    ];
    for (solution, solution_oom, judge, judge_oom, expected) in rows {
        let verdict = judged(&report, (&solution, solution_oom), (&judge, judge_oom));
        assert_eq!(verdict.outcome(), expected, "{solution:?} {judge:?}");
        assert_eq!(verdict.reward().is_some(), expected.scorable());
    }
}

#[test]
fn a_report_that_cannot_be_believed_fails() {
    let good = line(&good_report());
    let mut foreign = good_report();
    foreign["nonce"] = json!("other");
    let mut unfinished = good_report();
    unfinished["complete"] = json!(false);
    let reports = [
        String::new(),
        "\n".to_owned(),
        "passed\n".to_owned(),
        good.trim_end().to_owned(),
        format!("{good}{good}"),
        good[..good.len() / 2].to_owned(),
        format!("{}\n", &good[..good.len() / 2]),
        line(&foreign),
        line(&unfinished),
    ];
    for report in reports {
        let verdict = judged(&report, (&exited(0), 0), (&exited(0), 0));
        assert_eq!(verdict.outcome(), Outcome::Failed, "{report}");
        assert_eq!(verdict.reward(), Some(0.0));
        let waited = judged(&report, (&exited(0), 0), (&wall(), 0));
        assert_eq!(waited.outcome(), Outcome::Timeout, "{report}");
        let hung = judged(&report, (&wall(), 0), (&exited(0), 0));
        assert_eq!(hung.outcome(), Outcome::Timeout, "{report}");
    }
}

#[test]
fn what_the_report_says_decides_between_clean_endings() {
    let rows: Vec<(&str, Value, Outcome)> = vec![
        ("/tests", json!([]), Outcome::NoTests),
        ("/tests/0/status", json!("failed"), Outcome::Failed),
        ("/tests/0/status", json!("error"), Outcome::Failed),
        ("/tests/0/status", json!("skipped"), Outcome::Failed),
        ("/tests/0/id", json!("c"), Outcome::Failed),
        ("/gone", json!("a"), Outcome::Failed),
        ("/changed", json!(["sys.exit"]), Outcome::Failed),
        (
            "/verifier_error",
            json!("the test code does not parse"),
            Outcome::VerifierError,
        ),
        (
            "/load",
            json!({"state": "syntax_error", "line": 3}),
            Outcome::CompileError,
        ),
        (
            "/load",
            json!({"state": "exit", "code": 0}),
            Outcome::NoTests,
        ),
        ("/load", json!({"state": "gone"}), Outcome::NoTests),
        (
            "/load",
            json!({"state": "exception", "type": "NameError"}),
            Outcome::Failed,
        ),
        ("/load", json!({"state": "missing"}), Outcome::Failed),
        ("/load", json!(null), Outcome::NoTests),
    ];
    for (pointer, value, expected) in rows {
        let mut report = good_report();
        *report.pointer_mut(pointer).expect("is there") = value.clone();
        let verdict = judged(&line(&report), (&exited(0), 0), (&exited(0), 0));
        assert_eq!(
            verdict.outcome(),
            expected,
            "{pointer} = {value}: {}",
            verdict.reason
        );
        assert!(!verdict.reason.is_empty());
    }
}

#[test]
fn a_solution_that_ran_out_of_time_during_a_test_is_a_timeout() {
    let mut report = good_report();
    report["gone"] = json!("b");
    report["tests"][1]["status"] = json!("error");
    let verdict = judged(&line(&report), (&wall(), 0), (&exited(0), 0));
    assert_eq!(verdict.outcome(), Outcome::Timeout);
    assert_eq!(verdict.tests.len(), 2, "what ran is still told");
    let mut loading = good_report();
    loading["load"] = json!({"state": "gone"});
    loading["tests"] = json!([]);
    let verdict = judged(&line(&loading), (&wall(), 0), (&exited(0), 0));
    assert_eq!(verdict.outcome(), Outcome::Timeout);
}

#[test]
fn tampering_is_judged_as_asked() {
    let mut report = good_report();
    report["changed"] = json!(["sys.exit"]);
    let spec = AssertsSpec {
        on_tamper: OnTamper::Zero,
        ..two_tests()
    };
    let ending = exited(0);
    let ended = Ended {
        ending: &ending,
        oom_kills: 0,
    };
    let report = Untrusted::new(line(&report).into_bytes());
    let verdict = judge_asserts(&spec, NONCE, &report, ended, ended);
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Tampered, Some(0.0))
    );
    assert_eq!(verdict.tamper[0].path, "sys.exit");
}

#[test]
fn only_a_kill_that_nothing_inside_explains_is_the_hosts_fault() {
    let signal = |signal, sent_by: Option<&str>| Ending::Signalled {
        signal,
        core_dumped: false,
        sent_by: sent_by.map(str::to_owned),
    };
    let whole = json!({
        "version": 1, "nonce": NONCE, "load": null, "tests": [], "changed": [],
        "gone": null, "verifier_error": null, "complete": true,
    });
    let (whole, none) = (whole.to_string() + "\n", String::new());
    let rows = [
        (signal(9, None), 0, &none, true),
        (signal(9, None), 0, &whole, false),
        (signal(9, None), 1, &none, false),
        (signal(9, Some("grader")), 0, &none, false),
        (signal(11, None), 0, &none, false),
        (exited(1), 0, &none, false),
    ];
    for (ending, oom_kills, report, killed) in rows {
        let judge = Ended {
            ending: &ending,
            oom_kills,
        };
        let report = Untrusted::new(report.clone().into_bytes());
        let verdict = killed_judge(judge, &report, NONCE);
        assert_eq!(verdict.is_some(), killed, "{ending:?} {oom_kills}");
        assert!(verdict.is_none_or(|it| it.reward().is_none()));
    }
}
