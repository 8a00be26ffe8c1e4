//! Functions as C and C++ declare them: found in a text, without understanding what it does.
//! It does not know what becomes of them.

use super::tokens::{Dialect, Kind, Token, tokens};

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    /// Its type as written; an array is a pointer.
    pub kind: String,
    /// Its name; `rollcage_N` where it has none.
    pub name: String,
    /// ` = ...` as written, or nothing.
    pub default: String,
}

/// What follows a function's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// A semicolon.
    Prototype,
    /// A body with its end.
    Whole,
    /// A body that does not end, or nothing at all.
    Open,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// The type it returns, as written.
    pub returns: String,
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Offset of its first byte.
    pub start: usize,
    /// What follows its head.
    pub body: Body,
}

/// The functions at the top of `source`, in order. Templates, operators, methods and functions of
/// namespaces are none.
pub(super) fn functions(source: &str) -> Vec<Function> {
    let all = tokens(source, Dialect::C);
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        if all[at].kind == Kind::Directive || all[at].is("}") || all[at].is(";") {
            at += 1;
            continue;
        }
        let head_end = end_of_head(&all, at);
        let head = &all[at..head_end];
        let mark = all.get(head_end).map_or("", |token| token.text);
        if mark == "{" && head.len() == 2 && head[0].is("extern") {
            at = head_end + 1;
            continue;
        }
        let after = match mark {
            "{" => matching(&all, head_end, ("{", "}")).map(|end| end + 1),
            _ => Some(head_end + 1),
        };
        let body = match (mark, after) {
            ("{", Some(_)) => Body::Whole,
            (";", _) => Body::Prototype,
            _ => Body::Open,
        };
        found.extend(function(source, head, body));
        at = after.unwrap_or(all.len());
    }
    found
}

/// Index of the `;` or `{` that ends what begins at `from`, or the number of tokens.
fn end_of_head(all: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, token) in all.iter().enumerate().skip(from) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            ";" | "{" if depth <= 0 && token.kind == Kind::Mark => return at,
            _ => {}
        }
    }
    all.len()
}

/// Index of the mark that closes the one at `from`.
pub(super) fn matching(
    all: &[Token<'_>],
    from: usize,
    (open, close): (&str, &str),
) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in all.iter().enumerate().skip(from) {
        if token.is(open) {
            depth += 1;
        } else if token.is(close) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

const NO_FUNCTION: [&str; 9] = [
    "template",
    "operator",
    "typedef",
    "using",
    "=",
    "class",
    "namespace",
    "friend",
    "return",
];
const SPECIFIERS: [&str; 6] = [
    "static",
    "inline",
    "constexpr",
    "extern",
    "register",
    "_Noreturn",
];

fn function(source: &str, head: &[Token<'_>], body: Body) -> Option<Function> {
    let open = head.iter().position(|token| token.is("("))?;
    let (name, before) = head[..open].split_last()?;
    let is_name = name.kind == Kind::Word && !TYPE_WORDS.contains(&name.text);
    let qualified = before.last().is_some_and(|token| token.is("::"));
    let is_none = |token: &Token<'_>| NO_FUNCTION.iter().any(|word| token.is(word));
    if !is_name || qualified || before.iter().any(is_none) {
        return None;
    }
    let close = matching(head, open, ("(", ")"))?;
    let returns: Vec<Token<'_>> = match head.get(close + 1..)? {
        [] => before.to_vec(),
        [one] if one.is("noexcept") => before.to_vec(),
        [arrow, trailing @ ..] if arrow.is("->") => trailing.to_vec(),
        _ => return None,
    };
    let returns: Vec<Token<'_>> = returns
        .into_iter()
        .filter(|token| !SPECIFIERS.contains(&token.text) && token.kind != Kind::Literal)
        .collect();
    let params = params(source, &head[open + 1..close])?;
    Some(Function {
        returns: written(&returns)?,
        name: name.text.to_owned(),
        params,
        start: head.first()?.start,
        body,
    })
}

/// Tokens as text; words that stood apart still do. `None` for no token.
fn written(part: &[Token<'_>]) -> Option<String> {
    let mut text = String::new();
    for token in part {
        let joins = |c: char| c == '_' || c.is_alphanumeric();
        if text.ends_with(joins) && token.text.starts_with(joins) {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    (!text.is_empty()).then_some(text)
}

fn params(source: &str, inside: &[Token<'_>]) -> Option<Vec<Param>> {
    let mut all = Vec::new();
    for (number, part) in split(inside).into_iter().enumerate() {
        if part.len() == 1 && part[0].is("void") {
            continue;
        }
        all.push(param(source, part, number)?);
    }
    Some(all)
}

/// Parts between commas that stand in no brackets.
fn split<'t, 's>(inside: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, token) in inside.iter().enumerate() {
        match token.text {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from < inside.len() {
        parts.push(&inside[from..]);
    }
    parts
}

fn param(source: &str, part: &[Token<'_>], number: usize) -> Option<Param> {
    let equals = part.iter().position(|token| token.is("="));
    let default = match (equals, part.last()) {
        (Some(at), Some(last)) => source.get(part[at].start..last.end())?,
        _ => "",
    };
    let mut part = &part[..equals.unwrap_or(part.len())];
    let mut is_array = false;
    if let Some(open) = part.iter().position(|token| token.is("[")) {
        // Of several dimensions all but the first are part of the type, which is not plain.
        let close = matching(part, open, ("[", "]"))?;
        if close + 1 != part.len() {
            return None;
        }
        is_array = true;
        part = &part[..open];
    }
    let (last, before) = part.split_last()?;
    let names = last.kind == Kind::Word
        && !TYPE_WORDS.contains(&last.text)
        && before
            .last()
            .is_some_and(|token| !token.is("::") && !token.is("const"));
    let (kind, name) = if names {
        (written(before)?, last.text.to_owned())
    } else {
        (written(part)?, format!("rollcage_{number}"))
    };
    if part.iter().any(|token| token.is("(")) {
        return None;
    }
    let kind = if is_array { format!("{kind}*") } else { kind };
    let default = if default.is_empty() {
        String::new()
    } else {
        format!(" {default}")
    };
    Some(Param {
        kind,
        name,
        default,
    })
}

/// Words of built-in types, which are no names.
const TYPE_WORDS: [&str; 16] = [
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool",
    "_Bool", "const", "auto", "struct", "size_t", "restrict",
];

/// Words of types that may be taken over from a solution's text into a judge's program.
const PLAIN_WORDS: [&str; 53] = [
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "bool",
    "_Bool",
    "const",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "std",
    "string",
    "string_view",
    "vector",
    "list",
    "deque",
    "array",
    "set",
    "multiset",
    "unordered_set",
    "map",
    "multimap",
    "unordered_map",
    "pair",
    "tuple",
    "optional",
    "variant",
    "monostate",
    "any",
    "nullopt_t",
    "::",
    "<",
    ">",
    ",",
    "*",
    "&",
    "&&",
    "restrict",
];
/// Tokens of one type, and types within it, at most.
const TYPE_TOKENS_MAX: usize = 64;
const TYPE_DEPTH_MAX: usize = 8;

/// Whether a type consists of nothing but names of plain types.
pub(super) fn is_plain(kind: &str) -> bool {
    let all = tokens(kind, Dialect::C);
    let plain = |token: &Token<'_>| match token.kind {
        Kind::Number => token.text.len() <= 4 && token.text.bytes().all(|b| b.is_ascii_digit()),
        Kind::Word | Kind::Mark => PLAIN_WORDS.contains(&token.text),
        _ => false,
    };
    let opens = all.iter().filter(|token| token.is("<")).count();
    all.len() <= TYPE_TOKENS_MAX && opens <= TYPE_DEPTH_MAX && all.iter().all(plain)
}

#[cfg(test)]
mod tests;
