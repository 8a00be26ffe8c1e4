//! Where a message points to, how bad it is and which code it has: the small pieces that the
//! lines of all tools are made of. Each function looks at one line once.

use crate::verdict::{Diagnostic, Severity};

use super::diagnostic;

/// A place at the start of a line, and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
    pub(super) column: Option<u64>,
    pub(super) rest: &'a str,
}

impl Place<'_> {
    /// A diagnostic at this place.
    pub(super) fn says(&self, tool: &str, severity: Severity, message: &str) -> Diagnostic {
        let mut said = diagnostic(tool, severity, message);
        self.file.clone_into(&mut said.file);
        said.line = Some(self.line);
        said.column = self.column;
        said
    }
}

/// Digits at the start of `text` and what follows them.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 || end > 12 {
        return None;
    }
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`, then a colon, a space or the end.
pub(super) fn colons(line: &str) -> Option<Place<'_>> {
    for (at, _) in line.match_indices(':').filter(|(at, _)| *at > 0) {
        let Some((row, after)) = line.get(at + 1..).and_then(number) else {
            continue;
        };
        let file = line.get(..at)?;
        let whole = |column, rest| Place {
            file,
            line: row,
            column,
            rest,
        };
        if let Some((column, rest)) = after.strip_prefix(':').and_then(number)
            && let Some(rest) = end_of_place(rest)
        {
            return Some(whole(Some(column), rest));
        }
        if let Some(rest) = end_of_place(after) {
            return Some(whole(None, rest));
        }
    }
    None
}

fn end_of_place(after: &str) -> Option<&str> {
    match after.bytes().next() {
        None => Some(""),
        Some(b':' | b' ' | b'\t') => Some(after.get(1..)?.trim_start()),
        Some(_) => None,
    }
}

/// `FILE(LINE,COLUMN): rest`, or with square brackets.
pub(super) fn brackets(line: &str) -> Option<Place<'_>> {
    for (at, open) in line.match_indices(['(', '[']).filter(|(at, _)| *at > 0) {
        let close = if open == "(" { ')' } else { ']' };
        let Some((row, after)) = line.get(at + 1..).and_then(number) else {
            continue;
        };
        let column = after
            .strip_prefix(',')
            .and_then(|text| number(text.trim_start()));
        let (column, after) = column.map_or((None, after), |(column, after)| (Some(column), after));
        let rest = after
            .strip_prefix(close)
            .and_then(|after| after.strip_prefix(':'));
        if let Some(rest) = rest {
            let file = line.get(..at)?;
            let rest = rest.trim_start();
            return Some(Place {
                file,
                line: row,
                column,
                rest,
            });
        }
    }
    None
}

/// Whether a file's name at the start of a line is one, and no word of a sentence or a clock.
pub(super) fn is_file(name: &str) -> bool {
    !name.is_empty()
        && name.chars().any(char::is_alphabetic)
        && !name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '|'))
}

const WORDS: [(&str, Severity); 25] = [
    ("fatal error:", Severity::Error),
    ("internal compiler error:", Severity::Error),
    ("sorry, unimplemented:", Severity::Error),
    ("error:", Severity::Error),
    ("Error:", Severity::Error),
    ("ERROR:", Severity::Error),
    ("error -", Severity::Error),
    ("Error -", Severity::Error),
    ("[E]", Severity::Error),
    ("E:", Severity::Error),
    ("F:", Severity::Error),
    ("HIGH:", Severity::Error),
    ("warning:", Severity::Warning),
    ("Warning:", Severity::Warning),
    ("WARNING:", Severity::Warning),
    ("Warning -", Severity::Warning),
    ("[W]", Severity::Warning),
    ("W:", Severity::Warning),
    ("C:", Severity::Warning),
    ("MEDIUM:", Severity::Warning),
    ("note:", Severity::Note),
    ("info:", Severity::Note),
    ("Suggestion:", Severity::Note),
    ("R:", Severity::Note),
    ("LOW:", Severity::Note),
];

/// A word for how bad it is at the start of `text`, and what follows.
pub(super) fn severity(text: &str) -> Option<(Severity, &str)> {
    WORDS.iter().find_map(|(word, severity)| {
        let rest = text.strip_prefix(word)?;
        Some((*severity, rest.trim_start()))
    })
}

/// A code in brackets at the end of `text`, and what stands before it.
pub(super) fn code_at_end(text: &str, brackets: (char, char)) -> Option<(&str, &str)> {
    let inner = text.trim_end().strip_suffix(brackets.1)?;
    let open = inner.rfind(brackets.0)?;
    let (before, code) = (inner.get(..open)?, inner.get(open + 1..)?);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_/@.+=:".contains(c);
    let is_code = !code.is_empty() && code.chars().all(plain) && !before.trim().is_empty();
    (is_code && before.ends_with(' ')).then(|| (before.trim_end(), code))
}

/// A code such as `E401`, `TS7006:`, `B404[bandit]:` or `Style/Name:` at the start, and what
/// follows it.
pub(super) fn code_at_start(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    if let Some((group, name)) = word.strip_suffix(':').and_then(|word| word.split_once('/')) {
        let plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphanumeric);
        let is_rule = plain(group) && plain(name) && group.starts_with(char::is_uppercase);
        return is_rule.then(|| (word.trim_end_matches(':'), rest.trim_start()));
    }
    let word = word.trim_end_matches(':');
    let code = word.split('[').next().unwrap_or(word);
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code
        .bytes()
        .skip(letters)
        .filter(u8::is_ascii_digit)
        .count();
    let is_code =
        (1..=5).contains(&letters) && (2..=6).contains(&digits) && letters + digits == code.len();
    is_code.then(|| (code, rest.trim_start()))
}

/// The column that a line of blanks with one caret points to.
pub(super) fn caret(line: &str) -> Option<u64> {
    let before = line.trim_end().strip_suffix('^')?;
    let blank = before.chars().all(char::is_whitespace);
    blank.then(|| u64::try_from(before.chars().count()).unwrap_or(0) + 1)
}
