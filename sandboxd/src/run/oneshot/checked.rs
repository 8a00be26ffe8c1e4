//! A run whose files are checked first, where that is asked. Whatever the check came to, nothing is
//! started whose record could not be written.

use confine::plan::Plan;
use verdict::Verdict;
use verdict::ending::SandboxFault;

use super::{Outcomes, SandboxIds, run_and_verify};
use crate::run::Inner;
use crate::run::conclude::conclude;
use crate::run::grade;
use crate::run::keep::{append_all, audit_degraded};
use crate::run::precheck::{self, Precheck, Stopped};
use crate::run::program::{Outside, Ran};
use crate::run::record::{self, AppendFailed};
use crate::run::request::{Request, RunError};

/// Checks the files, if that is asked, and then runs and verifies.
pub(super) async fn carry_out(
    inner: &Inner,
    request: &Request,
    plan: &Plan,
    ids: &SandboxIds,
    (outside, queue_ms): (Outside, u64),
) -> Outcomes {
    if !precheck::is_asked(request) {
        return run_and_verify(inner, request, plan, ids, (outside, queue_ms)).await;
    }
    let told = match precheck::check(inner, request, &ids.check(), &outside).await {
        Precheck::Go(told) => told,
        Precheck::Stop(stopped) => {
            let Stopped { ending, verdict } = *stopped;
            return Outcomes::without_run(inner, request, (ending, verdict), queue_ms);
        }
        Precheck::NotChecked(ran) => return at_fault(inner, request, *ran, queue_ms),
    };
    let unrecorded = match record_program(inner, request, ids).await {
        Ok(unrecorded) => unrecorded,
        Err(error) => return at_fault(inner, request, unrecorded(&error), queue_ms),
    };
    let mut outcomes = run_and_verify(inner, request, plan, ids, (outside, queue_ms)).await;
    outcomes.verdict.diagnostics.splice(0..0, told);
    let degraded = unrecorded.iter().map(audit_degraded);
    outcomes.concluded.manifest.extend(degraded);
    outcomes
}

/// Records that the program's sandbox will be asked for. Gives the reason if that failed and the
/// policy lets the run go on.
async fn record_program(
    inner: &Inner,
    request: &Request,
    ids: &SandboxIds,
) -> Result<Option<AppendFailed>, RunError> {
    let Some(id) = &ids.program else {
        return Ok(None);
    };
    let asked = record::sandbox_requested(request, id, "program");
    append_all(inner, request, vec![asked])
        .await
        .map(|done| done.err())
}

/// A run that did not start because its record could not be written.
pub(super) fn unrecorded(error: &RunError) -> Ran {
    let mut ran = Ran::never();
    ran.facts.fault = Some(SandboxFault {
        step: "audit".to_owned(),
        reason: error.to_string(),
    });
    ran
}

/// What came to nothing by no doing of the solution's, in a sandbox of ours.
pub(super) fn at_fault(inner: &Inner, request: &Request, mut ran: Ran, queue_ms: u64) -> Outcomes {
    // What was written there is not the program's.
    let nothing = Ran::never();
    (ran.stdout, ran.stderr, ran.files) = (nothing.stdout, nothing.stderr, nothing.files);
    ran.facts.problems.clear();
    let deny = request.policy.syscalls.deny_action;
    let concluded = conclude(&ran, &request.limits, deny, queue_ms);
    let verdict = match request.verify {
        Some(_) => grade::unscored(&concluded.ending),
        None => Verdict::unjudged(),
    };
    let evidence = grade::evidence(inner, request);
    let verdict = grade::complete(verdict, evidence, request, &concluded);
    Outcomes {
        ran,
        concluded,
        verdict,
    }
}
