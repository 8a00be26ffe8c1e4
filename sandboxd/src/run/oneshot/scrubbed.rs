//! A run whose git repositories are made anew first, where its verification asks for that: neither
//! its program nor its tests are ever in a sandbox with the old ones. Where the new ones cannot be
//! had, nothing runs, and there is a reason and no reward.

use confine::plan::Plan;
use verdict::{ENDED_BY_GRADER, Ending, Outcome, Verdict};

use super::checked::{self, at_fault, unrecorded};
use super::{Outcomes, SandboxIds};
use crate::run::Inner;
use crate::run::grade::git::{self, NotScrubbed};
use crate::run::grade::{self};
use crate::run::keep::{append_all, audit_degraded};
use crate::run::precheck;
use crate::run::program::Outside;
use crate::run::record::{self, AppendFailed};
use crate::run::request::{InputFile, Request, RunError};

/// Scrubs, if that is asked, and then checks, runs and verifies.
pub(super) async fn carry_out(
    inner: &Inner,
    request: &Request,
    plan: &Plan,
    ids: &SandboxIds,
    (outside, queue_ms): (Outside, u64),
) -> Outcomes {
    if !git::is_asked(request) {
        return checked::carry_out(inner, request, plan, ids, (outside, queue_ms)).await;
    }
    let mut degraded = Vec::new();
    let scrubbed = match scrub(inner, request, ids, &outside, &mut degraded).await {
        Ok(scrubbed) => scrubbed,
        Err(Halt::Unrecorded(error)) => {
            return at_fault(inner, request, unrecorded(&error), queue_ms);
        }
        Err(Halt::NotScrubbed(NotScrubbed::NotRun(ran))) => {
            return at_fault(inner, request, *ran, queue_ms);
        }
        Err(Halt::NotScrubbed(NotScrubbed::Cannot(why))) => {
            let by = ENDED_BY_GRADER.to_owned();
            let verdict = Verdict::new(Outcome::VerifierError, why);
            let halted = (Ending::Cancelled { by }, verdict);
            return Outcomes::without_run(inner, request, halted, queue_ms);
        }
    };
    let clean = scrubbed.map(|files| Request {
        files,
        ..request.clone()
    });
    let with = (outside, queue_ms);
    let clean = clean.as_ref().unwrap_or(request);
    let mut outcomes = checked::carry_out(inner, clean, plan, ids, with).await;
    // What is told as the inputs is what the request brought.
    outcomes.verdict.evidence.inputs_sha256 = grade::evidence(inner, request).inputs_sha256;
    let degraded = degraded.iter().map(audit_degraded).take(1);
    outcomes.concluded.manifest.extend(degraded);
    outcomes
}

/// What keeps a run from its start.
enum Halt {
    Unrecorded(RunError),
    NotScrubbed(NotScrubbed),
}

/// The files to run with, if they are others than the request's; each sandbox is recorded before.
async fn scrub(
    inner: &Inner,
    request: &Request,
    ids: &SandboxIds,
    outside: &Outside,
    degraded: &mut Vec<AppendFailed>,
) -> Result<Option<Vec<InputFile>>, Halt> {
    let mut files = None;
    if let Some(plan) = git::planned(request).map_err(Halt::NotScrubbed)? {
        let id = format!("{}-{}", ids.base, git::ROLE);
        let failed = requested(inner, request, (&id, git::ROLE)).await?;
        degraded.extend(failed);
        let made = git::carry_out(inner, request, &plan, &id, outside).await;
        files = Some(made.map_err(Halt::NotScrubbed)?);
    }
    if precheck::is_asked(request) {
        let failed = requested(inner, request, (&ids.check(), precheck::ROLE)).await?;
        degraded.extend(failed);
    } else if let Some(id) = &ids.program {
        degraded.extend(requested(inner, request, (id, "program")).await?);
    }
    Ok(files)
}

/// Records that a sandbox will be asked for. Gives the reason if that failed and the policy lets
/// the run go on.
async fn requested(
    inner: &Inner,
    request: &Request,
    (id, role): (&str, &str),
) -> Result<Option<AppendFailed>, Halt> {
    let asked = record::sandbox_requested(request, id, role);
    let appended = append_all(inner, request, vec![asked]).await;
    appended.map(Result::err).map_err(Halt::Unrecorded)
}
