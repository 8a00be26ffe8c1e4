//! How much of a program its tests reached, out of the reports of coverage tools. Lines are
//! counted here, one by one; sums that a report states about itself are used only where it has no
//! lines. Pure: it does not know who ran the tests, nor what share is enough.

mod json;
mod lines;
#[cfg(test)]
mod tests;
mod text;
mod xml;

use crate::reading::{self, ReadError};
use crate::untrusted::Untrusted;

/// How a tool writes its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoverageFormat {
    /// LCOV's tracefile.
    Lcov,
    /// Cobertura's XML, which coverage.py and many others write too.
    Cobertura,
    /// `coverage json`.
    CoveragePyJson,
    /// `gcov --json-format`, unpacked, one document a line.
    GcovJson,
    /// `gcov`'s annotated source, or its older intermediate format.
    GcovText,
    /// `llvm-cov export`, `cargo llvm-cov --json`.
    LlvmCovJson,
    /// `go test -coverprofile`: statements, not lines.
    GoCover,
    /// JaCoCo's XML.
    Jacoco,
}

impl CoverageFormat {
    /// All formats, each with its name.
    pub const ALL: [(&str, Self); 8] = [
        ("lcov", Self::Lcov),
        ("cobertura", Self::Cobertura),
        ("coverage_py_json", Self::CoveragePyJson),
        ("gcov_json", Self::GcovJson),
        ("gcov_text", Self::GcovText),
        ("llvm_cov_json", Self::LlvmCovJson),
        ("go_cover", Self::GoCover),
        ("jacoco", Self::Jacoco),
    ];

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, format)| *format)
    }
}

/// One source file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileCoverage {
    /// Its path, as the report has it.
    pub path: String,
    /// Lines (statements with `go_cover`) that can run.
    pub lines: u64,
    /// Those that ran.
    pub lines_covered: u64,
    /// Branches that can be taken.
    pub branches: u64,
    /// Those that were.
    pub branches_covered: u64,
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoverageReport {
    /// Its files, by path.
    pub files: Vec<FileCoverage>,
    /// Whether the tool's own figure counts branches as well as lines, as coverage.py's does.
    pub with_branches: bool,
}

impl CoverageReport {
    /// The share that was reached, in percent, as the tool itself counts it; `None` where there
    /// is nothing that can run.
    #[must_use]
    pub fn pct(&self) -> Option<f64> {
        let sum = |of: fn(&FileCoverage) -> u64| {
            let each = self.files.iter().map(of);
            each.fold(0_u64, u64::saturating_add)
        };
        let (mut all, mut reached) = (sum(|file| file.lines), sum(|file| file.lines_covered));
        if self.with_branches {
            all = all.saturating_add(sum(|file| file.branches));
            reached = reached.saturating_add(sum(|file| file.branches_covered));
        }
        #[expect(clippy::cast_precision_loss, reason = "a share is no exact number")]
        let share = (all > 0).then(|| 100.0 * (reached.min(all) as f64) / (all as f64));
        // Rounding must not make it more than all.
        share.map(|share| share.min(100.0))
    }

    /// Keeps the files that `keep` says.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|file| keep(&file.path));
        self
    }
}

/// Reads a report.
///
/// # Errors
/// Any [`ReadError`]; also where no file is in it.
pub fn parse(
    format: CoverageFormat,
    report: &Untrusted<Vec<u8>>,
) -> Result<CoverageReport, ReadError> {
    use CoverageFormat as F;
    let read = match format {
        F::Lcov => text::lcov(&reading::text(report)?)?,
        F::GcovText => text::gcov(&reading::text(report)?)?,
        F::GoCover => text::go(&reading::text(report)?)?,
        F::Cobertura => xml::cobertura(&reading::text(report)?)?,
        F::Jacoco => xml::jacoco(&reading::text(report)?)?,
        F::CoveragePyJson => json::coverage_py(reading::bytes(report)?)?,
        F::GcovJson => json::gcov(reading::bytes(report)?)?,
        F::LlvmCovJson => json::llvm(reading::bytes(report)?)?,
    };
    Ok(read)
}
