//! What a grading says: to people the outcome, why, and the tests that did not pass; to programs the
//! whole result.

use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::outcome;
use super::super::table::{cut, one_line};
use super::super::terminal::{Color, Terminal};
use super::task::Task;
use super::{Standing, standing};
use crate::pb;

/// Tests and diagnostics that are shown by name.
const SHOWN_MAX: usize = 20;
/// Characters of a sentence that contains words of the solution's choice.
const CHARS_MAX: usize = 300;

/// The task in a document.
pub(super) fn about(task: &Task) -> Value {
    json!({
        "name": task.name,
        "description": task.description,
        "format": task.format.name(),
        "may_be_trained_on": task.may_be_trained_on,
        "notes": task.notes,
    })
}

/// Shows a result.
pub(super) fn result(
    terminal: &Terminal,
    task: &Task,
    result: &pb::RunResult,
) -> Result<(), Failure> {
    if terminal.json {
        let document = json!({"task": about(task), "result": outcome::to_json(result)?});
        return terminal.json_line(&document);
    }
    let color = match standing(result) {
        Standing::Passed => Color::Green,
        Standing::NotPassed => Color::Red,
        Standing::NotJudged => Color::Yellow,
    };
    let name = one_line(&task.name);
    terminal.line(&format!(
        "{name}  {}",
        terminal.paint(color, &sentence(result))
    ))?;
    let Some(verdict) = &result.verdict else {
        return Ok(());
    };
    for note in &verdict.tamper {
        let line = format!("  touched: {}: {}", note.path, note.what);
        terminal.line(&shown(&line))?;
    }
    let passed = |test: &&pb::TestResult| test.status() == pb::TestStatus::Passed;
    let count = verdict.tests.iter().filter(passed).count();
    terminal.line(&format!(
        "  tests: {count} of {} passed",
        verdict.tests.len()
    ))?;
    let not_passed = verdict.tests.iter().filter(|test| !passed(test));
    for test in not_passed.take(SHOWN_MAX) {
        let status = test
            .status()
            .as_str_name()
            .trim_start_matches("TEST_STATUS_");
        let message = test.message.as_deref().unwrap_or_default();
        let line = format!("  {} {}  {message}", status.to_ascii_lowercase(), test.id);
        terminal.line(&shown(&line))?;
    }
    for found in verdict.diagnostics.iter().take(SHOWN_MAX) {
        let file = found.file.as_deref().unwrap_or("?");
        let line = found.line.unwrap_or(0);
        let line = format!("  {file}:{line}: {}", found.message);
        terminal.line(&shown(&line))?;
    }
    Ok(())
}

/// Outcome, reward and reason in one line.
pub(super) fn sentence(result: &pb::RunResult) -> String {
    if let Some(error) = &result.error {
        return shown(&format!("not run: {}", error.message));
    }
    let outcome = outcome::label(result);
    let Some(verdict) = &result.verdict else {
        return outcome;
    };
    let reward = match verdict.reward {
        Some(reward) => format!(", reward {reward}"),
        None => ", no reward".to_owned(),
    };
    let because = if verdict.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", verdict.reason)
    };
    shown(&format!("{outcome}{reward}{because}"))
}

fn shown(text: &str) -> String {
    cut(&one_line(text), CHARS_MAX)
}
