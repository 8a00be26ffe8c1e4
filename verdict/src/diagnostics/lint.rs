//! JSON of linters that have a format of their own.

use serde::Deserialize;

use crate::reading::{self, List, ReadError};
use crate::verdict::Severity;

use super::{Found, diagnostic};

#[derive(Deserialize)]
struct Ruff {
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    filename: String,
    message: String,
    #[serde(default)]
    severity: Option<String>,
    #[serde(default)]
    location: Option<RuffPoint>,
}

#[derive(Deserialize)]
struct RuffPoint {
    row: u64,
    column: u64,
}

/// Reads `ruff check --output-format=json`. What names no severity is an error, as ruff itself
/// counts it.
pub(super) fn ruff(report: &[u8]) -> Result<Found, ReadError> {
    let list: List<Ruff> = reading::json("ruff_json", report)?;
    let mut found = Found::default();
    for written in list.0 {
        let severity = match written.severity.as_deref() {
            Some("warning") => Severity::Warning,
            Some("info" | "note") => Severity::Note,
            _ => Severity::Error,
        };
        let mut said = diagnostic("ruff", severity, &written.message);
        said.code = written.code.unwrap_or_default();
        said.file = written.filename;
        said.line = written.location.as_ref().map(|at| at.row);
        said.column = written.location.as_ref().map(|at| at.column);
        found.add(said)?;
    }
    Ok(found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintFile {
    #[serde(default)]
    file_path: String,
    #[serde(default)]
    messages: List<EslintMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintMessage {
    #[serde(default)]
    rule_id: Option<String>,
    severity: u64,
    message: String,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    column: Option<u64>,
}

/// Reads `eslint --format json`.
pub(super) fn eslint(report: &[u8]) -> Result<Found, ReadError> {
    let files: List<EslintFile> = reading::json("eslint_json", report)?;
    let mut found = Found::default();
    for file in files.0 {
        for written in file.messages.0 {
            let severity = match written.severity {
                2 => Severity::Error,
                1 => Severity::Warning,
                _ => Severity::Note,
            };
            let mut said = diagnostic("eslint", severity, &written.message);
            said.code = written.rule_id.unwrap_or_default();
            file.file_path.clone_into(&mut said.file);
            said.line = written.line;
            said.column = written.column;
            found.add(said)?;
        }
    }
    Ok(found)
}
