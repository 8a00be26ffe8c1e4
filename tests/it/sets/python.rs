//! HumanEval and MBPP in Python, by `asserts`.

use serde_json::{Value, json};

use super::{Task, Truth, lines, text, truths};

/// A request that judges Python by test code.
pub(super) fn asserts(solution: &str, verify: &Value) -> Value {
    let mut verify = verify.clone();
    verify["kind"] = json!("asserts");
    verify["file"] = json!("solution.py");
    json!({
        "policy": "python", "files": {"solution.py": solution}, "argv": [],
        "verify": verify, "limits": {"wall_ms_max": 40_000},
    })
}

pub(super) fn humaneval() -> Option<Vec<Task>> {
    prompted("humaneval", "HumanEval.jsonl")
}

pub(super) fn mbpp_full() -> Option<Vec<Task>> {
    prompted("mbpp_full", "mbpp_release_v1.jsonl")
}

/// Tasks whose tests are a function `check`.
fn prompted(set: &str, file: &str) -> Option<Vec<Task>> {
    let truth = truths(set, set)?;
    let task = |row: &Value| {
        let id = text(row, "task_id").to_owned();
        let solution = format!("{}{}", text(row, "prompt"), text(row, "canonical_solution"));
        let code = format!("{}\ncheck({})", text(row, "test"), text(row, "entry_point"));
        let truth = Truth::of(&truth[&id].0);
        let line = asserts(&solution, &json!({ "code": code }));
        Task { id, line, truth }
    };
    Some(lines(set, file)?.iter().map(task).collect())
}

pub(super) fn mbpp_sanitized() -> Option<Vec<Task>> {
    let truth = truths("mbpp_sanitized", "mbpp_sanitized")?;
    let task = |row: &Value| {
        let id = format!("MBPP/{}", row["task_id"]);
        let imports = row["test_imports"].as_array().expect("a list");
        let imports: Vec<&str> = imports.iter().filter_map(Value::as_str).collect();
        let verify = json!({"code": imports.join("\n"), "tests": row["test_list"]});
        let truth = Truth::of(&truth[&id].0);
        let line = asserts(text(row, "code"), &verify);
        Task { id, line, truth }
    };
    let rows = lines("mbpp_sanitized", "sanitized-mbpp.jsonl")?;
    Some(rows.iter().map(task).collect())
}

pub(super) fn mbpp_plus() -> Option<Vec<Task>> {
    let truth = truths("mbpp_plus", "mbpp_plus")?;
    let task = |row: &Value| {
        let id = text(row, "task_id").to_owned();
        let verify = json!({"code": text(row, "assertion")});
        let truth = Truth::of(&truth[&id].0);
        let line = asserts(text(row, "canonical_solution"), &verify);
        Task { id, line, truth }
    };
    let rows = lines("mbpp_plus", "MbppPlus_20231116.jsonl.gz")?;
    Some(rows.iter().map(task).collect())
}
