//! What the static check of a solution's files said, read from its program's output. It does not
//! know how a file is parsed.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Outcome, Severity, Verdict};

/// How much is checked before a sandbox is spent on a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum StaticCheck {
    /// Nothing.
    #[default]
    None,
    /// That each file parses.
    Syntax,
    /// That each file parses, and that what it imports is there.
    Imports,
}

/// Bytes of output that are read.
pub const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Diagnostics that are kept.
pub const DIAGNOSTICS_MAX: usize = 1_000;
const TEXT_CHARS_MAX: usize = 500;

/// What the check said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Its diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were looked at.
    pub files: u64,
}

/// Why its output counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// More than any check of ours writes.
    #[error("{bytes} bytes of output are more than the {OUTPUT_BYTES_MAX} of a check")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A line that is none of the check's.
    #[error("line {line} is no line of a check")]
    Line {
        /// Which line, from 1.
        line: usize,
    },
    /// It does not say how many files it looked at, so it was cut off.
    #[error("its last line is missing")]
    Unfinished,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    End { checked: u64 },
    Found(Diagnostic),
}

impl Checked {
    /// Reads the output of the program.
    ///
    /// # Errors
    /// [`CheckError`] where it is not whole.
    pub fn read(output: &Untrusted<Vec<u8>>) -> Result<Self, CheckError> {
        let bytes = output.inner();
        if bytes.len() > OUTPUT_BYTES_MAX {
            let bytes = bytes.len();
            return Err(CheckError::TooLong { bytes });
        }
        let mut checked = Self::default();
        let lines = bytes.split(|byte| *byte == b'\n');
        for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.is_empty()) {
            let read = serde_json::from_slice(line);
            match read.map_err(|_not_ours| CheckError::Line { line: number })? {
                Line::End { checked: files } => {
                    checked.files = files;
                    return Ok(checked);
                }
                Line::Found(found) if checked.diagnostics.len() < DIAGNOSTICS_MAX => {
                    checked.diagnostics.push(shortened(found));
                }
                Line::Found(_) => {}
            }
        }
        Err(CheckError::Unfinished)
    }

    /// The verdict that stands before any run, if something is certainly wrong.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let first = self.diagnostics.iter().find(is_error)?;
        let line = first
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let reason = format!("static check: {}{line}: {}", first.file, first.message);
        let mut verdict = Verdict::new(Outcome::CompileError, reason);
        verdict.diagnostics.clone_from(&self.diagnostics);
        Some(verdict)
    }
}

/// Text of a solution may be in any of its fields.
fn shortened(mut found: Diagnostic) -> Diagnostic {
    for text in [
        &mut found.tool,
        &mut found.code,
        &mut found.message,
        &mut found.file,
    ] {
        if let Some((end, _)) = text.char_indices().nth(TEXT_CHARS_MAX) {
            text.truncate(end);
        }
    }
    found
}
