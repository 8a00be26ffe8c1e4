//! One answer: a text, a number, or an expression.

use serde::{Deserialize, Serialize};

use super::{VerifyError, check_path, plain};

/// How an answer is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMatch {
    /// As text, white space at the ends aside.
    #[default]
    Exact,
    /// As a number.
    Numeric,
    /// As an expression, in a sandbox of its own.
    Symbolic,
}

/// What of a text is the answer. White space at its ends never counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerTake {
    /// All of it.
    #[default]
    Whole,
    /// The last line that is not empty.
    LastLine,
    /// What is in the last `\\boxed{..}`.
    Boxed,
}

/// Judged by an answer: the run's standard output, or a file of the request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerSpec {
    /// Answers that are right; any of them.
    pub expected: Vec<String>,
    /// How it is compared.
    pub compare: AnswerMatch,
    /// What of the text is the answer.
    pub take: AnswerTake,
    /// Numbers may differ by this much, absolutely or relative to the expected one.
    pub float_tolerance: Option<f64>,
    /// The file with the answer, relative to `/workspace`; empty = standard output of the run.
    pub file: String,
}

impl AnswerSpec {
    /// Whether the answer is what a run prints.
    #[must_use]
    pub fn needs_run(&self) -> bool {
        self.file.is_empty()
    }

    /// Whether it is compared in a sandbox.
    #[must_use]
    pub fn needs_sandbox(&self) -> bool {
        self.compare == AnswerMatch::Symbolic
    }

    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        if self.expected.is_empty() {
            let fix = "give at least one right answer";
            return Err(VerifyError::Missing {
                field: "answer.expected",
                fix,
            });
        }
        for expected in &self.expected {
            crate::answer::check_expected(self, expected).map_err(|why| {
                let value = format!("{:?}", super::shorten(expected));
                VerifyError::Answer {
                    value,
                    why: why.to_string(),
                }
            })?;
        }
        if !self.file.is_empty() {
            check_path("file", &self.file)?;
        }
        plain::check_tolerance(self.float_tolerance)
    }
}
