//! The records of a run, and its result once they are kept: nothing is given out before.

use audit::Draft;
use futures::future::join_all;
use policies::AuditFailure;
use verdict::{ControlLayer, ControlStatus, ManifestRow};

use super::Inner;
use super::oneshot::{Once, Outcomes};
use super::program::Ran;
use super::record::{self, AppendFailed};
use super::request::{InputFile, Receipt, Request, RunError, RunResult};

/// Appends records, the first first. A failure is an error only where the policy says deny.
pub(super) async fn append_all(
    inner: &Inner,
    request: &Request,
    drafts: Vec<Draft>,
) -> Result<Result<Receipt, AppendFailed>, RunError> {
    let appended = join_all(drafts.into_iter().map(|draft| inner.audit.append(draft))).await;
    let all: Result<Vec<Receipt>, AppendFailed> = appended.into_iter().collect();
    match all {
        Ok(receipts) => Ok(Ok(receipts.into_iter().next().unwrap_or_default())),
        Err(failed) if request.policy.audit.on_failure == AuditFailure::Degrade => {
            tracing::warn!(error = &failed as &dyn std::error::Error, "audit degraded");
            Ok(Err(failed))
        }
        Err(failed) => Err(RunError::Unrecorded {
            message: format!("{failed}, and policy {} says deny", request.policy.name),
        }),
    }
}

/// Puts the result together and records it; only then is it given out.
pub(super) async fn record_end(
    inner: &Inner,
    request: &Request,
    outcomes: Outcomes,
    unrecorded: Option<AppendFailed>,
    once: Once,
) -> Result<RunResult, RunError> {
    let Outcomes {
        ran,
        concluded,
        verdict,
    } = outcomes;
    if let Some(reaped) = &ran.facts.reaped
        && !reaped.leftovers.is_empty()
    {
        tracing::error!(sandbox = ran.sandbox_id, left = ?reaped.leftovers, "not all cleaned up");
    }
    let (files, files_missing) = collected(&ran);
    let mut result = RunResult {
        id: request.id.clone(),
        run_id: request.run_id.clone(),
        ending: concluded.ending,
        verdict,
        stdout: ran.stdout,
        stderr: ran.stderr,
        usage: concluded.usage,
        denials: concluded.denials,
        manifest: concluded.manifest,
        files,
        files_missing,
        audit: Receipt::default(),
        sandbox_id: ran.sandbox_id,
        witnessed: ran.facts.witnessed,
        earlier: Vec::new(),
    };
    let draft = record::numbered(record::ended(request, &result), once.number);
    let appended = append_all(inner, request, vec![draft]).await?;
    let mut failed = unrecorded;
    match appended {
        Ok(receipt) => result.audit = receipt,
        Err(error) => failed = failed.or(Some(error)),
    }
    if let Some(failed) = failed {
        let row = audit_degraded(&failed);
        result.manifest.retain(|other| other.name != row.name);
        result.manifest.push(row);
    }
    Ok(result)
}

/// The row that says so where a record could not be written.
pub(super) fn audit_degraded(failed: &AppendFailed) -> ManifestRow {
    ManifestRow {
        name: "audit".to_owned(),
        layer: ControlLayer::Semantics,
        asked: "a durable record before the reply".to_owned(),
        applied: String::new(),
        status: ControlStatus::Degraded,
        reason: failed.to_string(),
        proof: String::new(),
    }
}

/// Collected files, and those that cannot be given out, with the reason.
fn collected(ran: &Ran) -> (Vec<InputFile>, Vec<(String, String)>) {
    let mut files = Vec::new();
    let mut missing: Vec<(String, String)> = Vec::new();
    for file in &ran.files {
        let path = String::from_utf8_lossy(&file.path).into_owned();
        let plain = |path: &str| !path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if path.as_bytes() != file.path {
            missing.push((path, "its name is not UTF-8".to_owned()));
        } else if !plain(&path) {
            missing.push((path, "its name is not a plain relative path".to_owned()));
        } else {
            files.push(InputFile {
                path,
                content: file.content.clone(),
                mode: file.mode & 0o777,
            });
        }
    }
    let problems = ran.facts.problems.iter();
    missing.extend(problems.map(|problem| (problem.path.clone(), problem.reason.clone())));
    (files, missing)
}
