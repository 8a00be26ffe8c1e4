//! CRUXEval: what does a function return, and for which input does it return that. The answers of a
//! model, with the scores that the set's own authors gave.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::python::asserts;
use super::{Task, Truth, lines, text, truths};

pub(super) fn cruxeval() -> Option<Vec<Task>> {
    let truth = truths("cruxeval", "cruxeval")?;
    let task = |row: &Value| {
        let id = text(row, "id").to_owned();
        let code = format!(
            "assert f({}) == {}",
            text(row, "input"),
            text(row, "output")
        );
        let truth = Truth::of(&truth[&id].0);
        let line = asserts(text(row, "code"), &json!({ "code": code }));
        Task { id, line, truth }
    };
    Some(
        lines("cruxeval", "cruxeval.jsonl")?
            .iter()
            .map(task)
            .collect(),
    )
}

/// The answers belong to the solution: they are evaluated where it runs, each by itself.
pub(super) fn generations() -> Option<Vec<Task>> {
    let rows = lines("cruxeval", "cruxeval.jsonl")?;
    let questions: BTreeMap<&str, &Value> = rows.iter().map(|row| (text(row, "id"), row)).collect();
    let mut tasks = Vec::new();
    for mode in ["output", "input"] {
        let file = format!("codellama7b_{mode}.jsonl.gz");
        for row in lines("llm_cruxeval_generations", &file)? {
            // The question may be in the part of the set that is elsewhere.
            if let Some(question) = questions.get(text(&row, "id")) {
                tasks.push(answered(mode, &row, question));
            }
        }
    }
    Some(tasks)
}

fn answered(mode: &str, row: &Value, question: &Value) -> Task {
    let answers = row["generations"].as_array().expect("a list");
    let scores = row["upstream_scored"].as_array().expect("a list");
    let mut solution = text(question, "code").to_owned();
    let mut tests = Vec::new();
    let mut truth = BTreeMap::new();
    for (index, (answer, score)) in answers.iter().zip(scores).enumerate() {
        solution.push_str(&format!(
            "\ndef answer_{index}():\n    return eval({answer})\n"
        ));
        let id = format!("answer-{index}");
        let output = text(question, "output");
        tests.push(json!({"id": id, "code": format!("assert answer_{index}() == {output}")}));
        truth.insert(id, score == &json!(true));
    }
    Task {
        id: format!("{mode}/{}", text(row, "id")),
        line: asserts(&solution, &json!({ "tests": tests })),
        truth: Truth::Tests(truth),
    }
}
