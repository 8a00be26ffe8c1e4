//! From bytes to a [`Document`]: *parse*.
//!
//! It checks TOML, field names and types, nothing that needs another document. Every error says
//! where (line, column, field) and, where a name is nearly right, which was meant.

#[cfg(test)]
mod tests;

use crate::document::Document;
use crate::fields::{FIELDS, Kind, field, names_in};
use crate::locate::{Places, Position, position};

/// The longest document that is read, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 10;

/// A text that is not a policy document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.text())]
pub struct ParseError {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// Path of the field, with list indexes; empty when the text is not TOML.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// How to put it right, where that can be told.
    pub hint: Option<String>,
}

impl ParseError {
    fn text(&self) -> String {
        let mut text = format!("line {}, column {}", self.line, self.column);
        if !self.field.is_empty() {
            text.push_str(", ");
            text.push_str(&self.field);
        }
        text.push_str(": ");
        text.push_str(&self.message);
        if let Some(hint) = &self.hint {
            text.push_str("; ");
            text.push_str(hint);
        }
        text
    }
}

/// Reads a policy document.
///
/// # Errors
/// The first thing that is not TOML, not a known field or not of its field's type; a text longer
/// than [`DOCUMENT_BYTES_MAX`].
pub fn parse(text: &str) -> Result<Document, ParseError> {
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(ParseError {
            line: 1,
            column: 1,
            field: String::new(),
            message: format!(
                "the document has {} bytes, the most is {DOCUMENT_BYTES_MAX}",
                text.len()
            ),
            hint: None,
        });
    }
    toml::from_str(text).map_err(|error| explain_error(text, &error))
}

fn explain_error(text: &str, error: &toml::de::Error) -> ParseError {
    let offset = error.span().map_or(0, |span| span.start);
    let Position { line, column } = position(text, offset);
    let raw = error.message();
    let at = Places::of(text).path_at(offset).to_owned();
    let (field, message, hint) = if let Some(name) = quoted_after(raw, "unknown field `") {
        let table = parent_of(&at, name);
        let field = if table.is_empty() {
            name.to_owned()
        } else {
            format!("{table}.{name}")
        };
        let hint = name_hint(&table, name);
        (field, format!("unknown field `{name}`"), hint)
    } else if let Some(word) = quoted_after(raw, "unknown variant `") {
        let hint = word_hint(&at, word);
        (at, format!("unknown value \"{word}\""), hint)
    } else if raw == "duplicate key" {
        let name = error
            .span()
            .and_then(|span| text.get(span))
            .unwrap_or_default();
        (
            name.to_owned(),
            raw.to_owned(),
            Some("write each field and each table once".to_owned()),
        )
    } else {
        let hint = field(&at).and_then(kind_hint);
        (at, raw.lines().collect::<Vec<_>>().join(", "), hint)
    };
    ParseError {
        line,
        column,
        field,
        message,
        hint,
    }
}

fn quoted_after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.split('`').next()
}

/// The table that holds `name` when the field at the error is `at`.
fn parent_of(at: &str, name: &str) -> String {
    match at.strip_suffix(name) {
        Some(rest) => rest.trim_end_matches('.').to_owned(),
        None => at.to_owned(),
    }
}

fn name_hint(table: &str, name: &str) -> Option<String> {
    let known = names_in(table);
    if let Some(nearest) = nearest(name, known.iter().copied()) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    // The right name in the wrong table, which is the commonest slip in TOML.
    let elsewhere = FIELDS
        .iter()
        .find(|row| row.path.rsplit('.').next() == Some(name));
    if let Some(row) = elsewhere {
        return Some(format!("did you mean `{}`?", row.path));
    }
    if known.is_empty() {
        return None;
    }
    Some(format!("known here: {}", known.join(", ")))
}

fn word_hint(path: &str, word: &str) -> Option<String> {
    let Kind::Choice(words) = field(path)?.kind else {
        return None;
    };
    match nearest(word, words.iter().copied()) {
        Some(nearest) => Some(format!(
            "did you mean \"{nearest}\"? it is one of {}",
            words.join(", ")
        )),
        None => Some(format!("it is one of {}", words.join(", "))),
    }
}

fn kind_hint(row: &crate::fields::Field) -> Option<String> {
    let expected = match row.kind {
        Kind::Text => "text in quotes",
        Kind::Integer => "a whole number, 0 or more",
        Kind::Size => "bytes as a whole number, or text such as \"512 MiB\"",
        Kind::Flag => "true or false",
        Kind::Choice(_) => return word_hint(row.path, ""),
        Kind::Texts => "a list of text, for instance [\"a\", \"b\"]",
        Kind::Integers => "a list of whole numbers",
    };
    Some(format!("write {expected}"))
}

/// The candidate that differs least from `name`, if it is close enough to have been meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let far = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters have to be added, taken away or changed to get from one to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (done, left_char) in left.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(done + 1);
        for ((pair, right_char), index) in row.windows(2).zip(&right).zip(0..) {
            let &[diagonal, above] = pair else { continue };
            let beside = next.get(index).copied().unwrap_or(usize::MAX - 1);
            let changed = diagonal + usize::from(*right_char != left_char);
            next.push(changed.min(above + 1).min(beside + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
