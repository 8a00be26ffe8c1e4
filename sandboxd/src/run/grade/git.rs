//! Making git repositories among a request's files anew, before anything runs, where its
//! verification asks for that. It is done in a sandbox of its own, under the daemon's own policy
//! for builders and with nothing of the request but the repositories; what to start there and what
//! to believe of it is decided by [`verdict::git_scrub`].

use std::collections::BTreeMap;

use verdict::verify::GitScrub;
use verdict::{Ending, GitScrubError, GitScrubPlan, Untrusted, plan_git_scrub, read_git_scrub};

use super::{FILE_MODE, bytes, verifications};
use crate::run::Inner;
use crate::run::collect::Wanted;
use crate::run::conclude::conclude;
use crate::run::plan::{CWD_DEFAULT, plan_for, spawn_spec};
use crate::run::program::{Outside, Program, Ran, run_leaving};
use crate::run::request::{InputFile, Request};

/// What its sandbox is for, in records.
pub(in crate::run) const ROLE: &str = "git";
/// Wall time in milliseconds: the largest request is packed anew within a fraction of it.
const WALL_MS_MAX: u64 = 120_000;

/// Why there is nothing to run with.
#[derive(Debug)]
pub(in crate::run) enum NotScrubbed {
    /// The repositories are such, or the image has no git.
    Cannot(String),
    /// Its sandbox failed or was cancelled.
    NotRun(Box<Ran>),
}

/// Whether the request's repositories are to be scrubbed.
pub(in crate::run) fn is_asked(request: &Request) -> bool {
    (verifications(request).iter())
        .filter_map(|spec| spec.phase())
        .any(|phase| phase.git == GitScrub::Scrub)
}

/// What is to be done for `request`; `None` if there is no repository.
pub(in crate::run) fn planned(request: &Request) -> Result<Option<GitScrubPlan>, NotScrubbed> {
    plan_git_scrub(request.files.iter().map(|file| file.path.as_str()))
        .map_err(|error| cannot(&error))
}

/// The request's files with its repositories made anew, in the sandbox called `sandbox_id`.
pub(in crate::run) async fn carry_out(
    inner: &Inner,
    request: &Request,
    plan: &GitScrubPlan,
    sandbox_id: &str,
    outside: &Outside,
) -> Result<Vec<InputFile>, NotScrubbed> {
    let (theirs, others): (Vec<&InputFile>, Vec<&InputFile>) =
        (request.files.iter()).partition(|file| plan.holds(&file.path));
    let ours = plan.files.iter().map(|(path, (content, mode))| InputFile {
        path: path.clone(),
        content: content.clone(),
        mode: *mode,
    });
    let staged: Vec<InputFile> = theirs.into_iter().cloned().chain(ours).collect();
    let mut limits = inner.builder.limits;
    limits.wall_ms_max = WALL_MS_MAX.min(limits.wall_ms_max);
    let sandbox = plan_for(&inner.builder.policy, &limits, "", inner.link.host())
        .map_err(|error| NotScrubbed::Cannot(format!("no sandbox for git: {error}")))?;
    let program = Program {
        sandbox_id: sandbox_id.to_owned(),
        plan: &sandbox,
        limits: &limits,
        files: &staged,
        spec: spawn_spec(&bytes(&plan.argv), &BTreeMap::new(), CWD_DEFAULT),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &plan.collect,
        inspect: false,
    };
    let outside = outside.quiet();
    let mut ran = run_leaving(&inner.link, program, outside, Wanted::AskedByUs).await;
    let deny = inner.builder.policy.syscalls.deny_action;
    let ending = conclude(&ran, &limits, deny, 0).ending;
    if ran.facts.refused || ending.is_host_fault() || matches!(ending, Ending::Cancelled { .. }) {
        return Err(NotScrubbed::NotRun(Box::new(ran)));
    }
    let made = made(plan, &mut ran, &ending)?;
    Ok(others.into_iter().cloned().chain(made).collect())
}

/// The files of the new repositories. A file that did not come back whole is missed by nobody but
/// the tests, so that any trouble with one is the end.
fn made(
    plan: &GitScrubPlan,
    ran: &mut Ran,
    ending: &Ending,
) -> Result<impl Iterator<Item = InputFile> + use<>, NotScrubbed> {
    let why = match (ending, ran.facts.problems.first()) {
        (Ending::Exited { code: 0 | 1 }, None) => None,
        (Ending::Exited { code: 0 | 1 }, Some(problem)) => {
            Some(format!("{}: {}", problem.path, problem.reason))
        }
        (other, _) => {
            let said = String::from_utf8_lossy(&ran.stderr.kept);
            let last = said.lines().last().unwrap_or_default();
            Some(format!("the program ended as {}: {last}", other.kind()))
        }
    };
    if let Some(why) = why {
        return Err(cannot(&GitScrubError::Failed { why }));
    }
    let stdout = Untrusted::new(std::mem::take(&mut ran.stdout.kept));
    let files = std::mem::take(&mut ran.files).into_iter().map(|file| {
        let path = String::from_utf8_lossy(&file.path).into_owned();
        (path, file.content)
    });
    let made = read_git_scrub(plan, &stdout, files.collect()).map_err(|error| cannot(&error))?;
    Ok(made.into_iter().map(|(path, content)| InputFile {
        path,
        content,
        mode: FILE_MODE,
    }))
}

fn cannot(error: &GitScrubError) -> NotScrubbed {
    NotScrubbed::Cannot(error.to_string())
}
