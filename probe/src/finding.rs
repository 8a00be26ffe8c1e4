//! What `sandbox-probe` says, read as bytes that anybody could have written: a line of JSON a row.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most bytes of output that are read.
pub const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Most lines.
pub const LINES_MAX: usize = 4096;
/// Longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest result, in bytes.
pub const RESULT_BYTES_MAX: usize = 256;

/// What came of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The row's name.
    pub name: String,
    /// `ok`, the name of an errno, `signal N`, or a word of the row's own.
    pub result: String,
}

/// Why output is not that of the probe.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Too much of it.
    #[error("{bytes} bytes of output, at most {OUTPUT_BYTES_MAX} are read")]
    TooLarge {
        /// How much.
        bytes: usize,
    },
    /// Too many lines.
    #[error("more than {LINES_MAX} lines of output")]
    TooMany,
    /// A line that is not a finding.
    #[error("line {line} is not a finding")]
    NotAFinding {
        /// Counted from 1.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A name or a result that the probe never writes.
    #[error("line {line} has a {field} of other characters or more of them than the probe writes")]
    Strange {
        /// Counted from 1.
        line: usize,
        /// `name` or `result`.
        field: &'static str,
    },
    /// A row that was told twice.
    #[error("line {line} tells {name} a second time")]
    Twice {
        /// Counted from 1.
        line: usize,
        /// The row.
        name: String,
    },
}

/// Reads the probe's output.
///
/// # Errors
/// It is not what the probe writes.
pub fn parse(stdout: &[u8]) -> Result<Vec<Finding>, ParseError> {
    if stdout.len() > OUTPUT_BYTES_MAX {
        let bytes = stdout.len();
        return Err(ParseError::TooLarge { bytes });
    }
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    let lines = stdout.split(|byte| *byte == b'\n').enumerate();
    for (index, text) in lines.filter(|(_, text)| !text.is_empty()) {
        let line = index + 1;
        if findings.len() == LINES_MAX {
            return Err(ParseError::TooMany);
        }
        let finding: Finding = serde_json::from_slice(text)
            .map_err(|source| ParseError::NotAFinding { line, source })?;
        if !is_name(&finding.name) {
            let field = "name";
            return Err(ParseError::Strange { line, field });
        }
        if !is_result(&finding.result) {
            let field = "result";
            return Err(ParseError::Strange { line, field });
        }
        if !named.insert(finding.name.clone()) {
            let name = finding.name;
            return Err(ParseError::Twice { line, name });
        }
        findings.push(finding);
    }
    Ok(findings)
}

fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(known)
}

/// Printable, so that it can be shown in a terminal and written to a log.
fn is_result(result: &str) -> bool {
    let printable = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    (1..=RESULT_BYTES_MAX).contains(&result.len()) && result.bytes().all(printable)
}

#[cfg(test)]
mod tests;
