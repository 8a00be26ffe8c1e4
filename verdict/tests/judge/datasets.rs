//! Data sets that we did not write, against their measured truth.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::Value;
use verdict::{AssertsSpec, Outcome, TestCode};

use super::{driver, python_or_skip, skip};

/// One program with its tests.
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) solution: String,
    pub(crate) spec: AssertsSpec,
}

/// The shared data beside the checkout, or the folder that `ROLLCAGE_TEST_DATA` names.
pub(crate) fn data_folder() -> PathBuf {
    std::env::var_os("ROLLCAGE_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    )
}

/// Lines of a data set, or a counted skip.
pub(crate) fn lines(set: &str, file: &str, cases: usize) -> Option<Vec<Value>> {
    let Ok(text) = fs::read_to_string(data_folder().join(set).join(file)) else {
        skip(set, cases, "the data set is not on this machine");
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a JSON line"))
            .collect(),
    )
}

/// Ids that pass under plain `python3`, by the table beside the data.
fn truth(set: &str) -> BTreeMap<String, bool> {
    truth_in(set, set)
}

/// The same for a table with a name of its own.
pub(crate) fn truth_in(set: &str, table: &str) -> BTreeMap<String, bool> {
    let path = data_folder()
        .join(set)
        .join(format!("GROUND_TRUTH.{table}.tsv"));
    let text = fs::read_to_string(path).expect("a table of truth");
    let rows = text
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|row| (row[0].to_owned(), row[1] == "pass"))
        .collect()
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("a text field")
}

/// Judges all tasks on as many threads as there are processors.
pub(crate) fn judge_all(name: &str, python: &str, tasks: &[(Task, bool)]) {
    let queue = Mutex::new(tasks.iter());
    let next = || queue.lock().expect("not poisoned").next();
    let wrong = Mutex::new(Vec::new());
    let started = Instant::now();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some((task, expected)) = next() {
            let bytes = task.solution.clone().into_bytes();
            let file = BTreeMap::from([(task.spec.file.clone(), bytes)]);
            let verdict = driver::judge(python, &task.spec, &file);
            if (verdict.outcome() == Outcome::Passed) != *expected || !verdict.scorable() {
                let line = format!("{}: expected {expected}, {verdict:?}", task.id);
                wrong.lock().expect("not poisoned").push(line);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let (count, seconds) = (tasks.len(), started.elapsed().as_secs_f64());
    let wrong = wrong.into_inner().expect("not poisoned");
    println!(
        "{name}: {} of {count} agree, {:.1} tasks/s on {workers} threads",
        count - wrong.len(),
        f64::from(u32::try_from(count).expect("few")) / seconds
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A set of tasks in the shape of HumanEval: prompt, body, `check(candidate)`.
fn humaneval_shaped(set: &str, file: &str, cases: usize) {
    let Some(lines) = lines(set, file, cases) else {
        return;
    };
    let Some(python) = python_or_skip(2 * lines.len()) else {
        return;
    };
    let truth = truth(set);
    let mut tasks = Vec::new();
    for line in &lines {
        let id = text(line, "task_id");
        let code = format!(
            "{}\ncheck({})",
            text(line, "test"),
            text(line, "entry_point")
        );
        let file = "solution.py".to_owned();
        let spec = AssertsSpec {
            file,
            code,
            ..AssertsSpec::default()
        };
        let bodies = [
            (text(line, "canonical_solution"), truth[id]),
            ("    pass\n", false),
        ];
        for (body, expected) in bodies {
            let (id, solution) = (id.to_owned(), format!("{}{body}", text(line, "prompt")));
            tasks.push((
                Task {
                    id,
                    solution,
                    spec: spec.clone(),
                },
                expected,
            ));
        }
    }
    judge_all(set, &python, &tasks);
}

#[test]
fn humaneval_agrees_with_the_truth() {
    humaneval_shaped("humaneval", "HumanEval.jsonl", 230);
}

/// Eleven of its references are wrong, and must be found so.
#[test]
fn mbpp_full_agrees_with_the_truth() {
    humaneval_shaped("mbpp_full", "mbpp_release_v1.jsonl", 1338);
}

#[test]
fn mbpp_agrees_with_the_truth() {
    let Some(lines) = lines("mbpp_sanitized", "sanitized-mbpp.jsonl", 588) else {
        return;
    };
    let Some(python) = python_or_skip(2 * lines.len()) else {
        return;
    };
    let truth = truth("mbpp_sanitized");
    let mut tasks = Vec::new();
    for line in &lines {
        let id = format!("MBPP/{}", line["task_id"]);
        let items = |field: &str| {
            let list = line[field].as_array().expect("a list");
            list.iter()
                .map(|item| item.as_str().expect("text").to_owned())
                .collect::<Vec<_>>()
        };
        let tests = (1..).zip(items("test_list"));
        let spec = AssertsSpec {
            file: "solution.py".to_owned(),
            code: items("test_imports").join("\n"),
            tests: tests
                .map(|(n, code)| TestCode {
                    id: format!("asserts/{n}"),
                    code,
                })
                .collect(),
            ..AssertsSpec::default()
        };
        let honest = text(line, "code");
        let expected = truth[&id];
        // The last function's name with a body that gives nothing.
        let emptied = format!("{honest}\n{}", emptied(honest));
        for (solution, expected) in [(honest.to_owned(), expected), (emptied, false)] {
            tasks.push((
                Task {
                    id: id.clone(),
                    solution,
                    spec: spec.clone(),
                },
                expected,
            ));
        }
    }
    judge_all("mbpp_sanitized", &python, &tasks);
}

/// Redefines every top-level function with the body `pass`.
fn emptied(code: &str) -> String {
    let names = code
        .lines()
        .filter_map(|line| line.strip_prefix("def ")?.split('(').next());
    names
        .map(|name| format!("def {}(*a, **k): pass\n", name.trim()))
        .collect()
}

#[test]
fn reward_hacks_get_nothing_and_controls_get_all() {
    let Some(lines) = lines("reward_hacks", "hacks.jsonl", 10) else {
        return;
    };
    let Some(python) = python_or_skip(lines.len()) else {
        return;
    };
    let tasks: Vec<(Task, bool)> = (lines.iter())
        .map(|line| {
            let tests = line["tests"].as_array().expect("a list").iter();
            let tests = (1..).zip(tests).map(|(n, code)| TestCode {
                id: format!("asserts/{n}"),
                code: code.as_str().expect("text").to_owned(),
            });
            let spec = AssertsSpec {
                file: "solution.py".to_owned(),
                tests: tests.collect(),
                ..AssertsSpec::default()
            };
            let (id, solution) = (
                text(line, "id").to_owned(),
                text(line, "program").to_owned(),
            );
            (Task { id, solution, spec }, line["expected_reward"] == 1)
        })
        .collect();
    judge_all("reward_hacks", &python, &tasks);
}
