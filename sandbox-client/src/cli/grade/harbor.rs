//! Harbor's task folders: `task.toml`, `instruction.md`, `environment/`, `solution/solve.sh`,
//! `tests/test.sh`, which leaves a reward in `/logs/verifier/reward.txt`. Sandboxes have no such
//! folders, so they are moved below `/workspace`, in the task's own scripts too.

mod dockerfile;

use std::path::Path;

use super::super::failure::Failure;
use super::own::POLICY;
use super::solution::Solution;
use super::task::{Format, Task, TaskError, folder_name, invalid};
use super::tree::{self, Tree};
use crate::pb;
pub(super) use dockerfile::Environment;

/// Where folders of the judge lie.
const TESTS: &str = "/workspace/.task/tests";
const LOGS: &str = "/workspace/.task/logs";
const SOLUTION: &str = "/workspace/.task/solution";
/// Words of scripts that need a network.
const NETWORK_WORDS: &[&str] = &[
    "apt-get",
    "apt",
    "curl",
    "wget",
    "uvx",
    "uv",
    "pip",
    "pip3",
    "npm",
    "npx",
    "conda",
    "git clone",
];
/// Runs the task's own script without our descriptor, then tells what reward it left.
const GRADE: &str = "\
rm -rf /workspace/.task/logs && mkdir -p /workspace/.task/logs/verifier
bash /workspace/.task/tests/test.sh 4>&- </dev/null
code=$?
reward=$(cat /workspace/.task/logs/verifier/reward.txt 2>/dev/null | tr -d '[:space:]')
{
  echo 'TAP version 13'
  case $reward in
    1|1.0|1.00) echo 'ok 1 - reward' ;;
    '') echo \"not ok 1 - reward # test.sh left no reward.txt (exit code $code)\" ;;
    *) echo \"not ok 1 - reward # $reward of 1\" ;;
  esac
  echo '1..1'
} >&4
";

/// Reads a task.
pub(super) fn read(folder: &Path, document: &toml::Table) -> Result<Task, Failure> {
    let file = folder.join("task.toml");
    let script = folder.join("tests/test.sh");
    if !script.is_file() {
        let problem =
            "neither a [verify] table nor a script tests/test.sh: nothing says how to judge";
        return Err(invalid(&file, problem));
    }
    let environment = Environment::read(&folder.join("environment"))?;
    let mut needs = environment.needs.clone();
    needs.extend(needs_of(document));
    needs.extend(network_needs(&tree::read_text(&script)?));
    if !needs.is_empty() {
        return Err(TaskError::Needs { needs }.into());
    }
    let moves = Moves::new(&environment.workdir);
    let mut test_files = Tree::new();
    for (path, test) in tree::read(&folder.join("tests"))? {
        test_files.insert(format!(".task/tests/{path}"), moves.file(test));
    }
    let grade = pb::File {
        content: GRADE.as_bytes().to_vec(),
        mode: Some(0o644),
    };
    test_files.insert(".task/grade.sh".to_owned(), grade);
    let verify = pb::Verify {
        kind: pb::VerifyKind::Command.into(),
        argv: vec!["bash".to_owned(), ".task/grade.sh".to_owned()],
        format: "tap".to_owned(),
        test_files,
        ..pb::Verify::default()
    };
    let named = document.get("task").and_then(|task| task.get("name"));
    let name = named.and_then(toml::Value::as_str).map(str::to_owned);
    let instruction = folder.join("instruction.md");
    Ok(Task {
        format: Format::Harbor,
        name: name.unwrap_or_else(|| folder_name(folder)),
        description: match instruction.is_file() {
            true => tree::read_text(&instruction)?,
            false => String::new(),
        },
        may_be_trained_on: None,
        environment: environment.files.clone(),
        request: pb::RunRequest {
            policy: POLICY.to_owned(),
            env: environment.env.clone(),
            limits: Some(limits(document)),
            verify: Some(verify),
            ..pb::RunRequest::default()
        },
        oracle: oracle(&folder.join("solution/solve.sh"), &moves)?,
        notes: environment.notes(),
    })
}

/// The solution's script, with the task's folders moved.
pub(super) fn oracle(script: &Path, moves: &Moves) -> Result<Option<Solution>, Failure> {
    if !script.is_file() {
        return Ok(None);
    }
    let text = tree::read_text(script)?;
    Ok(Some(Solution::Script(moves.text(&text))))
}

fn needs_of(document: &toml::Table) -> Vec<String> {
    let mut needs = Vec::new();
    let environment = document.get("environment").and_then(toml::Value::as_table);
    let has = |key: &str| environment.and_then(|environment| environment.get(key));
    if let Some(image) = has("docker_image") {
        needs.push(format!("the container image {image}"));
    }
    if has("mcp_servers").is_some() {
        needs.push("servers of tools (environment.mcp_servers)".to_owned());
    }
    if has("gpus")
        .and_then(toml::Value::as_integer)
        .is_some_and(|gpus| gpus > 0)
    {
        needs.push("a GPU".to_owned());
    }
    if document.contains_key("steps") {
        needs.push("several steps (`steps`), each judged in turn".to_owned());
    }
    needs
}

/// Programs of a script that fetch something.
pub(super) fn network_needs(script: &str) -> Option<String> {
    let code = script
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = NETWORK_WORDS
        .iter()
        .filter(|word| {
            code.clone().any(|line| {
                line.split([';', '|', '&', '(', '`'])
                    .any(|part| starts_with_words(part, word))
            })
        })
        .copied()
        .collect();
    (!words.is_empty()).then(|| format!("a network while it is judged ({})", words.join(", ")))
}

fn starts_with_words(part: &str, words: &str) -> bool {
    let mut part = part.split_whitespace().skip_while(|word| {
        matches!(
            *word,
            "if" | "then" | "sudo" | "!" | "do" | "else" | "exec" | "time"
        )
    });
    words.split(' ').all(|word| part.next() == Some(word))
}

fn limits(document: &toml::Table) -> pb::Limits {
    let number = |table: &str, key: &str| {
        let value = document.get(table)?.get(key)?;
        let whole = value.as_integer();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "seconds of a time limit; a float too large saturates, which the daemon refuses"
        )]
        let rounded = value.as_float().map(|float| float.ceil() as i64);
        whole.or(rounded)
    };
    pb::Limits {
        wall_ms_max: number("verifier", "timeout_sec").map(|seconds| seconds.saturating_mul(1000)),
        memory_bytes_max: number("environment", "memory_mb").map(|mb| mb.saturating_mul(1 << 20)),
        ..pb::Limits::default()
    }
}

/// Where folders of a task go.
pub(super) struct Moves {
    moves: Vec<(String, &'static str)>,
}

impl Moves {
    /// For a task whose work happens in `workdir`.
    pub(super) fn new(workdir: &str) -> Self {
        let moves = vec![
            (workdir.to_owned(), "/workspace"),
            ("/tests".to_owned(), TESTS),
            ("/logs".to_owned(), LOGS),
            ("/solution".to_owned(), SOLUTION),
        ];
        Self { moves }
    }

    /// A file, if it is text.
    pub(super) fn file(&self, file: pb::File) -> pb::File {
        match String::from_utf8(file.content) {
            Ok(text) => pb::File {
                content: self.text(&text).into_bytes(),
                mode: file.mode,
            },
            Err(not_text) => pb::File {
                content: not_text.into_bytes(),
                mode: file.mode,
            },
        }
    }

    /// Text in which paths below the task's folders are changed, and nothing that only looks alike.
    pub(super) fn text(&self, text: &str) -> String {
        let mut moved = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let starts = !(before.is_alphanumeric() || "_.~-/$}".contains(before));
            let found = self.moves.iter().find(|(from, _)| {
                let after = rest.strip_prefix(from.as_str());
                let next = after.map(|after| after.chars().next().unwrap_or(' '));
                starts && next.is_some_and(|next| !(next.is_alphanumeric() || "_.-".contains(next)))
            });
            let step = match found {
                Some((from, to)) => {
                    moved.push_str(to);
                    from.len()
                }
                None => {
                    moved.push(first);
                    first.len_utf8()
                }
            };
            before = rest
                .get(..step)
                .and_then(|part| part.chars().last())
                .unwrap_or(first);
            rest = rest.get(step..).unwrap_or_default();
        }
        moved
    }
}

#[cfg(test)]
mod tests;
