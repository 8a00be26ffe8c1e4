//! What a file imports, read off its tree, and whether there is such a thing.

mod names;

use tree_sitter::{Node, Tree};

use crate::image::Image;
use crate::language::Language;
use crate::tree::{Source, stem};
use names::{NODE_BUILTIN, PYTHON_BUILTIN, RUST_CRATES};

/// One import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// What is imported, as the language names it.
    pub name: String,
    /// Whether it is needed on every way through the program.
    pub certain: bool,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
}

/// Imports of a file in the order they stand.
pub(crate) fn of(source: &Source<'_>, tree: &Tree) -> Vec<Import> {
    let mut found = Vec::new();
    let mut open = vec![(tree.root_node(), true)];
    while let Some((node, certain)) = open.pop() {
        let names = match source.language {
            Language::Python => python(source, node),
            Language::JavaScript | Language::TypeScript | Language::Tsx => node_js(source, node),
            Language::C | Language::Cpp => include(source, node),
            Language::Go => go(source, node),
            Language::Rust => rust(source, node),
            Language::Bash | Language::Java => Vec::new(),
        };
        let at = node.start_position();
        found.extend(names.into_iter().map(|name| Import {
            name,
            certain,
            line: at.row as u64 + 1,
            column: at.column as u64 + 1,
        }));
        let certain = certain && !conditional(node.kind());
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children.into_iter().rev().map(|child| (child, certain)));
    }
    found
}

/// Parts of a program that it may well pass by.
fn conditional(kind: &str) -> bool {
    matches!(
        kind,
        "try_statement"
            | "if_statement"
            | "function_definition"
            | "function_declaration"
            | "function_item"
            | "method_definition"
            | "arrow_function"
            | "function_expression"
            | "lambda"
            | "while_statement"
            | "for_statement"
            | "match_statement"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "preproc_elifdef"
            | "attribute_item"
            | "mod_item"
    )
}

/// Whether the import can be had; true wherever that cannot be told.
pub(crate) fn is_there(source: &Source<'_>, import: &Import, image: &Image) -> bool {
    let name = import.name.as_str();
    match source.language {
        Language::Python => {
            PYTHON_BUILTIN.contains(&name)
                || name == stem(source.path)
                || !image.has_python()
                || image.python_module(name)
                || image.beside(name, source.path, &["", ".py"])
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            node_there(source, name, image)
        }
        Language::C | Language::Cpp => !image.has_c() || image.header(name, source.path),
        Language::Go => {
            // A module's own packages and those of its `go.mod` are the go command's to find.
            !image.has_go() || image.has("go.mod") || image.go_package(name)
        }
        Language::Rust => RUST_CRATES.contains(&name) || image.has("Cargo.toml"),
        Language::Bash | Language::Java => true,
    }
}

fn node_there(source: &Source<'_>, name: &str, image: &Image) -> bool {
    if name.starts_with("node:") {
        return true;
    }
    if name.starts_with('.') {
        let endings = [
            "",
            ".js",
            ".cjs",
            ".mjs",
            ".json",
            ".node",
            ".ts",
            ".tsx",
            ".jsx",
            "/index.js",
            "/index.ts",
        ];
        return image.beside(name, source.path, &endings);
    }
    if name.starts_with('/') {
        return true;
    }
    let mut parts = name.splitn(3, '/');
    let first = parts.next().unwrap_or_default();
    let package = match parts.next() {
        Some(second) if first.starts_with('@') => format!("{first}/{second}"),
        _ => first.to_owned(),
    };
    NODE_BUILTIN.contains(&first) || image.node_package(&package)
}

fn text<'a>(source: &Source<'a>, node: Node<'_>) -> &'a str {
    let bytes = source.text.get(node.byte_range()).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Top-level names of modules; relative imports are the package's own affair.
fn python(source: &Source<'_>, node: Node<'_>) -> Vec<String> {
    let first = |node: Node<'_>| {
        let name = text(source, node);
        name.split('.').next().unwrap_or_default().trim().to_owned()
    };
    match node.kind() {
        "import_statement" => {
            let mut cursor = node.walk();
            let names = node.children_by_field_name("name", &mut cursor);
            names
                .map(|name| name.child_by_field_name("name").unwrap_or(name))
                .map(first)
                .collect()
        }
        "import_from_statement" => {
            let module = node.child_by_field_name("module_name");
            module
                .filter(|module| module.kind() == "dotted_name")
                .map(first)
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// `import ... from "x"`, `export ... from "x"`, `require("x")`.
fn node_js(source: &Source<'_>, node: Node<'_>) -> Vec<String> {
    let literal = match node.kind() {
        "import_statement" | "export_statement" => node.child_by_field_name("source"),
        "call_expression" => {
            let called = node.child_by_field_name("function");
            called
                .filter(|called| text(source, *called) == "require")
                .and_then(|_| node.child_by_field_name("arguments"))
                .and_then(|arguments| arguments.named_child(0))
        }
        _ => None,
    };
    literal
        .filter(|literal| literal.kind() == "string")
        .map(|literal| unquoted(text(source, literal)))
        .into_iter()
        .collect()
}

fn include(source: &Source<'_>, node: Node<'_>) -> Vec<String> {
    let path = (node.kind() == "preproc_include").then(|| node.child_by_field_name("path"));
    path.flatten()
        .filter(|path| matches!(path.kind(), "system_lib_string" | "string_literal"))
        .map(|path| unquoted(text(source, path)))
        .into_iter()
        .collect()
}

fn go(source: &Source<'_>, node: Node<'_>) -> Vec<String> {
    let path = (node.kind() == "import_spec").then(|| node.child_by_field_name("path"));
    path.flatten()
        .map(|path| unquoted(text(source, path)))
        .filter(|path| path != "C" && path != "unsafe")
        .into_iter()
        .collect()
}

/// Crates by their names: a `use` of a module of the file itself cannot be told from one, so only
/// `extern crate` counts.
fn rust(source: &Source<'_>, node: Node<'_>) -> Vec<String> {
    let name =
        (node.kind() == "extern_crate_declaration").then(|| node.child_by_field_name("name"));
    name.flatten()
        .map(|name| text(source, name).to_owned())
        .into_iter()
        .collect()
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'', '`', '<', '>']).to_owned()
}
