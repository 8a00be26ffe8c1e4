//! What the audit log says about a run, and the sink it goes to.
//!
//! A record is made from a request and its result only; how it is kept is the sink's business.
//! Anything a sandbox or a caller chose goes in as untrusted text, capped.

use std::fmt;

use audit::text::{untrusted, untrusted_list};
use audit::{Digest, Draft, Event, PolicyRef, Source};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use verdict::{ControlStatus, Ending, ManifestRow, Verdict};

use crate::audit_client::AuditClient;

use super::request::{Captured, Receipt, Request, RunError, RunResult};

/// Most arguments of a command in a record, and most labels.
const LIST_ITEMS_MAX: usize = 32;
/// Most controls in a record: more than there are, unless a sandbox makes them up.
const MANIFEST_ROWS_MAX: usize = 64;
/// Bytes of one caller-chosen text in a record.
const TEXT_BYTES_MAX: usize = 256;

/// A record could not be made durable.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the audit record could not be written: {reason}")]
pub struct AppendFailed {
    /// Why, with every cause.
    pub reason: String,
}

/// Keeps records. A record is durable when its future is done.
pub trait AuditSink: fmt::Debug + Send + Sync {
    /// Appends one record.
    fn append(&self, draft: Draft) -> BoxFuture<'_, Result<Receipt, AppendFailed>>;
}

impl AuditSink for AuditClient {
    fn append(&self, draft: Draft) -> BoxFuture<'_, Result<Receipt, AppendFailed>> {
        Box::pin(async move {
            let appended = AuditClient::append(self, draft).await;
            let receipt = appended.map_err(|error| AppendFailed {
                reason: error.to_string(),
            })?;
            Ok(Receipt {
                seq: receipt.seq,
                sha256: receipt.sha256.to_string(),
            })
        })
    }
}

fn draft(event: Event, request: &Request) -> Draft {
    let mut draft = Draft::new(event, Source::Api);
    draft.principal = named(&request.caller.principal);
    draft.tenant = named(&request.caller.tenant);
    draft.run_id = named(&request.run_id);
    draft.policy = digest(&request.policy_sha256).map(|sha256| PolicyRef {
        name: request.policy.name.clone(),
        sha256,
    });
    draft.image = named(&request.image);
    draft
}

/// A digest of our own making; one that is none is left out, and told to the operator.
fn digest(hex: &str) -> Option<Digest> {
    match hex.parse() {
        Ok(digest) => Some(digest),
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "no digest for a record"
            );
            None
        }
    }
}

/// Names must not be empty in a record; an absent one is left out.
fn named(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A run was admitted: it has its places and will start now.
pub(crate) fn admitted(request: &Request, inputs_sha256: &str, queue_ms: u64) -> Draft {
    let argv = request.argv.iter().map(Vec::as_slice);
    let labels = request
        .labels
        .iter()
        .take(LIST_ITEMS_MAX)
        .map(|(key, value)| {
            let pair = [key.as_bytes(), value.as_bytes()];
            untrusted_list(pair, 2, TEXT_BYTES_MAX)
        });
    let mut draft = draft(Event::RunAdmitted, request);
    draft.inputs_sha256 = digest(inputs_sha256);
    draft = draft
        .with("id", text(&request.id))
        .with("argv", untrusted_list(argv, LIST_ITEMS_MAX, TEXT_BYTES_MAX))
        .with("cwd", text(&request.cwd))
        .with("files", request.files.len())
        .with("group", text(&request.group))
        .with("labels", labels.collect::<Vec<_>>())
        .with("limits", json!(request.limits))
        .with("priority", request.priority)
        .with("queue_ms", queue_ms)
        .with(
            "verify",
            request.verify.as_ref().map_or("", |verify| verify.kind()),
        );
    match &request.traceparent {
        Some(trace) => draft.with("traceparent", text(trace)),
        None => draft,
    }
}

/// The same of a later attempt.
pub(crate) fn numbered(draft: Draft, attempt: u32) -> Draft {
    match attempt {
        0 | 1 => draft,
        later => draft.with("attempt", later),
    }
}

/// A sandbox is asked for on behalf of a run.
pub(crate) fn sandbox_requested(request: &Request, sandbox_id: &str, role: &str) -> Draft {
    let mut draft = draft(Event::SandboxRequested, request);
    draft.sandbox_id = named(sandbox_id);
    draft.with("role", role)
}

/// A run was refused before anything of it ran.
pub(crate) fn refused(request: &Request, error: &RunError) -> Draft {
    let (reason, field) = match error {
        RunError::Refused { reason, field, .. } => (*reason, field.as_deref()),
        RunError::Busy { .. } => ("BUSY", None),
        RunError::Unavailable { .. } => ("UNAVAILABLE", None),
        RunError::Unrecorded { .. } => ("AUDIT_UNAVAILABLE", None),
    };
    draft(Event::RunRefused, request)
        .with("id", text(&request.id))
        .with("reason", reason)
        .with("field", field.unwrap_or_default())
        .with("message", text(&error.to_string()))
}

/// A run is over.
pub(crate) fn ended(request: &Request, result: &RunResult) -> Draft {
    let mut draft = draft(Event::RunEnded, request);
    draft.sandbox_id = named(&result.sandbox_id);
    draft.inputs_sha256 = digest(&result.verdict.evidence.inputs_sha256);
    draft
        .with("id", text(&request.id))
        .with("ending", ending(&result.ending))
        .with("usage", json!(result.usage))
        .with("denials", result.denials.len())
        .with("manifest", manifest(&result.manifest))
        .with("stdout", stream(&result.stdout))
        .with("stderr", stream(&result.stderr))
        .with("verdict", verdict(&result.verdict))
        .with("files", result.files.len())
}

fn text(text: &str) -> Value {
    untrusted(text.as_bytes(), TEXT_BYTES_MAX)
}

/// The ending's own JSON, its texts capped.
fn ending(ending: &Ending) -> Value {
    let mut value = json!(ending);
    if let Value::Object(fields) = &mut value {
        for field in fields.values_mut() {
            if let Value::String(string) = field {
                *field = text(string);
            }
        }
    }
    value
}

/// Name and status of each control; of those that do not hold, why.
fn manifest(rows: &[ManifestRow]) -> Value {
    let row = |row: &ManifestRow| {
        let mut value = json!({ "name": text(&row.name), "status": row.status });
        if row.status == ControlStatus::Degraded {
            value["reason"] = text(&row.reason);
        }
        value
    };
    rows.iter().take(MANIFEST_ROWS_MAX).map(row).collect()
}

fn stream(captured: &Captured) -> Value {
    json!({
        "bytes": captured.total_bytes,
        "dropped_bytes": captured.dropped_bytes,
        "sha256": captured.sha256,
    })
}

fn verdict(verdict: &Verdict) -> Value {
    let mut value = json!({
        "outcome": verdict.outcome(),
        "reason": text(&verdict.reason),
        "tests": verdict.tests.len(),
        "tests_sha256": verdict.evidence.tests_sha256,
        "verifier_sha256": verdict.evidence.verifier_sha256,
        "image_sha256": verdict.evidence.image_sha256,
        "isolation": verdict.evidence.isolation,
    });
    if let Some(reward) = verdict.reward() {
        value["reward_millionths"] = Value::from(millionths(reward));
    }
    value
}

/// A log has integers only.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a reward is a number from 0 to 1, clamped here once more"
)]
fn millionths(reward: f64) -> u64 {
    (reward.clamp(0.0, 1.0) * 1e6).round() as u64
}
