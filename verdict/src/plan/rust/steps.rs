//! What of a test's code is run, in which order: the functions marked as tests, its `main`, or all
//! of it as one function. The code is the author's, and keeps its lines.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::plan::cxx::matching;
use crate::plan::tokens::{Dialect, Token, tokens};

/// One function to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Its path below the code's module.
    pub path: String,
    /// The literal of the words that it must panic with, where it must.
    pub panics: Option<String>,
}

/// The code as it is built, with what goes before and after it.
#[derive(Debug)]
pub(super) struct Steps {
    pub before: &'static str,
    pub code: String,
    pub after: &'static str,
    pub all: Vec<Step>,
}

pub(super) fn read(code: &str) -> Steps {
    let all = tokens(code, Dialect::Rust);
    let mut walk = Walk::default();
    let mut at = 0;
    while at < all.len() {
        at = walk.step(&all, at);
    }
    let is_marked = !walk.steps.is_empty();
    if !is_marked && walk.main.is_none() {
        return Steps {
            before: " pub fn rollcage_whole() {",
            code: code.to_owned(),
            after: "}",
            all: vec![Step {
                path: "rollcage_whole".to_owned(),
                panics: None,
            }],
        };
    }
    if !is_marked {
        walk.open.extend(walk.main);
        let path = "main".to_owned();
        walk.steps.push(Step { path, panics: None });
    }
    Steps {
        before: "",
        code: edited(code, &walk.blank, &walk.open),
        after: "",
        all: walk.steps,
    }
}

/// `code` without the parts in `blank`, and with `pub` at the offsets in `open`.
fn edited(code: &str, blank: &[Range<usize>], open: &[usize]) -> String {
    let mut text = String::new();
    let open: BTreeSet<usize> = open.iter().copied().collect();
    // They stand one after the other, as they were found.
    let mut blank = blank.iter().peekable();
    for (at, c) in code.char_indices() {
        if open.contains(&at) {
            text.push_str("pub ");
        }
        while blank.next_if(|part| part.end <= at).is_some() {}
        let is_blank = blank.peek().is_some_and(|part| part.contains(&at));
        text.push(if is_blank && c != '\n' { ' ' } else { c });
    }
    text
}

#[derive(Default)]
struct Walk {
    depth: usize,
    /// Names of the modules around, with the depth of their braces.
    modules: Vec<(String, usize)>,
    is_test: bool,
    ignored: bool,
    panics: Option<String>,
    steps: Vec<Step>,
    main: Option<usize>,
    blank: Vec<Range<usize>>,
    open: Vec<usize>,
}

impl Walk {
    /// Looks at the token at `at`; gives the index of the next.
    fn step(&mut self, all: &[Token<'_>], at: usize) -> usize {
        let token = &all[at];
        let next = all.get(at + 1);
        if token.is("#")
            && next.is_some_and(|next| next.is("["))
            && let Some(end) = matching(all, at + 1, ("[", "]"))
        {
            self.attribute(&all[at..=end]);
            return end + 1;
        }
        let is_public = at > 0 && (all[at - 1].is("pub") || all[at - 1].is(")"));
        if token.is("mod") && all.get(at + 2).is_some_and(|brace| brace.is("{")) {
            self.modules
                .push((next.map_or("", |name| name.text).to_owned(), self.depth + 1));
            if !is_public {
                self.open.push(token.start);
            }
        } else if token.is("fn") {
            self.function(token, next, is_public);
        } else if token.is("{") {
            self.depth += 1;
        } else if token.is("}") {
            if self
                .modules
                .last()
                .is_some_and(|(_, depth)| *depth == self.depth)
            {
                self.modules.pop();
            }
            self.depth = self.depth.saturating_sub(1);
        }
        at + 1
    }

    fn attribute(&mut self, part: &[Token<'_>]) {
        let words: Vec<&str> = part.iter().map(|token| token.text).collect();
        let mine = match words.get(2).copied() {
            Some("test") => {
                self.is_test = true;
                true
            }
            Some("should_panic") => {
                let words = part.iter().find(|token| token.text.contains('"'));
                self.panics = Some(words.map_or("\"\"", |token| token.text).to_owned());
                true
            }
            Some("ignore") => {
                self.ignored = true;
                true
            }
            Some("cfg") => words.get(4) == Some(&"test"),
            _ => false,
        };
        if let (true, Some(first), Some(last)) = (mine, part.first(), part.last()) {
            self.blank.push(first.start..last.end());
        }
    }

    fn function(&mut self, token: &Token<'_>, name: Option<&Token<'_>>, is_public: bool) {
        let name = name.map_or("", |name| name.text);
        let panics = self.panics.take();
        let (is_test, ignored) = (self.is_test, self.ignored);
        (self.is_test, self.ignored) = (false, false);
        if is_test && !ignored && self.depth == self.modules.len() {
            let modules = self.modules.iter().map(|(name, _)| name.as_str());
            let path: Vec<&str> = modules.chain([name]).collect();
            let path = path.join("::");
            self.steps.push(Step { path, panics });
            if !is_public {
                self.open.push(token.start);
            }
        } else if name == "main" && self.depth == 0 && !is_public {
            self.main = Some(token.start);
        }
    }
}

#[cfg(test)]
mod tests;
