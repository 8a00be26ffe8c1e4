//! A whole verification after the request's own run: one kind, or several that are combined, each
//! in sandboxes of its own and one after the other.

use verdict::grade::{by_ending, combine};
use verdict::{CombinedSpec, Outcome, Verdict, VerifySpec, is_built};

use super::answer::by_answer;
use super::cases::by_cases;
use super::phase::Left;
use super::{Ask, Judged, by_asserts, by_run, command, ended};
use crate::run::conclude::Concluded;
use crate::run::program::Ran;

/// The request's own run: what came of it, and what it left in `/workspace` if that was taken.
#[derive(Clone, Copy)]
pub(in crate::run) struct First<'a> {
    pub ran: &'a Ran,
    pub concluded: &'a Concluded,
    pub left: Option<&'a Left>,
}

/// Judges by `spec`. Sandboxes are named by `base`.
pub(in crate::run) async fn verify(
    ask: Ask<'_>,
    spec: &VerifySpec,
    first: Option<First<'_>>,
    base: &str,
) -> Judged {
    match spec {
        VerifySpec::Combined(spec) => by_parts(ask, spec, first, base).await,
        one => by_one(ask, one, first, base).await,
    }
}

async fn by_one(ask: Ask<'_>, spec: &VerifySpec, first: Option<First<'_>>, base: &str) -> Judged {
    match spec {
        VerifySpec::ExitCode(_) | VerifySpec::Stdout(_) => {
            let verdict = match first {
                Some(first) => by_run(Some(spec), first.ran, first.concluded),
                // Excluded by the check of the request.
                None => Verdict::new(Outcome::VerifierError, "no run to judge"),
            };
            Judged::without_run(verdict)
        }
        VerifySpec::Asserts(asserts) => {
            let ids = (format!("{base}-solution"), format!("{base}-judge"));
            if !is_built(asserts) && !ask.recorded {
                for (id, role) in [(&ids.0, "solution"), (&ids.1, "judge")] {
                    if let Err(fault) = ask.record(id, role).await {
                        return Judged::fault(fault);
                    }
                }
            }
            let with = (asserts, ask.plan);
            by_asserts(ask.inner, ask.request, with, &ids, ask.outside).await
        }
        VerifySpec::Harness(_) | VerifySpec::Measure(_) => {
            if let Some(first) = first
                && let Some(verdict) = by_ending(ended(first.concluded))
            {
                return Judged::without_run(verdict);
            }
            let left = first.and_then(|first| first.left);
            command::by_command(ask, spec, left, &format!("{base}-tests")).await
        }
        VerifySpec::Cases(cases) => {
            let id = format!("{base}-cases");
            by_cases(ask, cases, &id).await
        }
        VerifySpec::Answer(answer) => {
            let id = format!("{base}-judge");
            let run = first.map(|first| (first.ran, first.concluded));
            let by = (run, id.as_str());
            let verdict = by_answer(ask.inner, ask.request, answer, by, ask.outside).await;
            Judged::without_run(verdict)
        }
        // Excluded by the check of the request.
        VerifySpec::Combined(_) => {
            let reason = "a part cannot be a combination itself";
            Judged::without_run(Verdict::new(Outcome::VerifierError, reason))
        }
    }
}

async fn by_parts(
    ask: Ask<'_>,
    spec: &CombinedSpec,
    first: Option<First<'_>>,
    base: &str,
) -> Judged {
    let ask = Ask {
        recorded: false,
        ..ask
    };
    let mut solution: Option<Ran> = None;
    let mut verdicts = Vec::with_capacity(spec.parts.len());
    for (number, part) in (1..).zip(&spec.parts) {
        let base = format!("{base}-{number}");
        let judged = Box::pin(by_one(ask, &part.verify, first, &base)).await;
        verdicts.push(judged.verdict);
        // The first that had a sandbox at all stands for the run that the request did not ask for.
        if !judged.solution.sandbox_id.is_empty() {
            solution.get_or_insert(judged.solution);
        }
    }
    let verdict = combine(spec, verdicts);
    match solution {
        Some(solution) => Judged { solution, verdict },
        None => Judged::without_run(verdict),
    }
}
