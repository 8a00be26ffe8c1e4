//! Programs of compiled languages are built first: the solution's in a sandbox like the one it will
//! run in, the judge's in one of the judge's kind. Neither sees a file of the other.

use std::collections::{BTreeMap, BTreeSet};

use confine::plan::Plan;
use policies::{EffectiveLimits, Policy};
use verdict::ending::SandboxFault;
use verdict::{
    BUILD_WALL_MS_MIN, Build, BuildEvidence, Builder, JudgePlan, Outcome, Output, Untrusted,
    Verdict, judge_build,
};

use super::build_cache::BuildKey;
use super::{Judged, ended};
use crate::run::Inner;
use crate::run::conclude::conclude;
use crate::run::plan::{CWD_DEFAULT, env_for_ours, spawn_spec};
use crate::run::program::{Outside, Program, Ran, run_program};
use crate::run::record;
use crate::run::request::{InputFile, Request};

/// The variable of a request that the judge's compiler is looked for by as well.
const SEARCH_PATH: &str = "PATH";

/// What both builds left, to be put into the sandboxes of the run.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub solution: Vec<InputFile>,
    pub judge: Vec<InputFile>,
}

/// A sandbox that something is built in.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub id: &'a str,
    pub plan: &'a Plan,
    pub policy: &'a Policy,
    pub limits: &'a EffectiveLimits,
}

/// Whether what lies in `/workspace` may be executed under `policy`.
pub(in crate::run) fn may_execute_workspace(policy: &Policy) -> bool {
    let covers = |path: &String| path == CWD_DEFAULT || path == "/";
    !policy.files.writable_noexec && policy.files.execute.iter().any(covers)
}

/// Builds what `plan` asks for, both at the same time.
///
/// # Errors
/// What the task is judged as, where there is a program that cannot be run.
pub(super) async fn carry_out(
    inner: &Inner,
    request: &Request,
    plan: &JudgePlan,
    (solution, judge): (Place<'_>, Place<'_>),
    outside: &Outside,
) -> Result<Built, Box<Judged>> {
    let whose_judge = if plan.declared_by_solution {
        Builder::JudgeOfSolution
    } else {
        Builder::Judge
    };
    let env = env_for_ours(&request.env);
    let path = env.get_key_value(SEARCH_PATH);
    let path: BTreeMap<String, String> = path
        .map(|(name, value)| (name.clone(), value.clone()))
        .into_iter()
        .collect();
    let mut judge_limits = *judge.limits;
    judge_limits.wall_ms_max = judge_limits.wall_ms_max.max(BUILD_WALL_MS_MIN);
    let judge = Place {
        limits: &judge_limits,
        ..judge
    };
    let solution = Job {
        inner,
        request,
        whose: Builder::Solution,
        build: plan.solution_build.as_ref(),
        place: solution,
        role: "compile",
        env: &env,
    };
    let judge = Job {
        inner,
        request,
        whose: whose_judge,
        build: plan.judge_build.as_ref(),
        place: judge,
        role: "compile-judge",
        env: &path,
    };
    let (solution, judge) = tokio::join!(solution.run(outside), judge.run(outside));
    // Where the judge's program is the author's alone, that it cannot be built says nothing about
    // the solution, whatever became of that.
    let verdict = if plan.declared_by_solution {
        solution.verdict.or(judge.verdict)
    } else {
        judge.verdict.or(solution.verdict)
    };
    match verdict {
        None => Ok(Built {
            solution: solution.files,
            judge: judge.files,
        }),
        Some(verdict) => Err(Box::new(Judged {
            solution: solution.ran,
            verdict,
        })),
    }
}

/// Builds the solution's program alone.
///
/// # Errors
/// What the task is judged as, where there is no program that could be run.
pub(super) async fn of_solution(
    (inner, request): (&Inner, &Request),
    build: &Build,
    place: Place<'_>,
    outside: &Outside,
) -> Result<Vec<InputFile>, Box<Judged>> {
    let job = Job {
        inner,
        request,
        whose: Builder::Solution,
        build: Some(build),
        place,
        role: "compile",
        env: &env_for_ours(&request.env),
    };
    let done = job.run(outside).await;
    match done.verdict {
        None => Ok(done.files),
        Some(verdict) => Err(Box::new(Judged {
            solution: done.ran,
            verdict,
        })),
    }
}

/// One build.
struct Job<'a> {
    inner: &'a Inner,
    request: &'a Request,
    whose: Builder,
    build: Option<&'a Build>,
    place: Place<'a>,
    role: &'static str,
    env: &'a BTreeMap<String, String>,
}

/// What one build came to.
struct Done {
    ran: Ran,
    files: Vec<InputFile>,
    verdict: Option<Verdict>,
}

impl Job<'_> {
    async fn run(self, outside: &Outside) -> Done {
        let Some(build) = self.build else {
            return Done::not_asked();
        };
        let image_sha256 = self.inner.link.image_sha256();
        let key =
            (self.whose != Builder::Solution).then(|| BuildKey::new(build, self.env, image_sha256));
        if let Some(files) = key.and_then(|key| self.inner.builds.get(key)) {
            return Done {
                files,
                ..Done::not_asked()
            };
        }
        let asked = record::sandbox_requested(self.request, self.place.id, self.role);
        if let Err(failed) = self.inner.audit.append(asked).await {
            return Done::fault(&format!("a sandbox for building is not recorded: {failed}"));
        }
        let files: Vec<InputFile> = build
            .files
            .iter()
            .map(|(path, content)| InputFile {
                path: path.clone(),
                content: content.clone(),
                mode: super::FILE_MODE,
            })
            .collect();
        let mut env = self.env.clone();
        env.extend(build.env.clone());
        let program = Program {
            sandbox_id: self.place.id.to_owned(),
            plan: self.place.plan,
            limits: self.place.limits,
            files: &files,
            spec: spawn_spec(&super::bytes(&build.argv), &env, CWD_DEFAULT),
            stdin: None,
            extra: Vec::new(),
            group: None,
            collect: &build.collect,
            inspect: false,
        };
        let ran = run_program(&self.inner.link, program, outside.quiet()).await;
        let done = self.judged(build, ran);
        if let Some(key) = key.filter(|_| done.verdict.is_none()) {
            self.inner.builds.put(key, &done.files);
        }
        done
    }

    fn judged(&self, build: &Build, mut ran: Ran) -> Done {
        let deny = self.place.policy.syscalls.deny_action;
        let concluded = conclude(&ran, self.place.limits, deny, 0);
        let files = carried(&mut ran);
        let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let paths: Vec<&str> = paths.into_iter().collect();
        let (stdout, stderr) = (
            Untrusted::new(ran.stdout.kept.clone()),
            Untrusted::new(ran.stderr.kept.clone()),
        );
        let evidence = BuildEvidence {
            ended: ended(&concluded),
            stdout: Output {
                kept: &stdout,
                dropped_bytes: ran.stdout.dropped_bytes,
            },
            stderr: Output {
                kept: &stderr,
                dropped_bytes: ran.stderr.dropped_bytes,
            },
            carried: &paths,
        };
        let verdict = judge_build(build, self.whose, evidence);
        Done {
            ran,
            files,
            verdict,
        }
    }
}

/// The files that a build left, as those of the next sandbox. A name that is no plain path below
/// `/workspace` is passed over: what then is missing is told as missing.
fn carried(ran: &mut Ran) -> Vec<InputFile> {
    let plain = |path: &str| !path.split('/').any(|part| matches!(part, "" | "." | ".."));
    std::mem::take(&mut ran.files)
        .into_iter()
        .filter_map(|file| {
            let path = String::from_utf8(file.path).ok()?;
            plain(&path).then_some(InputFile {
                path,
                content: file.content,
                mode: file.mode & 0o777,
            })
        })
        .collect()
}

impl Done {
    fn not_asked() -> Self {
        Self {
            ran: Ran::never(),
            files: Vec::new(),
            verdict: None,
        }
    }

    fn fault(reason: &str) -> Self {
        let mut ran = Ran::never();
        ran.facts.fault = Some(SandboxFault {
            step: "judge".to_owned(),
            reason: reason.to_owned(),
        });
        Self {
            ran,
            files: Vec::new(),
            verdict: Some(Verdict::new(Outcome::InfraError, reason)),
        }
    }
}
