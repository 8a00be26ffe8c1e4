//! GCC's and Clang's messages, as lines and as JSON.

use serde::Deserialize;

use crate::reading::{self, First, List, ReadError};
use crate::verdict::{Diagnostic, Severity};

use super::{Found, diagnostic, place};

/// Options of the compiler that name a warning, at the end of its message.
const SQUARE: (char, char) = ('[', ']');

/// What a linker says without a word for how bad it is.
const LINKER: [&str; 3] = [
    "undefined reference to",
    "multiple definition of",
    "undefined symbol",
];

/// Reads lines.
pub(super) fn text(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t'])) {
        if let Some(said) = placed(line).or_else(|| placeless(line)) {
            found.add(said)?;
        }
    }
    Ok(found)
}

fn placed(line: &str) -> Option<Diagnostic> {
    let at = place::colons(line)?;
    if let Some((severity, message)) = place::severity(at.rest) {
        let (message, code) = place::code_at_end(message, SQUARE).unwrap_or((message, ""));
        let mut said = at.says("gcc", severity, message);
        code.clone_into(&mut said.code);
        return Some(said);
    }
    let by_linker = LINKER.iter().any(|words| at.rest.starts_with(words));
    by_linker.then(|| at.says("ld", Severity::Error, at.rest))
}

/// `TOOL: error: message`, and the linker's lines.
fn placeless(line: &str) -> Option<Diagnostic> {
    let (tool, rest) = line.split_once(": ")?;
    let name = tool.rsplit('/').next().unwrap_or(tool);
    if let Some(words) = LINKER.iter().find_map(|words| line.find(words)) {
        let mut said = diagnostic("ld", Severity::Error, line.get(words..)?);
        let file = line.get(..words)?.split(':').next().unwrap_or_default();
        file.clone_into(&mut said.file);
        return Some(said);
    }
    let tool_like = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    let (severity, message) = place::severity(rest)?;
    tool_like.then(|| diagnostic(name, severity, message))
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    option: String,
    #[serde(default)]
    locations: First<Location>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    cwe: Option<u64>,
}

#[derive(Deserialize)]
struct Location {
    caret: Option<Point>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(default)]
    file: String,
    line: Option<u64>,
    column: Option<u64>,
}

/// Reads JSON: one list for each translation unit, one a line; other lines are passed over.
pub(super) fn json(report: &[u8]) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in report.split(|&byte| byte == b'\n') {
        if line.starts_with(b"[") {
            let list: List<Written> = reading::json("gcc_json", line)?;
            for written in list.0 {
                found.add(meant(written))?;
            }
        } else if let Some(said) = placeless_or_linker(line) {
            // The driver and the linker write text beside the compiler's JSON.
            found.add(said)?;
        }
    }
    Ok(found)
}

fn placeless_or_linker(line: &[u8]) -> Option<Diagnostic> {
    let line = String::from_utf8_lossy(line);
    placed(&line).or_else(|| placeless(&line))
}

fn meant(written: Written) -> Diagnostic {
    let severity = match written.kind.as_str() {
        "warning" => Severity::Warning,
        "note" => Severity::Note,
        _ => Severity::Error,
    };
    let message = match written.metadata.cwe {
        Some(cwe) => format!("{} [CWE-{cwe}]", written.message),
        None => written.message,
    };
    let mut said = diagnostic("gcc", severity, &message);
    said.code = written.option;
    if let Some(point) = written.locations.0.and_then(|location| location.caret) {
        said.file = point.file;
        said.line = point.line;
        said.column = point.column;
    }
    said
}
