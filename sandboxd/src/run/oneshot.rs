//! One run from its request to its recorded result.
//!
//! The order is the promise: checked, queued, recorded as admitted, run, judged, recorded as
//! ended, returned. What each of these means is in the neighbouring files.

mod checked;
mod scrubbed;

use std::time::Duration;

use confine::plan::{OwnProgram, Plan};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use verdict::ending::Ending;
use verdict::{Outcome, Usage, Verdict, VerifySpec};

use super::Inner;
use super::admission::Places;
use super::cancel::Cancel;
use super::check;
use super::collect::Wanted;
use super::conclude::{Concluded, conclude};
use super::facts::millis;
use super::grade::{self, phase::Left, whole::First};
use super::keep::{append_all, record_end};
use super::plan::{plan_for, spawn_spec};
use super::precheck;
use super::program::{Outside, Program, Ran, run_leaving, run_program};
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
    check::consistent(inner, request)?;
    check::build(request)?;
    let mut plan = plan_for(
        &request.policy,
        &request.limits,
        &request.image,
        inner.link.host(),
    )?;
    plan.own = request.probe.then_some(OwnProgram::Probe);
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
        scrubbed::carry_out(inner, request, &plan, &ids, (outside, queue_ms)),
    );
    drop(places);
    let unrecorded = recorded?;
    if outcomes.ran.facts.refused {
        return Err(launcher_refused(&outcomes.ran));
    }
    record_end(inner, request, outcomes, unrecorded, once).await
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

/// Names of the sandboxes of a run: what all begin with, the program's, and those of a verification
/// by test code alone; others are recorded when they are asked for.
struct SandboxIds {
    base: String,
    program: Option<String>,
    pair: Option<(String, String)>,
}

impl SandboxIds {
    /// The sandbox of the static check.
    fn check(&self) -> String {
        format!("{}-{}", self.base, precheck::ROLE)
    }
}

fn sandbox_ids(request: &Request) -> Result<SandboxIds, RunError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| RunError::Unavailable {
        message: format!("no random bytes for a sandbox id: {error}"),
    })?;
    let base = format!("sb-{}", hex::encode(random));
    let program = (!request.argv.is_empty()).then(|| base.clone());
    let alone = matches!(request.verify, Some(VerifySpec::Asserts(_)));
    let pair = alone.then(|| (format!("{base}-solution"), format!("{base}-judge")));
    Ok(SandboxIds {
        base,
        program,
        pair,
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
    if grade::git::is_asked(request) {
        // It is not known yet whether there is anything to scrub, nor whether that can be done.
        return append_all(inner, request, drafts)
            .await
            .map(|done| done.err());
    }
    if precheck::is_asked(request) {
        // Only when that is over it is known whether there will be others.
        drafts.push(requested(&ids.check(), precheck::ROLE));
        return append_all(inner, request, drafts)
            .await
            .map(|done| done.err());
    }
    drafts.extend(ids.program.iter().map(|id| requested(id, "program")));
    // Where something is built first it is not known yet whether these will be asked for.
    let pair = ids.pair.as_ref().filter(|_| !grade::needs_build(request));
    if let Some((solution, judge)) = pair {
        drafts.extend([requested(solution, "solution"), requested(judge, "judge")]);
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
async fn run_and_verify(
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
    let (first, left) = match &ids.program {
        Some(id) => {
            let program = own_program(request, plan, id);
            let (ran, left) = run_first(inner, request, program, outside.clone()).await;
            (Some(conclude(ran)), left)
        }
        None => (None, None),
    };
    let no_run = |(_, concluded): &(Ran, Concluded)| concluded.ending.is_host_fault();
    let of_run =
        |spec: &&VerifySpec| matches!(spec, VerifySpec::ExitCode(_) | VerifySpec::Stdout(_));
    let spec = request.verify.as_ref().filter(|spec| !of_run(spec));
    let ((ran, concluded), verdict) = match (first, spec) {
        (Some(first), None) => {
            let verdict = grade::by_run(request.verify.as_ref(), &first.0, &first.1);
            (first, verdict)
        }
        (Some(first), Some(_)) if no_run(&first) => {
            let verdict = grade::unscored(&first.1.ending);
            (first, verdict)
        }
        (first, Some(spec)) => {
            let ask = grade::Ask {
                inner,
                request,
                plan,
                outside: &outside,
                recorded: ids.pair.is_some() && !precheck::is_asked(request),
            };
            let run = first.as_ref().map(|(ran, concluded)| First {
                ran,
                concluded,
                left: left.as_ref(),
            });
            let judged = grade::whole::verify(ask, spec, run, &ids.base).await;
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

/// Runs the request's own program, and takes what it leaves where the verification starts from it.
async fn run_first(
    inner: &Inner,
    request: &Request,
    program: Program<'_>,
    outside: Outside,
) -> (Ran, Option<Left>) {
    if !grade::phase::takes_changes(request) {
        return (run_program(&inner.link, program, outside).await, None);
    }
    let mut ran = run_leaving(&inner.link, program, outside, Wanted::Everything).await;
    let left = grade::phase::take_left(request, &mut ran);
    (ran, Some(left))
}

impl Outcomes {
    /// A run that was cancelled, or whose time was up, before its turn came.
    fn never_ran(inner: &Inner, request: &Request, by: String, queue_ms: u64) -> Self {
        let ending = Ending::Cancelled { by };
        let outcome = match &request.verify {
            Some(_) => Outcome::InfraError,
            None => Outcome::Unjudged,
        };
        let verdict = Verdict::new(outcome, "cancelled before it started");
        Self::without_run(inner, request, (ending, verdict), queue_ms)
    }

    /// A request whose program was never started.
    fn without_run(
        inner: &Inner,
        request: &Request,
        (ending, mut verdict): (Ending, Verdict),
        queue_ms: u64,
    ) -> Self {
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
