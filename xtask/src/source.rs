//! Rust source as the house rules need it: found on disk, its comments and literals blanked, its test
//! part told apart. It does not parse Rust; it only knows where text is not code.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// One `.rs` file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the workspace's root, with `/`.
    pub(crate) path: String,
    /// As it is on disk.
    pub(crate) text: String,
    /// The same lines with comments and the insides of literals blanked.
    pub(crate) code: String,
    /// How many of its first lines are not tests.
    pub(crate) lines_before_tests: usize,
}

impl Source {
    /// Prepares `text` found at `path`.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = blank(text);
        let lines_before_tests = if is_test_path(path) {
            0
        } else {
            first_test_line(&code).unwrap_or(text.lines().count())
        };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            lines_before_tests,
        }
    }

    /// The lines of code that are not tests, numbered from 1.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code_lines().take(self.lines_before_tests)
    }

    /// All lines of code, numbered from 1.
    pub(crate) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// Every `.rs` file of the workspace, in the order of its paths; hidden folders, build products and
/// links are left out.
///
/// # Errors
/// When a folder or file cannot be read.
pub(crate) fn all(root: &Path) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    collect(root, &mut paths)?;
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let relative = path
            .strip_prefix(root)
            .context("name a file below the root")?;
        sources.push(Source::new(&relative.to_string_lossy(), &text));
    }
    Ok(sources)
}

fn collect(folder: &Path, paths: &mut Vec<std::path::PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("list {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry
            .file_type()
            .with_context(|| format!("look at {name}"))?;
        if kind.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
            collect(&entry.path(), paths)?;
        } else if kind.is_file() && name.ends_with(".rs") {
            paths.push(entry.path());
        }
    }
    Ok(())
}

fn is_test_path(path: &str) -> bool {
    path.starts_with("tests/")
        || path.ends_with("/tests.rs")
        || path.contains("/tests/")
        || path.contains("/benches/")
}

/// The index of the line where an inline test module starts.
fn first_test_line(code: &str) -> Option<usize> {
    let lines: Vec<&str> = code.lines().collect();
    lines.windows(2).position(|pair| {
        pair[0].trim() == "#[cfg(test)]"
            && pair[1].trim_start().starts_with("mod ")
            && pair[1].trim_end().ends_with('{')
    })
}

/// Blanks comments and what literals hold, keeping every line where it is.
pub(crate) fn blank(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let end = end_of_text(&characters, at);
        if end == at {
            code.push(characters[at]);
            at += 1;
            continue;
        }
        for character in &characters[at..end] {
            code.push(if *character == '\n' { '\n' } else { ' ' });
        }
        at = end;
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none starts there.
fn end_of_text(characters: &[char], at: usize) -> usize {
    let next = characters.get(at + 1).copied();
    match characters[at] {
        '/' if next == Some('/') => {
            find(characters, at, |rest| rest.starts_with(&['\n'])).unwrap_or(characters.len())
        }
        '/' if next == Some('*') => end_of_block_comment(characters, at),
        '"' => end_of_string(characters, at),
        'r' if !follows_word(characters, at) || preceded_by_b(characters, at) => {
            end_of_raw_string(characters, at).unwrap_or(at)
        }
        '\'' => end_of_character(characters, at).unwrap_or(at),
        _ => at,
    }
}

fn find(characters: &[char], from: usize, holds: impl Fn(&[char]) -> bool) -> Option<usize> {
    (from..characters.len()).find(|index| holds(&characters[*index..]))
}

fn end_of_block_comment(characters: &[char], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut index = at;
    while index < characters.len() {
        if characters[index..].starts_with(&['/', '*']) {
            depth += 1;
            index += 2;
        } else if characters[index..].starts_with(&['*', '/']) {
            depth -= 1;
            index += 2;
            if depth == 0 {
                return index;
            }
        } else {
            index += 1;
        }
    }
    characters.len()
}

fn end_of_string(characters: &[char], at: usize) -> usize {
    let mut index = at + 1;
    while index < characters.len() {
        match characters[index] {
            '\\' => index += 2,
            '"' => return index + 1,
            _ => index += 1,
        }
    }
    characters.len()
}

fn end_of_raw_string(characters: &[char], at: usize) -> Option<usize> {
    let hashes = characters[at + 1..]
        .iter()
        .take_while(|character| **character == '#')
        .count();
    let open = at + 1 + hashes;
    if characters.get(open) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', hashes))
        .collect();
    let end = find(characters, open + 1, |rest| rest.starts_with(&close));
    Some(end.map_or(characters.len(), |end| end + close.len()))
}

/// A character literal, but not a lifetime.
fn end_of_character(characters: &[char], at: usize) -> Option<usize> {
    match (characters.get(at + 1)?, characters.get(at + 2)) {
        ('\\', _) => find(characters, at + 3, |rest| rest.starts_with(&['\''])).map(|end| end + 1),
        (_, Some('\'')) => Some(at + 3),
        _ => None,
    }
}

fn follows_word(characters: &[char], at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| is_word(characters[before]))
}

/// Whether the `r` at `at` continues a lone `b`, as in a raw byte string.
fn preceded_by_b(characters: &[char], at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| characters[before] == 'b' && !follows_word(characters, before))
}

/// Whether `character` can be part of a name.
pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether `word` stands in `line` as a whole word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests;
