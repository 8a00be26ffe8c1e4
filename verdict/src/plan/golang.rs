//! The judging of Go: the solution's file is built with a host of ours into one program, the test
//! code with stand-ins for the solution's functions into another.

mod declared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::blank::{LongText, blank, words};
use super::build::Build;
use super::programs::Made;
use super::{HARNESS_FOLDER, JudgePlan, ours, without_harness};
use crate::diagnostics::DiagnosticFormat;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{AssertsSpec, WHOLE_TEST_ID};
use declared::{Function, functions, is_predeclared};

const WIRE: &str = "rollcage_wire.go";
/// Its `init` has to run after those of the solution: files are taken in the order of their names.
const HOST: &str = "zz_rollcage_host.go";
const JUDGE: &str = "rollcage_judge.go";
const FUNCTIONS: &str = "zz_rollcage_functions.go";
const STUBS: &str = "rollcage_stubs.go";
const SOLUTION: &str = "solution.go";
const PROGRAM: &str = "program";

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 3] = [
    (WIRE, include_str!("../../harness/go/rollcage_wire.go")),
    (HOST, include_str!("../../harness/go/rollcage_host.go")),
    (JUDGE, include_str!("../../harness/go/rollcage_judge.go")),
];

pub(super) fn plan(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> Result<JudgePlan, Box<Verdict>> {
    let solution = text_of(files, &spec.file)?;
    let of_solution = functions(&solution);
    let declared_by_solution = spec.declaration.trim().is_empty();
    let declared = if declared_by_solution {
        of_solution.clone()
    } else {
        functions(&spec.declaration)
    };
    let tests = TestFiles::new(spec);
    let callable: Vec<&Function> = (declared.iter())
        .filter(|(name, _)| !is_predeclared(name))
        .filter(|(name, _)| tests.mention(name) && !tests.define(name))
        .filter_map(|(_, function)| function.as_ref())
        .collect();
    if tests.groups.iter().any(|(_, names)| names.is_empty()) {
        let reason = "the test code has no function Test...(t *testing.T)";
        return Err(Box::new(Verdict::new(Outcome::VerifierError, reason)));
    }
    let has_main = of_solution.iter().any(|(name, _)| name == "main");
    let mut build_files = of_harness(&[WIRE, HOST]);
    build_files.insert(ours(SOLUTION), in_package(&solution).into_bytes());
    let registry = registry(&callable, has_main);
    build_files.insert(ours(FUNCTIONS), registry.into_bytes());
    let mut solution_build = build(build_files);
    solution_build.files_renamed = renamed(SOLUTION, &spec.file);

    let mut judge_files = of_harness(&[WIRE, JUDGE]);
    judge_files.insert(ours(STUBS), stubs(&callable, &tests.groups).into_bytes());
    judge_files.extend(tests.files);
    Ok(JudgePlan {
        solution_files: without_harness(files),
        solution_argv: vec![ours(PROGRAM)],
        judge_files: BTreeMap::from([(ours("nonce"), nonce.as_bytes().to_vec())]),
        judge_argv: vec![ours(PROGRAM)],
        solution_build: Some(solution_build),
        judge_build: Some(build(judge_files)),
        declared_by_solution,
    })
}

/// A whole program of one file.
pub(super) fn program(file: &str, text: &str) -> Made {
    let files = BTreeMap::from([(ours(SOLUTION), in_package(text).into_bytes())]);
    let mut build = build(files);
    build.files_renamed = renamed(SOLUTION, file);
    Made {
        build,
        argv: vec![ours(PROGRAM)],
        beside: BTreeMap::new(),
    }
}

/// The solution's text. Where it is not there, or no text, that is the solution's doing.
fn text_of(files: &BTreeMap<String, Vec<u8>>, file: &str) -> Result<String, Box<Verdict>> {
    let failed = |why: &str| {
        let reason = format!("{file} {why}");
        Box::new(Verdict::new(Outcome::Failed, reason))
    };
    let bytes = files.get(file).ok_or_else(|| failed("is not there"))?;
    String::from_utf8(bytes.clone()).map_err(|_not_text| failed("is no text"))
}

/// The compiler's names of a file of ours, and the one that its author knows.
fn renamed(ours: &str, theirs: &str) -> Vec<(String, String)> {
    ["", "./"]
        .map(|before| {
            (
                format!("{before}{HARNESS_FOLDER}/{ours}"),
                theirs.to_owned(),
            )
        })
        .to_vec()
}

fn build(files: BTreeMap<String, Vec<u8>>) -> Build {
    let program = ours(PROGRAM);
    let mut argv: Vec<String> = ["go", "build", "-o", &program].map(str::to_owned).to_vec();
    argv.extend(files.keys().cloned());
    let env = [
        ("GO111MODULE", "off"),
        ("GOPATH", "/usr/share/gocode"),
        ("GOFLAGS", ""),
        ("GOENV", "off"),
        ("GOCACHE", "/tmp/rollcage-go-cache"),
    ];
    Build {
        files,
        argv,
        env: env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        collect: vec![program.clone()],
        required: vec![program],
        messages: Some(DiagnosticFormat::GoText),
        ..Build::default()
    }
}

fn of_harness(names: &[&str]) -> BTreeMap<String, Vec<u8>> {
    (HARNESS_FILES.iter())
        .filter(|(name, _)| names.contains(name))
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()))
        .collect()
}

/// The text with a package, put in front of its first line where it has none.
fn in_package(source: &str) -> String {
    let text = blank(source, LongText::BackQuotes);
    if text.trim_start().starts_with("package ") {
        return source.to_owned();
    }
    format!("package main; {source}")
}

fn registry(functions: &[&Function], has_main: bool) -> String {
    let mut text = "package main\n\nvar rollcageFunctions = map[string]interface{}{\n".to_owned();
    for function in functions {
        put(&mut text, format_args!("\t\"{0}\": {0},\n", function.name));
    }
    text.push_str("}\n");
    if !has_main {
        text.push_str("\nfunc main() {}\n");
    }
    text
}

fn stubs(functions: &[&Function], groups: &[(String, Vec<String>)]) -> String {
    let mut text =
        "package main\n\nimport \"testing\"\n\nvar rollcageGroups = []rollcageGroup{\n".to_owned();
    for (id, names) in groups {
        put(
            &mut text,
            format_args!("\t{{{id:?}, []testing.InternalTest{{"),
        );
        for name in names {
            put(&mut text, format_args!("{{{name:?}, {name}}}, "));
        }
        text.push_str("}},\n");
    }
    text.push_str("}\n");
    for function in functions {
        let list = |types: &[String], letter: char, before: &str| {
            let one = |(at, kind): (usize, &String)| {
                format!(
                    "{before}{letter}{at}{}",
                    match before {
                        "" => format!(" {kind}"),
                        _ => String::new(),
                    }
                )
            };
            types
                .iter()
                .enumerate()
                .map(one)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (params, results) = (&function.params, &function.results);
        put(
            &mut text,
            format_args!(
                "\nfunc {name}({}) ({}) {{\n\trollcageCall(\"{name}\", []interface{{}}{{{}}}, \
                 []interface{{}}{{{}}})\n\treturn\n}}\n",
                list(params, 'a', ""),
                list(results, 'r', ""),
                list(params, 'a', "&"),
                list(results, 'r', "&"),
                name = function.name,
            ),
        );
    }
    text
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    if text.write_fmt(what).is_err() {
        unreachable!("text takes what is written to it");
    }
}

/// The author's test code as files of the judge's program.
struct TestFiles {
    files: BTreeMap<String, Vec<u8>>,
    /// Id, and the test functions that belong to it.
    groups: Vec<(String, Vec<String>)>,
    /// Every word of the test code.
    words: BTreeSet<String>,
    defined: BTreeSet<String>,
}

impl TestFiles {
    fn new(spec: &AssertsSpec) -> Self {
        let mut pieces: Vec<(String, Option<&str>, &str)> = (spec.tests.iter().enumerate())
            .map(|(at, test)| (at.to_string(), Some(test.id.as_str()), test.code.as_str()))
            .collect();
        if !spec.code.trim().is_empty() {
            let id = spec.tests.is_empty().then_some(WHOLE_TEST_ID);
            pieces.push(("code".to_owned(), id, &spec.code));
        }
        let mut made = Self {
            files: BTreeMap::new(),
            groups: Vec::new(),
            words: BTreeSet::new(),
            defined: BTreeSet::new(),
        };
        for (name, id, code) in pieces {
            let path = ours(&format!("rollcage_test_{name}.go"));
            made.files.insert(path, in_package(code).into_bytes());
            let names: Vec<String> = functions(code).into_iter().map(|(name, _)| name).collect();
            if let Some(id) = id {
                let is_test = |name: &&String| {
                    name.strip_prefix("Test")
                        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
                        && *name != "TestMain"
                };
                let tests = names.iter().filter(is_test).cloned().collect();
                made.groups.push((id.to_owned(), tests));
            }
            made.defined.extend(names);
            made.words.extend(words(&blank(code, LongText::BackQuotes)));
        }
        made
    }

    fn mention(&self, name: &str) -> bool {
        self.words.contains(name)
    }

    fn define(&self, name: &str) -> bool {
        self.defined.contains(name)
    }
}
