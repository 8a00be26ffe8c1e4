//! One file as a syntax tree, and what is wrong with it. It opens nothing.

#[cfg(test)]
mod tests;

use std::path::Path;

use tree_sitter::{Node, Parser, Tree};
use verdict::{Diagnostic, Severity};

use crate::image::Image;
use crate::imports;
use crate::language::Language;
use crate::{FILE_DIAGNOSTICS_MAX, TOOL};

/// Characters of the source that a message quotes.
const QUOTED_CHARS_MAX: usize = 40;

/// One file.
#[derive(Debug)]
pub struct Source<'a> {
    /// Its path below the workspace, as told in diagnostics.
    pub path: &'a str,
    /// Its content.
    pub text: &'a [u8],
    /// Its language.
    pub language: Language,
}

/// Where the tree has an error, at most [`FILE_DIAGNOSTICS_MAX`] times; empty when it parses.
#[must_use]
pub fn check_syntax(source: &Source<'_>) -> Vec<Diagnostic> {
    let Some(tree) = parse(source) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if found.len() >= FILE_DIAGNOSTICS_MAX {
            break;
        }
        if node.is_missing() {
            let message = format!("{} is missing", quoted(node.kind()));
            found.push(diagnostic(source, node, "missing-token", message));
        } else if node.is_error() {
            // Its children are the parts that could be made out: saying more would be noise.
            let message = format!("unexpected {}", excerpt(source, node));
            found.push(diagnostic(source, node, "syntax-error", message));
        } else if outdated(source.language, node.kind()) {
            let message = format!("{} is Python 2", excerpt(source, node));
            found.push(diagnostic(source, node, "python2", message));
        } else if node.has_error() {
            let mut cursor = node.walk();
            let mut children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            children.reverse();
            open.append(&mut children);
        } else if source.language == Language::Python {
            // An outdated statement is no error to the grammar, wherever it stands.
            let mut cursor = node.walk();
            let blocks = node.named_children(&mut cursor).collect::<Vec<_>>();
            open.extend(blocks.into_iter().rev());
        }
    }
    found
}

/// What the file imports and neither `image` nor the workspace has.
#[must_use]
pub fn check_imports(source: &Source<'_>, image: &Image) -> Vec<Diagnostic> {
    let Some(tree) = parse(source) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for import in imports::of(source, &tree) {
        if found.len() >= FILE_DIAGNOSTICS_MAX {
            break;
        }
        if imports::is_there(source, &import, image) {
            continue;
        }
        // What is imported only on some way through the program may be meant to be missing.
        let severity = if import.certain {
            severity(source.language)
        } else {
            Severity::Warning
        };
        let message = format!(
            "{} is neither in the workspace nor in the image",
            quoted(&import.name)
        );
        found.push(Diagnostic {
            severity,
            line: Some(import.line),
            column: Some(import.column),
            ..base(source, "missing-import", message)
        });
    }
    found
}

/// `None` only if the grammar and the library do not fit, which the tests exclude.
fn parse(source: &Source<'_>) -> Option<Tree> {
    let mut parser = Parser::new();
    let fits = parser.set_language(&source.language.grammar());
    fits.ok().and_then(|()| parser.parse(source.text, None))
}

fn outdated(language: Language, kind: &str) -> bool {
    language == Language::Python && matches!(kind, "print_statement" | "exec_statement")
}

/// Macros and include paths decide what C and C++ mean, and neither can be known here: there the
/// check only warns, so that nothing right is ever stopped by it.
fn severity(language: Language) -> Severity {
    match language {
        Language::C | Language::Cpp => Severity::Warning,
        _ => Severity::Error,
    }
}

fn base(source: &Source<'_>, code: &str, message: String) -> Diagnostic {
    Diagnostic {
        tool: TOOL.to_owned(),
        severity: severity(source.language),
        code: code.to_owned(),
        message,
        file: source.path.to_owned(),
        line: None,
        column: None,
    }
}

fn diagnostic(source: &Source<'_>, node: Node<'_>, code: &str, message: String) -> Diagnostic {
    let at = node.start_position();
    Diagnostic {
        line: Some(at.row as u64 + 1),
        column: Some(at.column as u64 + 1),
        ..base(source, code, message)
    }
}

/// The first characters of a node, as one quoted line.
fn excerpt(source: &Source<'_>, node: Node<'_>) -> String {
    let text = source.text.get(node.byte_range()).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let line = text.trim_start().lines().next().unwrap_or_default();
    if line.is_empty() {
        return "end of file".to_owned();
    }
    quoted(line)
}

fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// A file's name without folder and extension.
pub(crate) fn stem(path: &str) -> &str {
    Path::new(path)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default()
}
