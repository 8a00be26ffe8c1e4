//! What can go wrong between a caller and a daemon, by whose turn it is: a refusal is the
//! caller's, a fault the operator's. What a program did is never an error; it is in its result.

use std::time::Duration;

use tonic::Code;
use tonic_types::StatusExt;

use crate::pb;

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No daemon answers.
    #[error("reach a daemon at {endpoint}")]
    Connect {
        /// Where it was looked for.
        endpoint: String,
        /// The cause.
        #[source]
        source: tonic::transport::Error,
    },
    /// A certificate, key or token cannot be used.
    #[error("use {what} for {endpoint}")]
    Credentials {
        /// Which.
        what: &'static str,
        /// For where.
        endpoint: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The daemon refused; the caller can change the request.
    #[error("refused: {}", .0.text())]
    Refused(Answer),
    /// The daemon is full; the same call may work after a while.
    #[error("busy: {}", .0.text())]
    Busy(Answer),
    /// The daemon, or the way to it, is at fault: somebody must look.
    #[error("daemon failed: {}", .0.text())]
    Fault(Answer),
    /// The daemon ended the call before its result.
    #[error("the daemon ended the call without a result")]
    NoResult,
}

/// What the daemon said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// gRPC code in lower snake_case, for example `invalid_argument`.
    pub code: String,
    /// Stable reason in upper case, for example `LIMIT_OUT_OF_RANGE`; empty if none was given.
    pub reason: String,
    /// Path of the field to blame.
    pub field: Option<String>,
    /// For people.
    pub message: String,
    /// When to try again.
    pub retry_after: Option<Duration>,
}

impl Answer {
    fn text(&self) -> String {
        let mut text = match &self.field {
            Some(field) if !self.message.contains(field.as_str()) => {
                format!("{field}: {}", self.message)
            }
            _ => self.message.clone(),
        };
        if text.is_empty() {
            text = format!("no explanation ({})", self.code);
        }
        if !self.reason.is_empty() {
            text = format!("{text} [{}]", self.reason);
        }
        text
    }

    /// The error this answer amounts to, by its code.
    #[must_use]
    pub fn into_error(self) -> ClientError {
        match self.code.as_str() {
            "resource_exhausted" => ClientError::Busy(self),
            "invalid_argument"
            | "not_found"
            | "already_exists"
            | "permission_denied"
            | "unauthenticated"
            | "failed_precondition"
            | "out_of_range"
            | "unimplemented"
            | "cancelled" => ClientError::Refused(self),
            _ => ClientError::Fault(self),
        }
    }
}

impl ClientError {
    /// What the daemon said, if it said anything.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Refused(answer) | Self::Busy(answer) | Self::Fault(answer) => Some(answer),
            Self::Connect { .. } | Self::Credentials { .. } | Self::NoResult => None,
        }
    }
}

impl From<tonic::Status> for ClientError {
    fn from(status: tonic::Status) -> Self {
        let details = status.get_error_details();
        let field = details
            .bad_request()
            .and_then(|bad| bad.field_violations.first())
            .map(|violation| violation.field.clone())
            .filter(|field| !field.is_empty());
        Answer {
            code: code_name(status.code()).to_owned(),
            reason: details
                .error_info()
                .map(|info| info.reason.clone())
                .unwrap_or_default(),
            field,
            message: status.message().to_owned(),
            retry_after: details.retry_info().and_then(|info| info.retry_delay),
        }
        .into_error()
    }
}

impl From<pb::RunFault> for ClientError {
    fn from(fault: pb::RunFault) -> Self {
        Answer {
            code: fault.code,
            reason: fault.reason,
            field: fault.field,
            message: fault.message,
            retry_after: fault.retry_after_ms.map(Duration::from_millis),
        }
        .into_error()
    }
}

/// The name of a gRPC code in lower snake_case.
#[must_use]
pub fn code_name(code: Code) -> &'static str {
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
