//! Syntax errors of interpreters: Node, Python, PHP, Ruby, Perl, Lua, shells.

use crate::reading::ReadError;
use crate::verdict::{Diagnostic, Severity};

use super::place::{self, Place};
use super::{Found, diagnostic};

/// The name of an error class at the start of a line, `SyntaxError: message`, and its message.
fn error_class(line: &str) -> Option<(&str, &str)> {
    let (name, message) = line.split_once(": ").unwrap_or((line, ""));
    let last = name.rsplit('.').next().unwrap_or(name);
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let is_class = ["Error", "Exception", "Warning", "Interrupt", "Exit"]
        .iter()
        .any(|end| last.ends_with(end));
    let upper = last.starts_with(|c: char| c.is_uppercase());
    (is_class && upper && name.chars().all(word)).then_some((name, message))
}

/// Reads Node: `FILE:LINE`, the source with a caret, then `SyntaxError: message`.
pub(super) fn node(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    let mut at: Option<Place<'_>> = None;
    for line in text.lines() {
        if let Some(column) = caret_of_node(line) {
            if let Some(at) = at.as_mut() {
                at.column.get_or_insert(column);
            }
            continue;
        }
        if let Some((class, message)) = error_class(line.strip_prefix("Uncaught ").unwrap_or(line))
        {
            let mut said = match at.take() {
                Some(at) => at.says("node", Severity::Error, message),
                None => diagnostic("node", Severity::Error, message),
            };
            class.clone_into(&mut said.code);
            found.add(said)?;
            continue;
        }
        let placed = place::colons(line).filter(|at| at.rest.is_empty() && at.column.is_none());
        if let Some(mut placed) = placed.filter(|at| !at.file.starts_with([' ', '\t'])) {
            placed.file = placed.file.strip_prefix("file://").unwrap_or(placed.file);
            at = Some(placed);
        }
    }
    Ok(found)
}

fn caret_of_node(line: &str) -> Option<u64> {
    let carets = line.trim_end().trim_end_matches('^');
    if carets.len() == line.trim_end().len() {
        return None;
    }
    place::caret(&format!("{carets}^"))
}

/// Reads Python: `File "NAME", line N`, then the class of the error. The place of a traceback is
/// that of its last frame.
pub(super) fn python(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    let mut at: Option<Place<'_>> = None;
    for line in text.lines() {
        let line = line.strip_prefix("Sorry: ").unwrap_or(line);
        if let Some(frame) = frame(line) {
            at = Some(frame);
        } else if let Some((class, message)) = error_class(line) {
            let own = at.take().or_else(|| place_in_message(message));
            let mut said = match own {
                Some(at) => at.says("python", Severity::Error, message),
                None => diagnostic("python", Severity::Error, message),
            };
            class.clone_into(&mut said.code);
            found.add(said)?;
        }
    }
    Ok(found)
}

fn frame(line: &str) -> Option<Place<'_>> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (row, rest) = place::number(rest)?;
    Some(Place {
        file,
        line: row,
        column: None,
        rest,
    })
}

/// `message (file.py, line 2)`, as `py_compile` writes it.
fn place_in_message(message: &str) -> Option<Place<'_>> {
    let inner = message.trim_end().strip_suffix(')')?;
    let (_, inner) = inner.rsplit_once('(')?;
    let (file, row) = inner.rsplit_once(", line ")?;
    let (row, rest) = place::number(row)?;
    Some(Place {
        file,
        line: row,
        column: None,
        rest,
    })
}

/// Reads `php -l`, which may say the same to both of its outputs.
pub(super) fn php(text: &str) -> Result<Found, ReadError> {
    let words = [
        ("Parse error:", Severity::Error),
        ("Fatal error:", Severity::Error),
        ("Warning:", Severity::Warning),
        ("Deprecated:", Severity::Warning),
        ("Notice:", Severity::Note),
    ];
    let mut found = Found::default();
    for line in text.lines() {
        let line = line.strip_prefix("PHP ").unwrap_or(line);
        let said = words.iter().find_map(|(word, severity)| {
            let message = line.strip_prefix(word)?.trim();
            let (message, row) = message.rsplit_once(" on line ")?;
            let (message, file) = message.rsplit_once(" in ")?;
            let (line, rest) = place::number(row)?;
            let at = Place {
                file,
                line,
                column: None,
                rest,
            };
            let mut said = at.says("php", *severity, message);
            word.trim_end_matches(':').clone_into(&mut said.code);
            Some(said)
        });
        if let Some(said) = said
            && found.0.last() != Some(&said)
        {
            found.add(said)?;
        }
    }
    Ok(found)
}

/// Reads `ruby -c`: the lines of its older parser, and the picture of its newer one.
pub(super) fn ruby(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    let mut row = None;
    for line in text.lines() {
        let line = line.strip_prefix("ruby: ").unwrap_or(line);
        if let Some(at) =
            place::colons(line).filter(|at| !at.rest.is_empty() && place::is_file(at.file))
        {
            let (severity, message) =
                place::severity(at.rest).unwrap_or((Severity::Error, at.rest));
            let code = message.starts_with("syntax error").then_some("SyntaxError");
            let mut said = at.says("ruby", severity, message);
            code.unwrap_or_default().clone_into(&mut said.code);
            found.add(said)?;
        } else if let Some((marked, _)) =
            line.strip_prefix('>').and_then(|rest| rest.split_once('|'))
        {
            row = place::number(marked.trim()).map(|(row, _)| row);
        } else if let Some((blank, marks)) = line.split_once("| ")
            && blank.trim().is_empty()
            && let Some((before, message)) = marks.split_once('^')
            && let (Some(row), Some(summary)) = (row, found.0.first().cloned())
        {
            let column = before.trim().is_empty().then(|| before.chars().count() + 1);
            let message = message.trim_start_matches(['^', '~']).trim();
            found.add(Diagnostic {
                message: message.to_owned(),
                line: Some(row),
                column: column.and_then(|column| u64::try_from(column).ok()),
                ..summary
            })?;
        }
    }
    Ok(found)
}

/// Reads `perl -c`: `message at FILE line N`.
pub(super) fn perl(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let Some((before, row)) = line.rsplit_once(" line ") else {
            continue;
        };
        let Some((message, file)) = before.rsplit_once(" at ") else {
            continue;
        };
        let Some((row, rest)) = place::number(row) else {
            continue;
        };
        let at = Place {
            file,
            line: row,
            column: None,
            rest,
        };
        let whole = format!("{message}{}", rest.trim_end_matches('.'));
        found.add(at.says("perl", Severity::Error, &whole))?;
    }
    Ok(found)
}

/// Reads `luac -p`: `luac: FILE:LINE: message`.
pub(super) fn lua(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t'])) {
        let Some((tool, rest)) = line.split_once(": ") else {
            continue;
        };
        if tool.contains(' ') || !tool.rsplit('/').next().unwrap_or(tool).starts_with("lua") {
            continue;
        }
        match place::colons(rest).filter(|at| !at.rest.is_empty()) {
            Some(at) => found.add(at.says("lua", Severity::Error, at.rest))?,
            None => found.add(diagnostic("lua", Severity::Error, rest))?,
        }
    }
    Ok(found)
}

/// Reads `bash -n` (`FILE: line N: message`) and `dash -n` (`FILE: N: message`).
pub(super) fn shell(text: &str) -> Result<Found, ReadError> {
    let mut found = Found::default();
    for line in text.lines() {
        let said = line.match_indices(": ").find_map(|(at, _)| {
            let rest = line.get(at + 2..)?;
            let (row, rest) = place::number(rest.strip_prefix("line ").unwrap_or(rest))?;
            let message = rest.strip_prefix(": ")?;
            let file = line.get(..at)?;
            let at = Place {
                file,
                line: row,
                column: None,
                rest,
            };
            Some(at.says("sh", Severity::Error, message))
        });
        // Bash repeats the line of source, in quotes.
        if let Some(said) = said.filter(|said| !said.message.starts_with('`')) {
            found.add(said)?;
        }
    }
    Ok(found)
}
