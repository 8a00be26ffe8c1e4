//! The verdict on a program that could not be built; none where it was built and can be run.

use super::{Ended, Output, WHERE_PROGRAMS_ARE, by_ending, by_host, describe};
use crate::diagnostics;
use crate::ending::Ending;
use crate::plan::build::{Build, Builder};
use crate::verdict::{Diagnostic, Outcome, Verdict};

/// Bytes of a compiler's output that a reason quotes at most.
const QUOTED_BYTES_MAX: usize = 400;

/// What a build came to.
#[derive(Debug, Clone, Copy)]
pub struct BuildEvidence<'a> {
    /// How its command ended.
    pub ended: Ended<'a>,
    /// Its standard output.
    pub stdout: Output<'a>,
    /// Its standard error.
    pub stderr: Output<'a>,
    /// Paths of the files that were carried on.
    pub carried: &'a [&'a str],
}

/// Judges by the building alone; `None` = there is a program to run.
///
/// A compiler that is not there is the verifier's trouble, whoever needed it. Beyond that the
/// solution's own program is the solution's doing, and the judge's is the verifier's.
#[must_use]
pub fn judge_build(build: &Build, whose: Builder, evidence: BuildEvidence<'_>) -> Option<Verdict> {
    let ended = evidence.ended;
    if let Some(verdict) = by_host(ended.ending) {
        return Some(verdict);
    }
    if matches!(ended.ending, Ending::NotStarted { .. }) {
        let reason = format!(
            "the compiler cannot run in this image: {}; {WHERE_PROGRAMS_ARE}",
            describe(ended.ending)
        );
        return Some(Verdict::new(Outcome::VerifierError, reason));
    }
    let missing = build
        .required
        .iter()
        .find(|path| !evidence.carried.contains(&path.as_str()));
    let (how, by_limit) = match (by_ending(ended), ended.ending, missing) {
        (Some(verdict), ..) => (verdict.reason.clone(), Some(verdict)),
        (None, Ending::Exited { code: 0 }, None) => return None,
        (None, Ending::Exited { code: 0 }, Some(path)) => {
            (format!("the compiler left no {path}"), None)
        }
        (None, ending, _) => (format!("the compiler {}", describe(ending)), None),
    };
    let diagnostics = messages(build, evidence);
    let said = first_error(&diagnostics).unwrap_or_else(|| quoted(evidence, &how));
    let mut verdict = match (whose, by_limit) {
        (Builder::Solution, Some(verdict)) => verdict,
        (Builder::Solution, None) => Verdict::new(Outcome::CompileError, said),
        (Builder::Judge, _) => {
            let reason = format!("the test code does not compile: {said}");
            Verdict::new(Outcome::VerifierError, reason)
        }
        (Builder::JudgeOfSolution, _) => {
            let reason = format!("the test code does not compile against the solution: {said}");
            Verdict::new(Outcome::CompileError, reason)
        }
    };
    verdict.diagnostics = diagnostics;
    Some(verdict)
}

/// What the compiler said, in the lines of the file as its author wrote it. Messages that cannot be
/// read are quoted instead.
fn messages(build: &Build, evidence: BuildEvidence<'_>) -> Vec<Diagnostic> {
    let Some(format) = build.messages else {
        return Vec::new();
    };
    let mut found = [evidence.stderr, evidence.stdout]
        .into_iter()
        .find_map(|output| {
            diagnostics::parse(format, output.kept)
                .ok()
                .filter(|found| !found.is_empty())
        })
        .unwrap_or_default();
    for one in &mut found {
        if let Some((_, file)) = build
            .files_renamed
            .iter()
            .find(|(as_built, _)| *as_built == one.file)
        {
            one.file.clone_from(file);
            one.line = one
                .line
                .map(|line| line.saturating_sub(build.lines_before).max(1));
        }
    }
    found
}

fn first_error(diagnostics: &[Diagnostic]) -> Option<String> {
    let error = diagnostics
        .iter()
        .find(|one| one.severity == crate::verdict::Severity::Error)?;
    let line = error.line.map_or(String::new(), |line| format!(":{line}"));
    Some(format!("{}{line}: {}", error.file, error.message))
}

/// The last of what it wrote, where no message could be read.
fn quoted(evidence: BuildEvidence<'_>, how: &str) -> String {
    let text = String::from_utf8_lossy(evidence.stderr.kept.inner());
    let mut text = text.trim();
    while text.len() > QUOTED_BYTES_MAX {
        let (_, rest) = text.split_once(char::is_whitespace).unwrap_or_default();
        text = rest.trim_start();
    }
    if text.is_empty() {
        return how.to_owned();
    }
    format!("{how}: {text}")
}

#[cfg(test)]
mod tests;
