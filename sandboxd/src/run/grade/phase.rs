//! What a verification starts from, out of what the request brought and what its run left. What
//! that means for single files is decided by [`verdict::protect`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use confine::wire::CollectProblem;
use policies::EffectiveLimits;
use verdict::protect::{
    Files, Lists, STEPS_MAX, Workspace, lay_out, matches_whole, steps, with_protected,
};
use verdict::{Outcome, TestFile, Verdict, VerifySpec};

use crate::run::collect::EVERYTHING;
use crate::run::heavy::heavy;
use crate::run::program::Ran;
use crate::run::request::{InputFile, Request};

/// Bytes that a file takes at least, and in steps of which it grows.
const PAGE_BYTES: u64 = 4096;

/// Whether the request's run changes what its verification starts from.
pub(in crate::run) fn takes_changes(request: &Request) -> bool {
    let takes = |spec: &VerifySpec| spec.phase().is_some();
    !request.argv.is_empty()
        && match &request.verify {
            Some(VerifySpec::Combined(spec)) => spec.parts.iter().any(|part| takes(&part.verify)),
            Some(spec) => takes(spec),
            None => false,
        }
}

/// What a run left in `/workspace` for its verification.
#[derive(Debug, Default)]
pub(in crate::run) struct Left {
    pub files: Files,
    /// What could not be taken: the first of it, and why.
    pub untaken: Option<CollectProblem>,
}

/// Takes what a run left out of what came of it, and leaves there what the request asked for.
pub(in crate::run) fn take_left(request: &Request, ran: &mut Ran) -> Left {
    let globs = request.collect.iter().map(String::as_str);
    let paths: Vec<Cow<'_, str>> = (ran.files.iter())
        .map(|file| String::from_utf8_lossy(&file.path))
        .chain(
            ran.facts
                .problems
                .iter()
                .map(|problem| problem.path.as_str().into()),
        )
        .collect();
    let steps = steps(globs, paths.iter());
    drop(paths);
    let comparable = steps <= STEPS_MAX;
    let bytes = usize::try_from(steps).unwrap_or(usize::MAX);
    let left = heavy(bytes, || take(request, ran, comparable));
    if !comparable {
        let reason = "there are too many files to compare with the patterns of `collect`";
        ran.facts.problems.push(CollectProblem {
            path: String::new(),
            reason: reason.to_owned(),
        });
    }
    left
}

/// Takes it apart; patterns are looked at only if `comparable`.
fn take(request: &Request, ran: &mut Ran, comparable: bool) -> Left {
    let matches_whole = |pattern: &str, path: &str| comparable && matches_whole(pattern, path);
    let mut left = Left::default();
    let mut asked = Vec::new();
    let mut asked_bytes = 0;
    for file in std::mem::take(&mut ran.files) {
        let path = String::from_utf8_lossy(&file.path).into_owned();
        let is_asked = (request.collect.iter()).any(|pattern| matches_whole(pattern, &path));
        if is_asked {
            asked_bytes += file.content.len() as u64;
        }
        let plain = !path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if plain && path.as_bytes() == file.path {
            let mode = file.mode & 0o777;
            let content = file.content.clone();
            left.files.insert(path, TestFile { content, mode });
        }
        if is_asked && asked_bytes <= crate::run::collect::COLLECT_BYTES_MAX {
            asked.push(file);
        }
    }
    ran.files = asked;
    // Trouble with a file that only the verification wanted is no trouble of the request.
    let (asked, others): (Vec<_>, Vec<_>) = std::mem::take(&mut ran.facts.problems)
        .into_iter()
        .partition(|problem| comparable && is_asked_for(&request.collect, &problem.path));
    ran.facts.problems = asked;
    // A folder without files is no trouble at all.
    let nothing = |problem: &CollectProblem| problem.path == EVERYTHING && left.files.is_empty();
    left.untaken = others.into_iter().find(|problem| !nothing(problem));
    left
}

fn is_asked_for(patterns: &[String], path: &str) -> bool {
    let means = |pattern: &String| pattern == path || matches_whole(pattern, path);
    patterns.iter().any(means) || (path.is_empty() && !patterns.is_empty())
}

/// The verdict where not all that a run left could be taken: to judge the rest would be to judge
/// another solution. Only the run's own processes could make files that init cannot read.
pub(super) fn not_whole(left: Option<&Left>) -> Option<Verdict> {
    let CollectProblem { path, reason } = left?.untaken.as_ref()?;
    let what = if path.is_empty() || path == EVERYTHING {
        String::new()
    } else {
        format!(": {path}")
    };
    let reason = format!("not all that the run left could be taken to be tested{what}: {reason}");
    Some(Verdict::new(Outcome::Failed, reason))
}

/// What `spec` starts from.
///
/// # Errors
/// The verdict where there are more files and globs than can be compared: the run's doing, or the
/// task's.
pub(super) fn workspace(
    request: &Request,
    spec: &VerifySpec,
    left: Option<&Left>,
) -> Result<Workspace, Box<Verdict>> {
    let Some(phase) = spec.phase() else {
        return Ok(Workspace::default());
    };
    let lists = Lists::of(spec);
    let globs = phase.protected.iter().map(String::as_str);
    let globs = globs.chain(lists.globs());
    let paths = request.files.iter().map(|file| file.path.as_str());
    let of_run = left.into_iter().flat_map(|left| left.files.keys());
    let paths = paths.chain(of_run.map(String::as_str));
    let steps = steps(globs, paths);
    if steps > STEPS_MAX {
        let outcome = match left {
            Some(_) => Outcome::Failed,
            None => Outcome::VerifierError,
        };
        let reason = "the files that the tests start from lie too deep, or are too many, to be \
                      compared with the globs of what steers tests";
        return Err(Box::new(Verdict::new(outcome, reason)));
    }
    let requested = requested(request);
    let bytes = usize::try_from(steps).unwrap_or(usize::MAX);
    Ok(heavy(bytes, || {
        lay_out(
            phase,
            &lists,
            &requested,
            left.map(|left| left.files.clone()),
        )
    }))
}

/// What the harness of `spec` is told, where a run came before.
pub(super) fn planned<'a>(
    request: &Request,
    spec: &'a VerifySpec,
    ran: bool,
) -> Cow<'a, VerifySpec> {
    let names_any = spec
        .phase()
        .is_some_and(|phase| !phase.protected.is_empty());
    if !ran || !names_any {
        return Cow::Borrowed(spec);
    }
    let bytes = request.files.iter().map(|file| file.content.len()).sum();
    Cow::Owned(heavy(bytes, || with_protected(spec, &requested(request))))
}

fn requested(request: &Request) -> Files {
    (request.files.iter())
        .map(|file| {
            let (content, mode) = (file.content.clone(), file.mode);
            (file.path.clone(), TestFile { content, mode })
        })
        .collect()
}

/// The files of a sandbox, ours over those of the workspace.
pub(super) fn staged(
    workspace: &Workspace,
    ours: &BTreeMap<String, (Vec<u8>, u32)>,
) -> Vec<InputFile> {
    let theirs = workspace.files.iter().map(|(path, file)| InputFile {
        path: path.clone(),
        content: file.content.clone(),
        mode: file.mode,
    });
    let ours = ours.iter().map(|(path, (content, mode))| InputFile {
        path: path.clone(),
        content: content.clone(),
        mode: *mode,
    });
    theirs.chain(ours).collect()
}

/// The verdict where the files do not fit into a sandbox: the run's doing, or the task's.
pub(super) fn too_large(
    files: &[InputFile],
    limits: &EffectiveLimits,
    ran: bool,
) -> Option<Verdict> {
    let size = |file: &InputFile| (file.content.len() as u64).next_multiple_of(PAGE_BYTES);
    let bytes: u64 = files.iter().map(size).sum();
    let bytes_max = limits.disk_bytes_max.min(limits.memory_bytes_max);
    let reason = if bytes > bytes_max {
        format!(
            "what the tests start from takes {bytes} bytes, more than the {bytes_max} of a sandbox"
        )
    } else if files.len() as u64 > limits.files_max {
        let (count, max) = (files.len(), limits.files_max);
        format!("what the tests start from are {count} files, more than the {max} of a sandbox")
    } else {
        return None;
    };
    let outcome = if ran {
        Outcome::Failed
    } else {
        Outcome::VerifierError
    };
    Some(Verdict::new(outcome, reason))
}
