//! Compilers and checkers: what they say about the solution, and how much of it may be said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::framework::{ReportFrom, check_command, check_env};
use super::phase::Phase;
use super::{Language, VerifyError, check_path};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Whether it compiles.
    #[default]
    Compile,
    /// How much of it tests reach.
    Coverage,
    /// What memory it loses or misuses.
    Leaks,
    /// What a linter says.
    Lint,
}

impl Measure {
    /// The name of its kind.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Coverage => "coverage",
            Self::Leaks => "leaks",
            Self::Lint => "lint",
        }
    }
}

/// Judged by what a compiler or checker says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureSpec {
    /// What is measured.
    pub measure: Measure,
    /// Language of the solution; with it and without `argv` the command is ours.
    pub language: Option<Language>,
    /// The solution's file, relative to `/workspace`; empty where `argv` says it.
    pub file: String,
    /// The whole command; empty = ours for the language.
    pub argv: Vec<String>,
    /// Environment of the command.
    pub env: BTreeMap<String, String>,
    /// Its working folder, relative to `/workspace`; empty = that.
    pub cwd: String,
    /// Format of what it says; empty = that of our command.
    pub format: String,
    /// Where it says it.
    pub report: ReportFrom,
    /// Whose files are there.
    pub phase: Phase,
    /// Least share of lines that tests reach, in percent.
    pub min_coverage_pct: Option<f64>,
    /// What it was before the change, in percent: the difference is a metric.
    pub baseline_coverage_pct: Option<f64>,
    /// Most leaks and misuses of memory.
    pub max_leaks: u32,
    /// Most errors.
    pub max_errors: u32,
    /// Most warnings; none = any number.
    pub max_warnings: Option<u32>,
}

impl MeasureSpec {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        check_command(&self.argv, false, "argv")?;
        check_env(&self.env)?;
        if !self.cwd.is_empty() {
            check_path("cwd", &self.cwd)?;
        }
        if !self.file.is_empty() {
            check_path("file", &self.file)?;
        }
        if self.argv.is_empty() && self.language.is_none() {
            let fix = "give the whole command, or verify.language and verify.file";
            return Err(VerifyError::Missing { field: "argv", fix });
        }
        for (field, share) in [
            ("min_coverage_pct", self.min_coverage_pct),
            ("baseline_coverage_pct", self.baseline_coverage_pct),
        ] {
            if let Some(share) = share
                && !(0.0..=100.0).contains(&share)
            {
                let value = share.to_string();
                let expected = "give a number from 0 to 100";
                return Err(VerifyError::invalid(field, &value, expected));
            }
        }
        self.report.validate()?;
        self.phase.validate()?;
        crate::measure::check(self)
    }
}
