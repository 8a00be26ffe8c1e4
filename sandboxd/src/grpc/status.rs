//! The only map from our errors to gRPC statuses, with `google.rpc` details.
//!
//! A *refusal* is the caller's to fix and says field, value and what is allowed. A *fault* is the
//! operator's: its cause goes to the log, and the caller gets a sentence without paths of the host.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::run::request::RunError;

/// Domain of every `ErrorInfo`.
pub const DOMAIN: &str = "rollcage";

/// Why a call is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Code.
    pub code: Code,
    /// Stable upper-case reason.
    pub reason: &'static str,
    /// Path of the field to blame.
    pub field: Option<String>,
    /// For the caller.
    pub message: String,
    /// When to try again, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl ApiError {
    /// An error without field.
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            field: None,
            message: message.into(),
            retry_after_ms: None,
        }
    }

    /// A field that the caller can fix. The message is `field: problem`.
    pub fn invalid(
        reason: &'static str,
        field: impl Into<String>,
        problem: impl std::fmt::Display,
    ) -> Self {
        let field = field.into();
        let message = format!("{field}: {problem}");
        Self {
            field: Some(field),
            ..Self::new(Code::InvalidArgument, reason, message)
        }
    }

    /// The same as [`ApiError::invalid`] where the value is well formed but cannot be used here.
    pub fn precondition(
        reason: &'static str,
        field: impl Into<String>,
        problem: impl std::fmt::Display,
    ) -> Self {
        Self {
            code: Code::FailedPrecondition,
            ..Self::invalid(reason, field, problem)
        }
    }

    /// Something that is not there, or belongs to another tenant: the two look the same.
    pub fn not_found(what: &str, id: &str) -> Self {
        let message = format!("there is no {what} {:?}", shorten(id));
        Self::new(Code::NotFound, "NOT_FOUND", message)
    }

    /// Our fault. The cause is logged here and not told.
    pub fn fault(what: &str, cause: &dyn std::error::Error) -> Self {
        let mut chain = cause.to_string();
        let mut source = cause.source();
        while let Some(deeper) = source {
            chain = format!("{chain}: {deeper}");
            source = deeper.source();
        }
        tracing::error!(what, cause = chain, "fault");
        Self::new(
            Code::Internal,
            "FAULT",
            format!("{what} failed; the daemon's log has the cause"),
        )
    }

    /// The error as one item of a batch tells it.
    #[must_use]
    pub fn to_run_fault(&self) -> proto::v1::RunFault {
        proto::v1::RunFault {
            code: code_name(self.code).to_owned(),
            reason: self.reason.to_owned(),
            field: self.field.clone(),
            message: self.message.clone(),
            retry_after_ms: self.retry_after_ms,
        }
    }
}

impl From<ApiError> for Status {
    fn from(error: ApiError) -> Self {
        let mut details = ErrorDetails::with_error_info(error.reason, DOMAIN, []);
        if let Some(field) = &error.field {
            details.add_bad_request_violation(field.clone(), error.message.clone());
        }
        if let Some(retry_after_ms) = error.retry_after_ms {
            details.set_retry_info(Some(Duration::from_millis(retry_after_ms)));
        }
        Self::with_error_details(error.code, error.message, details)
    }
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused {
                reason,
                field,
                message,
            } => {
                let code = match field {
                    Some(_) => Code::InvalidArgument,
                    None => Code::FailedPrecondition,
                };
                Self {
                    field,
                    ..Self::new(code, reason, message)
                }
            }
            RunError::Busy {
                message,
                retry_after_ms,
            } => Self {
                retry_after_ms: Some(retry_after_ms),
                ..Self::new(Code::ResourceExhausted, "QUEUE_FULL", message)
            },
            RunError::Unrecorded { message } => {
                Self::new(Code::Unavailable, "AUDIT_UNAVAILABLE", message)
            }
            RunError::Unavailable { message } => {
                Self::new(Code::Unavailable, "UNAVAILABLE", message)
            }
        }
    }
}

/// A value for a message, cut after some characters.
#[must_use]
pub fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARS_MAX).chain(['…']).collect()
}

fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "cancelled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}

#[cfg(test)]
mod tests;
