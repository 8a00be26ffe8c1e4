//! `coverage`: how much of the solution do its tests reach?

use crate::coverage::{self, CoverageFormat, CoverageReport};
use crate::ending::Ending;
use crate::grade::{by_ending, describe};
use crate::harness::{HarnessEvidence, HarnessPlan};
use crate::reading::last_words;
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, TamperNote, Verdict};
use crate::verify::{Language, MeasureSpec, OnTamper, VerifyError};

use super::runner::{self, Steps};
use super::{missing, no_tool, put, said, unknown_format};

const FORMATS: &str = "give one of lcov, cobertura, coverage_py_json, gcov_json, gcov_text, llvm_cov_json, go_cover, jacoco";

/// Our program's mode; `None` where the author's command writes a report.
fn mode(spec: &MeasureSpec) -> Option<&'static str> {
    if !spec.format.is_empty() {
        return None;
    }
    match spec.language {
        Some(Language::Python) => Some("coverage_python"),
        Some(Language::C | Language::Cpp) => Some("coverage_gcov"),
        _ => None,
    }
}

pub(super) fn check(spec: &MeasureSpec) -> Result<(), VerifyError> {
    if !spec.format.is_empty() && CoverageFormat::named(&spec.format).is_none() {
        return unknown_format(&spec.format, FORMATS);
    }
    match (mode(spec), spec.argv.is_empty()) {
        (None, _) if spec.format.is_empty() => missing("format", FORMATS),
        (None, true) => missing(
            "argv",
            "give the command that runs the tests and writes the report",
        ),
        (Some("coverage_python"), true) => missing(
            "argv",
            "give the command that runs the tests: python3 ..., or pytest ...",
        ),
        (Some(_), true) if spec.file.is_empty() => missing(
            "file",
            "name the file to build and run, or give the command in verify.argv",
        ),
        _ => Ok(()),
    }
}

/// Plans the running of the tests.
pub(crate) fn plan(spec: &MeasureSpec, nonce: &str) -> HarnessPlan {
    match mode(spec) {
        Some(mode) => runner::plan(spec, nonce, mode),
        None => runner::plan_of_author(spec),
    }
}

/// Judges it.
pub(crate) fn judge(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if let Some(verdict) = by_ending(evidence.ended) {
        return verdict;
    }
    if mode(spec).is_some() {
        return by_steps(spec, nonce, evidence);
    }
    let report = super::report(spec, evidence);
    let (Some(format), Some(report)) = (CoverageFormat::named(&spec.format), report) else {
        let reason = "the report was not written, or is longer than what is read";
        return Verdict::new(Outcome::Failed, reason);
    };
    match coverage::parse(format, report) {
        Ok(report) => {
            let fault = match evidence.ended.ending {
                Ending::Exited { code: 0 } => None,
                ending => Some(format!("the command {}", describe(ending))),
            };
            by_share(spec, report, fault)
        }
        Err(error) => {
            let reason = format!("the report cannot be read: {error}");
            Verdict::new(Outcome::Failed, reason)
        }
    }
}

fn by_steps(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if evidence.report_too_long {
        let reason = "the report is longer than what is read";
        return Verdict::new(Outcome::Failed, reason);
    }
    let steps = Steps::read(nonce, evidence);
    // Told before anything of the solution ran.
    match steps.first("tools", "") {
        None => {
            let ending = describe(evidence.ended.ending);
            let reason = format!("our own program did not start its work: it {ending}");
            return Verdict::new(Outcome::VerifierError, reason);
        }
        Some(tools) if !tools.coverage => {
            return no_tool(match spec.language {
                Some(Language::Python) => "coverage.py",
                _ => "gcc with gcov",
            });
        }
        Some(_) => {}
    }
    if let Some(build) = steps.first("build", "").filter(|build| build.code != 0) {
        let reason = build.text.lines().next().unwrap_or("it does not compile");
        return Verdict::new(Outcome::CompileError, reason);
    }
    let (Some(run), Some(report), true) = (
        steps.first("run", ""),
        steps.first("report", ""),
        steps.ended(),
    ) else {
        let reason = "the tests ended our own program before it had reported";
        return Verdict::new(Outcome::Failed, reason);
    };
    let text = Untrusted::new(report.text.clone().into_bytes());
    let read = match CoverageFormat::named(&report.tool) {
        Some(format) => coverage::parse(format, &text).map_err(|error| error.to_string()),
        None => Err(report.text.clone()),
    };
    let fault = (run.code != 0).then(|| {
        let said = last_words(&said(evidence));
        format!("the tests ended with code {}: {said}", run.code)
    });
    let mut verdict = match read {
        Ok(report) => by_share(spec, report, fault),
        Err(why) => {
            let reason = fault.unwrap_or_else(|| format!("nothing was measured: {why}"));
            Verdict::new(Outcome::Failed, reason)
        }
    };
    for changed in steps.all("changed").take(100) {
        verdict.tamper.push(TamperNote {
            path: changed.text.clone(),
            what: "changed while the tests ran; what is counted is what it was before".to_owned(),
        });
    }
    if spec.phase.on_tamper == OnTamper::Zero
        && let Some(first) = verdict.tamper.first()
    {
        let reason = format!("{} was changed while the tests ran", first.path);
        let mut tampered = Verdict::new(Outcome::Tampered, reason);
        tampered.tamper = verdict.tamper;
        return tampered;
    }
    verdict
}

/// Whether a file of a report is one of those that are measured.
fn is_measured(spec: &MeasureSpec, path: &str) -> bool {
    let relative = path.strip_prefix("/workspace/").unwrap_or(path);
    let relative = relative.strip_prefix("./").unwrap_or(relative);
    if spec.file.is_empty() {
        return !relative.starts_with('/');
    }
    let below = relative.strip_prefix(spec.file.as_str());
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || relative.ends_with(&format!("/{}", spec.file))
}

fn by_share(spec: &MeasureSpec, report: CoverageReport, fault: Option<String>) -> Verdict {
    // coverage.py was told what to measure; all others tell of everything that they saw.
    let report = match mode(spec) {
        Some("coverage_python") => report,
        Some(_) => report.only(|path| is_measured(spec, path)),
        None if spec.file.is_empty() => report,
        None => report.only(|path| is_measured(spec, path)),
    };
    let Some(pct) = report.pct() else {
        let reason = fault.unwrap_or_else(|| "nothing that can run was measured".to_owned());
        return Verdict::new(Outcome::NoTests, reason);
    };
    let mut verdict = match (fault, spec.min_coverage_pct) {
        (Some(fault), _) => Verdict::new(Outcome::Failed, fault),
        (None, Some(min)) if pct < min => {
            let reason = format!("{pct:.2} % is covered, at least {min} % is asked");
            Verdict::new(Outcome::Failed, reason)
        }
        _ => Verdict::new(Outcome::Passed, ""),
    };
    put(&mut verdict, "coverage_pct", pct);
    if let Some(baseline) = spec.baseline_coverage_pct {
        put(&mut verdict, "coverage_delta_pct", pct - baseline);
    }
    put(
        &mut verdict,
        "coverage_files",
        super::number(report.files.len()),
    );
    verdict
}
