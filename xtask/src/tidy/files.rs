//! Rules over one Rust file at a time.

use super::Finding;
use super::exceptions::Exceptions;
use crate::source::{Source, has_word, is_word};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 9] = [
    "util", "utils", "helper", "helpers", "manager", "managers", "common", "misc", "shared",
];

/// Lines of a file without its tests, at most.
const LINES_MAX: usize = 500;
/// The same for a program's `main.rs`, which only starts things.
const MAIN_LINES_MAX: usize = 60;

/// All findings in `source`.
pub(crate) fn check(source: &Source, exceptions: &Exceptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(name(source));
    findings.extend(header(source));
    findings.extend(length(source, exceptions));
    findings.extend(modules(source));
    findings.extend(promises_without_issue(source));
    findings.extend(text_as_error(source));
    findings.extend(discards(source));
    findings.extend(unsafe_code(source, exceptions));
    findings.extend(programs(source, exceptions));
    findings
}

/// How many lines without tests the file at `path` may have.
pub(crate) fn lines_max(path: &str) -> usize {
    if path.ends_with("/main.rs") {
        MAIN_LINES_MAX
    } else {
        LINES_MAX
    }
}

/// Whether the file holds unsafe code.
pub(crate) fn is_unsafe(source: &Source) -> bool {
    source
        .code_lines()
        .any(|(_, line)| has_word(line, "unsafe"))
}

/// Whether the file, outside its tests, starts other programs.
pub(crate) fn starts_programs(source: &Source) -> bool {
    source.product_lines().any(|(_, line)| names_command(line))
}

fn name(source: &Source) -> Option<Finding> {
    let (_, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    if stem == "mod" {
        let message = "no mod.rs: name the file after its module, beside the module's folder";
        return Some(Finding::new(&source.path, 0, message));
    }
    empty_name(stem).map(|message| Finding::new(&source.path, 0, message))
}

fn empty_name(name: &str) -> Option<String> {
    EMPTY_NAMES
        .contains(&name)
        .then(|| format!("`{name}` says nothing; name the module after what it holds"))
}

fn header(source: &Source) -> Option<Finding> {
    let first = source.text.lines().next().unwrap_or("");
    (!first.starts_with("//! ")).then(|| {
        let message = "starts without `//! `: say what this file is and what it does not know";
        Finding::new(&source.path, 1, message)
    })
}

fn length(source: &Source, exceptions: &Exceptions) -> Option<Finding> {
    let (lines, path) = (source.lines_before_tests, &source.path);
    let most = exceptions
        .lines_max(path)
        .unwrap_or_else(|| lines_max(path));
    (lines > most).then(|| {
        Finding::new(
            path,
            0,
            format!("{lines} lines without tests; at most {most}: split it"),
        )
    })
}

fn modules(source: &Source) -> Vec<Finding> {
    let name_of = |line: &str| {
        let rest = line
            .trim_start()
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ");
        let name = rest.strip_prefix("mod ")?.trim_end_matches([';', '{', ' ']);
        empty_name(name)
    };
    let found = source
        .code_lines()
        .filter_map(|(line, code)| Some((line, name_of(code)?)));
    found
        .map(|(line, message)| Finding::new(&source.path, line, message))
        .collect()
}

/// A note of work to come names the issue it waits for, as `(#12)` right behind the word.
fn promises_without_issue(source: &Source) -> Vec<Finding> {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    let is_bare = |line: &str| {
        words.iter().any(|word| {
            has_word(line, word)
                && !line.split(word).skip(1).all(|rest| {
                    rest.strip_prefix("(#")
                        .is_some_and(|rest| rest.starts_with(char::is_numeric))
                })
        })
    };
    let lines = source
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_bare(line));
    lines
        .map(|(index, _)| {
            Finding::new(
                &source.path,
                index + 1,
                "work to come needs its issue: `(#12)`",
            )
        })
        .collect()
}

/// An error that is a text cannot be told from another one.
fn text_as_error(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (start, _) in source.code.match_indices("Result<") {
        if error_type(&source.code[start + "Result<".len()..]) == Some("String") {
            let line = source.code[..start].matches('\n').count() + 1;
            let message = "an error that is a `String`; make it a small enum";
            findings.push(Finding::new(&source.path, line, message));
        }
    }
    findings
}

/// The second of two type arguments, given the text behind the opening `<`.
fn error_type(arguments: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut second = None;
    let mut previous = ' ';
    for (index, character) in arguments.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' if previous == '-' => {}
            '>' if depth == 0 => {
                return Some(arguments[second?..index].trim().trim_end_matches(','));
            }
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 && second.is_none() => second = Some(index + 1),
            ';' | '{' => return None,
            _ => {}
        }
        previous = character;
    }
    None
}

/// Outside tests, what a call gives back is used, or the code says otherwise than by silence.
fn discards(source: &Source) -> Vec<Finding> {
    let lines: Vec<(usize, &str)> = source.product_lines().collect();
    let mut findings = Vec::new();
    for (index, (line, code)) in lines.iter().enumerate() {
        let Some((_, first)) = code.split_once("let _ =") else {
            continue;
        };
        let rest = lines[index + 1..].iter().map(|(_, code)| *code);
        let statement: Vec<&str> = std::iter::once(first).chain(rest).collect();
        let statement = statement.join("\n");
        if statement
            .split(';')
            .next()
            .is_some_and(|statement| statement.contains('('))
        {
            let message = "`let _ =` throws a result away; handle it or return it";
            findings.push(Finding::new(&source.path, *line, message));
        }
    }
    findings
}

fn unsafe_code(source: &Source, exceptions: &Exceptions) -> Option<Finding> {
    let mut lines = source
        .code_lines()
        .filter(|(_, line)| has_word(line, "unsafe"));
    let (line, _) = lines
        .next()
        .filter(|_| !exceptions.may_be_unsafe(&source.path))?;
    let message = "`unsafe` in a file that xtask/tidy.toml does not list for it";
    Some(Finding::new(&source.path, line, message))
}

fn programs(source: &Source, exceptions: &Exceptions) -> Option<Finding> {
    let mut lines = source
        .product_lines()
        .filter(|(_, line)| names_command(line));
    let (line, _) = lines
        .next()
        .filter(|_| !exceptions.may_start_programs(&source.path))?;
    let message = "starts a program, and xtask/tidy.toml does not list the file for it";
    Some(Finding::new(&source.path, line, message))
}

/// Whether `line` names `process::Command`, alone or in a list.
fn names_command(line: &str) -> bool {
    line.match_indices("process::").any(|(start, path)| {
        let rest = &line[start + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => list
                .split('}')
                .next()
                .is_some_and(|list| has_word(list, "Command")),
            None => rest.split(|character| !is_word(character)).next() == Some("Command"),
        }
    })
}

#[cfg(test)]
mod tests;
