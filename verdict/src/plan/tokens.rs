//! Words and marks of source text in C, C++ and Rust: enough to find functions and types, not to
//! understand what they do. Text that is broken gives fewer tokens, never a failure.

/// The language whose comments, texts and characters are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// C and C++.
    C,
    /// Rust.
    Rust,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A text or a character, with its quotes.
    Literal,
    /// A lifetime of Rust.
    Lifetime,
    /// One mark; `::`, `->` and `&&` are one each.
    Mark,
    /// A whole line of the preprocessor.
    Directive,
}

/// One token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Offset of its first byte.
    pub start: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Mark)
    }
}

/// The tokens of `source`.
pub(super) fn tokens(source: &str, dialect: Dialect) -> Vec<Token<'_>> {
    let mut reader = Reader {
        source,
        at: 0,
        dialect,
        line_start: true,
    };
    let mut found = Vec::new();
    while let Some(token) = reader.next() {
        found.push(token);
    }
    found
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    dialect: Dialect,
    line_start: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn token(&mut self, kind: Kind, length: usize) -> Option<Token<'a>> {
        let start = self.at;
        let end = (start + length.max(1)).min(self.source.len());
        let end = (end..=self.source.len()).find(|&at| self.source.is_char_boundary(at))?;
        self.at = end;
        self.line_start = false;
        let text = self.source.get(start..end)?;
        Some(Token { kind, text, start })
    }

    fn next(&mut self) -> Option<Token<'a>> {
        self.pass_over();
        let rest = self.rest();
        let first = rest.chars().next()?;
        if self.dialect == Dialect::C && first == '#' && self.line_start {
            return self.token(Kind::Directive, directive(rest));
        }
        if let Some(length) = self.prefixed_literal(rest) {
            return self.token(Kind::Literal, length);
        }
        if first == '_' || first.is_alphabetic() {
            let length = rest
                .find(|c: char| c != '_' && !c.is_alphanumeric())
                .unwrap_or(rest.len());
            return self.token(Kind::Word, length);
        }
        if first.is_ascii_digit() {
            let length = rest
                .find(|c: char| c != '_' && !c.is_alphanumeric())
                .unwrap_or(rest.len());
            return self.token(Kind::Number, length);
        }
        if first == '"' {
            return self.token(Kind::Literal, quoted(rest, '"'));
        }
        if first == '\'' {
            let (kind, length) = match self.dialect {
                Dialect::C => (Kind::Literal, quoted(rest, '\'')),
                Dialect::Rust => lifetime_or_char(rest),
            };
            return self.token(kind, length);
        }
        let double = ["::", "->", "&&", "=>"]
            .iter()
            .any(|mark| rest.starts_with(mark));
        self.token(Kind::Mark, if double { 2 } else { first.len_utf8() })
    }

    /// The length of a literal that begins with a letter.
    fn prefixed_literal(&self, rest: &str) -> Option<usize> {
        match self.dialect {
            Dialect::Rust => raw_rust(rest),
            Dialect::C => raw_cpp(rest),
        }
    }

    fn pass_over(&mut self) {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return;
            };
            let length = if first.is_whitespace() {
                self.line_start |= first == '\n';
                first.len_utf8()
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                comment(rest, self.dialect)
            } else {
                return;
            };
            self.at += length;
        }
    }
}

fn comment(rest: &str, dialect: Dialect) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..) {
        if tail.starts_with("/*") && (depth == 0 || dialect == Dialect::Rust) {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            match tail.chars().next() {
                Some(next) => at += next.len_utf8(),
                None => break,
            }
        }
    }
    rest.len()
}

/// A line of the preprocessor with those that continue it, up to its line's end.
fn directive(rest: &str) -> usize {
    let mut at = 0;
    loop {
        let tail = rest.get(at..).unwrap_or_default();
        let Some(end) = tail.find('\n') else {
            return rest.len();
        };
        if !tail
            .get(..end)
            .unwrap_or_default()
            .trim_end()
            .ends_with('\\')
        {
            return at + end;
        }
        at += end + 1;
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// `'a'` or `'a`.
fn lifetime_or_char(rest: &str) -> (Kind, usize) {
    let mut after = rest.chars().skip(1);
    match (after.next(), after.next()) {
        (Some('\\'), _) => (Kind::Literal, quoted(rest, '\'')),
        (Some(c), Some('\'')) => (Kind::Literal, 2 + c.len_utf8()),
        _ => {
            let word = rest.get(1..).unwrap_or_default();
            let length = word.find(|c: char| c != '_' && !c.is_alphanumeric());
            (Kind::Lifetime, 1 + length.unwrap_or(word.len()))
        }
    }
}

/// `r"..."`, `r#"..."#`, `b"..."`, `br"..."`, `b'x'`.
fn raw_rust(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('b').unwrap_or(rest);
    let prefix = rest.len() - after.len();
    if prefix == 1 && after.starts_with('"') {
        return Some(1 + quoted(after, '"'));
    }
    if prefix == 1 && after.starts_with('\'') {
        return Some(1 + quoted(after, '\''));
    }
    let raw = after.strip_prefix('r')?;
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let text = raw.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = text.find(&close).map_or(text.len(), |at| at + close.len());
    Some(prefix + 1 + hashes + 1 + end)
}

/// `R"x(...)x"`, also after `L`, `u`, `U`, `u8`.
fn raw_cpp(rest: &str) -> Option<usize> {
    let prefix = ["u8R\"", "LR\"", "uR\"", "UR\"", "R\""]
        .iter()
        .find(|prefix| rest.starts_with(*prefix))?;
    let text = rest.get(prefix.len()..)?;
    let delimiter = text.get(..text.find('(')?)?;
    let close = format!("){delimiter}\"");
    let end = text.find(&close).map_or(text.len(), |at| at + close.len());
    Some(prefix.len() + end)
}

#[cfg(test)]
mod tests;
