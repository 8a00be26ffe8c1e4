//! From what the daemon says to whose turn it is.

use tonic_types::{ErrorDetails, StatusExt};

use super::*;

#[test]
fn a_refusal_names_field_and_reason() {
    let mut details = ErrorDetails::with_error_info("LIMIT_OUT_OF_RANGE", "rollcage", []);
    details.add_bad_request_violation("limits.wall_ms_max", "too large");
    let status = tonic::Status::with_error_details(Code::InvalidArgument, "9 is beyond 5", details);
    let error = ClientError::from(status);
    assert!(matches!(error, ClientError::Refused(_)));
    assert_eq!(
        error.to_string(),
        "refused: limits.wall_ms_max: 9 is beyond 5 [LIMIT_OUT_OF_RANGE]"
    );
}

#[test]
fn busy_says_when() {
    let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(1_500)));
    let status = tonic::Status::with_error_details(Code::ResourceExhausted, "full", details);
    let error = ClientError::from(status);
    assert!(matches!(&error, ClientError::Busy(answer)
        if answer.retry_after == Some(Duration::from_millis(1_500))));
}

#[test]
fn the_rest_is_a_fault() {
    for code in [
        Code::Internal,
        Code::Unavailable,
        Code::Unknown,
        Code::DeadlineExceeded,
    ] {
        let error = ClientError::from(tonic::Status::new(code, "x"));
        assert!(matches!(error, ClientError::Fault(_)), "{code:?}");
    }
    let fault = pb::RunFault {
        code: "invalid_argument".into(),
        ..pb::RunFault::default()
    };
    assert!(matches!(ClientError::from(fault), ClientError::Refused(_)));
}
