//! Runs the cases of a task: one sandbox, one socket, one order and one report a case.
//!
//! What counts as a pass is decided by crate `verdict` alone, in this process: no expected value
//! goes over the socket. Orders are sent a few ahead, so that neither side waits for the other.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use confine::plan::Mode;
use policies::EffectiveLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use verdict::cases::judge::{Cases, judge_case, judge_cases, stops};
use verdict::cases::plan::{CaseBounds, OrderError, order, plan_cases};
use verdict::cases::report::{CaseReport, FRAME_BYTES_MAX, FrameError, read_case, read_loaded};
use verdict::ending::SandboxFault;
use verdict::{Build, CasesSpec, Untrusted, Verdict, contention};

use super::{Ask, Judged, build, bytes, contents, ended, put, with_modes};
use crate::run::conclude::conclude;
use crate::run::harness_cache;
use crate::run::heavy::heavy;
use crate::run::plan::{CWD_DEFAULT, env_for_ours, plan_for, spawn_spec};
use crate::run::program::{Program, Ran, run_program};
use crate::run::request::{InputFile, Request};

/// Orders that are sent before the report of the first of them is there.
const AHEAD: usize = 8;
/// What a report may take longer than twice its case's wall time: more, and the process that starts
/// the cases does not do so any more.
const REPORT_EXTRA: Duration = Duration::from_secs(10);
/// How long the process beside the cases may take to end by itself.
const RELEASE_AFTER: Duration = Duration::from_millis(500);
/// Bytes of a frame beside what a case wrote.
const FRAME_REST_BYTES: u64 = 1 << 16;

/// What breaks off the exchange.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the process that starts the cases is gone")]
    Gone,
    #[error("its report could not be read: {0}")]
    Read(io::Error),
    #[error("a report of {0} bytes is longer than any")]
    Long(usize),
    #[error("{0}")]
    Frame(FrameError),
    #[error("case {0} was reported in its place")]
    Order(u32),
    #[error("no report of it came within {0} s")]
    Late(u64),
    #[error("the case cannot be sent: {0}")]
    Unsent(OrderError),
}

/// Runs the cases of `spec` on the request's files in a fresh sandbox called `id`; what has to be
/// built for them is built before, in another.
pub(in crate::run) async fn by_cases(ask: Ask<'_>, spec: &CasesSpec, id: &str) -> Judged {
    let (inner, request, plan) = (ask.inner, ask.request, ask.plan);
    let (ours, theirs) = match connection() {
        Ok(made) => made,
        Err(error) => {
            let reason = format!("the cases' sandbox could not be connected: {error}");
            let step = "launch".to_owned();
            return Judged::fault(SandboxFault { step, reason });
        }
    };
    let bounds = CaseBounds {
        output_bytes_max: (request.limits.output_bytes_max)
            .min(FRAME_BYTES_MAX as u64 - FRAME_REST_BYTES),
        own_processes: plan.mode != Mode::Landlock,
    };
    let mut cases_plan = match plan_cases(spec, &contents(&request.files), bounds) {
        Ok(planned) => planned,
        Err(verdict) => return Judged::without_run(*verdict),
    };
    let built = match &cases_plan.build {
        Some(build) => built(ask, build, id).await,
        None => Ok(Vec::new()),
    };
    let built = match built {
        Ok(files) => files,
        Err(judged) => return *judged,
    };
    // Only now is it clear that this sandbox will be.
    if let Err(fault) = ask.record(id, "cases").await {
        return Judged::fault(fault);
    }
    let judge = &inner.judge;
    if let Ok(judge_plan) = plan_for(&judge.policy, &judge.limits, "", inner.link.host())
        && let Some(cache) = harness_cache::compiled(inner, &judge_plan).await
    {
        cases_plan = cases_plan.with_cache(&cache);
    }
    let mut files = with_modes(cases_plan.files, &request.files);
    put(&mut files, built);
    let program = Program {
        sandbox_id: id.to_owned(),
        plan,
        limits: &request.limits,
        files: &files,
        spec: spawn_spec(
            &bytes(&cases_plan.argv),
            &env_for_ours(&request.env),
            CWD_DEFAULT,
        ),
        stdin: None,
        extra: vec![theirs],
        group: None,
        collect: &[],
        inspect: false,
    };
    let outside = ask.outside.for_solution(request.argv.is_empty());
    let release = outside.release.clone();
    let driving = async {
        let cases = drive(spec, ours, &request.limits).await;
        let releasing = tokio::spawn(async move {
            tokio::time::sleep(RELEASE_AFTER).await;
            release.cancel();
        });
        (cases, releasing)
    };
    let (solution, (cases, releasing)) =
        tokio::join!(run_program(&inner.link, program, outside), driving);
    releasing.abort();
    let verdict = judged(request, spec, cases, &solution);
    Judged { solution, verdict }
}

/// What building the solution left.
async fn built(ask: Ask<'_>, build: &Build, id: &str) -> Result<Vec<InputFile>, Box<Judged>> {
    let (request, id) = (ask.request, format!("{id}-compile"));
    let place = build::Place {
        id: &id,
        plan: ask.plan,
        policy: &request.policy,
        limits: &request.limits,
    };
    build::of_solution((ask.inner, request), build, place, ask.outside).await
}

fn judged(request: &Request, spec: &CasesSpec, cases: Cases, solution: &Ran) -> Verdict {
    let deny = request.policy.syscalls.deny_action;
    let concluded = conclude(solution, &request.limits, deny, 0);
    let mut verdict = judge_cases(spec, cases, ended(&concluded));
    let millicores = request.limits.cpu_millicores_max;
    verdict.evidence.contention = contention(&concluded.ending, &concluded.usage, millicores);
    verdict
}

fn connection() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

/// Sends the orders and takes the reports until all are there, one stops the rest, or the other
/// side is gone or breaks the rules. Our end is closed on return.
async fn drive(spec: &CasesSpec, ours: UnixStream, limits: &EffectiveLimits) -> Cases {
    let (mut reports, orders) = ours.into_split();
    let mut cases = Cases::default();
    let loaded = match read_frame(&mut reports).await {
        Ok(frame) => read_loaded(&frame).map_err(Trouble::Frame),
        Err(trouble) => Err(trouble),
    };
    match loaded {
        Ok(loaded) if loaded.state == "ok" => cases.loaded = Some(loaded),
        Ok(loaded) => {
            cases.loaded = Some(loaded);
            return cases;
        }
        Err(trouble) => {
            cases.trouble = Some(trouble.to_string());
            return cases;
        }
    }
    let (window, over) = (Arc::new(Semaphore::new(AHEAD)), CancellationToken::new());
    let sending = send_orders(spec, orders, &window, &over);
    let taking = async {
        take_reports(spec, &mut reports, limits, &window, &mut cases).await;
        over.cancel();
    };
    let (sent, ()) = tokio::join!(sending, taking);
    if let Err(trouble) = sent {
        cases.trouble.get_or_insert(trouble.to_string());
    }
    cases
}

async fn send_orders(
    spec: &CasesSpec,
    mut orders: OwnedWriteHalf,
    window: &Semaphore,
    over: &CancellationToken,
) -> Result<(), Trouble> {
    for (number, case) in (0..).zip(&spec.cases) {
        let order = order(spec, number, case).map_err(Trouble::Unsent)?;
        let sent = async {
            match window.acquire().await {
                Ok(place) => place.forget(),
                Err(_closed) => return Ok(()),
            }
            orders.write_all(&order).await
        };
        let sent = tokio::select! {
            sent = sent => sent,
            () = over.cancelled() => return Ok(()),
        };
        if let Err(error) = sent {
            // Its end shows in the reports, with what came before it.
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "an order is not sent"
            );
            return Ok(());
        }
    }
    over.cancelled().await;
    Ok(())
}

async fn take_reports(
    spec: &CasesSpec,
    reports: &mut OwnedReadHalf,
    limits: &EffectiveLimits,
    window: &Semaphore,
    cases: &mut Cases,
) {
    let wait = Duration::from_millis(u64::from(spec.wall_ms()) * 2) + REPORT_EXTRA;
    let mut told_bytes: u64 = 0;
    for (number, case) in (0..).zip(&spec.cases) {
        let told = report_of(number, reports, &mut told_bytes);
        let told = match tokio::time::timeout(wait, told).await {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(trouble)) => Err(trouble),
            Err(_elapsed) => Err(Trouble::Late(wait.as_secs())),
        };
        let report = match told {
            Ok(report) => report,
            Err(trouble) => {
                cases.trouble = Some(trouble.to_string());
                return;
            }
        };
        window.add_permits(1);
        let size = report.output.len();
        let result = heavy(size, || judge_case(spec, case, &report));
        let stop = stops(spec, &result);
        cases.results.push(result);
        if told_bytes > limits.output_bytes_total_max {
            cases.output_up = true;
            return;
        }
        if stop {
            cases.stopped = true;
            return;
        }
    }
}

/// The report of the case with this number.
async fn report_of(
    number: u32,
    reports: &mut OwnedReadHalf,
    told_bytes: &mut u64,
) -> Result<CaseReport, Trouble> {
    let frame = read_frame(reports).await?;
    *told_bytes = told_bytes.saturating_add(frame.len() as u64);
    let report = read_case(&frame).map_err(Trouble::Frame)?;
    if report.number == number {
        Ok(report)
    } else {
        Err(Trouble::Order(report.number))
    }
}

/// The next frame without its length.
async fn read_frame(reports: &mut OwnedReadHalf) -> Result<Untrusted<Vec<u8>>, Trouble> {
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Trouble::Gone,
        _ => Trouble::Read(error),
    };
    let length = reports.read_u32_le().await.map_err(unread)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > FRAME_BYTES_MAX {
        return Err(Trouble::Long(length));
    }
    let mut frame = vec![0; length];
    reports.read_exact(&mut frame).await.map_err(unread)?;
    Ok(Untrusted::new(frame))
}
