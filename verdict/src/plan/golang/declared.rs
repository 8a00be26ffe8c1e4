//! The functions of a Go file whose values can cross, read from its text alone. Types are taken from
//! a closed list and written anew, so that nothing of the solution's text gets into the judge.

use crate::plan::blank::{LongText, blank, closing, split_commas};

const BASICS: [&str; 18] = [
    "bool", "string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16",
    "uint32", "uint64", "byte", "rune", "float32", "float64", "error", "any",
];
/// Functions of the language itself: in test code they are never the solution's.
const PREDECLARED: [&str; 17] = [
    "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max",
    "min", "new", "panic", "print", "println", "real",
];
const DEPTH_MAX: usize = 20;
/// Bytes of a head that are read at most, and functions of one file.
const HEAD_BYTES_MAX: usize = 4096;
const FUNCTIONS_MAX: usize = 10_000;

/// Whether a name means something in every Go file.
pub(super) fn is_predeclared(name: &str) -> bool {
    const VALUES: [&str; 5] = ["true", "false", "nil", "iota", "recover"];
    PREDECLARED.contains(&name) || VALUES.contains(&name) || BASICS.contains(&name)
}

/// A function that a judge can have a stand-in for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name.
    pub name: String,
    /// Types of its parameters, as we write them; the last one may begin with `...`.
    pub params: Vec<String>,
    /// Types of its results.
    pub results: Vec<String>,
}

/// Names of all functions at the top level, methods aside, with their signatures where they are of
/// the closed list.
pub(super) fn functions(source: &str) -> Vec<(String, Option<Function>)> {
    let text = blank(source, LongText::BackQuotes);
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let mut at = 0;
    while found.len() < FUNCTIONS_MAX
        && let Some(one) = text[at..].chars().next()
    {
        match one {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            'f' if depth == 0 && is_keyword(&text, at) => {
                if let Some((name, function)) = function(head_of(&text[at + "func".len()..])) {
                    found.push((name, function));
                }
            }
            _ => {}
        }
        at += one.len_utf8();
    }
    found
}

/// The beginning of what follows `func`: a head without an end is no function, however long one
/// looks for it.
fn head_of(rest: &str) -> &str {
    let end = rest.floor_char_boundary(HEAD_BYTES_MAX.min(rest.len()));
    &rest[..end]
}

fn is_keyword(text: &str, at: usize) -> bool {
    let begins = text[..at]
        .chars()
        .next_back()
        .is_none_or(|one| one.is_whitespace() || one == ';');
    begins
        && text[at..]
            .strip_prefix("func")
            .is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// What follows `func`; a method begins with its receiver and has no name here.
fn function(rest: &str) -> Option<(String, Option<Function>)> {
    let rest = rest.trim_start();
    let end = rest.find(|one: char| !is_name(one))?;
    let (name, rest) = rest.split_at(end);
    if name.is_empty() {
        return None;
    }
    Some((name.to_owned(), signature(name, rest.trim_start())))
}

fn signature(name: &str, rest: &str) -> Option<Function> {
    if !rest.starts_with('(') {
        return None;
    }
    let end = closing(rest, 0)?;
    let params = types_of(&rest[1..end], true)?;
    let after = rest[end + 1..].trim_start();
    let results = if after.starts_with('(') {
        types_of(&after[1..closing(after, 0)?], false)?
    } else {
        // `interface{}` is the only type with a brace of its own.
        let end = match after.find('{') {
            Some(at) if after[..at].trim_end().ends_with("interface") => closing(after, at)? + 1,
            Some(at) => at,
            None => after.find('\n').unwrap_or(after.len()),
        };
        match after[..end].trim() {
            "" => Vec::new(),
            written => vec![plain_type(written, 0)?],
        }
    };
    Some(Function {
        name: name.to_owned(),
        params,
        results,
    })
}

/// Types of a list of parameters: `a, b int, c ...string`, or types alone.
fn types_of(list: &str, may_repeat: bool) -> Option<Vec<String>> {
    let parts = split_commas(list);
    let named = parts.iter().any(|part| {
        part.split_once(char::is_whitespace)
            .is_some_and(|(name, rest)| name.chars().all(is_name) && plain_or_rest(rest).is_some())
    });
    let mut types: Vec<Option<String>> = Vec::new();
    for part in &parts {
        let written = match (named, part.split_once(char::is_whitespace)) {
            (true, Some((_, written))) => Some(written),
            (true, None) => None,
            (false, _) => Some(*part),
        };
        types.push(match written {
            Some(written) => Some(plain_or_rest(written)?),
            None => None,
        });
    }
    // A name without a type has that of the next one.
    let mut next = None;
    let mut out = Vec::new();
    for written in types.into_iter().rev() {
        next = written.or(next);
        out.push(next.clone()?);
    }
    out.reverse();
    let repeats = out.iter().filter(|one| one.starts_with("...")).count();
    (repeats == 0 || (may_repeat && repeats == 1 && out.last()?.starts_with("..."))).then_some(out)
}

fn plain_or_rest(written: &str) -> Option<String> {
    match written.trim().strip_prefix("...") {
        Some(inner) => Some(format!("...{}", plain_type(inner, 0)?)),
        None => plain_type(written, 0),
    }
}

/// The type written anew, if it is of the closed list.
fn plain_type(written: &str, depth: usize) -> Option<String> {
    let written = written.trim();
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(basic) = BASICS.iter().find(|basic| **basic == written) {
        return Some((*basic).to_owned());
    }
    if written.replace(char::is_whitespace, "") == "interface{}" {
        return Some("interface{}".to_owned());
    }
    if let Some(rest) = written.strip_prefix("map") {
        let rest = rest.trim_start();
        let end = rest.starts_with('[').then(|| closing(rest, 0))??;
        let key = plain_type(&rest[1..end], depth + 1)?;
        let value = plain_type(&rest[end + 1..], depth + 1)?;
        return Some(format!("map[{key}]{value}"));
    }
    let end = written.starts_with('[').then(|| closing(written, 0))??;
    let inner = plain_type(&written[end + 1..], depth + 1)?;
    match written[1..end].trim() {
        "" => Some(format!("[]{inner}")),
        length => {
            let length: u32 = length.parse().ok()?;
            Some(format!("[{length}]{inner}"))
        }
    }
}

fn is_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}
