//! Judging a run: from the run itself, or by test code in a sandbox of its own.
//!
//! What counts as a pass is decided by crate `verdict` alone; here its questions are carried out.

pub(super) mod answer;
pub(super) mod build;
pub(super) mod build_cache;
pub(super) mod cases;
mod command;
pub(super) mod git;
pub(super) mod phase;
pub(super) mod whole;

use std::collections::BTreeMap;

use confine::plan::{Mode, Plan};
use policies::AuditFailure;
use verdict::digest::{inputs_sha256, tests_sha256, verifier_sha256};
use verdict::ending::{Kill, KillCause, SandboxFault};
use verdict::{
    AssertsSpec, ENDED_BY_GRADER, Ended, Ending, Evidence, Isolation, JudgePlan, Language, Outcome,
    Output, Untrusted, Verdict, VerifySpec, contention, grade_exit_code, grade_stdout, is_built,
    judge_asserts, killed_judge, metrics, plan_asserts, runs_what_it_builds,
};

use super::conclude::{Concluded, conclude};
use super::harness_cache;
use super::heavy::heavy;
use super::pair::{Pair, run_pair};
use super::plan::{CWD_DEFAULT, env_for_ours, plan_for, spawn_spec};
use super::program::{Outside, Program, Ran};
use super::record;
use super::request::{InputFile, Request};
use super::{Inner, JudgeSandbox};

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

/// What a verification is carried out with.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub inner: &'a Inner,
    pub request: &'a Request,
    /// What a sandbox of the request's policy is to be.
    pub plan: &'a Plan,
    pub outside: &'a Outside,
    /// Whether the pair of a verification by test code is recorded as asked for already.
    pub recorded: bool,
}

impl Ask<'_> {
    /// Records that a sandbox is asked for. A failure is a fault only where the policy says deny.
    async fn record(&self, id: &str, role: &str) -> Result<(), SandboxFault> {
        let asked = record::sandbox_requested(self.request, id, role);
        match self.inner.audit.append(asked).await {
            Ok(_receipt) => Ok(()),
            Err(failed) if self.request.policy.audit.on_failure == AuditFailure::Degrade => {
                tracing::warn!(error = &failed as &dyn std::error::Error, "audit degraded");
                Ok(())
            }
            Err(failed) => Err(SandboxFault {
                step: "audit".to_owned(),
                reason: failed.to_string(),
            }),
        }
    }
}

/// All verifications of a request: its own, or the parts of its combination.
fn verifications(request: &Request) -> Vec<&VerifySpec> {
    match &request.verify {
        None => Vec::new(),
        Some(VerifySpec::Combined(spec)) => spec.parts.iter().map(|part| &part.verify).collect(),
        Some(one) => vec![one],
    }
}

/// Whether the verification needs a solution's and a judge's sandbox at the same time.
pub(super) fn needs_pair(request: &Request) -> bool {
    let pair = |spec: &&VerifySpec| matches!(spec, VerifySpec::Asserts(_));
    verifications(request).iter().any(pair)
}

/// Whether programs are built before, where what lies in `/workspace` may be executed.
pub(super) fn needs_build(request: &Request) -> bool {
    let built = |spec: &&VerifySpec| matches!(spec, VerifySpec::Asserts(spec) if is_built(spec));
    verifications(request).iter().any(built)
}

/// Whether what is built is executed under the request's own policy.
pub(super) fn runs_workspace(request: &Request) -> bool {
    let runs =
        |spec: &&VerifySpec| matches!(spec, VerifySpec::Cases(spec) if runs_what_it_builds(spec));
    needs_build(request) || verifications(request).iter().any(runs)
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

fn bytes_of(files: &[InputFile]) -> usize {
    files.iter().map(|file| file.content.len()).sum()
}

fn contents(files: &[InputFile]) -> BTreeMap<String, Vec<u8>> {
    files
        .iter()
        .map(|file| (file.path.clone(), file.content.clone()))
        .collect()
}

/// The verdict that the program's own run gives.
pub(super) fn by_run(spec: Option<&VerifySpec>, ran: &Ran, concluded: &Concluded) -> Verdict {
    let run = ended(concluded);
    match spec {
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
        // What judges by itself was not started, because the run before it was no run.
        Some(_) => unscored(&concluded.ending),
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
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(judged) => return *judged,
    };
    if let Err(judged) = prepared.build(inner, (request, plan), ids, outside).await {
        return *judged;
    }
    let solution = Program {
        sandbox_id: ids.0.clone(),
        plan,
        limits: &request.limits,
        files: &prepared.solution_files,
        spec: spawn_spec(
            &bytes(&prepared.plan.solution_argv),
            &env_for_ours(&request.env),
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
    let verdict = prepared.judge(request, spec, &pair);
    let solution = pair.solution;
    Judged { solution, verdict }
}

impl Judged {
    /// Nothing could be started, by our fault or the host's.
    fn fault(fault: SandboxFault) -> Self {
        let verdict = Verdict::new(Outcome::InfraError, fault.reason.clone());
        let mut solution = Ran::never();
        solution.facts.fault = Some(fault);
        Self { solution, verdict }
    }

    fn at_fault(step: &str, reason: String) -> Self {
        let step = step.to_owned();
        Self::fault(SandboxFault { step, reason })
    }

    /// There was nothing to start.
    pub(super) fn without_run(verdict: Verdict) -> Self {
        let mut solution = Ran::never();
        let by = ENDED_BY_GRADER.to_owned();
        solution.facts.kills.push(Kill {
            cause: KillCause::Cancel { by },
            at_ms: 0,
        });
        Self { solution, verdict }
    }
}

fn bytes(argv: &[String]) -> Vec<Vec<u8>> {
    argv.iter().map(|arg| arg.as_bytes().to_vec()).collect()
}

/// What both sandboxes get.
struct Prepared {
    nonce: String,
    plan: JudgePlan,
    judge: JudgeSandbox,
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
    ) -> Result<Self, Box<Judged>> {
        let fault = |reason| {
            Box::new(Judged::fault(SandboxFault {
                step: "judge".to_owned(),
                reason,
            }))
        };
        let nonce =
            nonce().map_err(|error| fault(format!("no random bytes for a nonce: {error}")))?;
        // Whatever makes machine code while it runs needs more than Python's own policy gives.
        let judge = match spec.language {
            Language::Python => inner.judge.clone(),
            _ => inner.builder.clone(),
        };
        let mut judge_limits = judge.limits;
        let wall_ms = request
            .limits
            .wall_ms_max
            .saturating_add(JUDGE_WALL_EXTRA_MS);
        judge_limits.wall_ms_max = judge_limits.wall_ms_max.max(wall_ms);
        let judge_plan = plan_for(&judge.policy, &judge_limits, "", inner.link.host())
            .map_err(|error| fault(format!("the judge's sandbox cannot be had: {error}")))?;
        let planned = heavy(bytes_of(&request.files), || {
            plan_asserts(spec, &contents(&request.files), &nonce)
        });
        let mut plan = planned.map_err(|verdict| Box::new(Judged::without_run(*verdict)))?;
        if spec.language == Language::Python
            && let Some(cache) = harness_cache::compiled(inner, &judge_plan).await
        {
            plan = plan.with_cache(&cache);
        }
        let solution_files = std::mem::take(&mut plan.solution_files);
        let judge_files = std::mem::take(&mut plan.judge_files);
        Ok(Self {
            nonce,
            judge,
            judge_plan,
            judge_limits,
            solution_files: with_modes(solution_files, &request.files),
            judge_files: with_modes(judge_files, &request.files),
            plan,
        })
    }

    /// Builds what has to be built, and puts it beside the other files. The sandboxes of the run
    /// are recorded as asked for only once it is clear that they will be.
    async fn build(
        &mut self,
        inner: &Inner,
        (request, plan): (&Request, &Plan),
        ids: &(String, String),
        outside: &Outside,
    ) -> Result<(), Box<Judged>> {
        if self.plan.solution_build.is_none() && self.plan.judge_build.is_none() {
            return Ok(());
        }
        let build_ids = (format!("{}-compile", ids.0), format!("{}-compile", ids.1));
        let solution = build::Place {
            id: &build_ids.0,
            plan,
            policy: &request.policy,
            limits: &request.limits,
        };
        let judge = build::Place {
            id: &build_ids.1,
            plan: &self.judge_plan,
            policy: &self.judge.policy,
            limits: &self.judge_limits,
        };
        let places = (solution, judge);
        let built = build::carry_out(inner, request, &self.plan, places, outside).await?;
        put(&mut self.solution_files, built.solution);
        put(&mut self.judge_files, built.judge);
        for (id, role) in [(&ids.0, "solution"), (&ids.1, "judge")] {
            let asked = record::sandbox_requested(request, id, role);
            if let Err(failed) = inner.audit.append(asked).await {
                let reason = failed.to_string();
                let step = "judge".to_owned();
                return Err(Box::new(Judged::fault(SandboxFault { step, reason })));
            }
        }
        Ok(())
    }

    fn judge(&self, request: &Request, spec: &AssertsSpec, pair: &Pair) -> Verdict {
        let deny = request.policy.syscalls.deny_action;
        let solution = conclude(&pair.solution, &request.limits, deny, 0);
        let deny = self.judge.policy.syscalls.deny_action;
        let judge = conclude(&pair.judge, &self.judge_limits, deny, 0);
        // A report beyond its bound counts as none.
        let report = if pair.report.too_long {
            Vec::new()
        } else {
            pair.report.bytes.clone()
        };
        let report = Untrusted::new(report);
        // In landlock mode a solution may reach its judge, and processor time that is up may show as
        // a kill by the kernel, which a solution can bring about: there it is no excuse.
        let usage = &judge.usage;
        let cpu_ms = usage.cpu_user_ms.saturating_add(usage.cpu_system_ms);
        let unexplained =
            self.judge_plan.mode != Mode::Landlock && cpu_ms < self.judge_limits.cpu_ms_max;
        let killed = unexplained.then(|| killed_judge(ended(&judge), &report, &self.nonce));
        let mut verdict = killed.flatten().unwrap_or_else(|| {
            judge_asserts(spec, &self.nonce, &report, ended(&solution), ended(&judge))
        });
        let of = |run: &Concluded, limits: &policies::EffectiveLimits| {
            contention(&run.ending, &run.usage, limits.cpu_millicores_max)
        };
        verdict.evidence.contention =
            of(&solution, &request.limits).or_else(|| of(&judge, &self.judge_limits));
        verdict
    }
}

/// Files of a plan, with the modes that the request gives to its own.
fn with_modes(files: BTreeMap<String, Vec<u8>>, given: &[InputFile]) -> Vec<InputFile> {
    let modes: BTreeMap<&str, u32> = given
        .iter()
        .map(|file| (file.path.as_str(), file.mode))
        .collect();
    let file = |(path, content): (String, Vec<u8>)| InputFile {
        mode: modes.get(path.as_str()).copied().unwrap_or(FILE_MODE),
        path,
        content,
    };
    files.into_iter().map(file).collect()
}

/// What nobody but this run's judge knows.
fn nonce() -> Result<String, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(hex::encode(random))
}

/// Adds `more`, which win over files of the same name.
fn put(files: &mut Vec<InputFile>, more: Vec<InputFile>) {
    files.retain(|file| more.iter().all(|one| one.path != file.path));
    files.extend(more);
}

/// Why a verdict has no reward where solution and tests shared a process.
const SHARED: &str = "solution and tests shared a process, and the policy says \
                      verify.shared_reward = false: no reward";

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
    evidence.isolation = verdict.evidence.isolation;
    evidence.flake = verdict.evidence.flake.take();
    if verdict.outcome() == Outcome::Passed && usage.oom_kills > 0 {
        let reason = format!(
            "the kernel killed {} of its processes for lack of memory",
            usage.oom_kills
        );
        let graded = verdict;
        verdict = Verdict::new(Outcome::OutOfMemory, reason);
        verdict.tests = graded.tests;
        verdict.diagnostics = graded.diagnostics;
        verdict.metrics = graded.metrics;
    }
    verdict.evidence = evidence;
    metrics::add(&mut verdict, usage.wall_ms);
    if verdict.evidence.isolation == Isolation::Shared && !request.policy.verify.shared_reward {
        return verdict.withheld(SHARED);
    }
    verdict
}
