//! Rules over the documents: they stay short, and every promise names the test that keeps it.

use super::Finding;
use crate::source::Source;

/// Documents and the lines each may have at most.
pub(crate) const LENGTHS: [(&str, usize); 3] = [
    ("README.md", 150),
    ("ARCHITECTURE.md", 300),
    ("AGENTS.md", 60),
];

/// Where the promises stand.
pub(crate) const SPECIFICATION: &str = "SPECIFICATION.md";

/// Documents that name tests anywhere.
pub(crate) const NAMING: [&str; 5] = [
    "SECURITY.md",
    "ARCHITECTURE.md",
    "docs/escapes.md",
    "docs/hosts.md",
    "docs/testing.md",
];

/// What a row says in place of tests while its promise is not kept yet.
const PENDING: &str = "pending: ";

/// A finding when `text` is longer than it may be.
pub(crate) fn length(path: &str, text: &str, lines_max: usize) -> Option<Finding> {
    let lines = text.lines().count();
    (lines > lines_max).then(|| {
        Finding::new(
            path,
            0,
            format!("{lines} lines; at most {lines_max}: move some elsewhere"),
        )
    })
}

/// Rows of promises whose last cell names no test, or one that does not exist.
pub(crate) fn promises(text: &str, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut previous_is_row = false;
    for (index, line) in text.lines().enumerate() {
        let is_row = line.starts_with('|');
        let is_promise = is_row && previous_is_row && !is_rule(line);
        previous_is_row = is_row;
        if !is_promise {
            continue;
        }
        let last = line
            .trim()
            .trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap_or("")
            .trim();
        if last
            .strip_prefix(PENDING)
            .is_some_and(|what| !what.is_empty())
        {
            continue;
        }
        let tests: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            let message = format!("a promise without `test` or `{PENDING}` in its last column");
            findings.push(Finding::new(SPECIFICATION, index + 1, message));
        }
        for test in tests.into_iter().filter(|test| !exists(test, sources)) {
            let message = format!("names the test `{test}`, which does not exist");
            findings.push(Finding::new(SPECIFICATION, index + 1, message));
        }
    }
    findings
}

/// Names with three or more underscores, as only tests have them, that are no function's.
pub(crate) fn names(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let is_test = |word: &&str| {
        word.matches('_').count() > 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2);
        let words = quoted.filter_map(|quoted| quoted.rsplit([' ', ':']).next());
        for test in words.filter(is_test).filter(|test| !exists(test, sources)) {
            let message = format!("names the test `{test}`, which does not exist");
            findings.push(Finding::new(path, index + 1, message));
        }
    }
    findings
}

/// Whether a table's line only draws the line under its head.
fn is_rule(line: &str) -> bool {
    line.chars()
        .all(|character| matches!(character, '|' | '-' | ':' | ' '))
}

/// Whether a test function of this name exists; a path before the name is for readers.
fn exists(test: &str, sources: &[Source]) -> bool {
    let name = test.rsplit("::").next().unwrap_or(test);
    let function = format!("fn {name}(");
    sources.iter().any(|source| source.code.contains(&function))
}

#[cfg(test)]
mod tests;
