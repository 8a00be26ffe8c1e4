//! The language sets of the shared data against their measured truth: references and real answers.
//! A sample by default; `ROLLCAGE_TEST_ALL=1` = every task.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;
use verdict::{AssertsSpec, Language, Outcome};

use super::datasets::{Task, data_folder, judge_all, text, truth_in};
use super::{assert_outcome, driver, skip};

/// One of how many tasks the sample has.
const SAMPLE_STEP: usize = 40;
/// Tasks whose test code itself is broken: no solution can be judged by it.
const BROKEN_TESTS: [&str; 3] = [
    "HumanEval_51_remove_vowels",
    "mbpp_563_extract_values",
    "mbpp_725_extract_quotation",
];

/// Lines of a set, which may be compressed.
fn lines(set: &str, file: &str) -> Option<Vec<Value>> {
    let path = data_folder().join(set).join(file);
    let bytes = if path.extension().is_some_and(|kind| kind == "gz") {
        let output = Command::new("gzip").arg("-dc").arg(&path).output();
        output.ok().filter(|output| output.status.success())?.stdout
    } else {
        fs::read(&path).ok()?
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    Some(
        lines
            .map(|line| serde_json::from_slice(line).expect("a JSON line"))
            .collect(),
    )
}

/// The first block of code of an answer, or the whole answer.
fn code_of(answer: &str) -> &str {
    let Some((_, block)) = answer.split_once("```") else {
        return answer;
    };
    let (_, code) = block.split_once('\n').unwrap_or(("", block));
    code.split("```").next().unwrap_or(code)
}

/// A set: where it lies, its table, and how a line becomes solution and test code.
struct Set {
    folder: &'static str,
    file: &'static str,
    table: &'static str,
    /// What the table's ids have in front of those of the set.
    prefix: &'static str,
    language: Language,
    solution_file: &'static str,
    make: fn(&Value) -> (String, AssertsSpec),
}

fn judge_set(set: &Set) {
    let name = set.table;
    let Some(lines) = lines(set.folder, set.file) else {
        return skip(name, 1, "the data set is not on this machine");
    };
    let all = std::env::var_os("ROLLCAGE_TEST_ALL").is_some();
    let step = if all { 1 } else { SAMPLE_STEP };
    let Some(program) = driver::interpreter(set.language) else {
        return skip(
            name,
            lines.len() / step,
            "its tools are not on this machine",
        );
    };
    let truth = truth_in(set.folder, set.table);
    let is_broken = |line: &&Value| BROKEN_TESTS.contains(&text(line, "task_id"));
    for line in lines.iter().filter(is_broken) {
        let (solution, spec) = (set.make)(line);
        let spec = AssertsSpec {
            language: set.language,
            file: set.solution_file.to_owned(),
            ..spec
        };
        let files = BTreeMap::from([(spec.file.clone(), solution.into_bytes())]);
        let verdict = driver::judge(&program, &spec, &files);
        assert_outcome(&verdict, Outcome::VerifierError, text(line, "task_id"));
    }
    let tasks: Vec<(Task, bool)> = (lines.iter().step_by(step))
        .filter(|line| !is_broken(line))
        .map(|line| {
            let id = text(line, "task_id").to_owned();
            let (solution, spec) = (set.make)(line);
            let expected = truth[&format!("{}{id}", set.prefix)];
            let spec = AssertsSpec {
                language: set.language,
                file: set.solution_file.to_owned(),
                ..spec
            };
            (Task { id, solution, spec }, expected)
        })
        .collect();
    judge_all(name, &program, &tasks);
}

fn by_code(code: String) -> AssertsSpec {
    AssertsSpec {
        code,
        ..AssertsSpec::default()
    }
}

fn humaneval_x(line: &Value) -> (String, AssertsSpec) {
    let solution = format!(
        "{}{}",
        text(line, "prompt"),
        text(line, "canonical_solution")
    );
    (solution, by_code(text(line, "test").to_owned()))
}

fn answered(line: &Value) -> (String, AssertsSpec) {
    let solution = code_of(text(line, "gpt_solution")).to_owned();
    (solution, by_code(text(line, "tests").to_owned()))
}

#[test]
fn humaneval_x_in_javascript() {
    judge_set(&Set {
        folder: "humaneval_x",
        file: "humaneval_js.jsonl",
        table: "humaneval_x_js",
        prefix: "",
        language: Language::JavaScript,
        solution_file: "solution.js",
        make: humaneval_x,
    });
}

#[test]
fn real_answers_in_javascript() {
    for (file, table, prefix) in [
        (
            "humaneval-js.jsonl.gz",
            "multipl_e_humaneval-js",
            "humaneval-js/",
        ),
        ("mbpp-js.jsonl.gz", "multipl_e_mbpp-js", "mbpp-js/"),
    ] {
        judge_set(&Set {
            folder: "multipl_e",
            file,
            table,
            prefix,
            language: Language::JavaScript,
            solution_file: "solution.js",
            make: answered,
        });
    }
}

/// Solution and test code of a line. The set means one file of both, whose imports are those of
/// either: each gets those that it names.
fn go_parts(line: &Value) -> (String, String) {
    let imports = format!("{}{}", text(line, "import"), text(line, "test_setup"));
    let paths: BTreeSet<&str> = imports.split('"').skip(1).step_by(2).collect();
    let with_imports = |code: &str| {
        let named = |path: &&&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            code.contains(&format!("{name}."))
        };
        let lines = paths.iter().filter(named).map(|path| format!("{path:?};"));
        format!(
            "package main; import ({})\n{code}",
            lines.collect::<String>()
        )
    };
    let prompt = text(line, "prompt");
    let body = prompt.strip_prefix(text(line, "import")).unwrap_or(prompt);
    let solution = format!("{body}{}", text(line, "canonical_solution"));
    (with_imports(&solution), with_imports(text(line, "test")))
}

#[test]
fn humaneval_x_in_go() {
    judge_set(&Set {
        folder: "humaneval_x",
        file: "humaneval_go.jsonl",
        table: "humaneval_x_go",
        prefix: "",
        language: Language::Go,
        solution_file: "solution.go",
        make: |line| {
            let (solution, code) = go_parts(line);
            (solution, by_code(code))
        },
    });
}

#[test]
fn humaneval_x_in_java() {
    judge_set(&Set {
        folder: "humaneval_x",
        file: "humaneval_java.jsonl",
        table: "humaneval_x_java",
        prefix: "",
        language: Language::Java,
        solution_file: "Solution.java",
        make: humaneval_x,
    });
}
