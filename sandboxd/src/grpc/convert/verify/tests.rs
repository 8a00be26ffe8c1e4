//! The `verify` block: kinds, their fields, and what they need of the rest of a request.

use proto::v1;
use verdict::verify::planned_kinds;
use verdict::{Combine, Framework, ReportFrom, VerifySpec};

use crate::grpc::convert::tests::{asserts, convert, refused, with_verify};

#[test]
fn verify_is_checked() {
    let kind = |kind: i32| v1::Verify {
        kind,
        ..v1::Verify::default()
    };
    refused(
        with_verify(kind(0)),
        "VERIFY_INVALID",
        "verify.kind",
        &["exit_code, stdout, asserts"],
    );
    refused(
        with_verify(kind(900)),
        "VERIFY_KIND_UNKNOWN",
        "verify.kind",
        &["900", "asserts"],
    );
    for name in planned_kinds() {
        let planned = format!("VERIFY_KIND_{}", name.to_ascii_uppercase());
        let planned = v1::VerifyKind::from_str_name(&planned).expect("a kind of the contract");
        refused(
            with_verify(kind(planned.into())),
            "VERIFY_KIND_UNSUPPORTED",
            "verify.kind",
            &[name, "asserts"],
        );
    }
    let stdout = kind(v1::VerifyKind::Stdout.into());
    refused(
        with_verify(stdout),
        "VERIFY_INVALID",
        "verify.stdout",
        &["missing"],
    );
}

#[test]
fn fields_of_verify_are_checked() {
    let kind = |kind: i32| v1::Verify {
        kind,
        ..v1::Verify::default()
    };
    let exit = v1::Verify {
        exit_code: Some(300),
        ..kind(v1::VerifyKind::ExitCode.into())
    };
    refused(
        with_verify(exit),
        "VERIFY_INVALID",
        "verify.exit_code",
        &["300", "255"],
    );
    let stray = v1::Verify {
        code: "x".into(),
        ..kind(v1::VerifyKind::ExitCode.into())
    };
    refused(
        with_verify(stray),
        "VERIFY_INVALID",
        "verify.code",
        &["no field of kind exit_code"],
    );
    let path = v1::Verify {
        file: "../a.py".into(),
        ..asserts()
    };
    refused(
        with_verify(path),
        "VERIFY_INVALID",
        "verify.file",
        &["../a.py"],
    );
    let empty = v1::Verify {
        code: String::new(),
        ..asserts()
    };
    refused(
        with_verify(empty),
        "VERIFY_INVALID",
        "verify.code",
        &["missing"],
    );
    let shared = v1::Verify {
        isolation: v1::Isolation::Shared.into(),
        ..asserts()
    };
    refused(
        with_verify(shared),
        "VERIFY_INVALID",
        "verify.isolation",
        &["separate"],
    );
    let both = v1::Verify {
        tests: vec![v1::TestCode::default()],
        ..asserts()
    };
    let request = convert(with_verify(both)).expect("asserts");
    assert_eq!(request.verify.expect("verify").kind(), "asserts");
}

#[test]
fn verify_alone_needs_its_files_and_a_kind_that_needs_no_run() {
    let alone = |verify| v1::RunRequest {
        argv: vec![],
        ..with_verify(verify)
    };
    assert!(convert(alone(asserts())).expect("alone").argv.is_empty());
    let exit = v1::Verify {
        kind: v1::VerifyKind::ExitCode.into(),
        ..v1::Verify::default()
    };
    refused(alone(exit), "ARGV_EMPTY", "argv", &["exit_code"]);
    let other = v1::Verify {
        file: "b.py".into(),
        ..asserts()
    };
    refused(alone(other), "VERIFY_INVALID", "verify.file", &["\"b.py\""]);
}

fn pytest() -> v1::Verify {
    let file = v1::File {
        content: b"assert 1".to_vec(),
        mode: None,
    };
    v1::Verify {
        kind: v1::VerifyKind::Pytest.into(),
        test_files: [("/workspace/tests/test_a.py".to_owned(), file)].into(),
        protected: vec!["data/**".to_owned()],
        fail_to_pass: vec!["tests/test_a.py::test_a".to_owned()],
        partial_credit: true,
        repeat: 3,
        ..v1::Verify::default()
    }
}

#[test]
fn a_framework_kind_is_read_whole() {
    let request = convert(with_verify(pytest())).expect("pytest");
    let Some(VerifySpec::Harness(spec)) = request.verify else {
        panic!("{:?}", request.verify)
    };
    assert_eq!((spec.framework, spec.repeat), (Framework::Pytest, 3));
    assert_eq!(spec.report, ReportFrom::Descriptor);
    let file = spec.phase.test_files.get("tests/test_a.py").expect("it");
    assert_eq!(
        (file.content.as_slice(), file.mode),
        (&b"assert 1"[..], 0o644)
    );
    assert!(spec.required.partial_credit && spec.required.test_ids.is_empty());
    for (change, field, part) in [
        (
            v1::Verify {
                isolation: v1::Isolation::Separate.into(),
                ..pytest()
            },
            "verify.isolation",
            "share a process",
        ),
        (
            v1::Verify {
                code: "x".to_owned(),
                ..pytest()
            },
            "verify.code",
            "no field of kind pytest",
        ),
        (
            v1::Verify {
                repeat: 9,
                ..pytest()
            },
            "verify.repeat",
            "9",
        ),
        (
            v1::Verify {
                test_files: [("../t.py".to_owned(), v1::File::default())].into(),
                ..pytest()
            },
            "verify.test_files[\"../t.py\"]",
            "..",
        ),
    ] {
        let error = convert(with_verify(change)).expect_err(field);
        assert_eq!(error.field.as_deref(), Some(field), "{error}");
        assert!(error.message.contains(part), "{error}");
    }
}

fn combined(parts: Vec<v1::Part>) -> v1::RunRequest {
    with_verify(v1::Verify {
        kind: v1::VerifyKind::Combined.into(),
        combine: v1::Combine::Weighted.into(),
        parts,
        ..v1::Verify::default()
    })
}

fn part(name: &str, verify: v1::Verify) -> v1::Part {
    v1::Part {
        name: name.to_owned(),
        weight: None,
        verify: Some(verify),
    }
}

#[test]
fn parts_of_a_combination_have_paths_of_their_own() {
    let request = convert(combined(vec![part("a", asserts()), part("b", pytest())]));
    let Some(VerifySpec::Combined(spec)) = request.expect("two parts").verify else {
        panic!("no combination")
    };
    assert_eq!(spec.combine, Combine::Weighted);
    assert_eq!(spec.parts[1].weight, 1.0);
    let deep = combined(Vec::new()).verify.expect("it");
    for (verify, reason, field) in [
        (deep, "VERIFY_INVALID", "verify.parts[1].verify.kind"),
        (
            v1::Verify {
                stdout: Some(Vec::new()),
                ..asserts()
            },
            "VERIFY_INVALID",
            "verify.parts[1].verify.stdout",
        ),
        (
            v1::Verify {
                file: "../x".to_owned(),
                ..asserts()
            },
            "VERIFY_INVALID",
            "verify.parts[1].verify.file",
        ),
    ] {
        let request = combined(vec![part("a", asserts()), part("b", verify)]);
        refused(request, reason, field, &[]);
    }
}
