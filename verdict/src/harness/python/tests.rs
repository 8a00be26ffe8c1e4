//! Reports of the runners, whole, cut, reordered and forged.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::super::{HarnessEvidence, judge, plan};
use crate::ending::Ending;
use crate::grade::{Ended, Output};
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, TestStatus, Verdict};
use crate::verify::{Framework, HarnessSpec, OnTamper, TestFile, VerifySpec};

const NONCE: &str = "0123456789abcdef";
const START: &str = r#"{"event":"start"}"#;
const IDS: &str = r#"{"event":"collected","ids":["a","b"]}"#;
const END: &str = r#"{"event":"complete","collected":2,"errors":0,"canaries":6,"canaries_passed":0,"code":0,"fault":null}"#;

fn sealed(nonce: &str, records: &[&str]) -> Vec<u8> {
    let mut key = Sha256::digest(nonce.as_bytes());
    let mut out = Vec::new();
    for body in records {
        let seal = Sha256::new()
            .chain_update(key)
            .chain_update(body)
            .finalize();
        out.extend(format!("{} {body}\n", hex::encode(seal)).into_bytes());
        key = Sha256::new()
            .chain_update(key)
            .chain_update(b"next")
            .finalize();
    }
    out
}

fn test(id: &str, status: &str) -> String {
    format!(
        r#"{{"event":"test","id":"{id}","status":"{status}","message":"","duration_ms":1,"file":"t.py","line":3}}"#
    )
}

fn note(weight: u64) -> String {
    format!(r#"{{"event":"note","path":"p","what":"w","weight":{weight}}}"#)
}

fn judged(spec: &HarnessSpec, report: Vec<u8>) -> Verdict {
    let nothing = Untrusted::new(Vec::new());
    let output = Output {
        kept: &nothing,
        dropped_bytes: 0,
    };
    let evidence = HarnessEvidence {
        ended: Ended {
            ending: &Ending::Exited { code: 0 },
            oom_kills: 0,
        },
        stdout: output,
        stderr: output,
        report: &Untrusted::new(report),
        report_too_long: false,
        files: &BTreeMap::new(),
    };
    judge(&VerifySpec::Harness(spec.clone()), NONCE, &evidence)
}

fn pytest() -> HarnessSpec {
    HarnessSpec {
        framework: Framework::Pytest,
        ..HarnessSpec::default()
    }
}

fn whole() -> Vec<String> {
    let tests = [test("a", "passed"), test("b", "passed")];
    [START.to_owned(), IDS.to_owned()]
        .into_iter()
        .chain(tests)
        .chain([END.to_owned()])
        .collect()
}

fn outcome(records: &[String]) -> Outcome {
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    judged(&pytest(), sealed(NONCE, &records)).outcome()
}

#[test]
fn a_whole_report_passes_and_no_part_of_it_does() {
    assert_eq!(outcome(&whole()), Outcome::Passed);
    for left_out in 0..whole().len() {
        let mut records = whole();
        records.remove(left_out);
        assert_ne!(
            outcome(&records),
            Outcome::Passed,
            "without record {left_out}"
        );
    }
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    let records = whole();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let mut report = sealed(NONCE, &records);
    cut(&mut report);
    assert_eq!(judged(&pytest(), report).outcome(), Outcome::Failed);
}

#[test]
fn records_that_are_not_ours_end_the_report() {
    let records = whole();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let ours = sealed(NONCE, &records);
    assert_eq!(
        judged(&pytest(), sealed("another", &records)).outcome(),
        Outcome::VerifierError
    );
    let lines: Vec<&[u8]> = ours.split_inclusive(|byte| *byte == b'\n').collect();
    // Twice, in another order, with something before, between or behind.
    for order in [
        vec![0, 1, 2, 2, 3, 4],
        vec![0, 1, 3, 2, 4],
        vec![0, 1, 2, 3, 4, 4],
    ] {
        let report: Vec<u8> = order
            .iter()
            .flat_map(|number| lines[*number].to_vec())
            .collect();
        let verdict = judged(&pytest(), report);
        assert_eq!(verdict.reward(), Some(0.0), "{order:?}");
        assert!(verdict.tamper.iter().any(|note| note.path == "report"));
    }
    let behind = [ours.as_slice(), b"x"].concat();
    assert_eq!(judged(&pytest(), behind).outcome(), Outcome::Failed);
}

#[test]
fn what_was_touched_counts_by_its_weight() {
    for (weight, on_tamper, expected) in [
        (0, OnTamper::Grade, Outcome::Passed),
        (1, OnTamper::Grade, Outcome::Passed),
        (2, OnTamper::Grade, Outcome::Failed),
        (0, OnTamper::Zero, Outcome::Passed),
        (1, OnTamper::Zero, Outcome::Tampered),
        (2, OnTamper::Zero, Outcome::Tampered),
    ] {
        let mut records = whole();
        records.insert(1, note(weight));
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let mut spec = pytest();
        spec.phase.on_tamper = on_tamper;
        let verdict = judged(&spec, sealed(NONCE, &records));
        assert_eq!(verdict.outcome(), expected, "{weight} {on_tamper:?}");
        assert_eq!(verdict.tamper.len(), 1);
    }
}

#[test]
fn a_missing_framework_is_nobodys_failure_only_as_the_first_word() {
    let missing = r#"{"event":"missing","what":"pytest","message":"No module named 'pytest'"}"#;
    let verdict = judged(&pytest(), sealed(NONCE, &[missing]));
    assert_eq!(verdict.outcome(), Outcome::VerifierError);
    assert!(
        verdict.reason.contains("python3-pytest"),
        "{}",
        verdict.reason
    );
    let verdict = judged(&pytest(), sealed(NONCE, &[START, missing]));
    assert_eq!(verdict.outcome(), Outcome::NoTests);
}

#[test]
fn each_way_to_have_no_test_has_its_reason() {
    let none = r#"{"event":"complete","collected":0,"errors":0,"canaries":0,"canaries_passed":0,"code":5,"fault":null}"#;
    let broken =
        r#"{"event":"collection_error","id":"t.py","message":"E   ImportError: no module"}"#;
    let syntax = r#"{"event":"collection_error","id":"t.py","message":"E   SyntaxError: bad","kind":"SyntaxError","text":"bad","file":"calc.py","line":2,"column":5}"#;
    let skipped: Vec<String> = ["a", "b"].map(|id| test(id, "skipped")).to_vec();
    let rows: [(&[&str], Outcome, &str); 5] = [
        (&[START], Outcome::NoTests, "before any test"),
        (&[START, none], Outcome::NoTests, "no test was collected"),
        (&[START, broken, none], Outcome::NoTests, "cannot be loaded"),
        (&[START, syntax, none], Outcome::CompileError, "SyntaxError"),
        (
            &[START, IDS, &skipped[0], &skipped[1], END],
            Outcome::NoTests,
            "skipped",
        ),
    ];
    for (records, expected, words) in rows {
        let verdict = judged(&pytest(), sealed(NONCE, records));
        assert_eq!(verdict.outcome(), expected, "{records:?}");
        assert!(verdict.reason.contains(words), "{}", verdict.reason);
    }
    let verdict = judged(&pytest(), sealed(NONCE, &[START, syntax, none]));
    let diagnostic = verdict.diagnostics.first().expect("a diagnostic");
    assert_eq!(
        (diagnostic.file.as_str(), diagnostic.line),
        ("calc.py", Some(2))
    );
}

#[test]
fn a_test_that_was_collected_and_not_reported_is_missing() {
    let records = [START, IDS, &test("a", "passed"), END];
    let verdict = judged(&pytest(), sealed(NONCE, &records));
    assert_eq!(verdict.outcome(), Outcome::Failed);
    let missing = verdict.tests.iter().find(|test| test.id == "b").expect("b");
    assert_eq!(missing.status, TestStatus::Missing);
}

#[test]
fn orders_name_the_authors_files_and_nothing_of_the_environment_reaches_the_interpreter() {
    let mut spec = pytest();
    spec.cwd = "sub/dir".to_owned();
    for (name, value) in [
        ("PYTHONPATH", "/workspace/lib:x"),
        ("PYTEST_ADDOPTS", "-x"),
        ("LANG", "C"),
    ] {
        spec.env.insert(name.to_owned(), value.to_owned());
    }
    for path in [
        "sub/dir/test_a.py",
        "sub/dir/conftest.py",
        "sub/dir/setup.cfg",
        "json.py",
    ] {
        spec.phase
            .test_files
            .insert(path.to_owned(), TestFile::default());
    }
    let plan = plan(&VerifySpec::Harness(spec), NONCE).expect("a plan");
    let names: Vec<&str> = plan.env.keys().map(String::as_str).collect();
    let expected = ["LANG", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"];
    assert_eq!(names, expected);
    assert_eq!(
        plan.argv.last().map(String::as_str),
        Some("../../.rollcage/pytest_runner.py")
    );
    let (orders, _) = plan.files.get(".rollcage/orders.json").expect("orders");
    let orders: serde_json::Value = serde_json::from_slice(orders).expect("JSON");
    assert_eq!(orders["conftest"], true);
    assert_eq!(orders["config"], "sub/dir/setup.cfg");
    assert_eq!(orders["own"], serde_json::json!(["json"]));
    assert_eq!(orders["tests"], serde_json::json!(["sub/dir/test_a.py"]));
    assert_eq!(orders["path"], serde_json::json!(["/workspace/lib", "x"]));
}
