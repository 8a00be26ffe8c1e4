//! Terminal-Bench's task folders: `task.yaml`, `solution.sh`, `tests/` for pytest, and the files that
//! the work starts with. Of the YAML only plain keys of the top level are read.

use std::path::Path;

use super::super::failure::Failure;
use super::harbor::{Environment, Moves, oracle};
use super::own::POLICY;
use super::task::{Format, Task, TaskError, folder_name, invalid};
use super::tree::{self, Tree};
use crate::pb;

/// What is no file of the environment.
const OF_THE_TASK: &[&str] = &[
    "task.yaml",
    "solution.sh",
    "solution.yaml",
    "run-tests.sh",
    "Dockerfile",
    "setup.sh",
    "docker-compose.yaml",
];

/// Reads a task.
pub(super) fn read(folder: &Path, yaml: &Path) -> Result<Task, Failure> {
    let text = tree::read_text(yaml)?;
    let environment = Environment::read(folder)?;
    let mut needs = environment.needs.clone();
    if folder.join("setup.sh").is_file() {
        needs.push("files that its setup.sh makes or fetches".to_owned());
    }
    let parser = value(&text, "parser_name").unwrap_or_else(|| "pytest".to_owned());
    if parser != "pytest" {
        needs.push(format!("the parser `{parser}`"));
    }
    if !needs.is_empty() {
        return Err(TaskError::Needs { needs }.into());
    }
    let moves = Moves::new(&environment.workdir);
    let mut files = environment.files.clone();
    let mut test_files = Tree::new();
    for (path, file) in tree::read(folder)? {
        if path.starts_with("tests/") {
            test_files.insert(format!(".task/{path}"), moves.file(file));
        } else if !OF_THE_TASK.contains(&path.as_str()) {
            files.insert(path, moves.file(file));
        }
    }
    if test_files.is_empty() {
        return Err(invalid(yaml, "its folder tests/ is missing or empty"));
    }
    let seconds = match value(&text, "max_test_timeout_sec") {
        None => None,
        Some(written) => Some(written.parse::<f64>().map_err(|_no_number| {
            invalid(
                yaml,
                format!("max_test_timeout_sec: `{written}` is no number"),
            )
        })?),
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float too large saturates, which the daemon refuses"
    )]
    let wall_ms_max = seconds.map(|seconds| (seconds * 1000.0).ceil() as i64);
    let verify = pb::Verify {
        kind: pb::VerifyKind::Pytest.into(),
        args: vec![".task/tests".to_owned()],
        test_files,
        ..pb::Verify::default()
    };
    Ok(Task {
        format: Format::TerminalBench,
        name: folder_name(folder),
        description: instruction(&text),
        may_be_trained_on: None,
        environment: files,
        request: pb::RunRequest {
            policy: POLICY.to_owned(),
            env: environment.env.clone(),
            limits: Some(pb::Limits {
                wall_ms_max,
                ..pb::Limits::default()
            }),
            verify: Some(verify),
            ..pb::RunRequest::default()
        },
        oracle: oracle(&folder.join("solution.sh"), &moves)?,
        notes: vec![format!("{} of the task is /workspace", environment.workdir)],
    })
}

/// The value of a plain key of the top level.
fn value(text: &str, key: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let value = line.split(" #").next().unwrap_or(line).trim();
    Some(value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

/// The indented lines below `instruction:`.
fn instruction(text: &str) -> String {
    let after = text
        .lines()
        .skip_while(|line| !line.starts_with("instruction:"))
        .skip(1);
    let lines = after.take_while(|line| line.is_empty() || line.starts_with(' '));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests;
