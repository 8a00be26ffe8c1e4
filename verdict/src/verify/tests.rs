//! What is accepted, and that every refusal names field and value.

use serde_json::{Value, json};

use super::{OnTamper, PLANNED_KINDS, StdoutSpec, VerifyError, VerifySpec};

fn read(value: &Value) -> Result<VerifySpec, VerifyError> {
    VerifySpec::from_json(value)
}

fn refusal(value: &Value) -> String {
    read(value).expect_err("must be refused").to_string()
}

#[test]
fn the_contracts_line_is_accepted() {
    let spec = read(&json!({"kind": "asserts", "file": "solution.py", "code": "check(f)"}));
    let Ok(VerifySpec::Asserts(spec)) = spec else {
        panic!("{spec:?}")
    };
    assert_eq!(spec.planned_ids(), ["asserts"]);
    assert_eq!(spec.required_ids(), ["asserts"]);
    assert_eq!(spec.on_tamper, OnTamper::Grade);
}

#[test]
fn a_list_of_tests_has_one_id_each() {
    let spec = read(&json!({
        "kind": "asserts", "file": "a/b.py", "tests": ["assert f()", {"id": "x", "code": "1"}],
        "test_ids": ["x"], "on_tamper": "zero", "limits": {"wall_ms_max": 5},
    }));
    let Ok(VerifySpec::Asserts(spec)) = spec else {
        panic!("{spec:?}")
    };
    assert_eq!(spec.planned_ids(), ["asserts/1", "x"]);
    assert_eq!(spec.required_ids(), ["x"]);
    assert_eq!(spec.on_tamper, OnTamper::Zero);
}

#[test]
fn stdout_and_exit_code() {
    let spec = read(&json!({"kind": "stdout", "stdout": "1\n", "float_tolerance": 1e-6}));
    let expected = StdoutSpec {
        stdout: b"1\n".to_vec(),
        float_tolerance: Some(1e-6),
        ..StdoutSpec::default()
    };
    assert_eq!(spec, Ok(VerifySpec::Stdout(expected)));
    assert!(
        read(&json!({"kind": "exit_code"}))
            .expect("defaults to 0")
            .needs_run()
    );
}

#[test]
fn kinds_that_cannot_be_judged_are_refused_clearly() {
    for kind in PLANNED_KINDS {
        let error = read(&json!({"kind": kind})).expect_err("not yet");
        assert!(
            matches!(error, VerifyError::NotSupportedYet { .. }),
            "{error}"
        );
        assert!(error.to_string().contains(kind) && error.to_string().contains("exit_code"));
    }
    let error = read(&json!({"kind": "pytset"})).expect_err("no such kind");
    assert!(matches!(error, VerifyError::UnknownKind { .. }), "{error}");
    assert!(error.to_string().contains("\"pytset\"") && error.to_string().contains("pytest"));
}

#[test]
fn every_bad_field_is_named_with_its_value() {
    let asserts = |field: &str, value: Value| {
        let mut object = json!({"kind": "asserts", "file": "s.py", "code": "x"});
        object[field] = value;
        object
    };
    let rows = [
        (json!("asserts"), "write an object"),
        (json!({}), "verify.kind is missing"),
        (json!({"kind": 3}), "verify.kind is 3"),
        (
            json!({"kind": "exit_code", "exit_code": 256}),
            "verify.exit_code is 256",
        ),
        (
            json!({"kind": "exit_code", "exit_code": "0"}),
            "verify.exit_code is \"0\"",
        ),
        (
            json!({"kind": "exit_code", "stdout": ""}),
            "verify.stdout is no field",
        ),
        (json!({"kind": "stdout"}), "verify.stdout is missing"),
        (
            json!({"kind": "stdout", "stdout": "", "float_tolerance": -1}),
            "float_tolerance is -1",
        ),
        (
            json!({"kind": "asserts", "code": "x"}),
            "verify.file is missing",
        ),
        (
            json!({"kind": "asserts", "file": "s.py"}),
            "verify.code is missing",
        ),
        (
            asserts("file", json!("../s.py")),
            "verify.file is \"../s.py\"",
        ),
        (asserts("file", json!("/s.py")), "verify.file is \"/s.py\""),
        (asserts("file", json!("a\u{0}b")), "verify.file is"),
        (
            asserts("language", json!("cobol")),
            "verify.language is \"cobol\"",
        ),
        (
            asserts("isolation", json!("shared")),
            "verify.isolation is \"shared\"",
        ),
        (
            asserts("on_tamper", json!("maybe")),
            "verify.on_tamper is \"maybe\"",
        ),
        (asserts("tests", json!([3])), "verify.tests is [3]"),
        (
            asserts(
                "tests",
                json!([{"id": "a", "code": ""}, {"id": "a", "code": ""}]),
            ),
            "unique",
        ),
        (
            asserts("test_ids", json!(["other"])),
            "verify.test_ids is \"other\"",
        ),
        (asserts("colour", json!(1)), "verify.colour is no field"),
    ];
    for (value, expected) in rows {
        let message = refusal(&value);
        assert!(message.contains(expected), "{value}: {message}");
    }
}
