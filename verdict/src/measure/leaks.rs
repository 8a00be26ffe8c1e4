//! `leaks`: what memory does it lose or misuse? By default both with sanitizers and under
//! valgrind, whose findings differ; the larger number counts.

use crate::diagnostics::{self, DiagnosticFormat};
use crate::ending::Ending;
use crate::grade::{by_ending, describe};
use crate::harness::{HarnessEvidence, HarnessPlan};
use crate::leaks::{self, LeakFormat, LeakReport};
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{Language, MeasureSpec, VerifyError};

use super::runner::{self, Step, Steps};
use super::{carry, first_error, missing, no_tool, number, put, unknown_format};

/// The exit code of a program that a sanitizer ended.
const SANITIZER_CODE: i64 = 97;

const FORMATS: &str = "give asan or valgrind_xml";

pub(super) fn check(spec: &MeasureSpec) -> Result<(), VerifyError> {
    if !spec.format.is_empty() && LeakFormat::named(&spec.format).is_none() {
        return unknown_format(&spec.format, FORMATS);
    }
    if !spec.argv.is_empty() {
        return match spec.format.as_str() {
            "" => missing("format", FORMATS),
            _ => Ok(()),
        };
    }
    if spec.file.is_empty() {
        return missing(
            "file",
            "name the file to build, or give the whole command in verify.argv",
        );
    }
    match spec.language {
        Some(Language::C | Language::Cpp) => Ok(()),
        _ => missing(
            "argv",
            "only c and cpp are built by us: give the whole command and verify.format",
        ),
    }
}

/// Plans the building and running.
pub(crate) fn plan(spec: &MeasureSpec, nonce: &str) -> HarnessPlan {
    if spec.argv.is_empty() {
        return runner::plan(spec, nonce, "leaks");
    }
    runner::plan_of_author(spec)
}

/// Judges it.
pub(crate) fn judge(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if let Some(verdict) = by_ending(evidence.ended) {
        return verdict;
    }
    if spec.argv.is_empty() {
        return by_steps(spec, nonce, evidence);
    }
    let report = super::report(spec, evidence);
    let read = match (LeakFormat::named(&spec.format), report) {
        (Some(format), Some(report)) => leaks::parse(format, report),
        _ => {
            let reason = "the report was not written, or is longer than what is read";
            return Verdict::new(Outcome::Failed, reason);
        }
    };
    match read {
        Err(error) => unreadable(&error.to_string()),
        Ok(report) if spec.format == "valgrind_xml" && !report.complete => {
            unreadable("valgrind did not come to its end")
        }
        Ok(report) => {
            let fault = match evidence.ended.ending {
                Ending::Exited { code: 0 } => None,
                ending => Some(format!("the command {}", describe(ending))),
            };
            by_findings(spec, &[report], fault)
        }
    }
}

fn unreadable(why: &str) -> Verdict {
    Verdict::new(
        Outcome::Failed,
        format!("the report cannot be believed: {why}"),
    )
}

fn by_steps(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if evidence.report_too_long {
        return unreadable("it is longer than what is read");
    }
    let steps = Steps::read(nonce, evidence);
    // Told before anything of the solution was built, let alone run.
    let Some(tools) = steps.first("tools", "") else {
        let ending = describe(evidence.ended.ending);
        let reason = format!("our own program did not start its work: it {ending}");
        return Verdict::new(Outcome::VerifierError, reason);
    };
    if let Some(verdict) = unusable(spec, tools) {
        return verdict;
    }
    if let Some(build) = steps.all("build").find(|step| step.code != 0) {
        return does_not_build(build);
    }
    let mut reports = Vec::new();
    let mut fault = None;
    for run in steps.all("run") {
        let (report, why) = of_run(run);
        if let Some(why) = why {
            fault = Some(format!("the report cannot be believed: {why}"));
        } else if report.findings.is_empty() && run.code != 0 {
            fault = Some(ended_with(run));
        }
        reports.push(report);
    }
    if !steps.ended() || reports.len() != tools.tools.len() {
        let reason = "the program ended our own before it had reported";
        return Verdict::new(Outcome::Failed, reason);
    }
    let mut verdict = by_findings(spec, &reports, fault);
    put(
        &mut verdict,
        "leak_sanitizer",
        f64::from(u8::from(tools.lsan)),
    );
    verdict
}

/// What is missing in this image for what was asked.
fn unusable(spec: &MeasureSpec, tools: &Step) -> Option<Verdict> {
    let lacks = |name: &str| !tools.tools.iter().any(|tool| tool == name);
    if !tools.compiler {
        return Some(no_tool("the compiler"));
    }
    match spec.format.as_str() {
        "asan" if lacks("asan") => Some(no_tool("gcc with its sanitizers")),
        "valgrind_xml" if lacks("valgrind") => Some(no_tool("valgrind")),
        "" if lacks("valgrind") && !tools.lsan => {
            let reason = "there is no valgrind, and the policy denies what LeakSanitizer needs \
                          (ptrace): nothing can look for leaks";
            Some(Verdict::new(Outcome::VerifierError, reason))
        }
        _ => None,
    }
}

fn does_not_build(build: &Step) -> Verdict {
    let said = Untrusted::new(build.text.clone().into_bytes());
    let read = diagnostics::parse(DiagnosticFormat::GccText, &said);
    let diagnostics = read.unwrap_or_else(|_error| Vec::new());
    let reason = first_error(&diagnostics);
    let reason = reason.unwrap_or_else(|| "it does not compile".to_owned());
    let mut verdict = Verdict::new(Outcome::CompileError, reason);
    put(&mut verdict, "compile_ok", 0.0);
    carry(&mut verdict, diagnostics);
    verdict
}

/// What a tool found, and why its report cannot be believed if it cannot.
fn of_run(run: &Step) -> (LeakReport, Option<String>) {
    let format = match run.tool.as_str() {
        "asan" => LeakFormat::Asan,
        _ => LeakFormat::ValgrindXml,
    };
    let text = Untrusted::new(run.text.clone().into_bytes());
    let report = match leaks::parse(format, &text) {
        Ok(report) => report,
        Err(error) => return (LeakReport::default(), Some(error.to_string())),
    };
    let why = match format {
        LeakFormat::ValgrindXml if !report.complete => "valgrind did not come to its end",
        LeakFormat::Asan if run.code == SANITIZER_CODE && report.findings.is_empty() => {
            "a sanitizer ended the program, and its findings are gone"
        }
        _ => return (report, None),
    };
    (report, Some(why.to_owned()))
}

fn ended_with(run: &Step) -> String {
    match run.code {
        code if code < 0 => format!("the program was ended by signal {}", -code),
        code => format!("the program exited with code {code}"),
    }
}

fn by_findings(spec: &MeasureSpec, reports: &[LeakReport], fault: Option<String>) -> Verdict {
    let most = |of: &dyn Fn(&LeakReport) -> usize| reports.iter().map(of).max().unwrap_or(0);
    let found = most(&|report| report.findings.len());
    let leaks = most(&LeakReport::leaks);
    let misuses = most(&|report| report.findings.len() - report.leaks());
    let bytes = reports
        .iter()
        .map(LeakReport::leaked_bytes)
        .max()
        .unwrap_or(0);
    let diagnostics: Vec<_> = (reports.iter())
        .flat_map(|report| report.findings.iter().map(leaks::Finding::diagnostic))
        .collect();
    let mut verdict = if found > spec.max_leaks as usize {
        let first = first_error(&diagnostics).unwrap_or_default();
        let max = spec.max_leaks;
        let reason = format!(
            "{found} leaks and misuses of memory, at most {max} are allowed; the first: {first}"
        );
        Verdict::new(Outcome::Failed, reason)
    } else if let Some(fault) = fault {
        Verdict::new(Outcome::Failed, fault)
    } else {
        Verdict::new(Outcome::Passed, "")
    };
    put(&mut verdict, "compile_ok", 1.0);
    put(&mut verdict, "leaks", number(leaks));
    put(&mut verdict, "memory_errors", number(misuses));
    #[expect(clippy::cast_precision_loss, reason = "a measure")]
    put(&mut verdict, "leaked_bytes", bytes as f64);
    carry(&mut verdict, diagnostics);
    verdict
}
