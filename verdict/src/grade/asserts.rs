//! The verdict on test code that called a solution in another sandbox.

use std::collections::BTreeMap;

use super::report::{self, Load, Report, ReportError};
use super::{ENDED_BY_GRADER, Ended, by_ending, by_host, describe};
use crate::ending::Ending;
use crate::plan::is_built;
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Outcome, Severity, TamperNote, TestResult, TestStatus, Verdict};
use crate::verify::{AssertsSpec, Language, OnTamper};

/// Judges by the report of our judge and by how both sandboxes ended.
///
/// A pass needs: no host fault, no kernel kill for memory in either sandbox, a whole report with
/// this run's nonce, at least one test in it, and every required test passed.
#[must_use]
pub fn judge_asserts(
    spec: &AssertsSpec,
    nonce: &str,
    report: &Untrusted<Vec<u8>>,
    solution: Ended<'_>,
    judge: Ended<'_>,
) -> Verdict {
    if let Some(verdict) = by_host(judge.ending).or_else(|| by_host(solution.ending)) {
        return verdict;
    }
    // A program that was built from the solution is the solution's own, and so is that it does not
    // start; an interpreter is the image's.
    let interpreter = (!is_built(spec)).then_some(("the solution's interpreter", solution.ending));
    let mut needed = [("the judge", judge.ending)].into_iter().chain(interpreter);
    if let Some(verdict) = needed.find_map(|(who, ending)| not_started(who, ending)) {
        return verdict;
    }
    let report = report::read(report, nonce);
    // A whole report is written before the judge ends; time that ran out after it is no matter.
    let late = matches!(
        solution.ending,
        Ending::WallTimeUp { .. } | Ending::CpuTimeUp { .. }
    ) && solution.oom_kills == 0
        && report
            .as_ref()
            .is_ok_and(|report| report.gone.is_none() && is_loaded(report));
    let mut verdict = match (&report, by_ending(solution)) {
        (_, Some(verdict)) if !late => verdict,
        _ => by_report(spec, &report, solution, judge),
    };
    if let Ok(report) = &report {
        verdict.tests = report.tests.iter().map(test_result).collect();
        verdict.tamper = report
            .changed
            .iter()
            .map(|name| tamper_note(name))
            .collect();
    }
    verdict
}

fn not_started(who: &str, ending: &Ending) -> Option<Verdict> {
    matches!(ending, Ending::NotStarted { .. }).then(|| {
        let reason = format!("{who} cannot run in this image: {}", describe(ending));
        Verdict::new(Outcome::VerifierError, reason)
    })
}

fn is_loaded(report: &Report) -> bool {
    report.load.as_ref().is_some_and(|load| load.state == "ok")
}

fn by_report(
    spec: &AssertsSpec,
    report: &Result<Report, ReportError>,
    solution: Ended<'_>,
    judge: Ended<'_>,
) -> Verdict {
    // The judge reads what the solution sends: whatever ends it is the solution's doing, unless
    // the host says otherwise.
    if judge.oom_kills > 0 || matches!(judge.ending, Ending::MemoryUp { .. }) {
        let reason = "the judge ran out of memory on what the solution returned";
        return Verdict::new(Outcome::Failed, reason);
    }
    let report = match report {
        Ok(report) => report,
        Err(error) => return without_report(error, judge.ending),
    };
    if let Some(error) = &report.verifier_error {
        return Verdict::new(Outcome::VerifierError, error.clone());
    }
    match &report.load {
        Some(load) if load.state == "ok" => {}
        load => return by_load(spec.language, load.as_ref(), solution.ending),
    }
    if let Some(test) = &report.gone {
        let how = describe(solution.ending);
        let reason = format!("the solution's process did not survive test {test}: {how}");
        return Verdict::new(Outcome::Failed, reason);
    }
    by_tests(spec, report)
}

fn without_report(error: &ReportError, judge: &Ending) -> Verdict {
    match judge {
        Ending::WallTimeUp { .. } => {
            let reason = format!(
                "the judge waited for the solution in vain: {}",
                describe(judge)
            );
            Verdict::new(Outcome::Timeout, reason)
        }
        _ => Verdict::new(
            Outcome::Failed,
            format!("{error}; the judge {}", describe(judge)),
        ),
    }
}

fn by_load(language: Language, load: Option<&Load>, solution: &Ending) -> Verdict {
    let Some(load) = load else {
        return Verdict::new(Outcome::NoTests, "the solution was never loaded");
    };
    match load.state.as_str() {
        "syntax_error" => {
            let reason = format!("{}: {}", load.kind, load.message);
            let mut verdict = Verdict::new(Outcome::CompileError, reason);
            verdict.diagnostics.push(diagnostic(language, load));
            verdict
        }
        "exit" => {
            let code = load.code.unwrap_or(0);
            let reason = format!("the solution called exit({code}) while it was loaded");
            Verdict::new(Outcome::NoTests, reason)
        }
        "missing" => {
            let reason = format!("{} cannot be read: {}", load.file, load.message);
            Verdict::new(Outcome::Failed, reason)
        }
        "exception" => {
            let reason = format!(
                "{} while the solution was loaded: {}",
                load.kind, load.message
            );
            let mut verdict = Verdict::new(Outcome::Failed, reason);
            verdict.diagnostics.push(diagnostic(language, load));
            verdict
        }
        _ => match solution {
            Ending::Signalled { .. } => {
                let how = describe(solution);
                Verdict::new(
                    Outcome::Failed,
                    format!("the solution crashed while loaded: {how}"),
                )
            }
            _ => {
                let how = match solution {
                    Ending::Cancelled { by } if by == ENDED_BY_GRADER => "spoke out of turn".into(),
                    _ => describe(solution),
                };
                let reason = format!("the solution's process {how} before any test could run");
                Verdict::new(Outcome::NoTests, reason)
            }
        },
    }
}

fn by_tests(spec: &AssertsSpec, report: &Report) -> Verdict {
    let ran = |test: &&report::ReportedTest| test.status != TestStatus::Skipped;
    if report.tests.iter().filter(ran).count() == 0 {
        let reason = match report.tests.len() {
            0 => "no test was reported".to_owned(),
            count => format!("all {count} tests were skipped"),
        };
        return Verdict::new(Outcome::NoTests, reason);
    }
    let passed: BTreeMap<&str, bool> = (report.tests.iter())
        .map(|test| (test.id.as_str(), test.status == TestStatus::Passed))
        .collect();
    let bad = report
        .tests
        .iter()
        .find(|test| !matches!(test.status, TestStatus::Passed | TestStatus::Skipped));
    if let Some(test) = bad {
        return Verdict::new(Outcome::Failed, format!("{}: {}", test.id, test.message));
    }
    if let Some(id) = spec
        .required_ids()
        .iter()
        .find(|id| passed.get(*id) != Some(&true))
    {
        return Verdict::new(Outcome::Failed, format!("required test {id} did not pass"));
    }
    if !report.changed.is_empty() {
        let reason = format!("the solution replaced {}", report.changed.join(", "));
        let outcome = match spec.on_tamper {
            OnTamper::Grade => Outcome::Failed,
            OnTamper::Zero => Outcome::Tampered,
        };
        return Verdict::new(outcome, reason);
    }
    Verdict::new(Outcome::Passed, "")
}

fn test_result(test: &report::ReportedTest) -> TestResult {
    TestResult {
        id: test.id.clone(),
        status: test.status,
        duration_ms: test.duration_ms,
        message: test.message.clone(),
        file: String::new(),
        line: test.line,
    }
}

fn tamper_note(name: &str) -> TamperNote {
    let what = "replaced in the solution's interpreter".to_owned();
    TamperNote {
        path: name.to_owned(),
        what,
    }
}

fn diagnostic(language: Language, load: &Load) -> Diagnostic {
    let tool = match language {
        Language::Python => "python3",
        Language::JavaScript => "node",
        other => other.name(),
    };
    Diagnostic {
        tool: tool.to_owned(),
        severity: Severity::Error,
        code: load.kind.clone(),
        message: load.message.clone(),
        file: load.file.clone(),
        line: load.line,
        column: load.column,
    }
}
