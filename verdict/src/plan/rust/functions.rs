//! Functions as Rust declares them: found in a text, without understanding what it does.

use crate::plan::cxx::matching;
use crate::plan::tokens::{Dialect, Kind, Token, tokens};

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    pub name: String,
    /// Its type, in one spelling.
    pub kind: String,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub name: String,
    pub params: Vec<Param>,
    /// What it returns; `()` where nothing is said.
    pub returns: String,
    /// Offset of its first byte, of the end of its head, and of its end.
    pub start: usize,
    pub head_end: usize,
    pub end: usize,
    /// Whether it has a body that ends.
    pub has_body: bool,
}

impl Function {
    /// The same with names of ours for its parameters, and without lifetimes: what is borrowed in
    /// a result lives until the process ends.
    pub(super) fn anonymous(&self) -> Self {
        let params = self.params.iter().enumerate();
        Self {
            params: params
                .map(|(at, param)| Param {
                    name: format!("rollcage_{at}"),
                    kind: without_lifetimes(&param.kind),
                })
                .collect(),
            returns: without_lifetimes(&self.returns).replace('&', "&'static "),
            ..self.clone()
        }
    }

    /// Its head, from its parts.
    pub(super) fn head(&self) -> String {
        let params: Vec<String> = (self.params.iter())
            .map(|param| format!("{}: {}", param.name, param.kind))
            .collect();
        format!(
            "fn {}({}) -> {}",
            self.name,
            params.join(", "),
            self.returns
        )
    }
}

/// The functions at the top of `source`, in order; no methods, none that are `async` or `unsafe`.
pub(super) fn functions(source: &str) -> Vec<Function> {
    let all = tokens(source, Dialect::Rust);
    let mut found = Vec::new();
    let (mut at, mut item) = (0, 0);
    while at < all.len() {
        if all[at].is("fn") {
            let (one, after) = function(&all, item, at);
            found.extend(one);
            (at, item) = (after, after);
        } else if all[at].is("{") {
            at = matching(&all, at, ("{", "}")).map_or(all.len(), |end| end + 1);
            item = at;
        } else if all[at].is(";") || all[at].is("}") {
            at += 1;
            item = at;
        } else if all[at].is("#") && all.get(at + 1).is_some_and(|next| next.is("[")) {
            at = matching(&all, at + 1, ("[", "]")).map_or(all.len(), |end| end + 1);
            item = at;
        } else {
            at += 1;
        }
    }
    found
}

/// The function whose `fn` is at `at`, and the index after it.
fn function(all: &[Token<'_>], item: usize, at: usize) -> (Option<Function>, usize) {
    let open = (at..all.len()).find(|&at| all[at].is("("));
    let close = open.and_then(|open| matching(all, open, ("(", ")")));
    let (Some(open), Some(close)) = (open, close) else {
        return (None, all.len());
    };
    let mut depth = 0_i32;
    let tail = (close + 1..all.len()).find(|&at| {
        depth += i32::from(all[at].is("[")) - i32::from(all[at].is("]"));
        depth == 0 && (all[at].is("{") || all[at].is(";"))
    });
    let head_end = tail.unwrap_or(all.len());
    let body = match tail {
        Some(tail) if all[tail].is("{") => matching(all, tail, ("{", "}")),
        other => other,
    };
    let after = body.map_or(all.len(), |end| end + 1);
    let end = all.get(after.saturating_sub(1)).map_or(0, Token::end);
    let returns = match all.get(close + 1..head_end) {
        Some([arrow, kind @ ..]) if arrow.is("->") => {
            let clause = kind.iter().position(|token| token.is("where"));
            written(&kind[..clause.unwrap_or(kind.len())])
        }
        _ => "()".to_owned(),
    };
    let ordinary = all[item..at].iter().all(|token| {
        ["pub", "(", "crate", ")", "const", "super"]
            .iter()
            .any(|word| token.is(word))
    });
    let name = all.get(at + 1).filter(|token| token.kind == Kind::Word);
    let params = params(&all[open + 1..close]);
    let one = match (name, params) {
        (Some(name), Some(params)) if ordinary => Some(Function {
            name: name.text.to_owned(),
            params,
            returns,
            start: all[item].start,
            head_end: all.get(head_end).map_or(end, |token| token.start),
            end,
            has_body: body.is_some() && tail.is_some_and(|tail| all[tail].is("{")),
        }),
        _ => None,
    };
    (one, after)
}

fn params(inside: &[Token<'_>]) -> Option<Vec<Param>> {
    let mut all = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for at in 0..=inside.len() {
        let comma = match inside.get(at) {
            None => true,
            Some(token) => {
                match token.text {
                    "(" | "<" | "[" => depth += 1,
                    ")" | ">" | "]" => depth -= 1,
                    _ => {}
                }
                depth == 0 && token.is(",")
            }
        };
        if comma {
            if from < at {
                all.push(param(&inside[from..at])?);
            }
            from = at + 1;
        }
    }
    Some(all)
}

fn param(part: &[Token<'_>]) -> Option<Param> {
    let (name, kind) = match part {
        [is_mut, name, colon, kind @ ..] if is_mut.is("mut") && colon.is(":") => (name, kind),
        [name, colon, kind @ ..] if colon.is(":") => (name, kind),
        _ => return None,
    };
    (name.kind == Kind::Word && !kind.is_empty()).then(|| Param {
        name: name.text.to_owned(),
        kind: written(kind),
    })
}

/// Tokens of a type as text, in one spelling.
fn written(part: &[Token<'_>]) -> String {
    let mut text = String::new();
    for token in part {
        let joins = |c: char| c == '_' || c == '\'' || c.is_alphanumeric();
        if text.ends_with(joins) && token.text.starts_with(joins) {
            text.push(' ');
        }
        text.push_str(token.text);
        if matches!(token.text, "," | ";" | ":" | "+" | "->" | "mut" | "dyn") {
            text.push(' ');
        }
    }
    text
}

/// A type without its lifetimes.
pub(super) fn without_lifetimes(kind: &str) -> String {
    let all: Vec<Token<'_>> = tokens(kind, Dialect::Rust)
        .into_iter()
        .filter(|token| token.kind != Kind::Lifetime)
        .collect();
    written(&all)
}

/// Words of types that may be taken over from a solution's text into a judge's program.
const PLAIN_WORDS: [&str; 48] = [
    "bool",
    "char",
    "str",
    "String",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "f32",
    "f64",
    "Vec",
    "VecDeque",
    "LinkedList",
    "HashMap",
    "HashSet",
    "BTreeMap",
    "BTreeSet",
    "Option",
    "Result",
    "Box",
    "Rc",
    "Arc",
    "dyn",
    "Any",
    "mut",
    "std",
    "collections",
    "::",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "&",
    "&&",
    "rc",
    "sync",
];
/// Tokens of one type, and types within it, at most.
const TYPE_TOKENS_MAX: usize = 64;
const TYPE_DEPTH_MAX: usize = 8;

/// Whether a type consists of nothing but names of plain types.
pub(super) fn is_plain(kind: &str) -> bool {
    let all = tokens(kind, Dialect::Rust);
    let plain = |token: &Token<'_>| match token.kind {
        Kind::Number => token.text.len() <= 4 && token.text.bytes().all(|b| b.is_ascii_digit()),
        Kind::Word | Kind::Mark => PLAIN_WORDS.contains(&token.text),
        Kind::Lifetime => true,
        _ => false,
    };
    let opens = all
        .iter()
        .filter(|token| token.is("<") || token.is("["))
        .count();
    all.len() <= TYPE_TOKENS_MAX && opens <= TYPE_DEPTH_MAX && all.iter().all(plain)
}

#[cfg(test)]
mod tests;
