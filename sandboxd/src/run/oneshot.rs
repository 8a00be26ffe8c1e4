//! One run from its request to its recorded result.
//!
//! The order is the promise: checked, queued, recorded as admitted, run, judged, recorded as
//! ended, returned. What each of these means is in the neighbouring files.

use std::time::Duration;

use confine::plan::Plan;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use verdict::ending::Ending;
use verdict::{AnswerSpec, AssertsSpec, CasesSpec, Outcome, Usage, Verdict, VerifySpec};

use super::Inner;
use super::admission::Places;
use super::cancel::Cancel;
use super::conclude::{Concluded, conclude};
use super::facts::millis;
use super::grade;
use super::keep::{append_all, record_end};
use super::plan::{plan_for, spawn_spec};
use super::program::{Outside, Program, Ran, run_program};
use super::proof;
use super::record::{self, AppendFailed};
use super::request::{Event, Request, RunError, RunResult, Why};
use super::retry;
use super::sandbox::until;
use super::supervise::DEADLINE;

/// Who may have to wait for a run's first place.
enum Turn {
    /// It is this run's turn.
    Go(Places),
    /// It was cancelled before, by whom.
    Cancelled(String),
}

/// What a run came to, before it is recorded.
pub(super) struct Outcomes {
    pub(super) ran: Ran,
    pub(super) concluded: Concluded,
    pub(super) verdict: Verdict,
}

/// Runs one request to its end.
///
/// # Errors
/// [`RunError`] where no run took place.
pub(super) async fn run_to_end(
    inner: &Inner,
    request: &Request,
    events: Option<mpsc::Sender<Event>>,
    cancel: Cancel,
) -> Result<RunResult, RunError> {
    let received = Instant::now();
    let outcome = attempts(inner, request, events, cancel, received).await;
    if let Err(error) = &outcome
        && let Err(failed) = inner.audit.append(record::refused(request, error)).await
    {
        // The refusal stands either way: nothing ran.
        tracing::error!(
            error = &failed as &dyn std::error::Error,
            "a refusal is not recorded"
        );
    }
    outcome
}

/// Runs it, and again where its result would say little; see [`retry`].
async fn attempts(
    inner: &Inner,
    request: &Request,
    events: Option<mpsc::Sender<Event>>,
    cancel: Cancel,
    received: Instant,
) -> Result<RunResult, RunError> {
    let mut once = Once {
        received,
        number: 1,
        alone: false,
    };
    let mut result = serve(inner, request, events, cancel.clone(), once).await?;
    let mut earlier = Vec::new();
    while let Some(why) = inner.retries.again(request, &result, &earlier) {
        earlier.push(retry::attempt(&result, why));
        once.number += 1;
        once.alone |= why == Why::HostBusy;
        // Live events were told of the first attempt: a second stream of them would be no stream.
        match serve(inner, request, None, cancel.clone(), once).await {
            Ok(next) if !retry::is_worse(&next, why) => {
                result = retry::marked(next, &result, why);
            }
            Err(error @ RunError::Unrecorded { .. }) => return Err(error),
            // What there is stands; how the repetition failed is in records of its own.
            Ok(_) | Err(_) => {
                earlier.pop();
                retry::mark_in_vain(&mut result);
                break;
            }
        }
    }
    result.earlier = earlier;
    Ok(result)
}

/// Which attempt of a run this is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Once {
    /// When the request came.
    received: Instant,
    /// From 1.
    pub(super) number: u32,
    /// Whether nothing else may run beside it.
    alone: bool,
}

async fn serve(
    inner: &Inner,
    request: &Request,
    events: Option<mpsc::Sender<Event>>,
    cancel: Cancel,
    once: Once,
) -> Result<RunResult, RunError> {
    let received = once.received;
    check(inner, request)?;
    check_build(request)?;
    let mut plan = plan_for(
        &request.policy,
        &request.limits,
        &request.image,
        inner.link.host(),
    )?;
    plan.probe = request.probe;
    let deadline_ms = (request.deadline_ms > 0).then_some(request.deadline_ms);
    let deadline = deadline_ms.map(|ms| received + Duration::from_millis(ms));
    let turn = queue(inner, request, events.as_ref(), &cancel, (deadline, once)).await?;
    let queue_ms = millis(received.elapsed());
    let ids = sandbox_ids(request)?;
    let places = match turn {
        Turn::Go(places) => {
            if !request.probe {
                proof::check(inner, request)?;
            }
            places
        }
        Turn::Cancelled(by) => {
            let outcomes = Outcomes::never_ran(inner, request, by, queue_ms);
            return record_end(inner, request, outcomes, None, once).await;
        }
    };
    let outside = Outside {
        events,
        cancel: cancel.clone(),
        deadline,
        release: CancellationToken::new(),
    };
    // The first records are sent before the launcher is asked and are durable before the last one
    // is: the sync of the one overlaps the run. If they cannot be written there is no result, and
    // no reason to go on.
    let recording = async {
        let recorded = record_admitted(inner, request, &ids, (queue_ms, once)).await;
        if recorded.is_err() {
            cancel.cancel("audit");
        }
        recorded
    };
    let (recorded, outcomes) = tokio::join!(
        recording,
        carry_out(inner, request, &plan, &ids, (outside, queue_ms)),
    );
    drop(places);
    let unrecorded = recorded?;
    if outcomes.ran.facts.refused {
        return Err(launcher_refused(&outcomes.ran));
    }
    record_end(inner, request, outcomes, unrecorded, once).await
}

/// Whether what has to be built for the verification could run under the policy.
fn check_build(request: &Request) -> Result<(), RunError> {
    if !grade::needs_build(request) || grade::build::may_execute_workspace(&request.policy) {
        return Ok(());
    }
    Err(RunError::Refused {
        reason: "POLICY_FORBIDS_BUILD",
        field: Some("policy".to_owned()),
        message: format!(
            "policy {} lets nothing in /workspace be executed, and verify.language needs the \
             solution built there; name a policy that does, for example build",
            request.policy.name
        ),
    })
}

/// What no policy has to say about a request, but its own consistency.
fn check(inner: &Inner, request: &Request) -> Result<(), RunError> {
    let unavailable = |message: &str| RunError::Unavailable {
        message: message.to_owned(),
    };
    if inner.draining.is_cancelled() {
        return Err(unavailable("the daemon is stopping"));
    }
    if inner.link.is_gone() {
        return Err(unavailable("the launcher is gone; the daemon is stopping"));
    }
    let refused = |reason, field: &str, message: String| {
        let field = Some(field.to_owned());
        Err(RunError::Refused {
            reason,
            field,
            message,
        })
    };
    if !request.probe {
        proof::check(inner, request)?;
    }
    if !inner.unpinned_images && !request.probe {
        // The only image so far, and what it shows changes with every upgrade of this host.
        let message = format!(
            "image {} is unpinned, and this daemon's host_image.accept_unpinned is false",
            request.image
        );
        return refused("IMAGE_UNPINNED", "image", message);
    }
    if request.argv.is_empty() {
        if request.verify.as_ref().is_none_or(VerifySpec::needs_run) {
            let message = "argv is empty: name a program, or a verify of a kind that needs none";
            return refused("ARGV_EMPTY", "argv", message.to_owned());
        }
        if !request.collect.is_empty() {
            let message = "collect needs a program in argv that leaves the files";
            return refused("COLLECT_WITHOUT_RUN", "collect", message.to_owned());
        }
    }
    let bytes: u64 = request
        .files
        .iter()
        .map(|file| file.content.len() as u64)
        .sum();
    if bytes > request.limits.disk_bytes_max {
        let max = request.limits.disk_bytes_max;
        let message = format!("files have {bytes} bytes, more than limits.disk_bytes_max = {max}");
        return refused("FILES_TOO_LARGE", "files", message);
    }
    if request.files.len() as u64 > request.limits.files_max {
        let (count, max) = (request.files.len(), request.limits.files_max);
        let message = format!("{count} files are more than limits.files_max = {max}");
        return refused("TOO_MANY_FILES", "files", message);
    }
    Ok(())
}

/// Waits for the run's turn. A judge needs a sandbox beside the solution's: both places at once.
async fn queue(
    inner: &Inner,
    request: &Request,
    events: Option<&mpsc::Sender<Event>>,
    cancel: &Cancel,
    (deadline, once): (Option<Instant>, Once),
) -> Result<Turn, RunError> {
    let places = match once.alone {
        // As many as there are: nothing else runs then.
        true => u32::MAX,
        false if grade::needs_pair(request) => 2,
        false => 1,
    };
    let (tenant, priority) = (&request.caller.tenant, request.priority);
    let mut waiting = if request.probe {
        inner.admission.enter_beyond(tenant, priority)
    } else {
        let entered = inner.admission.enter(tenant, priority, places);
        entered.map_err(|full| RunError::Busy {
            message: format!("{full}; try again later"),
            retry_after_ms: full.retry_after_ms,
        })?
    };
    if let Some(events) = events {
        // A consumer whose channel is full at the very start does not miss anything by this.
        let told = events.try_send(Event::Queued);
        tracing::trace!(told = told.is_ok(), "queued");
    }
    tokio::select! {
        biased;
        by = cancel.cancelled() => Ok(Turn::Cancelled(by)),
        () = until(deadline) => Ok(Turn::Cancelled(DEADLINE.to_owned())),
        places = waiting.places() => places.map(Turn::Go).map_err(|closed| {
            let message = closed.to_string();
            RunError::Unavailable { message }
        }),
    }
}

/// Names of the sandboxes of a run: the program's, and those of a verification by test code.
struct SandboxIds {
    program: Option<String>,
    pair: Option<(String, String)>,
    /// Of the cases, or of the judge of an answer.
    single: Option<String>,
}

fn sandbox_ids(request: &Request) -> Result<SandboxIds, RunError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| RunError::Unavailable {
        message: format!("no random bytes for a sandbox id: {error}"),
    })?;
    let base = format!("sb-{}", hex::encode(random));
    let program = (!request.argv.is_empty()).then(|| base.clone());
    let pair =
        grade::needs_pair(request).then(|| (format!("{base}-solution"), format!("{base}-judge")));
    let single = match &request.verify {
        Some(VerifySpec::Cases(_)) => Some(format!("{base}-cases")),
        Some(VerifySpec::Answer(_)) => Some(format!("{base}-judge")),
        _ => None,
    };
    Ok(SandboxIds {
        program,
        pair,
        single,
    })
}

/// Records that the run starts now, with every sandbox it will ask for. Gives the reason if that
/// failed and the policy lets the run go on.
async fn record_admitted(
    inner: &Inner,
    request: &Request,
    ids: &SandboxIds,
    (queue_ms, once): (u64, Once),
) -> Result<Option<AppendFailed>, RunError> {
    let inputs_sha256 = grade::evidence(inner, request).inputs_sha256;
    let mut drafts = vec![record::numbered(
        record::admitted(request, &inputs_sha256, queue_ms),
        once.number,
    )];
    let requested = |id: &String, role| record::sandbox_requested(request, id, role);
    drafts.extend(ids.program.iter().map(|id| requested(id, "program")));
    // Where something is built first it is not known yet whether these will be asked for.
    let pair = ids.pair.as_ref().filter(|_| !grade::needs_build(request));
    if let Some((solution, judge)) = pair {
        drafts.extend([requested(solution, "solution"), requested(judge, "judge")]);
    }
    if let (Some(VerifySpec::Cases(_)), Some(id)) = (&request.verify, &ids.single) {
        drafts.push(requested(id, "cases"));
    }
    append_all(inner, request, drafts)
        .await
        .map(|done| done.err())
}

/// The request's own program.
fn own_program<'a>(request: &'a Request, plan: &'a Plan, id: &str) -> Program<'a> {
    Program {
        sandbox_id: id.to_owned(),
        plan,
        limits: &request.limits,
        files: &request.files,
        spec: spawn_spec(&request.argv, &request.env, &request.cwd),
        stdin: request.stdin.clone(),
        extra: Vec::new(),
        group: None,
        collect: &request.collect,
        inspect: request.probe,
    }
}

/// Runs the program, if there is one, and then the verification, if one is asked.
async fn carry_out(
    inner: &Inner,
    request: &Request,
    plan: &Plan,
    ids: &SandboxIds,
    (outside, queue_ms): (Outside, u64),
) -> Outcomes {
    let conclude = |ran: Ran| {
        let deny = request.policy.syscalls.deny_action;
        let mut concluded = conclude(&ran, &request.limits, deny, queue_ms);
        proof::mark(&mut concluded.manifest, &request.proof);
        (ran, concluded)
    };
    let first = match &ids.program {
        Some(id) => Some(conclude(
            run_program(&inner.link, own_program(request, plan, id), outside.clone()).await,
        )),
        None => None,
    };
    let no_run = |(_, concluded): &(Ran, Concluded)| concluded.ending.is_host_fault();
    let ((ran, concluded), verdict) = match (first, apart(request, ids)) {
        (Some(first), None) => {
            let verdict = grade::by_run(request, &first.0, &first.1);
            (first, verdict)
        }
        (first, Some(Apart::Answer(spec, id))) => {
            let by = (first.as_ref(), id);
            let verdict = grade::answer::by_answer(inner, request, spec, by, &outside).await;
            match first {
                Some(first) => (first, verdict),
                None => {
                    let judged = grade::Judged::without_run(verdict);
                    (conclude(judged.solution), judged.verdict)
                }
            }
        }
        (Some(first), Some(_)) if no_run(&first) => {
            let verdict = grade::unscored(&first.1.ending);
            (first, verdict)
        }
        (first, Some(apart)) => {
            let judged = match apart {
                Apart::Asserts(spec, pair) => {
                    grade::by_asserts(inner, request, (spec, plan), pair, &outside).await
                }
                Apart::Cases(spec, id) => {
                    grade::cases::by_cases(inner, request, (spec, plan), id, &outside).await
                }
                // Answered above.
                Apart::Answer(..) => grade::Judged::without_run(Verdict::unjudged()),
            };
            (
                first.unwrap_or_else(|| conclude(judged.solution)),
                judged.verdict,
            )
        }
        // Excluded by the check of the request.
        (None, None) => (conclude(Ran::never()), Verdict::unjudged()),
    };
    let verdict = grade::complete(
        verdict,
        grade::evidence(inner, request),
        request,
        &concluded,
    );
    Outcomes {
        ran,
        concluded,
        verdict,
    }
}

/// What is judged apart from the run, with the names of the sandboxes for it.
#[derive(Clone, Copy)]
enum Apart<'a> {
    Asserts(&'a AssertsSpec, &'a (String, String)),
    Cases(&'a CasesSpec, &'a str),
    Answer(&'a AnswerSpec, &'a str),
}

fn apart<'a>(request: &'a Request, ids: &'a SandboxIds) -> Option<Apart<'a>> {
    match (&request.verify, &ids.pair, &ids.single) {
        (Some(VerifySpec::Asserts(spec)), Some(pair), _) => Some(Apart::Asserts(spec, pair)),
        (Some(VerifySpec::Cases(spec)), _, Some(id)) => Some(Apart::Cases(spec, id)),
        (Some(VerifySpec::Answer(spec)), _, Some(id)) => Some(Apart::Answer(spec, id)),
        _ => None,
    }
}

impl Outcomes {
    /// A run that was cancelled, or whose time was up, before its turn came.
    fn never_ran(inner: &Inner, request: &Request, by: String, queue_ms: u64) -> Self {
        let ending = Ending::Cancelled { by };
        let outcome = match &request.verify {
            Some(_) => Outcome::InfraError,
            None => Outcome::Unjudged,
        };
        let mut verdict = Verdict::new(outcome, "cancelled before it started");
        verdict.evidence = grade::evidence(inner, request);
        Self {
            ran: Ran::never(),
            concluded: Concluded {
                ending,
                usage: Usage {
                    queue_ms,
                    ..Usage::default()
                },
                denials: Vec::new(),
                manifest: Vec::new(),
            },
            verdict,
        }
    }
}

fn launcher_refused(ran: &Ran) -> RunError {
    let fault = ran.facts.fault.as_ref();
    RunError::Refused {
        reason: "LAUNCHER_REFUSED",
        field: fault.map(|fault| fault.step.clone()),
        message: fault.map_or_else(String::new, |fault| fault.reason.clone()),
    }
}
