//! Proof of a task: its own solution passes, an empty one does not, and repeated gradings agree.

use serde_json::{Value, json};

use super::super::failure::{Failure, NEGATIVE, SANDBOX};
use super::super::{Context, outcome};
use super::report::{about, sentence};
use super::solution::{Solution, request};
use super::task::Task;
use super::{Standing, run, standing};
use crate::client::Client;
use crate::pb;

/// How often the task's own solution is judged.
const REPEATS: usize = 5;

/// What was found of one of the things to prove.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) name: &'static str,
    /// `None`: it could not be found out.
    pub(super) holds: Option<bool>,
    pub(super) says: String,
}

/// Judges the oracle five times and the empty solution once; 0 when all holds.
pub(super) async fn check(context: &Context, client: &Client, task: &Task) -> Result<u8, Failure> {
    let mut requests = vec![request(task, &Solution::Empty)?];
    if let Some(oracle) = &task.oracle {
        let oracle = request(task, oracle)?;
        requests.extend(std::iter::repeat_n(oracle, REPEATS));
    }
    let mut results = run(client, requests).await?;
    let empty = results.remove(0);
    let findings = findings(&empty, &results);
    if context.terminal.json {
        context
            .terminal
            .json_line(&document(task, &findings, &empty, &results)?)?;
    } else {
        context.terminal.line(&task.name)?;
        for Finding { name, holds, says } in &findings {
            let holds = match holds {
                Some(true) => "ok",
                Some(false) => "NO",
                None => "not known",
            };
            context
                .terminal
                .line(&format!("{holds:9}  {name}: {says}"))?;
        }
    }
    Ok(code(&findings))
}

/// The exit code.
pub(super) fn code(findings: &[Finding]) -> u8 {
    let any = |holds| findings.iter().any(|finding| finding.holds == holds);
    if any(Some(false)) {
        NEGATIVE
    } else if any(None) {
        SANDBOX
    } else {
        0
    }
}

/// The three things to prove, from the results.
pub(super) fn findings(empty: &pb::RunResult, oracle: &[pb::RunResult]) -> Vec<Finding> {
    let holds = |result: &pb::RunResult, wanted| match standing(result) {
        Standing::NotJudged => None,
        found => Some(found == wanted),
    };
    let empty_fails = Finding {
        name: "an empty solution does not pass",
        holds: holds(empty, Standing::NotPassed),
        says: sentence(empty),
    };
    let Some(first) = oracle.first() else {
        let none = Finding {
            name: "the task's own solution passes",
            holds: Some(false),
            says: "there is none".to_owned(),
        };
        return vec![none, empty_fails];
    };
    let passes = Finding {
        name: "the task's own solution passes",
        holds: holds(first, Standing::Passed),
        says: sentence(first),
    };
    let unlike: Vec<String> = oracle
        .iter()
        .filter(|result| told(result) != told(first))
        .map(sentence)
        .collect();
    let agree = Finding {
        name: "repeated gradings agree",
        holds: match oracle
            .iter()
            .any(|result| standing(result) == Standing::NotJudged)
        {
            true => None,
            false => Some(unlike.is_empty()),
        },
        says: if unlike.is_empty() {
            format!("{} of {}", oracle.len(), oracle.len())
        } else {
            format!(
                "{} of {} differ: {}",
                unlike.len(),
                oracle.len(),
                unlike.join("; ")
            )
        },
    };
    vec![passes, empty_fails, agree]
}

/// What must be the same each time: the outcome, and what became of each test.
fn told(result: &pb::RunResult) -> (String, Vec<(String, i32)>) {
    let tests = result.verdict.iter().flat_map(|verdict| &verdict.tests);
    let mut tests: Vec<(String, i32)> = tests.map(|test| (test.id.clone(), test.status)).collect();
    tests.sort();
    (outcome::label(result), tests)
}

fn document(
    task: &Task,
    findings: &[Finding],
    empty: &pb::RunResult,
    oracle: &[pb::RunResult],
) -> Result<Value, Failure> {
    let rows: Vec<Value> = findings
        .iter()
        .map(|Finding { name, holds, says }| json!({"name": name, "holds": holds, "says": says}))
        .collect();
    let results: Result<Vec<Value>, Failure> = oracle.iter().map(outcome::to_json).collect();
    Ok(json!({
        "task": about(task),
        "proved": code(findings) == 0,
        "findings": rows,
        "empty": outcome::to_json(empty)?,
        "oracle": results?,
    }))
}
