//! A verification that is one command in a fresh sandbox of the request's policy, with a private
//! pipe for its report. What to start and what it came to is decided by [`verdict::harness`].

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use verdict::harness::{self, HarnessEvidence, HarnessPlan, REPORT_FD_ENV, ReportPipe};
use verdict::plan::REPORT_FD;
use verdict::protect::Workspace;
use verdict::verify::framework::REPEAT_MAX;
use verdict::{Framework, OnTamper, Outcome, Output, Untrusted, Verdict, VerifySpec, contention};

use super::phase::Left;
use super::{Ask, Judged, bytes, ended, nonce, phase};
use crate::run::conclude::conclude;
use crate::run::heavy::heavy;
use crate::run::plan::{CWD_DEFAULT, env_for_ours, spawn_spec};
use crate::run::program::{Program, Ran, run_program};
use crate::run::report::{self, Report};
use crate::run::request::InputFile;
use crate::run::streams::{Way, input_pipe, openable, output_pipe};

/// Judges by the command of `spec`, as often as it asks. `left` is what the request's run left.
pub(super) async fn by_command(
    ask: Ask<'_>,
    spec: &VerifySpec,
    left: Option<&Left>,
    id: &str,
) -> Judged {
    if let Some(verdict) = phase::not_whole(left) {
        return Judged::without_run(verdict);
    }
    let workspace = match phase::workspace(ask.request, spec, left) {
        Ok(workspace) => workspace,
        Err(verdict) => return Judged::without_run(*verdict),
    };
    let times = match spec {
        VerifySpec::Harness(harness) => harness.repeat.clamp(1, REPEAT_MAX),
        _ => 1,
    };
    let mut first: Option<Ran> = None;
    let mut verdicts = Vec::new();
    for time in 1..=times {
        let id = if time == 1 {
            id.to_owned()
        } else {
            format!("{id}-{time}")
        };
        let judged = once(ask, (spec, left.is_some()), &workspace, id).await;
        let go_on = judged.verdict.scorable();
        first.get_or_insert(judged.solution);
        verdicts.push(judged.verdict);
        if !go_on {
            break;
        }
    }
    let verdict = flagged(spec, harness::agree(verdicts), workspace);
    let solution = first.unwrap_or_else(Ran::never);
    Judged { solution, verdict }
}

/// What was put back or left out is told, and where the task says so it is the outcome.
fn flagged(spec: &VerifySpec, mut verdict: Verdict, workspace: Workspace) -> Verdict {
    let notes = workspace.tamper;
    let zero = (spec.phase()).is_some_and(|phase| phase.on_tamper == OnTamper::Zero);
    if let Some(note) = notes.first()
        && zero
        && verdict.outcome().scorable()
    {
        let reason = format!("{}: {}", note.path, note.what);
        let graded = verdict;
        verdict = Verdict::new(Outcome::Tampered, reason);
        verdict.tests = graded.tests;
        verdict.diagnostics = graded.diagnostics;
        verdict.tamper = graded.tamper;
        verdict.metrics = graded.metrics;
        verdict.evidence = graded.evidence;
    }
    verdict.tamper.splice(0..0, notes);
    verdict
}

async fn once(
    ask: Ask<'_>,
    (spec, ran): (&VerifySpec, bool),
    workspace: &Workspace,
    id: String,
) -> Judged {
    let nonce = match nonce() {
        Ok(nonce) => nonce,
        Err(error) => {
            return Judged::at_fault("tests", format!("no random bytes for a nonce: {error}"));
        }
    };
    let Some(plan) = harness::plan(&phase::planned(ask.request, spec, ran), &nonce) else {
        let reason = format!("this build has no harness for {}", spec.kind());
        return Judged::without_run(Verdict::new(Outcome::VerifierError, reason));
    };
    let files = phase::staged(workspace, &plan.files);
    if let Some(verdict) = phase::too_large(&files, &ask.request.limits, ran) {
        return Judged::without_run(verdict);
    }
    if let Err(fault) = ask.record(&id, "tests").await {
        return Judged::fault(fault);
    }
    match run(ask, (spec, &plan), &files, id).await {
        Ok((solution, report)) => judge(ask, (spec, &nonce), solution, &report),
        Err(error) => Judged::at_fault("tests", format!("no pipe for a report: {error}")),
    }
}

/// Whether what is started is a program of ours, or one that we name.
fn is_ours(spec: &VerifySpec) -> bool {
    match spec {
        VerifySpec::Harness(harness) => !matches!(
            harness.framework,
            Framework::JunitXml | Framework::Tap | Framework::Ctrf | Framework::Command
        ),
        VerifySpec::Measure(measure) => measure.argv.is_empty(),
        _ => true,
    }
}

/// Runs the command to its end; on return no process of it is left.
async fn run(
    ask: Ask<'_>,
    (spec, plan): (&VerifySpec, &HarnessPlan),
    files: &[InputFile],
    id: String,
) -> io::Result<(Ran, Report)> {
    let mut env = if is_ours(spec) {
        env_for_ours(&ask.request.env)
    } else {
        // Its command is the author's, and may well be in `/workspace`.
        ask.request.env.clone()
    };
    env.extend(plan.env.clone());
    let mut extra = Vec::new();
    let mut reading = None;
    if plan.report != ReportPipe::None {
        let (pipe, mut writer) = output_pipe()?;
        if plan.report == ReportPipe::Openable {
            writer = openable(writer, Way::Out)?;
        }
        extra = vec![at_its_end()?, writer];
        reading = Some(report::begin(pipe));
        env.insert(REPORT_FD_ENV.to_owned(), REPORT_FD.to_string());
    }
    let cwd = if plan.cwd.is_empty() {
        CWD_DEFAULT.to_owned()
    } else {
        format!("{CWD_DEFAULT}/{}", plan.cwd)
    };
    let program = Program {
        sandbox_id: id,
        plan: ask.plan,
        limits: &ask.request.limits,
        files,
        spec: spawn_spec(&bytes(&plan.argv), &env, &cwd),
        stdin: None,
        extra,
        group: None,
        collect: &plan.collect,
        inspect: false,
    };
    let told = ask.request.argv.is_empty();
    let ran = run_program(&ask.inner.link, program, ask.outside.for_solution(told)).await;
    let report = match reading {
        Some(reading) => report::finish(reading).await,
        None => Report::default(),
    };
    Ok((ran, report))
}

/// Something that is at end of file, in the place of descriptor 3.
fn at_its_end() -> io::Result<OwnedFd> {
    let (ours, theirs) = input_pipe()?;
    drop(ours);
    Ok(theirs)
}

fn judge(
    ask: Ask<'_>,
    (spec, nonce): (&VerifySpec, &str),
    mut ran: Ran,
    report: &Report,
) -> Judged {
    let limits = &ask.request.limits;
    let deny = ask.request.policy.syscalls.deny_action;
    let concluded = conclude(&ran, limits, deny, 0);
    let files: BTreeMap<String, Untrusted<Vec<u8>>> = std::mem::take(&mut ran.files)
        .into_iter()
        .filter_map(|file| {
            let path = String::from_utf8(file.path).ok()?;
            Some((path, Untrusted::new(file.content)))
        })
        .collect();
    let stdout = Untrusted::new(ran.stdout.kept.clone());
    let stderr = Untrusted::new(ran.stderr.kept.clone());
    let bytes = if report.too_long {
        Vec::new()
    } else {
        report.bytes.clone()
    };
    let evidence = HarnessEvidence {
        ended: ended(&concluded),
        stdout: Output {
            kept: &stdout,
            dropped_bytes: ran.stdout.dropped_bytes,
        },
        stderr: Output {
            kept: &stderr,
            dropped_bytes: ran.stderr.dropped_bytes,
        },
        report: &Untrusted::new(bytes),
        report_too_long: report.too_long,
        files: &files,
    };
    let size = report.bytes.len() + ran.stdout.kept.len() + ran.stderr.kept.len();
    let mut verdict = heavy(size, || harness::judge(spec, nonce, &evidence));
    let usage = &concluded.usage;
    verdict.evidence.contention = contention(&concluded.ending, usage, limits.cpu_millicores_max);
    // What was collected was the verifier's, not the request's.
    ran.facts.problems.clear();
    Judged {
        solution: ran,
        verdict,
    }
}
