//! Source text with its comments and literals blanked out, so that what is left can be searched for
//! names and brackets. Lines stay where they are. It knows no grammar.

/// How a language writes text over several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongText {
    /// Between back quotes, as in Go.
    BackQuotes,
    /// Between three double quotes, as in Java.
    ThreeQuotes,
}

/// Blanks comments (`//`, `/* */`) and literals (`"`, `'`, and long text).
pub(super) fn blank(source: &str, long: LongText) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let end = match () {
            () if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            () if rest.starts_with("/*") => after(rest, 2, "*/"),
            () if long == LongText::BackQuotes && first == '`' => after(rest, 1, "`"),
            () if long == LongText::ThreeQuotes && rest.starts_with("\"\"\"") => {
                after(rest, 3, "\"\"\"")
            }
            () if first == '"' || first == '\'' => quoted(rest, first),
            () => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        let (gone, remaining) = rest.split_at(end);
        out.extend(gone.chars().map(|one| if one == '\n' { '\n' } else { ' ' }));
        rest = remaining;
    }
    out
}

/// The end of what begins with `opening` bytes and is closed by `closing`.
fn after(rest: &str, opening: usize, closing: &str) -> usize {
    let found = rest[opening..].find(closing);
    found.map_or(rest.len(), |at| opening + at + closing.len())
}

/// The end of a literal on one line.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, one) in rest.char_indices().skip(1) {
        match one {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if one == quote => return at + one.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Where the bracket that opens at `at` is closed, in blanked text.
pub(super) fn closing(text: &str, at: usize) -> Option<usize> {
    let open = text[at..].chars().next()?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        _ => return None,
    };
    let mut depth = 0_usize;
    for (offset, one) in text[at..].char_indices() {
        if one == open {
            depth += 1;
        } else if one == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + offset);
            }
        }
    }
    None
}

/// Splits at commas outside of brackets, in blanked text. Nothing gives nothing.
pub(super) fn split_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, one) in text.char_indices() {
        match one {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The words of `text`.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let is_part = |one: char| one.is_alphanumeric() || one == '_' || one == '$';
    text.split(move |one| !is_part(one))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
}

/// Whether `text` has `name` as a word of its own.
pub(super) fn has_word(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}
