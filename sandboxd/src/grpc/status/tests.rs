//! Statuses carry the details that the contract names.

use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::ApiError;
use crate::run::request::RunError;

#[test]
fn a_bad_field_is_told_with_reason_and_path() {
    let status = Status::from(ApiError::invalid(
        "LIMIT_OUT_OF_RANGE",
        "limits.pids_max",
        "0 is too few",
    ));
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(status.message(), "limits.pids_max: 0 is too few");
    let details = status.get_error_details();
    let info = details.error_info().expect("error info");
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("LIMIT_OUT_OF_RANGE", "rollcage")
    );
    let violations = &details.bad_request().expect("bad request").field_violations;
    assert_eq!(violations[0].field, "limits.pids_max");
}

#[test]
fn a_full_queue_says_when_to_try_again() {
    let error = RunError::Busy {
        message: "queue is full".into(),
        retry_after_ms: 250,
    };
    let status = Status::from(ApiError::from(error));
    assert_eq!(status.code(), Code::ResourceExhausted);
    let delay = status
        .get_error_details()
        .retry_info()
        .and_then(|info| info.retry_delay);
    assert_eq!(delay, Some(std::time::Duration::from_millis(250)));
}

#[test]
fn a_fault_keeps_its_cause_to_itself() {
    let cause = std::io::Error::other("/var/lib/rollcage/results.redb: broken");
    let error = ApiError::fault("read results", &cause);
    assert_eq!(error.code, Code::Internal);
    assert!(!error.message.contains("/var"), "{}", error.message);
}

#[test]
fn an_item_of_a_batch_tells_the_same() {
    let fault = ApiError::invalid("ARGV_EMPTY", "argv", "empty").to_run_fault();
    assert_eq!(fault.code, "invalid_argument");
    assert_eq!(fault.field.as_deref(), Some("argv"));
}
