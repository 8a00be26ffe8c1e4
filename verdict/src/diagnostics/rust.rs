//! rustc's, Cargo's and Clippy's messages, as lines and as JSON.

use serde::Deserialize;

use crate::reading::{self, List, ReadError};
use crate::verdict::{Diagnostic, Severity};

use super::{Found, diagnostic, place};

/// Reads lines: a message, then `--> FILE:LINE:COLUMN` below it; or Cargo's short form.
pub(super) fn text(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    let mut open: Option<Diagnostic> = None;
    for line in text.lines() {
        if let Some(at) = line.trim_start().strip_prefix("--> ") {
            if let (Some(mut said), Some(at)) = (open.take(), place::colons(at)) {
                at.file.clone_into(&mut said.file);
                said.line = Some(at.line);
                said.column = at.column;
                found.add(said)?;
            }
            continue;
        }
        let Some(said) = first_line(line) else {
            continue;
        };
        if let Some(placeless) = open.take() {
            found.add(placeless)?;
        }
        if said.line.is_some() {
            found.add(said)?;
        } else {
            open = Some(said);
        }
    }
    if let Some(placeless) = open {
        found.add(placeless)?;
    }
    Ok(found)
}

/// `error[E0308]: message`, `warning: message`, or `FILE:LINE:COLUMN: error: message`.
fn first_line(line: &str) -> Option<Diagnostic> {
    if line.starts_with("error") || line.starts_with("warning") {
        let (head, message) = line.split_once(": ")?;
        let (word, code) = match head.split_once('[') {
            Some((word, code)) => (word, code.strip_suffix(']')?),
            None => (head, ""),
        };
        let severity = match word {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        let mut said = diagnostic("rustc", severity, message);
        code.clone_into(&mut said.code);
        return (!is_summary(message)).then_some(said);
    }
    let at = place::colons(line).filter(|at| place::is_file(at.file))?;
    let (severity, message) = place::severity(at.rest)?;
    Some(at.says("rustc", severity, message))
}

/// Lines that count or conclude what was said before.
fn is_summary(message: &str) -> bool {
    message.starts_with("could not compile ")
        || message.starts_with("aborting due to ")
        || message.ends_with(" emitted")
        || message.contains(" generated ") && message.ends_with(['g', 's', ')'])
}

/// A line of Cargo: a compiler's message in an envelope.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    reason: String,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    level: String,
    #[serde(default)]
    code: Option<Code>,
    #[serde(default)]
    spans: List<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    column_start: u64,
    #[serde(default)]
    is_primary: bool,
}

/// Reads JSON, one object a line; other lines, such as Cargo's own, are passed over.
pub(super) fn json(report: &[u8]) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in report.split(|&byte| byte == b'\n') {
        if !line.starts_with(b"{") {
            continue;
        }
        let message = if line.starts_with(b"{\"reason\"") {
            let envelope: Envelope = reading::json("rustc_json", line)?;
            if envelope.reason != "compiler-message" {
                continue;
            }
            envelope.message
        } else {
            message_or_artifact(line)?
        };
        if let Some(message) = message
            && !is_summary(&message.message)
        {
            found.add(meant(message))?;
        }
    }
    Ok(found)
}

/// `rustc` itself reports artifacts among its messages; these have no level.
fn message_or_artifact(line: &[u8]) -> Result<Option<Message>, ReadError> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "$message_type", default)]
        kind: String,
    }
    let kind: Kind = reading::json("rustc_json", line)?;
    if !matches!(kind.kind.as_str(), "" | "diagnostic") {
        return Ok(None);
    }
    reading::json("rustc_json", line).map(Some)
}

fn meant(message: Message) -> Diagnostic {
    let severity = match message.level.as_str() {
        "warning" => Severity::Warning,
        "note" | "help" | "failure-note" => Severity::Note,
        _ => Severity::Error,
    };
    let code = message.code.map_or(String::new(), |code| code.code);
    let tool = if code.starts_with("clippy::") {
        "clippy"
    } else {
        "rustc"
    };
    let mut said = diagnostic(tool, severity, &message.message);
    said.code = code;
    let spans = &message.spans.0;
    if let Some(span) = spans.iter().find(|span| span.is_primary).or(spans.first()) {
        span.file_name.clone_into(&mut said.file);
        said.line = Some(span.line_start);
        said.column = Some(span.column_start);
    }
    said
}
