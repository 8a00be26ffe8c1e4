//! Lines of tools that put the place first: `javac`, Go's tools, `tsc`, and linters at large.

use serde::Deserialize;

use crate::reading::ReadError;
use crate::verdict::{Diagnostic, Severity};

use super::place::{self, Place};
use super::{Found, diagnostic, rust};

/// Reads `javac`: a message, the line of source, and a caret below the column.
pub(super) fn javac(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines() {
        let placed = place::colons(line).filter(|at| at.column.is_none());
        let said = placed.and_then(|at| {
            let warning = at.rest.strip_prefix("warning:");
            let (severity, message) = match warning {
                Some(message) => (Severity::Warning, message.trim_start()),
                None => (
                    Severity::Error,
                    at.rest.strip_prefix("error:")?.trim_start(),
                ),
            };
            let code = message
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("] "));
            let (code, message) = code.unwrap_or(("", message));
            let mut said = at.says("javac", severity, message);
            code.clone_into(&mut said.code);
            Some(said)
        });
        if let Some(said) = said {
            found.add(said)?;
        } else if let Some(message) = line.strip_prefix("error: ") {
            found.add(diagnostic("javac", Severity::Error, message))?;
        } else if let Some(column) = place::caret(line) {
            if let Some(last) = found.0.last_mut().filter(|last| last.line.is_some()) {
                last.column.get_or_insert(column);
            }
        } else if line.starts_with("  symbol: ") || line.starts_with("  location: ") {
            found.continue_last(line.trim());
        }
    }
    Ok(found)
}

/// A line of `go build -json` or `go vet -json`'s envelope.
#[derive(Deserialize)]
struct BuildEvent {
    #[serde(rename = "Output", default)]
    output: String,
}

/// Reads Go's tools.
pub(super) fn go(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines() {
        if line.starts_with('{') {
            let event: Option<BuildEvent> = serde_json::from_str(line).ok();
            for line in event.as_ref().map_or("", |event| &event.output).lines() {
                go_line(line, &mut found)?;
            }
        } else {
            go_line(line, &mut found)?;
        }
    }
    Ok(found)
}

fn go_line(line: &str, found: &mut Found) -> Result<(), ReadError> {
    let (tool, line) = match line.strip_prefix("vet: ") {
        Some(rest) => ("vet", rest),
        None => ("go", line),
    };
    if let Some(more) = line.strip_prefix('\t') {
        found.continue_last(more.trim());
        return Ok(());
    }
    match place::colons(line).filter(|at| place::is_file(at.file) && !at.rest.is_empty()) {
        Some(at) => found.add(at.says(tool, Severity::Error, at.rest)),
        None => match line.strip_prefix("go: ") {
            Some(message) if !message.starts_with("downloading ") => {
                found.add(diagnostic("go", Severity::Error, message))
            }
            _ => Ok(()),
        },
    }
}

/// Reads `tsc` in both of its forms; indented lines go on with the message above them.
pub(super) fn tsc(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines() {
        if line.starts_with("  ") {
            found.continue_last(line.trim());
            continue;
        }
        let pretty = || {
            let at = place::colons(line)?;
            Some(Place {
                rest: at.rest.strip_prefix("- ")?,
                ..at
            })
        };
        let placed = place::brackets(line).or_else(pretty);
        let (at, rest) = match placed {
            Some(at) => (Some(at), at.rest),
            None => (None, line),
        };
        let word = ["error ", "warning "]
            .iter()
            .find_map(|word| rest.strip_prefix(word));
        let Some((code, message)) = word.and_then(|rest| rest.split_once(": ")) else {
            continue;
        };
        let severity = if rest.starts_with('e') {
            Severity::Error
        } else {
            Severity::Warning
        };
        let mut said = at.map_or_else(
            || diagnostic("tsc", severity, message),
            |at| at.says("tsc", severity, message),
        );
        code.clone_into(&mut said.code);
        found.add(said)?;
    }
    Ok(found)
}

/// Reads the lines of linters: one message a line, its place in front. What names no severity is
/// a warning.
pub(super) fn lines(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    let mut rest_of_rust = false;
    for line in text.lines() {
        let (line, bracketed) = bracketed_severity(line);
        let blanks = line.len() - line.trim_start_matches(' ').len();
        rest_of_rust |= line.trim_start().starts_with("--> ");
        if let Some(column) = bracketed.and(place::caret(line))
            && let Some(last) = found.0.last_mut().filter(|last| last.line.is_some())
        {
            last.column.get_or_insert(column);
        }
        if blanks > 2 || line.starts_with('\t') {
            continue;
        }
        if let Some(mut said) = line_of_linter(line.trim_start()) {
            if let Some(severity) = bracketed {
                said.severity = severity;
            }
            found.add(said)?;
        } else if let (Some(severity), Some((file, message))) = (bracketed, line.split_once(": "))
            && file.starts_with('/')
            && place::is_file(file)
        {
            let mut said = diagnostic("lint", severity, message);
            file.clone_into(&mut said.file);
            found.add(said)?;
        }
    }
    if found.0.is_empty() && rest_of_rust {
        return rust::text(text);
    }
    Ok(found)
}

/// `[error] ` and `[warn] ` in front of a line.
fn bracketed_severity(line: &str) -> (&str, Option<Severity>) {
    let words = [
        ("[error] ", Severity::Error),
        ("[warn] ", Severity::Warning),
        ("[warning] ", Severity::Warning),
    ];
    let word = words.iter().find_map(|(word, severity)| {
        let rest = line.strip_prefix(word)?;
        Some((rest, Some(*severity)))
    });
    word.unwrap_or((line, None))
}

fn line_of_linter(line: &str) -> Option<Diagnostic> {
    if let Some(at) = place::colons(line) {
        if place::is_file(at.file) && !at.rest.is_empty() {
            return Some(said_at(at));
        }
        if at.column.is_some() && place::severity(at.rest).is_some() {
            return Some(said_at(at));
        }
    }
    let in_brackets = place::brackets(line).filter(|at| !at.rest.is_empty());
    if let Some(at) = in_brackets {
        return Some(said_at(at));
    }
    compact(line)
        .or_else(|| line_at_end(line))
        .or_else(|| file_alone(line))
}

fn said_at(at: Place<'_>) -> Diagnostic {
    let words = [("error ", Severity::Error), ("warning ", Severity::Warning)];
    let spaced = words.iter().find_map(|(word, severity)| {
        Some((*severity, at.rest.strip_prefix(word)?)).filter(|(_, rest)| rest.contains(": "))
    });
    let (severity, message) =
        (place::severity(at.rest).or(spaced)).unwrap_or((Severity::Warning, at.rest));
    // bandit has its code in front of the severity.
    let (code, message) = place::code_at_start(message).unwrap_or(("", message));
    let (severity, message) = place::severity(message).unwrap_or((severity, message));
    let ended = place::code_at_end(message, ('[', ']'))
        .or_else(|| place::code_at_end(message, ('(', ')')))
        .filter(|_| code.is_empty());
    let (message, code) = ended.unwrap_or((message, code));
    let mut said = at.says("lint", severity, message);
    code.clone_into(&mut said.code);
    said
}

/// `FILE: line 2, col 10, Error - message (rule)`, ESLint's compact form.
fn compact(line: &str) -> Option<Diagnostic> {
    let (file, rest) = line.split_once(": line ")?;
    let (row, rest) = place::number(rest)?;
    let (column, rest) = place::number(rest.strip_prefix(", col ")?)?;
    let rest = rest.strip_prefix(", ")?;
    let column = Some(column);
    Some(said_at(Place {
        file,
        line: row,
        column,
        rest,
    }))
}

/// `FILE - ERROR: message on line 7`.
fn line_at_end(line: &str) -> Option<Diagnostic> {
    let (file, rest) = line.split_once(" - ")?;
    let (severity, message) = place::severity(rest)?;
    let (message, row) = message.rsplit_once(" on line ")?;
    let (row, _) = place::number(row).filter(|_| place::is_file(file))?;
    let at = Place {
        file,
        line: row,
        column: None,
        rest: message,
    };
    Some(at.says("lint", severity, message))
}

/// `ERROR: FILE message`: a message about a whole file.
fn file_alone(line: &str) -> Option<Diagnostic> {
    let (severity, rest) = place::severity(line)?;
    let (file, message) = rest.split_once(' ')?;
    if !file.starts_with('/') || !place::is_file(file) {
        return None;
    }
    let mut said = diagnostic("lint", severity, message);
    file.clone_into(&mut said.file);
    Some(said)
}
