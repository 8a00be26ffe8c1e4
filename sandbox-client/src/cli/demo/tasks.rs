//! The tasks of the demo, and what must come of each. They lie in `tasks.jsonl`, a task a line.

use serde::{Deserialize, Serialize};

use super::super::failure::Failure;
use super::super::outcome;
use crate::pb;

const TASKS: &str = include_str!("tasks.jsonl");

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    /// What it is about, for people.
    pub(super) shows: String,
    /// Whether it tries something that it must not get.
    pub(super) hostile: bool,
    /// What must come of it.
    pub(super) expect: Expect,
    /// The run.
    pub(super) request: pb::RunRequest,
}

/// Endings and outcomes that are right; the kernel may reach some by more than one way.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    ending: Vec<String>,
    outcome: Vec<String>,
    /// What is right where the host has no cgroups for us and limits are polled.
    #[serde(skip_serializing_if = "Option::is_none")]
    polled: Option<Box<Expect>>,
}

/// Whether the limits of a run were polled by its pid 1 instead of held by the kernel.
fn limits_polled(result: &pb::RunResult) -> bool {
    result
        .manifest
        .iter()
        .any(|row| row.name == "memory" && row.status() == pb::ControlStatus::Degraded)
}

impl Expect {
    /// Whether a result is one of those.
    pub(super) fn fits(&self, result: &pb::RunResult) -> bool {
        if let Some(polled) = self.polled.as_ref().filter(|_| limits_polled(result)) {
            return polled.fits(result);
        }
        let outcome = result
            .verdict
            .as_ref()
            .map_or(pb::Outcome::Unjudged, pb::Verdict::outcome);
        result.error.is_none()
            && self.ending.contains(&outcome::ending_name(result))
            && self.outcome.contains(&outcome::outcome_name(outcome))
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        format!(
            "{}, {}",
            self.ending.join(" or "),
            self.outcome.join(" or ")
        )
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    shows: String,
    hostile: bool,
    expect: Expect,
    request: serde_json::Value,
}

/// All tasks, in their order.
pub(super) fn all() -> Result<Vec<Task>, Failure> {
    TASKS.lines().map(read).collect()
}

fn read(line: &str) -> Result<Task, Failure> {
    let wrong = |what: String| Failure::Answer {
        what: format!("a task of the demo: {what}"),
    };
    let written: Written = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
    let request =
        proto::json::from_json_value(&written.request).map_err(|error| wrong(error.to_string()))?;
    Ok(Task {
        shows: written.shows,
        hostile: written.hostile,
        expect: written.expect,
        request,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_task_is_a_request_with_names_that_exist() {
        let tasks = all().unwrap();
        assert!(tasks.len() >= 20);
        let ids: BTreeSet<_> = tasks.iter().map(|task| task.request.id.clone()).collect();
        assert_eq!(ids.len(), tasks.len());
        for task in &tasks {
            for name in &task.expect.ending {
                let name = format!("ENDING_KIND_{}", name.to_ascii_uppercase());
                assert!(pb::EndingKind::from_str_name(&name).is_some(), "{name}");
            }
            for name in &task.expect.outcome {
                let name = format!("OUTCOME_{}", name.to_ascii_uppercase());
                assert!(pb::Outcome::from_str_name(&name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn an_error_or_another_outcome_is_a_difference() {
        let expect = Expect {
            ending: vec!["exited".into()],
            outcome: vec!["passed".into()],
            polled: None,
        };
        let mut result = pb::RunResult {
            ending: Some(pb::Ending {
                kind: pb::EndingKind::Exited.into(),
                ..pb::Ending::default()
            }),
            verdict: Some(pb::Verdict {
                outcome: pb::Outcome::Passed.into(),
                ..pb::Verdict::default()
            }),
            ..pb::RunResult::default()
        };
        assert!(expect.fits(&result));
        result.error = Some(pb::RunFault::default());
        assert!(!expect.fits(&result));
        assert!(!expect.fits(&pb::RunResult::default()));
    }
}
