//! The `verify` block of a request.

use proto::v1;
use verdict::verify::{WHOLE_TEST_ID, check_kind};
use verdict::{
    AssertsSpec, ExitCodeSpec, Language, OnTamper, StdoutSpec, TestCode, VerifyError, VerifySpec,
};

use super::WORKSPACE;
use crate::grpc::status::ApiError;
use crate::run::request::InputFile;

const REASON: &str = "VERIFY_INVALID";

/// What is to be judged and how.
pub(super) fn spec(message: v1::Verify) -> Result<VerifySpec, ApiError> {
    let kind = v1::VerifyKind::try_from(message.kind).map_err(|_unknown| {
        let problem = format!("number {} is unknown; known: {}", message.kind, supported());
        ApiError::invalid("VERIFY_KIND_UNKNOWN", "verify.kind", problem)
    })?;
    if kind == v1::VerifyKind::Unspecified {
        let problem = format!("none given; name one of {}", supported());
        return Err(ApiError::invalid(REASON, "verify.kind", problem));
    }
    check_kind(&kind_name(kind)).map_err(|error| {
        let code = ApiError::precondition("VERIFY_KIND_UNSUPPORTED", "verify.kind", "");
        ApiError {
            message: error.to_string(),
            ..code
        }
    })?;
    check_fields(kind, &message)?;
    let spec = match kind {
        v1::VerifyKind::ExitCode => VerifySpec::ExitCode(ExitCodeSpec {
            exit_code: message.exit_code.unwrap_or(0),
        }),
        v1::VerifyKind::Stdout => VerifySpec::Stdout(StdoutSpec {
            stdout: message.stdout.ok_or_else(|| {
                ApiError::invalid(REASON, "verify.stdout", "missing; give the expected output")
            })?,
            ignore_trailing_space: message.ignore_trailing_space,
            float_tolerance: message.float_tolerance,
            exit_code: message.exit_code.unwrap_or(0),
        }),
        _ => VerifySpec::Asserts(asserts(message)?),
    };
    spec.validate().map_err(|error| invalid(&error))?;
    Ok(spec)
}

fn supported() -> String {
    verdict::verify::SUPPORTED_KINDS.join(", ")
}

/// As in JSON; the enum's own names carry a prefix.
fn kind_name(kind: v1::VerifyKind) -> String {
    let name = kind.as_str_name();
    name.strip_prefix("VERIFY_KIND_")
        .unwrap_or(name)
        .to_ascii_lowercase()
}

fn invalid(error: &VerifyError) -> ApiError {
    let field = match error {
        VerifyError::Missing { field, .. } | VerifyError::Invalid { field, .. } => *field,
        _ => "kind",
    };
    // Its text begins with the field already.
    let code = ApiError::invalid(REASON, format!("verify.{field}"), "");
    ApiError {
        message: error.to_string(),
        ..code
    }
}

/// A field of another kind is a mistake, not something to pass over.
fn check_fields(kind: v1::VerifyKind, message: &v1::Verify) -> Result<(), ApiError> {
    use v1::VerifyKind::{Asserts, ExitCode, Stdout};
    let rows: [(&str, bool, &[v1::VerifyKind]); 12] = [
        ("file", !message.file.is_empty(), &[Asserts]),
        ("code", !message.code.is_empty(), &[Asserts]),
        (
            "exit_code",
            message.exit_code.is_some(),
            &[ExitCode, Stdout],
        ),
        ("stdout", message.stdout.is_some(), &[Stdout]),
        (
            "ignore_trailing_space",
            message.ignore_trailing_space,
            &[Stdout],
        ),
        (
            "float_tolerance",
            message.float_tolerance.is_some(),
            &[Stdout],
        ),
        ("isolation", message.isolation != 0, &[Asserts]),
        ("on_tamper", message.on_tamper != 0, &[Asserts]),
        ("language", message.language != 0, &[Asserts]),
        ("tests", !message.tests.is_empty(), &[Asserts]),
        ("test_ids", !message.test_ids.is_empty(), &[Asserts]),
        ("entry_points", !message.entry_points.is_empty(), &[Asserts]),
    ];
    for (field, given, kinds) in rows {
        if given && !kinds.contains(&kind) {
            let allowed: Vec<&str> = rows
                .iter()
                .filter(|(_, _, kinds)| kinds.contains(&kind))
                .map(|(field, _, _)| *field)
                .collect();
            let problem = format!(
                "no field of kind {}; its fields: {}",
                kind_name(kind),
                allowed.join(", ")
            );
            return Err(ApiError::invalid(
                REASON,
                format!("verify.{field}"),
                problem,
            ));
        }
    }
    Ok(())
}

fn asserts(message: v1::Verify) -> Result<AssertsSpec, ApiError> {
    if v1::Isolation::try_from(message.isolation).is_ok_and(|it| it == v1::Isolation::Shared) {
        let problem = "shared is not supported for asserts; leave it out or give separate";
        return Err(ApiError::invalid(REASON, "verify.isolation", problem));
    }
    let on_tamper = match v1::OnTamper::try_from(message.on_tamper) {
        Ok(v1::OnTamper::Unspecified | v1::OnTamper::Grade) => OnTamper::Grade,
        Ok(v1::OnTamper::Zero) => OnTamper::Zero,
        Err(_unknown) => {
            let problem = format!(
                "number {} is unknown; known: grade, zero",
                message.on_tamper
            );
            return Err(ApiError::invalid(REASON, "verify.on_tamper", problem));
        }
    };
    let language = match v1::Language::try_from(message.language) {
        Ok(v1::Language::Unspecified | v1::Language::Python) => Language::Python,
        Err(_unknown) => {
            let problem = format!("number {} is unknown; known: python", message.language);
            return Err(ApiError::invalid(REASON, "verify.language", problem));
        }
    };
    let tests = (1..).zip(message.tests).map(|(number, test)| TestCode {
        id: if test.id.is_empty() {
            format!("{WHOLE_TEST_ID}/{number}")
        } else {
            test.id
        },
        code: test.code,
    });
    let prefix = format!("{WORKSPACE}/");
    Ok(AssertsSpec {
        file: message
            .file
            .strip_prefix(&prefix)
            .unwrap_or(&message.file)
            .to_owned(),
        code: message.code,
        language,
        tests: tests.collect(),
        test_ids: message.test_ids,
        on_tamper,
        entry_points: message.entry_points,
    })
}

/// What only shows together with the rest of the request.
pub(super) fn check_against(
    spec: Option<&VerifySpec>,
    argv: &[Vec<u8>],
    files: &[InputFile],
) -> Result<(), ApiError> {
    let Some(spec) = spec else {
        return Ok(());
    };
    if !argv.is_empty() {
        return Ok(());
    }
    if spec.needs_run() {
        let problem = format!(
            "empty; verify.kind {} judges a run, so name a program",
            spec.kind()
        );
        return Err(ApiError::invalid("ARGV_EMPTY", "argv", problem));
    }
    if let VerifySpec::Asserts(asserts) = spec
        && !files.iter().any(|file| file.path == asserts.file)
    {
        let problem = format!(
            "{:?} is not among files, and without argv nothing can make it",
            crate::grpc::status::shorten(&asserts.file),
        );
        return Err(ApiError::invalid(REASON, "verify.file", problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
