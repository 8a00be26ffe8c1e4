//! `compile`: does it compile? Errors become diagnostics with their lines.

use crate::diagnostics::{self, DiagnosticFormat};
use crate::ending::Ending;
use crate::grade::{by_ending, describe};
use crate::harness::{HarnessEvidence, HarnessPlan};
use crate::reading::last_words;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{Language, MeasureSpec, ReportFrom, VerifyError};

use super::{Count, carry, first_error, missing, no_tool, number, own, put, said, unknown_format};

/// Perl says this when it came to the end; a `BEGIN` block can end it before, with any code.
const PERL_DONE: &str = "syntax OK";

const FORMATS: &str =
    "give the name of a format of diagnostics, for example gcc_text, rustc_json, sarif";

pub(super) fn check(spec: &MeasureSpec) -> Result<(), VerifyError> {
    if !spec.format.is_empty() && DiagnosticFormat::named(&spec.format).is_none() {
        return unknown_format(&spec.format, FORMATS);
    }
    if spec.argv.is_empty() && spec.file.is_empty() {
        return missing(
            "file",
            "name the file to compile, or give the whole command in verify.argv",
        );
    }
    Ok(())
}

/// Plans the compiling.
pub(crate) fn plan(spec: &MeasureSpec, nonce: &str) -> HarnessPlan {
    if let (true, Some(language)) = (spec.argv.is_empty(), spec.language) {
        return own::plan(own::compiler(language, &spec.file), spec, nonce);
    }
    super::runner::plan_of_author(spec)
}

/// Judges it.
pub(crate) fn judge(spec: &MeasureSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    if let Some(verdict) = by_ending(evidence.ended) {
        return verdict;
    }
    let tool = (spec.language.filter(|_| spec.argv.is_empty()))
        .map(|language| own::compiler(language, &spec.file));
    let all = said(evidence);
    let source = match (&spec.report, tool) {
        (ReportFrom::Descriptor, _) | (_, Some(_)) => Some(&all),
        _ => super::report(spec, evidence),
    };
    let diagnostics = match (format(spec, tool), source) {
        (Some(format), Some(source)) => {
            diagnostics::parse(format, source).unwrap_or_else(|_error| Vec::new())
        }
        _ => Vec::new(),
    };
    let count = Count::of(&diagnostics);
    let code = match evidence.ended.ending {
        Ending::Exited { code } => Some(*code),
        _ => None,
    };
    let done = spec.language != Some(Language::Perl)
        || tool.is_none()
        || String::from_utf8_lossy(all.inner()).contains(PERL_DONE);
    let mut verdict = if code == Some(0) && done {
        match spec.max_warnings {
            Some(max) if count.warnings > max as usize => {
                let reason = format!("{} warnings, at most {max} are allowed", count.warnings);
                Verdict::new(Outcome::Failed, reason)
            }
            _ => Verdict::new(Outcome::Passed, ""),
        }
    } else {
        match (tool, own::is_broken(nonce, evidence)) {
            (Some(tool), Some(true)) => return no_tool(tool.name),
            (Some(tool), None) if matches!(code, Some(126 | 127)) => return no_tool(tool.name),
            _ => {}
        }
        let reason = first_error(&diagnostics).unwrap_or_else(|| {
            format!(
                "the compiler {}: {}",
                describe(evidence.ended.ending),
                last_words(&all)
            )
        });
        Verdict::new(Outcome::CompileError, reason)
    };
    let compiled = verdict.outcome() != Outcome::CompileError;
    put(&mut verdict, "compile_ok", f64::from(u8::from(compiled)));
    put(&mut verdict, "errors", number(count.errors));
    put(&mut verdict, "warnings", number(count.warnings));
    carry(&mut verdict, diagnostics);
    verdict
}

fn format(spec: &MeasureSpec, tool: Option<own::Tool>) -> Option<DiagnosticFormat> {
    let of_language = || Some(own::compiler(spec.language?, &spec.file).format);
    (tool.map(|tool| tool.format))
        .or_else(|| DiagnosticFormat::named(&spec.format))
        .or_else(of_language)
        .or(Some(DiagnosticFormat::GccText))
}
