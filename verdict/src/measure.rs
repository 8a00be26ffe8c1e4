//! What a compiler, a coverage tool, a leak checker or a linter says about a solution, turned into
//! a verdict: what to start, and what its evidence means. One module per kind. Pure: it does not
//! know how a sandbox is had.
//!
//! A missing or broken tool is the image's fault and earns nothing. It is told by our own check of
//! the tool on a file of our own, never by what was said about the solution.

pub(crate) mod compile;
pub(crate) mod coverage;
pub(crate) mod leaks;
pub(crate) mod lint;
mod own;
mod runner;
#[cfg(test)]
mod tests;

use crate::grade::WHERE_PROGRAMS_ARE;
use crate::harness::HarnessEvidence;
use crate::plan::REPORT_BYTES_MAX;
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Isolation, Outcome, Severity, Verdict};
use crate::verify::{Measure, MeasureSpec, ReportFrom, VerifyError};

/// Our own programs, for the digest of the verifier: name and text.
pub(crate) const OWN_FILES: [(&str, &str); 3] = [
    ("compile_python.py", own::COMPILE_PYTHON),
    ("measure.py", runner::MEASURE),
    ("measured.py", runner::MEASURED),
];

/// Diagnostics that a verdict carries; the metrics count all of them.
const DIAGNOSTICS_KEPT_MAX: usize = 1000;

/// Whether code of the solution runs where the verdict is made.
pub(crate) fn isolation(spec: &MeasureSpec) -> Isolation {
    match spec.measure {
        Measure::Coverage | Measure::Leaks => Isolation::Shared,
        Measure::Compile | Measure::Lint if own::runs_code(spec) => Isolation::Shared,
        Measure::Compile | Measure::Lint => Isolation::Separate,
    }
}

/// Checks what only the kinds know: whether there is a tool of ours, and which formats there are.
///
/// # Errors
/// [`VerifyError`], naming the field.
pub(crate) fn check(spec: &MeasureSpec) -> Result<(), VerifyError> {
    match spec.measure {
        Measure::Compile => compile::check(spec),
        Measure::Coverage => coverage::check(spec),
        Measure::Leaks => leaks::check(spec),
        Measure::Lint => lint::check(spec),
    }
}

fn missing(field: &'static str, fix: &'static str) -> Result<(), VerifyError> {
    Err(VerifyError::Missing { field, fix })
}

fn unknown_format(format: &str, expected: &'static str) -> Result<(), VerifyError> {
    Err(VerifyError::invalid("format", format, expected))
}

/// The report, from where the author says it is; `None` where that is cut or was never written.
fn report<'a>(
    spec: &MeasureSpec,
    evidence: &HarnessEvidence<'a>,
) -> Option<&'a Untrusted<Vec<u8>>> {
    match &spec.report {
        ReportFrom::Descriptor | ReportFrom::Path => {
            (!evidence.report_too_long).then_some(evidence.report)
        }
        ReportFrom::Stdout => (evidence.stdout.dropped_bytes == 0).then_some(evidence.stdout.kept),
        ReportFrom::Stderr => (evidence.stderr.dropped_bytes == 0).then_some(evidence.stderr.kept),
        ReportFrom::File(path) => evidence.files.get(path),
    }
}

/// Everything that was said to both outputs, as far as it was kept.
fn said(evidence: &HarnessEvidence<'_>) -> Untrusted<Vec<u8>> {
    let mut both = evidence.stdout.kept.inner().clone();
    if both.last().is_some_and(|&byte| byte != b'\n') {
        both.push(b'\n');
    }
    both.extend_from_slice(evidence.stderr.kept.inner());
    both.truncate(REPORT_BYTES_MAX);
    Untrusted::new(both)
}

/// How many there are of each severity.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    errors: usize,
    warnings: usize,
}

impl Count {
    fn of(diagnostics: &[Diagnostic]) -> Self {
        let count = |severity| {
            let same = diagnostics.iter().filter(|said| said.severity == severity);
            same.count()
        };
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
        }
    }
}

/// A metric.
fn put(verdict: &mut Verdict, name: &str, value: f64) {
    verdict.metrics.insert(name.to_owned(), value);
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}

/// Puts the diagnostics into a verdict, as many as it carries, errors first.
fn carry(verdict: &mut Verdict, mut diagnostics: Vec<Diagnostic>) {
    diagnostics.sort_by_key(|said| match said.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    });
    diagnostics.truncate(DIAGNOSTICS_KEPT_MAX);
    verdict.diagnostics = diagnostics;
}

/// `FILE:LINE:COLUMN: message` of the first error, for a reason.
fn first_error(diagnostics: &[Diagnostic]) -> Option<String> {
    let first = diagnostics
        .iter()
        .find(|said| said.severity == Severity::Error)?;
    let mut place = first.file.clone();
    for number in [first.line, first.column].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let message = first.message.lines().next().unwrap_or_default();
    Some(match place.as_str() {
        "" => message.to_owned(),
        place => format!("{place}: {message}"),
    })
}

/// A verdict that says that the tool is missing or broken in this image.
fn no_tool(what: &str) -> Verdict {
    let reason = format!("{what} does not work in this image; {WHERE_PROGRAMS_ARE}");
    Verdict::new(Outcome::VerifierError, reason)
}
