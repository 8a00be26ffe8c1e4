//! The `verify` block: kinds, their fields, and what they need of the rest of a request.

use proto::v1;

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
    let pytest = kind(v1::VerifyKind::Pytest.into());
    refused(
        with_verify(pytest),
        "VERIFY_KIND_UNSUPPORTED",
        "verify.kind",
        &["pytest", "asserts"],
    );
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
