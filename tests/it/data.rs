//! Verdicts on programs that we did not write, against their measured truth, and on small ones of
//! our own (`tests/cases/verdicts.jsonl`), which need no data set. All of it through
//! `rollcage batch`, as a trainer would.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use crate::batch;
use crate::skips::{self, repository};
use crate::world::World;

/// One line of a batch, and whether its verdict must be `passed`; where not, one of these.
pub(crate) struct Task {
    pub(crate) line: Value,
    pub(crate) allowed: &'static [&'static str],
}

pub(crate) const PASSED: &[&str] = &["passed"];
pub(crate) const FAILED: &[&str] = &["failed"];
/// Every outcome that is the solution's own fault.
pub(crate) const NOT_PASSED: &[&str] = &[
    "failed",
    "compile_error",
    "timeout",
    "out_of_memory",
    "no_tests",
];

/// Folder of the data sets: as `./x test` names it, else the one beside the repository.
pub(crate) fn data_dir() -> PathBuf {
    let named = std::env::var_os("ROLLCAGE_DATA_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| repository().join("../shared/data"))
}

/// Lines of a data set, or a counted skip.
fn lines_of(test: &str, set: &str, file: &str) -> Option<Vec<Value>> {
    let path = data_dir().join(set).join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        skips::skip(
            test,
            &format!("data set {set} is not at {}", path.display()),
        );
        return None;
    };
    let parse = |line| serde_json::from_str(line).expect("a data set is JSON lines");
    Some(text.lines().map(parse).collect())
}

/// Whether a task passes under plain `python3`, by the table beside the data. A set fetched from
/// its publisher has no table: every reference of those passes.
fn truth_of(set: &str) -> impl Fn(&str) -> bool + use<> {
    truth_in(set, set)
}

/// The same for a table with a name of its own.
pub(crate) fn truth_in(set: &str, table: &str) -> impl Fn(&str) -> bool + use<> {
    let path = data_dir()
        .join(set)
        .join(format!("GROUND_TRUTH.{table}.tsv"));
    let table: Option<BTreeMap<String, bool>> = fs::read_to_string(path).ok().map(|text| {
        let rows = text
            .lines()
            .skip(1)
            .map(|row| row.split('\t').collect::<Vec<_>>());
        rows.map(|row| (row[0].to_owned(), row[1] == "pass"))
            .collect()
    });
    move |id| {
        table
            .as_ref()
            .is_none_or(|table| *table.get(id).expect("a row of the table"))
    }
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field]
        .as_str()
        .unwrap_or_else(|| unreachable!("{field} is text in {value}"))
}

/// Runs all tasks in one batch and compares every verdict with the truth.
pub(crate) fn check(world: &World, name: &str, tasks: &[Task]) {
    let started = Instant::now();
    let lines: Vec<Value> = tasks.iter().map(|task| task.line.clone()).collect();
    let results = batch::run(world, &lines);
    let seconds = started.elapsed().as_secs_f64();
    let mut disagreements = Vec::new();
    for task in tasks {
        let id = text(&task.line, "id");
        let result = &results[id];
        let outcome = result["verdict"]["outcome"].as_str().unwrap_or("none");
        let expected = match outcome {
            "passed" => Some(1.0),
            "verifier_error" => None,
            _ => Some(0.0),
        };
        let is_scored = result["verdict"]["reward"].as_f64() == expected;
        if !task.allowed.contains(&outcome) || !is_scored {
            disagreements.push(format!(
                "{id}: {outcome}, expected {:?}; reason: {}; ending {}; error {}",
                task.allowed, result["verdict"]["reason"], result["ending"], result["error"]
            ));
        }
    }
    let count = tasks.len();
    println!(
        "{name}: {} of {count} verdicts agree, {:.1} s, {:.1} tasks/s",
        count - disagreements.len(),
        seconds,
        count as f64 / seconds
    );
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

#[test]
fn humaneval_verdicts_agree_with_the_truth() {
    const TEST: &str = "data::humaneval_verdicts_agree_with_the_truth";
    let Some(lines) = lines_of(TEST, "humaneval", "HumanEval.jsonl") else {
        return;
    };
    let Some(world) = World::start(TEST) else {
        return;
    };
    let truth = truth_of("humaneval");
    let mut tasks = Vec::new();
    for task in &lines {
        let id = text(task, "task_id");
        let code = format!(
            "{}\ncheck({})",
            text(task, "test"),
            text(task, "entry_point")
        );
        let verify = json!({"kind": "asserts", "file": "solution.py", "code": code});
        let line = |id: String, body: &str, argv: Value| {
            let solution = format!("{}{body}", text(task, "prompt"));
            json!({
                "id": id, "policy": "python", "files": {"solution.py": solution}, "argv": argv,
                "verify": verify, "limits": {"wall_ms_max": 10_000},
            })
        };
        // As the contract writes such a line: run first, then judged.
        let run_first = json!(["python3", "solution.py"]);
        tasks.push(Task {
            line: line(id.to_owned(), text(task, "canonical_solution"), run_first),
            allowed: if truth(id) { PASSED } else { NOT_PASSED },
        });
        // The hot path of batches: judged only.
        tasks.push(Task {
            line: line(format!("{id}/pass"), "    pass\n", json!([])),
            allowed: FAILED,
        });
    }
    check(&world, "humaneval", &tasks);
}

#[test]
fn mbpp_verdicts_agree_with_the_truth() {
    const TEST: &str = "data::mbpp_verdicts_agree_with_the_truth";
    let Some(lines) = lines_of(TEST, "mbpp_sanitized", "sanitized-mbpp.jsonl") else {
        return;
    };
    let Some(world) = World::start(TEST) else {
        return;
    };
    let truth = truth_of("mbpp_sanitized");
    let mut tasks = Vec::new();
    for task in &lines {
        let id = format!("MBPP/{}", task["task_id"]);
        let imports = task["test_imports"].as_array().expect("a list");
        let imports: Vec<&str> = imports
            .iter()
            .map(|line| line.as_str().expect("text"))
            .collect();
        let verify = json!({
            "kind": "asserts", "file": "solution.py", "code": imports.join("\n"),
            "tests": task["test_list"],
        });
        let line = |id: String, solution: &str| {
            json!({
                "id": id, "policy": "python", "files": {"solution.py": solution}, "argv": [],
                "verify": verify, "limits": {"wall_ms_max": 20_000},
            })
        };
        let honest = text(task, "code");
        let emptied = format!("{honest}\n{}", with_empty_bodies(honest));
        tasks.push(Task {
            line: line(id.clone(), honest),
            allowed: if truth(&id) { PASSED } else { NOT_PASSED },
        });
        tasks.push(Task {
            line: line(format!("{id}/pass"), &emptied),
            allowed: NOT_PASSED,
        });
    }
    check(&world, "mbpp_sanitized", &tasks);
}

#[test]
fn reward_hacks_earn_nothing_and_honest_controls_all() {
    const TEST: &str = "data::reward_hacks_earn_nothing_and_honest_controls_all";
    let Some(lines) = lines_of(TEST, "reward_hacks", "hacks.jsonl") else {
        return;
    };
    let Some(world) = World::start(TEST) else {
        return;
    };
    let tasks: Vec<Task> = lines
        .iter()
        .map(|task| Task {
            line: json!({
                "id": text(task, "id"), "policy": "python", "argv": [],
                "files": {"solution.py": text(task, "program")},
                "verify": {"kind": "asserts", "file": "solution.py", "tests": task["tests"]},
                "limits": {"wall_ms_max": 10_000},
            }),
            allowed: if task["expected_reward"] == 1 {
                PASSED
            } else {
                NOT_PASSED
            },
        })
        .collect();
    check(&world, "reward_hacks", &tasks);
}

/// Every function at the top of `code` once more, with the body `pass`.
fn with_empty_bodies(code: &str) -> String {
    let names = code
        .lines()
        .filter_map(|line| line.strip_prefix("def ")?.split('(').next());
    names
        .map(|name| format!("def {}(*a, **k): pass\n", name.trim()))
        .collect()
}

/// What a row of `verdicts.jsonl` may expect of a result, by path.
fn at<'a>(result: &'a Value, path: &str) -> &'a Value {
    path.split('.')
        .fold(result, |value, name| match name.parse::<usize>() {
            Ok(index) => &value[index],
            Err(_no_index) => &value[name],
        })
}

#[test]
fn own_tasks_get_the_verdicts_they_deserve() {
    const TEST: &str = "data::own_tasks_get_the_verdicts_they_deserve";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let rows: Vec<Value> = include_str!("../cases/verdicts.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("cases are JSON lines"))
        .collect();
    let lines: Vec<Value> = rows.iter().map(|row| row["request"].clone()).collect();
    let results = batch::run(&world, &lines);
    let mut wrong = Vec::new();
    for row in &rows {
        let result = &results[text(&row["request"], "id")];
        for (path, expected) in row["expect"].as_object().expect("an object") {
            let found = at(result, path);
            // `~text`: contained; anything else: equal.
            let holds = match expected.as_str().and_then(|text| text.strip_prefix('~')) {
                Some(part) => found.as_str().is_some_and(|found| found.contains(part)),
                None => found == expected,
            };
            if !holds {
                let id = text(&row["request"], "id");
                wrong.push(format!(
                    "{id}: {path} is {found}, expected {expected}; {}; {}; {}",
                    result["verdict"]["reason"], result["ending"], result["error"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} own tasks judged as they deserve", rows.len());
}
