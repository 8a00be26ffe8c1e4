//! Judging a run: from the run itself, or by test code in a sandbox of its own.
//!
//! What counts as a pass is decided by crate `verdict` alone; here its questions are carried out.

use std::collections::BTreeMap;

use confine::plan::Plan;
use verdict::digest::{inputs_sha256, tests_sha256, verifier_sha256};
use verdict::ending::SandboxFault;
use verdict::{
    AssertsSpec, Ended, Ending, Evidence, JudgePlan, Outcome, Output, Untrusted, Verdict,
    VerifySpec, contention, grade_exit_code, grade_stdout, judge_asserts, plan_asserts,
};

use super::Inner;
use super::conclude::{Concluded, conclude};
use super::harness_cache;
use super::pair::{Pair, run_pair};
use super::plan::{CWD_DEFAULT, plan_for, spawn_spec};
use super::program::{Outside, Program, Ran};
use super::request::{InputFile, Request};

/// What the judge may take longer than the solution, so that a solution that hangs ends by its
/// own limit, in milliseconds.
const JUDGE_WALL_EXTRA_MS: u64 = 10_000;
const FILE_MODE: u32 = 0o644;

/// What a verification by test code came to.
#[derive(Debug)]
pub(super) struct Judged {
    /// The solution's sandbox.
    pub solution: Ran,
    /// How the task was judged.
    pub verdict: Verdict,
}

/// Whether the verification needs a solution's and a judge's sandbox.
pub(super) fn needs_pair(request: &Request) -> bool {
    matches!(request.verify, Some(VerifySpec::Asserts(_)))
}

/// Digests of everything that a verdict on `request` depends on.
pub(super) fn evidence(inner: &Inner, request: &Request) -> Evidence {
    let verify = request.verify.as_ref();
    Evidence {
        image_sha256: inner.link.image_sha256().to_owned(),
        // `host` is the only image so far.
        image_unpinned: true,
        policy_sha256: request.policy_sha256.clone(),
        inputs_sha256: inputs_sha256(&contents(&request.files)),
        tests_sha256: verify.map(tests_sha256).unwrap_or_default(),
        verifier_sha256: verify.map(verifier_sha256).unwrap_or_default(),
        ..Evidence::default()
    }
}

fn contents(files: &[InputFile]) -> BTreeMap<String, Vec<u8>> {
    files
        .iter()
        .map(|file| (file.path.clone(), file.content.clone()))
        .collect()
}

/// The verdict that the program's own run gives.
pub(super) fn by_run(request: &Request, ran: &Ran, concluded: &Concluded) -> Verdict {
    let run = ended(concluded);
    match &request.verify {
        None => Verdict::unjudged(),
        Some(VerifySpec::ExitCode(spec)) => grade_exit_code(spec, run),
        Some(VerifySpec::Stdout(spec)) => {
            let kept = Untrusted::new(ran.stdout.kept.clone());
            let dropped_bytes = ran.stdout.dropped_bytes;
            let output = Output {
                kept: &kept,
                dropped_bytes,
            };
            grade_stdout(spec, run, output)
        }
        // Test code was not run, because the run before it was no run.
        Some(VerifySpec::Asserts(_)) => unscored(&concluded.ending),
    }
}

/// The verdict on something that says nothing about the solution.
pub(super) fn unscored(ending: &Ending) -> Verdict {
    let reason = match ending {
        Ending::SandboxFailed { step, reason } => format!("sandbox failed at {step}: {reason}"),
        Ending::Cancelled { by } => format!("cancelled by {by}"),
        other => format!("the run ended as {}", other.kind()),
    };
    Verdict::new(Outcome::InfraError, reason)
}

fn ended(concluded: &Concluded) -> Ended<'_> {
    Ended {
        ending: &concluded.ending,
        oom_kills: concluded.usage.oom_kills,
    }
}

/// Runs `spec` against the request's files, in two fresh sandboxes called `ids` (solution's,
/// judge's).
pub(super) async fn by_asserts(
    inner: &Inner,
    request: &Request,
    (spec, plan): (&AssertsSpec, &Plan),
    ids: &(String, String),
    outside: &Outside,
) -> Judged {
    let prepared = Prepared::new(inner, request, spec).await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => {
            let mut solution = Ran::never();
            let verdict = Verdict::new(Outcome::InfraError, fault.reason.clone());
            solution.facts.fault = Some(fault);
            return Judged { solution, verdict };
        }
    };
    let solution = Program {
        sandbox_id: ids.0.clone(),
        plan,
        limits: &request.limits,
        files: &prepared.solution_files,
        spec: spawn_spec(
            &bytes(&prepared.plan.solution_argv),
            &request.env,
            CWD_DEFAULT,
        ),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &[],
        inspect: false,
    };
    let judge = Program {
        sandbox_id: ids.1.clone(),
        plan: &prepared.judge_plan,
        limits: &prepared.judge_limits,
        files: &prepared.judge_files,
        spec: spawn_spec(
            &bytes(&prepared.plan.judge_argv),
            &BTreeMap::new(),
            CWD_DEFAULT,
        ),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &[],
        inspect: false,
    };
    let outsides = (
        outside.for_solution(request.argv.is_empty()),
        outside.quiet(),
    );
    let pair = run_pair(&inner.link, solution, judge, outsides).await;
    let verdict = prepared.judge(inner, request, spec, &pair);
    let solution = pair.solution;
    Judged { solution, verdict }
}

fn bytes(argv: &[String]) -> Vec<Vec<u8>> {
    argv.iter().map(|arg| arg.as_bytes().to_vec()).collect()
}

/// What both sandboxes get.
struct Prepared {
    nonce: String,
    plan: JudgePlan,
    judge_plan: Plan,
    judge_limits: policies::EffectiveLimits,
    solution_files: Vec<InputFile>,
    judge_files: Vec<InputFile>,
}

impl Prepared {
    async fn new(
        inner: &Inner,
        request: &Request,
        spec: &AssertsSpec,
    ) -> Result<Self, SandboxFault> {
        let fault = |reason| SandboxFault {
            step: "judge".to_owned(),
            reason,
        };
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| fault(format!("no random bytes for a nonce: {error}")))?;
        let nonce = hex::encode(random);
        let judge = &inner.judge;
        let mut judge_limits = judge.limits;
        let wall_ms = request
            .limits
            .wall_ms_max
            .saturating_add(JUDGE_WALL_EXTRA_MS);
        judge_limits.wall_ms_max = judge_limits.wall_ms_max.max(wall_ms);
        let judge_plan = plan_for(&judge.policy, &judge_limits, "", inner.link.host())
            .map_err(|error| fault(format!("the judge's sandbox cannot be had: {error}")))?;
        let mut plan = plan_asserts(spec, &contents(&request.files), &nonce);
        if let Some(cache) = harness_cache::compiled(inner, &judge_plan).await {
            plan = plan.with_cache(&cache);
        }
        let modes: BTreeMap<&str, u32> = request
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.mode))
            .collect();
        let solution_files = std::mem::take(&mut plan.solution_files).into_iter();
        let judge_files = std::mem::take(&mut plan.judge_files).into_iter();
        let file = |(path, content): (String, Vec<u8>)| InputFile {
            mode: modes.get(path.as_str()).copied().unwrap_or(FILE_MODE),
            path,
            content,
        };
        Ok(Self {
            nonce,
            judge_plan,
            judge_limits,
            solution_files: solution_files.map(file).collect(),
            judge_files: judge_files.map(file).collect(),
            plan,
        })
    }

    fn judge(&self, inner: &Inner, request: &Request, spec: &AssertsSpec, pair: &Pair) -> Verdict {
        let deny = request.policy.syscalls.deny_action;
        let solution = conclude(&pair.solution, &request.limits, deny, 0);
        let deny = inner.judge.policy.syscalls.deny_action;
        let judge = conclude(&pair.judge, &self.judge_limits, deny, 0);
        // A report beyond its bound counts as none.
        let report = if pair.report.too_long {
            Vec::new()
        } else {
            pair.report.bytes.clone()
        };
        let report = Untrusted::new(report);
        let mut verdict =
            judge_asserts(spec, &self.nonce, &report, ended(&solution), ended(&judge));
        let of = |run: &Concluded, limits: &policies::EffectiveLimits| {
            contention(&run.ending, &run.usage, limits.cpu_millicores_max)
        };
        verdict.evidence.contention =
            of(&solution, &request.limits).or_else(|| of(&judge, &self.judge_limits));
        verdict
    }
}

/// The verdict with its evidence; a kernel kill for lack of memory in the program's own run
/// excludes a pass, whatever the tests say.
pub(super) fn complete(
    mut verdict: Verdict,
    mut evidence: Evidence,
    request: &Request,
    concluded: &Concluded,
) -> Verdict {
    let usage = &concluded.usage;
    let of_run = contention(&concluded.ending, usage, request.limits.cpu_millicores_max);
    // The judge's pair was the last to run, and its end is what was judged.
    evidence.contention = verdict.evidence.contention.or(of_run);
    if verdict.outcome() == Outcome::Passed && usage.oom_kills > 0 {
        let reason = format!(
            "the kernel killed {} of its processes for lack of memory",
            usage.oom_kills
        );
        let tests = std::mem::take(&mut verdict.tests);
        verdict = Verdict::new(Outcome::OutOfMemory, reason);
        verdict.tests = tests;
    }
    verdict.evidence = evidence;
    verdict
}
