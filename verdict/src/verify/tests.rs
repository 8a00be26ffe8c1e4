//! What is accepted, and that every refusal names field and value.

use super::{
    AssertsSpec, Combine, CombinedSpec, ExitCodeSpec, Framework, HarnessSpec, Language, OnTamper,
    Part, Phase, ReportFrom, Required, StdoutSpec, TestCode, TestFile, VerifyError, VerifySpec,
    check_kind, planned_kinds, supported_kinds,
};
use crate::formats::ReportFormat;

fn asserts(change: impl FnOnce(&mut AssertsSpec)) -> VerifySpec {
    let mut spec = AssertsSpec {
        file: "s.py".to_owned(),
        code: "check(f)".to_owned(),
        ..AssertsSpec::default()
    };
    change(&mut spec);
    VerifySpec::Asserts(spec)
}

fn test(id: &str) -> TestCode {
    TestCode {
        id: id.to_owned(),
        code: "x".to_owned(),
    }
}

#[test]
fn the_contracts_asserts_are_accepted() {
    let spec = asserts(|_| ());
    assert_eq!(spec.validate(), Ok(()));
    let VerifySpec::Asserts(spec) = spec else {
        panic!("{spec:?}")
    };
    assert_eq!(spec.planned_ids(), ["asserts"]);
    assert_eq!(spec.required_ids(), ["asserts"]);
    assert_eq!(spec.on_tamper, OnTamper::Grade);
}

#[test]
fn kinds_that_cannot_be_judged_are_refused_clearly() {
    for kind in planned_kinds() {
        let error = check_kind(kind).expect_err("not yet");
        assert!(
            matches!(error, VerifyError::NotSupportedYet { .. }),
            "{error}"
        );
        assert!(error.to_string().contains(kind) && error.to_string().contains("exit_code"));
    }
    for kind in supported_kinds() {
        assert_eq!(check_kind(kind), Ok(()));
    }
    let error = check_kind("pytset").expect_err("no such kind");
    assert!(matches!(error, VerifyError::UnknownKind { .. }), "{error}");
    assert!(error.to_string().contains("\"pytset\"") && error.to_string().contains("pytest"));
}

#[test]
fn every_bad_field_is_named_with_its_value() {
    let file = |path: &str| {
        let path = path.to_owned();
        asserts(|spec| spec.file = path)
    };
    let stdout = |tolerance| {
        VerifySpec::Stdout(StdoutSpec {
            float_tolerance: Some(tolerance),
            ..StdoutSpec::default()
        })
    };
    let rows = [
        (
            VerifySpec::ExitCode(ExitCodeSpec { exit_code: 256 }),
            "verify.exit_code is 256",
        ),
        (stdout(-1.0), "verify.float_tolerance is -1"),
        (stdout(f64::NAN), "verify.float_tolerance is NaN"),
        (file(""), "verify.file is missing"),
        (file("../s.py"), "verify.file is \"../s.py\""),
        (file("/s.py"), "verify.file is \"/s.py\""),
        (file("a\0b"), "verify.file is"),
        (asserts(|spec| spec.code.clear()), "verify.code is missing"),
        (
            asserts(|spec| spec.language = Language::Shell),
            "verify.language is shell",
        ),
        (
            asserts(|spec| spec.tests = vec![test("a"), test("a")]),
            "unique",
        ),
        (
            asserts(|spec| spec.test_ids = vec!["other".to_owned()]),
            "verify.test_ids is \"other\"",
        ),
    ];
    for (spec, expected) in rows {
        let message = spec.validate().expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    }
}

fn command() -> HarnessSpec {
    HarnessSpec {
        framework: Framework::Command,
        argv: vec!["sh".to_owned(), "run.sh".to_owned()],
        format: Some(ReportFormat::Tap),
        ..HarnessSpec::default()
    }
}

/// The family's own check; whether the kind is on is another question.
fn refusal(change: impl FnOnce(&mut HarnessSpec)) -> String {
    let mut spec = command();
    change(&mut spec);
    spec.validate().expect_err("must be refused").to_string()
}

#[test]
fn bad_fields_of_a_verification_by_command_are_named() {
    assert_eq!(command().validate(), Ok(()));
    let has = |message: String, expected: &str| assert!(message.contains(expected), "{message}");
    has(refusal(|spec| spec.argv.clear()), "verify.argv is missing");
    has(
        refusal(|spec| spec.format = None),
        "verify.format is missing",
    );
    has(
        refusal(|spec| spec.cwd = "/x".to_owned()),
        "verify.cwd is \"/x\"",
    );
    has(
        refusal(|spec| spec.report = ReportFrom::parse("../r.xml")),
        "verify.report is \"../r.xml\"",
    );
    has(refusal(|spec| spec.repeat = 6), "verify.repeat is \"6\"");
    has(
        refusal(|spec| {
            spec.phase = Phase {
                test_files: [("../t.py".to_owned(), TestFile::default())].into(),
                ..Phase::default()
            };
        }),
        "verify.test_files is \"../t.py\"",
    );
    has(
        refusal(|spec| {
            spec.required = Required {
                test_ids: vec!["a".to_owned()],
                fail_to_pass: vec!["a".to_owned()],
                ..Required::default()
            };
        }),
        "verify.fail_to_pass is \"a\"",
    );
    has(
        refusal(|spec| drop(spec.env.insert("A=".to_owned(), String::new()))),
        "verify.env is \"A=\"",
    );
}

fn part(name: &str, weight: f64) -> Part {
    Part {
        name: name.to_owned(),
        weight,
        verify: asserts(|_| ()),
    }
}

fn combined(parts: Vec<Part>) -> CombinedSpec {
    CombinedSpec {
        parts,
        combine: Combine::Weighted,
    }
}

#[test]
fn a_combination_has_named_parts_of_depth_one() {
    let fine = combined(vec![part("tests", 0.7), part("style", 0.3)]);
    assert_eq!(fine.validate(), Ok(()));
    let within = Part {
        verify: VerifySpec::Combined(fine),
        ..part("deep", 1.0)
    };
    let broken = Part {
        verify: asserts(|spec| spec.file.clear()),
        ..part("b", 1.0)
    };
    for (parts, expected) in [
        (Vec::new(), "verify.parts is missing"),
        (vec![part("a", 1.0), part("a", 1.0)], "unique"),
        (vec![part("a", f64::INFINITY)], "inf"),
        (vec![part("a", 0.0)], "above 0"),
        (vec![within], "cannot be a combination"),
    ] {
        let message = combined(parts).validate().expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    }
    let error = combined(vec![part("a", 1.0), broken])
        .validate()
        .expect_err("the second part is broken");
    assert_eq!(error.field(), "parts[1].verify.file");
}

#[test]
fn a_specification_survives_being_written() {
    let mut spec = command();
    let file = TestFile {
        content: vec![0, 255, 10],
        mode: 0o755,
    };
    spec.phase.test_files.insert("t.sh".to_owned(), file);
    let spec = VerifySpec::Harness(spec);
    let written = serde_json::to_string(&spec).expect("written");
    assert!(written.contains("00ff0a"), "{written}");
    assert_eq!(
        serde_json::from_str::<VerifySpec>(&written).expect("read"),
        spec
    );
}
