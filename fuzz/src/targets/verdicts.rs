//! What verdicts are made from: a report never earns more than what it says, read independently;
//! output passes exactly where the written rules say so; a reward exists only where it may.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use verdict::ending::MemorySource;
use verdict::{
    AssertsSpec, Ended, Ending, Outcome, Output, StdoutSpec, TestCode, Untrusted, Verdict,
    VerifySpec, grade_stdout, judge_asserts,
};

const NONCE: &str = "4f1c9b7e6a5d4c3b2a19080706050403";

fn spec() -> AssertsSpec {
    let test = |id: &str| TestCode {
        id: id.to_owned(),
        code: "assert True".to_owned(),
    };
    AssertsSpec {
        file: "s.py".to_owned(),
        tests: vec![test("a"), test("b")],
        ..AssertsSpec::default()
    }
}

fn good_report() -> Value {
    let test = |id: &str| json!({"id": id, "status": "passed", "message": "", "line": null, "duration_ms": 1});
    json!({
        "version": 1, "nonce": NONCE, "load": {"state": "ok"}, "verifier_error": null,
        "tests": [test("a"), test("b")], "changed": [], "gone": null, "complete": true,
    })
}

pub(super) fn report_seeds() -> Vec<Vec<u8>> {
    let changes: [(&str, Value); 11] = [
        ("/version", json!(1)),
        ("/nonce", json!("another")),
        ("/complete", json!(false)),
        ("/tests/0/status", json!("failed")),
        ("/tests/1/status", json!("skipped")),
        ("/tests/1/id", json!("c")),
        ("/tests", json!([])),
        ("/changed", json!(["sys.exit"])),
        ("/gone", json!("b")),
        ("/verifier_error", json!("no")),
        (
            "/load",
            json!({"state": "syntax_error", "type": "SyntaxError", "message": "m", "file": "s.py", "line": 3, "column": 1}),
        ),
    ];
    let seeds = changes.into_iter().map(|(pointer, value)| {
        let mut report = good_report();
        if let Some(place) = report.pointer_mut(pointer) {
            *place = value;
        }
        format!("{report}\n").into_bytes()
    });
    seeds.collect()
}

/// Whether a report, as it stands there, says that all that was asked passed.
fn says_passed(bytes: &[u8]) -> bool {
    let Some(line) = bytes.strip_suffix(b"\n") else {
        return false;
    };
    let Ok(report) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    let nothing = |key: &str| report.get(key).is_none_or(Value::is_null);
    let tests = report["tests"].as_array().cloned().unwrap_or_default();
    let passed: BTreeSet<&str> = (tests.iter())
        .filter(|test| test["status"] == "passed")
        .filter_map(|test| test["id"].as_str())
        .collect();
    report["nonce"] == NONCE
        && report["complete"] == true
        && report["load"]["state"] == "ok"
        && nothing("verifier_error")
        && nothing("gone")
        && report["changed"].as_array().is_some_and(Vec::is_empty)
        && tests
            .iter()
            .all(|test| test["status"] == "passed" || test["status"] == "skipped")
        && passed.contains("a")
        && passed.contains("b")
}

pub(super) fn report(data: &[u8]) {
    let report = Untrusted::new(data.to_vec());
    let endings = [
        Ending::Exited { code: 0 },
        Ending::WallTimeUp {
            limit_ms: 1,
            used_ms: 2,
            throttled_ms: 0,
        },
        Ending::MemoryUp {
            limit_bytes: 1,
            peak_bytes: 1,
            source: MemorySource::Cgroup,
        },
        Ending::SandboxFailed {
            step: "run".to_owned(),
            reason: "host_oom".to_owned(),
        },
    ];
    for (solution_number, solution) in endings.iter().enumerate() {
        for (judge_number, judge) in endings.iter().enumerate() {
            let ended = |ending| Ended {
                ending,
                oom_kills: 0,
            };
            let verdict = judge_asserts(&spec(), NONCE, &report, ended(solution), ended(judge));
            holds_together(&verdict);
            let faulty = solution.is_host_fault() || judge.is_host_fault();
            assert_eq!(faulty, faulty && verdict.outcome() == Outcome::InfraError);
            if verdict.outcome() == Outcome::Passed {
                assert!(
                    says_passed(data),
                    "passed: {}",
                    String::from_utf8_lossy(data)
                );
                // Memory that was up is never a pass, neither here nor there.
                assert!(solution_number != 2 && judge_number != 2);
            }
        }
    }
}

pub(super) fn holds_together(verdict: &Verdict) {
    assert_eq!(verdict.reward().is_some(), verdict.outcome().scorable());
    assert_eq!(
        verdict.reward() == Some(1.0),
        verdict.outcome() == Outcome::Passed
    );
    assert_eq!(
        verdict.outcome() != Outcome::Passed,
        !verdict.reason.is_empty()
    );
    let printed = serde_json::to_string(verdict).expect("a verdict can be printed");
    let read: Verdict = serde_json::from_str(&printed).expect("and read");
    assert_eq!(&read, verdict);
}

pub(super) fn stdout_seeds() -> Vec<Vec<u8>> {
    let pairs: [(u8, &str, &str); 8] = [
        (0, "1\n", "1\n"),
        (0, "1\n", "2\n"),
        (1, "1\n2", "1 \n2\t\n\n"),
        (2, "0.5 x", "0.50000001  x"),
        (3, "1e9", "1000000000.5"),
        (3, "nan inf", "nan inf"),
        (3, "1000000000000000007", "1000000000000000008"),
        (0, "", ""),
    ];
    let input = |(options, expected, got): (u8, &str, &str)| {
        [&[options], expected.as_bytes(), &[0xff], got.as_bytes()].concat()
    };
    pairs.map(input).to_vec()
}

/// The first byte has the options, the rest is what is expected, 0xff, and what was written.
pub(super) fn stdout(data: &[u8]) {
    let Some((options, rest)) = data.split_first() else {
        return;
    };
    let mut parts = rest.splitn(2, |byte| *byte == 0xff);
    let (expected, got) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let spec = StdoutSpec {
        stdout: expected.to_vec(),
        ignore_trailing_space: options & 1 != 0,
        float_tolerance: (options & 2 != 0).then_some(1e-6),
        exit_code: 0,
    };
    let passes = |got: &[u8], code: i32, dropped_bytes: u64| {
        let ending = Ending::Exited { code };
        let run = Ended {
            ending: &ending,
            oom_kills: 0,
        };
        let kept = Untrusted::new(got.to_vec());
        let output = Output {
            kept: &kept,
            dropped_bytes,
        };
        let verdict = grade_stdout(&spec, run, output);
        holds_together(&verdict);
        verdict.outcome() == Outcome::Passed
    };
    assert!(passes(expected, 0, 0), "what is expected passes");
    assert!(!passes(got, 1, 0) && !passes(got, 0, 1));
    let passed = passes(got, 0, 0);
    if !spec.ignore_trailing_space && spec.float_tolerance.is_none() {
        assert_eq!(passed, expected == got);
    } else if spec.float_tolerance.is_none() {
        assert_eq!(passed, trimmed(expected) == trimmed(got));
    } else if passed {
        // Tolerance is for numbers only: everything else is there, in its place.
        assert_eq!(words(expected), words(got));
    }
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii_end).collect();
    let text = lines.join(&b'\n');
    let end = text.iter().rposition(|byte| *byte != b'\n');
    text[..end.map_or(0, |end| end + 1)].to_vec()
}

/// Words of each line, numbers as one sign.
fn words(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = bytes.split(|byte| byte.is_ascii_whitespace());
    let words = text.filter(|word| !word.is_empty());
    let as_number = |word: &[u8]| {
        let number = std::str::from_utf8(word).ok().map(str::parse::<f64>);
        matches!(number, Some(Ok(number)) if number.is_finite())
    };
    words
        .map(|word| {
            if as_number(word) {
                b"#".to_vec()
            } else {
                word.to_vec()
            }
        })
        .collect()
}

pub(super) fn verify_seeds() -> Vec<Vec<u8>> {
    let specs = [
        json!({"exit_code": {"exit_code": 3}}),
        json!({"stdout": {"stdout": [49, 10], "ignore_trailing_space": true, "float_tolerance": 0.001}}),
        json!({"asserts": {"file": "s.py", "code": "assert f() == 1", "language": "python"}}),
        json!({"asserts": {"file": "s.py", "tests": [{"id": "a", "code": "x"}], "test_ids": ["a"], "on_tamper": "zero", "entry_points": ["sum"]}}),
        json!({"harness": {"framework": "command", "argv": ["sh", "t.sh"], "format": "tap", "report": {"file": "r.tap"},
            "phase": {"test_files": {"t.sh": {"content": "00ff", "mode": 493}}, "protected": ["*.toml"]},
            "required": {"fail_to_pass": ["a"], "partial_credit": true}, "repeat": 2}}),
        json!({"measure": {"measure": "coverage", "argv": ["x"], "min_coverage_pct": 80.5}}),
        json!({"cases": {"file": "s.py", "function": "S().f", "cases": [{"id": "a", "args": "[1]", "expected": "{\"$set\": [1]}"}]}}),
        json!({"cases": {"argv": ["sh"], "cases": [{"id": "a", "stdin": [49], "stdout": [50]}], "case_wall_ms": 10}}),
        json!({"answer": {"expected": ["1/2"], "compare": "numeric", "take": "boxed", "float_tolerance": 0.5}}),
        json!({"combined": {"combine": "weighted", "parts": [{"name": "a", "weight": 0.5, "verify": {"exit_code": {}}}]}}),
    ];
    specs.map(|spec| spec.to_string().into_bytes()).to_vec()
}

pub(super) fn verify_block(data: &[u8]) {
    let Ok(spec) = serde_json::from_slice::<VerifySpec>(data) else {
        return;
    };
    match spec.validate() {
        Ok(()) => {
            let printed = serde_json::to_string(&spec).expect("a spec can be printed");
            let read: VerifySpec = serde_json::from_str(&printed).expect("and read");
            assert_eq!(read, spec);
            assert_eq!(verdict::digest::tests_sha256(&read).len(), 64);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.field().is_empty()),
    }
}
