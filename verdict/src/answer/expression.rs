//! Expressions as answers write them, plain or in TeX, read into a tree of known operations. What
//! computes with the tree never sees the text: an answer cannot be a program.

use serde_json::{Value, json};

/// Characters of an expression at most.
pub(super) const CHARS_MAX: usize = 2000;
const DEPTH_MAX: u32 = 60;

const FUNCTIONS: [&str; 17] = [
    "sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "exp", "ln", "log", "abs",
];

/// A text that is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Unreadable {
    why: String,
}

pub(super) fn no(why: impl Into<String>) -> Unreadable {
    Unreadable { why: why.into() }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(String),
    Name(String),
    Function(&'static str),
    Fraction,
    Sign(char),
}

/// Reads an expression, or an equation `name = expression` as its right side; why not, else. The
/// tree is JSON: `["add", a, b]`, `["num", "1.5"]`, `["name", "x"]`, `["sqrt", a]` and so on.
pub(super) fn parse(text: &str) -> Result<Value, Unreadable> {
    if text.chars().count() > CHARS_MAX {
        return Err(no(format!("it has more than {CHARS_MAX} characters")));
    }
    let tokens = tokens(text)?;
    let tokens = match tokens.as_slice() {
        [Token::Name(_), Token::Sign('='), right @ ..] => right,
        all => all,
    };
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
    };
    let tree = parser.sum()?;
    match parser.peek() {
        None => Ok(tree),
        Some(token) => Err(no(format!("unexpected {}", shown(token)))),
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Number(text) | Token::Name(text) => text.clone(),
        Token::Function(name) => (*name).to_owned(),
        Token::Fraction => "\\frac".to_owned(),
        Token::Sign(sign) => sign.to_string(),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Unreadable> {
    let text = text.trim().trim_matches('$').replace("**", "^");
    let mut rest = text.as_str();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' | '\t' | '\n' | '\r' | '~' => first.len_utf8(),
            '0'..='9' | '.' => {
                let end = rest
                    .find(|next: char| !next.is_ascii_digit() && next != '.')
                    .unwrap_or(rest.len());
                let number = &rest[..end];
                if number.matches('.').count() > 1 || number == "." {
                    return Err(no(format!("{number} is no number")));
                }
                tokens.push(Token::Number(number.to_owned()));
                end
            }
            '\\' => command(rest, &mut tokens)?,
            '\u{2212}' => {
                tokens.push(Token::Sign('-'));
                first.len_utf8()
            }
            '\u{b7}' | '\u{d7}' => {
                tokens.push(Token::Sign('*'));
                first.len_utf8()
            }
            'π' => {
                tokens.push(Token::Name("pi".to_owned()));
                first.len_utf8()
            }
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | '{' | '}' | '[' | ']' | '|' | '!' | '=' => {
                tokens.push(Token::Sign(first));
                1
            }
            _ if first.is_ascii_alphabetic() => {
                let end = rest
                    .find(|next: char| !next.is_ascii_alphanumeric() && next != '_')
                    .unwrap_or(rest.len());
                words(&rest[..end], &mut tokens);
                end
            }
            other => return Err(no(format!("{other:?} is nothing that an expression has"))),
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// A function, a constant, a name with a number or an underscore, or single letters side by side.
fn words(word: &str, tokens: &mut Vec<Token>) {
    if let Some(name) = FUNCTIONS.iter().find(|name| **name == word) {
        tokens.push(Token::Function(name));
    } else if word == "pi"
        || word.len() == 1
        || word.contains(|next: char| next == '_' || next.is_ascii_digit())
    {
        tokens.push(Token::Name(word.to_owned()));
    } else {
        let letters = word.chars().map(|letter| Token::Name(letter.to_string()));
        tokens.extend(letters);
    }
}

/// A command of TeX at the beginning of `rest`; its length.
fn command(rest: &str, tokens: &mut Vec<Token>) -> Result<usize, Unreadable> {
    let end = rest[1..]
        .find(|next: char| !next.is_ascii_alphabetic())
        .map_or(rest.len(), |at| at + 1);
    if end == 1 {
        // Thin spaces and brackets of their own.
        return match rest[1..].chars().next() {
            Some(',' | '!' | ';' | ':' | ' ' | '(' | ')' | '[' | ']') => Ok(2),
            Some(brace @ ('{' | '}')) => {
                tokens.push(Token::Sign(if brace == '{' { '(' } else { ')' }));
                Ok(2)
            }
            _ => Err(no("a backslash that begins nothing")),
        };
    }
    let name = &rest[1..end];
    match name {
        "frac" | "dfrac" | "tfrac" => tokens.push(Token::Fraction),
        "cdot" | "times" => tokens.push(Token::Sign('*')),
        "div" => tokens.push(Token::Sign('/')),
        "left" | "right" | "displaystyle" | "quad" => {}
        _ => match FUNCTIONS.iter().find(|known| **known == name) {
            Some(function) => tokens.push(Token::Function(function)),
            None if GREEK.contains(&name) => tokens.push(Token::Name(name.to_owned())),
            None => return Err(no(format!("\\{name} is not known"))),
        },
    }
    Ok(end)
}

const GREEK: [&str; 12] = [
    "pi", "alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "sigma", "phi", "omega",
    "rho",
];

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, sign: char) -> Result<(), Unreadable> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(no(match self.peek() {
            Some(token) => format!("expected {sign}, found {}", shown(token)),
            None => format!("expected {sign} before the end"),
        }))
    }

    fn sum(&mut self) -> Result<Value, Unreadable> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(no(format!("its nesting is deeper than {DEPTH_MAX}")));
        }
        let mut left = self.product()?;
        loop {
            if self.takes('+') {
                left = json!(["add", left, self.product()?]);
            } else if self.takes('-') {
                left = json!(["sub", left, self.product()?]);
            } else {
                self.depth -= 1;
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Value, Unreadable> {
        let mut left = self.signed()?;
        loop {
            if self.takes('*') {
                left = json!(["mul", left, self.signed()?]);
            } else if self.takes('/') {
                left = json!(["div", left, self.signed()?]);
            } else if self.begins_factor() {
                left = json!(["mul", left, self.power()?]);
            } else {
                return Ok(left);
            }
        }
    }

    /// Whether a factor follows without a sign between.
    fn begins_factor(&self) -> bool {
        match self.peek() {
            Some(Token::Number(_) | Token::Name(_) | Token::Function(_) | Token::Fraction) => true,
            Some(Token::Sign(sign)) => matches!(sign, '(' | '{' | '['),
            None => false,
        }
    }

    fn signed(&mut self) -> Result<Value, Unreadable> {
        let mut negative = false;
        loop {
            if self.takes('-') {
                negative = !negative;
            } else if !self.takes('+') {
                break;
            }
        }
        let value = self.power()?;
        Ok(if negative {
            json!(["neg", value])
        } else {
            value
        })
    }

    fn power(&mut self) -> Result<Value, Unreadable> {
        let base = self.atom()?;
        if !self.takes('^') {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(no(format!("its nesting is deeper than {DEPTH_MAX}")));
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        Ok(json!(["pow", base, exponent]))
    }

    fn atom(&mut self) -> Result<Value, Unreadable> {
        let token = self.peek().cloned();
        self.at += 1;
        let mut value = match token {
            Some(Token::Number(text)) => json!(["num", text]),
            Some(Token::Name(name)) => json!(["name", name]),
            Some(Token::Fraction) => {
                let above = self.group()?;
                json!(["div", above, self.group()?])
            }
            Some(Token::Function(name)) => self.function(name)?,
            Some(Token::Sign(open @ ('(' | '{' | '[' | '|'))) => {
                let inner = self.sum()?;
                let close = match open {
                    '(' => ')',
                    '{' => '}',
                    '[' => ']',
                    _ => '|',
                };
                self.needs(close)?;
                if open == '|' {
                    json!(["abs", inner])
                } else {
                    inner
                }
            }
            Some(token) => return Err(no(format!("unexpected {}", shown(&token)))),
            None => return Err(no("it breaks off")),
        };
        while self.takes('!') {
            value = json!(["factorial", value]);
        }
        Ok(value)
    }

    /// `{...}`, or one digit or name, as TeX takes its arguments.
    fn group(&mut self) -> Result<Value, Unreadable> {
        if self.takes('{') {
            let inner = self.sum()?;
            self.needs('}')?;
            return Ok(inner);
        }
        match self.peek().cloned() {
            Some(Token::Number(text)) if text.len() == 2 && !text.contains('.') => {
                Err(no(format!("write \\frac{{..}}{{..}} and not \\frac{text}")))
            }
            Some(Token::Number(_) | Token::Name(_)) => self.atom(),
            _ => Err(no("\\frac needs two arguments")),
        }
    }

    fn function(&mut self, name: &str) -> Result<Value, Unreadable> {
        let mut index = None;
        if name == "sqrt" && self.takes('[') {
            index = Some(self.sum()?);
            self.needs(']')?;
        }
        let exponent = match name != "sqrt" && self.takes('^') {
            true => Some(self.atom()?),
            false => None,
        };
        let argument = self.power_of_function()?;
        let value = match index {
            Some(index) => json!(["pow", argument, ["div", ["num", "1"], index]]),
            None => json!([name, argument]),
        };
        Ok(match exponent {
            Some(exponent) => json!(["pow", value, exponent]),
            None => value,
        })
    }

    /// The argument of a function: one in brackets, else the next factor.
    fn power_of_function(&mut self) -> Result<Value, Unreadable> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(no(format!("its nesting is deeper than {DEPTH_MAX}")));
        }
        let bracketed = matches!(self.peek(), Some(Token::Sign('(' | '{' | '[')));
        let value = if bracketed { self.atom() } else { self.power() };
        self.depth -= 1;
        value
    }
}
