//! `lint`: how many errors and warnings does a linter find?

use crate::diagnostics::{self, DiagnosticFormat};
use crate::ending::Ending;
use crate::grade::{by_ending, describe};
use crate::harness::{HarnessEvidence, HarnessPlan};
use crate::reading::ReadError;
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Outcome, Verdict};
use crate::verify::{MeasureSpec, VerifyError};

use super::{Count, carry, first_error, missing, no_tool, number, own, put, unknown_format};

const FORMATS: &str = "give the name of a format of diagnostics, for example sarif, ruff_json, eslint_json, clippy_json, gcc_text, lines";

pub(super) fn check(spec: &MeasureSpec) -> Result<(), VerifyError> {
    if !spec.argv.is_empty() {
        return match spec.format.as_str() {
            "" => missing("format", FORMATS),
            format if DiagnosticFormat::named(format).is_none() => unknown_format(format, FORMATS),
            _ => Ok(()),
        };
    }
    if spec.file.is_empty() {
        return missing(
            "file",
            "name the file to check, or give the whole command in verify.argv",
        );
    }
    match tool(spec) {
        Some(_) => Ok(()),
        None => missing(
            "argv",
            "there is no linter of ours for this language: give the whole command and verify.format",
        ),
    }
}

fn tool(spec: &MeasureSpec) -> Option<own::Tool> {
    let language = spec.language.filter(|_| spec.argv.is_empty())?;
    own::linter(language, &spec.file)
}

/// Plans the checking.
pub(crate) fn plan(spec: &MeasureSpec, nonce: &str) -> HarnessPlan {
    match tool(spec) {
        Some(tool) => own::plan(tool, spec, nonce),
        None => super::runner::plan_of_author(spec),
    }
}

/// Judges it.
pub(crate) fn judge(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if let Some(verdict) = by_ending(evidence.ended) {
        return verdict;
    }
    let tool = tool(spec);
    let done = match evidence.ended.ending {
        Ending::Exited { code } => tool.is_none_or(|tool| *code <= tool.code_max),
        _ => false,
    };
    if let Some(tool) = tool
        && own::is_broken(nonce, evidence).unwrap_or(!done)
    {
        return no_tool(tool.name);
    }
    if !done {
        let reason = format!("the linter {}", describe(evidence.ended.ending));
        return Verdict::new(Outcome::Failed, reason);
    }
    let diagnostics = match read(spec, tool, evidence) {
        Ok(Some(diagnostics)) => diagnostics,
        Ok(None) => {
            let reason = "the linter's report was not written, or is longer than what is read";
            return Verdict::new(Outcome::Failed, reason);
        }
        Err(error) => {
            let reason = format!("the linter's report cannot be read: {error}");
            return Verdict::new(Outcome::Failed, reason);
        }
    };
    let silent =
        diagnostics.is_empty() && !matches!(evidence.ended.ending, Ending::Exited { code: 0 });
    if silent {
        // It complained, and we understood nothing of it.
        let reason = format!(
            "the linter {} and reported nothing",
            describe(evidence.ended.ending)
        );
        return Verdict::new(Outcome::Failed, reason);
    }
    by_count(spec, diagnostics)
}

fn read(
    spec: &MeasureSpec,
    tool: Option<own::Tool>,
    evidence: &HarnessEvidence<'_>,
) -> Result<Option<Vec<Diagnostic>>, ReadError> {
    if let Some(tool) = tool {
        let streams = [evidence.stdout, evidence.stderr];
        if streams.iter().any(|stream| stream.dropped_bytes > 0) {
            return Ok(None);
        }
        // Documents stand alone on standard output; lines may come from either.
        let all = match tool.format.is_document() {
            true => evidence.stdout.kept.clone(),
            false => super::said(evidence),
        };
        return diagnostics::parse(tool.format, &all).map(Some);
    }
    let named = DiagnosticFormat::named(&spec.format);
    let report: Option<&Untrusted<Vec<u8>>> = super::report(spec, evidence);
    match (named, report) {
        (Some(format), Some(report)) => diagnostics::parse(format, report).map(Some),
        _ => Ok(None),
    }
}

fn by_count(spec: &MeasureSpec, diagnostics: Vec<Diagnostic>) -> Verdict {
    let count = Count::of(&diagnostics);
    let mut reasons = Vec::new();
    if count.errors > spec.max_errors as usize {
        let max = spec.max_errors;
        let first = first_error(&diagnostics).unwrap_or_default();
        reasons.push(format!(
            "{} errors, at most {max} are allowed; the first: {first}",
            count.errors
        ));
    }
    if let Some(max) = spec.max_warnings
        && count.warnings > max as usize
    {
        reasons.push(format!(
            "{} warnings, at most {max} are allowed",
            count.warnings
        ));
    }
    let outcome = if reasons.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let mut verdict = Verdict::new(outcome, reasons.join("; "));
    put(&mut verdict, "lint_errors", number(count.errors));
    put(&mut verdict, "lint_warnings", number(count.warnings));
    carry(&mut verdict, diagnostics);
    verdict
}
