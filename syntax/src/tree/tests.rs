//! Trees of small programs: what is wrong with them, and what they import. They open no data set.

use super::*;

fn source(path: &'static str, text: &'static str) -> Source<'static> {
    Source {
        path,
        text: text.as_bytes(),
        language: Language::of_path(Path::new(path)).expect("a known extension"),
    }
}

fn at(path: &'static str, text: &'static str) -> Vec<(u64, String)> {
    let found = check_syntax(&source(path, text));
    let line = |diagnostic: Diagnostic| (diagnostic.line.unwrap_or(0), diagnostic.code);
    found.into_iter().map(line).collect()
}

#[test]
fn what_parses_has_nothing_to_say() {
    let good = [
        (
            "a.py",
            "match x:\n    case [1, *rest]:\n        print(f\"{rest!r:>{10}}\")\n",
        ),
        (
            "a.js",
            "export const f = async (a, ...b) => ({ ...a, c: b?.[0] ?? 1n });\n",
        ),
        ("a.ts", "const f = <T,>(a: T): T => a satisfies T;\n"),
        (
            "a.go",
            "package a\n\nfunc F[T any](a ...T) (n int) { return len(a) }\n",
        ),
        (
            "a.rs",
            "pub fn f<'a, T: Into<&'a str>>(t: T) -> impl Fn() + use<'a, T> { || () }\n",
        ),
        (
            "a.java",
            "record P(int x) { static <T> T f(T t) { return switch (1) { default -> t; }; } }\n",
        ),
        ("a.c", "int main(void) { return (int){0}; }\n"),
        (
            "a.cpp",
            "template <class... T> auto f(T... t) { return (t + ...); }\n",
        ),
        ("a.sh", "set -e\nfor f in *; do echo \"${f%.*}\"; done\n"),
    ];
    for (path, text) in good {
        assert_eq!(at(path, text), [], "{path}");
    }
}

#[test]
fn what_does_not_parse_is_told_with_its_line() {
    let bad = [
        ("a.py", "def f(x):\n    return (x\n\nprint(1)\n", 2),
        ("a.js", "function f() {\n  return 1 +;\n}\n", 2),
        ("a.ts", "const a: number = ;\n", 1),
        ("a.go", "package a\n\nfunc f() {\n\treturn }}\n", 4),
        ("a.rs", "fn f() -> u8 {\n    1 +\n}\n", 2),
        ("a.java", "class A {\n  int f() { return 1 }\n}\n", 2),
        ("a.sh", "if true; then\n  echo\n", 3),
    ];
    for (path, text, line) in bad {
        let found = check_syntax(&source(path, text));
        let first = found
            .first()
            .unwrap_or_else(|| panic!("{path} has no error"));
        assert_eq!(first.severity, Severity::Error, "{path}");
        assert!(
            first.line.is_some_and(|at| at.abs_diff(line) <= 1),
            "{path}: {first:?}"
        );
    }
}

#[test]
fn python_2_is_told_wherever_it_stands() {
    assert_eq!(
        at("a.py", "def f():\n    if 1:\n        print \"x\"\n"),
        [(3, "python2".to_owned())]
    );
}

#[test]
fn macros_only_warn() {
    let found = check_syntax(&source("a.cpp", "TEST_CASE(\"x\") { REQUIRE(1 }\n"));
    assert!(!found.is_empty());
    assert!(found.iter().all(|it| it.severity == Severity::Warning));
}

#[test]
fn the_number_of_diagnostics_is_bounded() {
    let text: &'static str = Box::leak("def f(:\n  )\n".repeat(10_000).into_boxed_str());
    assert!(check_syntax(&source("a.py", text)).len() <= FILE_DIAGNOSTICS_MAX);
}

#[test]
fn deep_nesting_ends() {
    let text: &'static str = Box::leak("(".repeat(200_000).into_boxed_str());
    assert!(!check_syntax(&source("a.py", text)).is_empty());
}

/// A workspace with an image's folders taken as they are here.
fn image(files: &[&str]) -> (tempfile::TempDir, Image) {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, "").expect("written");
    }
    let image = Image::here(folder.path());
    (folder, image)
}

fn missing(path: &'static str, text: &'static str, files: &[&str]) -> Vec<(String, Severity)> {
    let (_folder, image) = image(files);
    let found = check_imports(&source(path, text), &image);
    let told = |it: Diagnostic| {
        let name = it.message.split('`').nth(1).unwrap_or_default().to_owned();
        (name, it.severity)
    };
    found.into_iter().map(told).collect()
}

#[test]
fn imports_of_python_are_looked_for_in_workspace_and_image() {
    let text = "import os, json.decoder\nimport nowhere_a as b\nfrom helper import x\n\
                from . import y\nfrom nowhere_b.c import d\ntry:\n    import nowhere_c\n\
                except ImportError:\n    pass\n";
    let found = missing("main.py", text, &["helper.py"]);
    let error = |name: &str| (name.to_owned(), Severity::Error);
    assert_eq!(
        found,
        [
            error("nowhere_a"),
            error("nowhere_b"),
            ("nowhere_c".to_owned(), Severity::Warning)
        ]
    );
}

#[test]
fn imports_of_javascript_are_looked_for_beside_the_file() {
    let text = "const fs = require('fs');\nimport a from './a';\nimport b from './lib/b.js';\n\
                import c from '@scope/c/deep';\nimport d from 'node:test';\nrequire('gone/x');\n\
                import './gone';\n";
    let files = ["src/a.js", "src/lib/b.js", "node_modules/@scope/c/index.js"];
    let found = missing("src/main.js", text, &files);
    let error = |name: &str| (name.to_owned(), Severity::Error);
    assert_eq!(found, [error("gone/x"), error("./gone")]);
}

#[test]
fn a_crate_that_no_manifest_brings_is_missing() {
    let text = "extern crate alloc;\nextern crate serde;\nuse std::fmt;\nuse serde::Serialize;\n";
    let serde = ("serde".to_owned(), Severity::Error);
    assert_eq!(missing("main.rs", text, &[]), [serde]);
    assert_eq!(missing("main.rs", text, &["Cargo.toml"]), []);
}
