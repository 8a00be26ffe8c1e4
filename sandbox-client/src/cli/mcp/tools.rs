//! What the tools are called, what they take, and what `shell` tells.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use compat::Ran;
use compat::sandboxfusion::{LANGUAGES, StageAnswer};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use super::CallError;
use super::workspace::Workspace;
use crate::pb;

/// What an agent is told of the server.
pub(super) const INSTRUCTIONS: &str = "\
Runs programs in sandboxes without a network. Files of the session lie in /workspace: put them there \
with write_file; shell keeps what it changes there, run_code does not. Processes, and files elsewhere, \
end with their call.";
/// Time of a call when nothing is said, and at most, in seconds.
const SECONDS_DEFAULT: u32 = 60;
const SECONDS_MAX: u32 = 240;
/// Bytes of each output stream that an agent is told.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// All tools.
pub(super) fn all() -> Vec<Tool> {
    let languages: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    let seconds = json!({
        "type": "integer", "minimum": 1, "maximum": SECONDS_MAX,
        "description": format!("Time limit; {SECONDS_DEFAULT} if nothing is said."),
    });
    let stdin = json!({ "type": "string", "description": "Standard input." });
    let path = json!({ "type": "string", "description": "Path relative to /workspace." });
    vec![
        tool(
            "shell",
            "Runs a bash command in a fresh sandbox with the session's files, and keeps what it \
             changes in /workspace.",
            &json!({
                "command": { "type": "string" }, "stdin": stdin, "timeout_seconds": seconds,
            }),
            &["command"],
        ),
        tool(
            "run_code",
            "Runs one source file, built first where its language is built, in a fresh sandbox with \
             the session's files. What it writes is not kept.",
            &json!({
                "language": { "type": "string", "enum": languages },
                "code": { "type": "string" }, "stdin": stdin, "timeout_seconds": seconds,
            }),
            &["language", "code"],
        ),
        tool(
            "write_file",
            "Puts a text file into the session's workspace.",
            &json!({ "path": path, "content": { "type": "string" } }),
            &["path", "content"],
        ),
        tool(
            "read_file",
            "Gives a text file of the session's workspace.",
            &json!({ "path": path }),
            &["path"],
        ),
        tool(
            "list_files",
            "Lists the files of the session's workspace.",
            &json!({}),
            &[],
        ),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: &Value,
    required: &[&str],
) -> Tool {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.clone());
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    Tool::new_with_raw(name, Some(Cow::Borrowed(description)), Arc::new(schema))
}

/// The arguments of a call, taken one by one.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(given: Map<String, Value>) -> Self {
        Self(given)
    }

    /// Text that has to be there.
    pub(super) fn text(&mut self, name: &str) -> Result<String, CallError> {
        self.optional_text(name)?
            .ok_or_else(|| CallError::Call(format!("{name}: is required, a string")))
    }

    /// Text that may be missing.
    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, CallError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(CallError::Call(format!(
                "{name} = {other}: must be a string"
            ))),
        }
    }

    /// The time limit.
    pub(super) fn seconds(&mut self) -> Result<u32, CallError> {
        match self.0.remove("timeout_seconds") {
            None | Some(Value::Null) => Ok(SECONDS_DEFAULT),
            Some(value) => value
                .as_u64()
                .and_then(|seconds| u32::try_from(seconds).ok())
                .filter(|seconds| (1..=SECONDS_MAX).contains(seconds))
                .ok_or_else(|| {
                    CallError::Call(format!(
                        "timeout_seconds = {value}: must be a whole number from 1 to {SECONDS_MAX}"
                    ))
                }),
        }
    }

    /// That nothing else was given.
    pub(super) fn end(self) -> Result<(), CallError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(CallError::Call(format!(
                "{name}: there is no such argument"
            ))),
        }
    }
}

/// What a shell came to; the workspace becomes what it left.
pub(super) fn shell_result(ran: Ran, workspace: &mut Workspace) -> Result<Value, CallError> {
    let Ran {
        result,
        stdout,
        stderr,
    } = ran;
    let ending = result.ending.clone().unwrap_or_default();
    let is_trouble = matches!(
        ending.kind(),
        pb::EndingKind::SandboxFailed | pb::EndingKind::Cancelled | pb::EndingKind::Unspecified
    );
    if is_trouble {
        let why = ending.reason.or(ending.by).unwrap_or_default();
        return Err(CallError::Trouble(why));
    }
    let (stdout, stdout_cut) = shortened(&stdout);
    let (stderr, stderr_cut) = shortened(&stderr);
    let mut told = json!({
        "ending": proto::json::to_json(&ending).unwrap_or_default(),
        "stdout": stdout,
        "stderr": stderr,
    });
    // Where all of the workspace could not be had, the session keeps what it had.
    let (whole, missing): (Vec<_>, Vec<_>) = result
        .files_missing
        .into_iter()
        .partition(|missing| missing.path.is_empty() || missing.path == "**");
    let changes = match whole.is_empty() {
        true => workspace.replace(result.files),
        false => Vec::new(),
    };
    let lost: Vec<String> = whole
        .iter()
        .chain(&missing)
        .map(|missing| format!("{}: {}", missing.path, missing.reason))
        .collect();
    let more = [
        ("changed_files", json!(changes), changes.is_empty()),
        ("not_kept", json!(lost), lost.is_empty()),
        ("stdout_bytes_cut", json!(stdout_cut), stdout_cut == 0),
        ("stderr_bytes_cut", json!(stderr_cut), stderr_cut == 0),
    ];
    for (name, value, is_nothing) in more {
        if !is_nothing && let Some(fields) = told.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    }
    Ok(told)
}

/// A stage of `run_code` for an agent.
pub(super) fn stage(stage: &StageAnswer) -> Value {
    json!({
        "status": stage.status,
        "return_code": stage.return_code,
        "stdout": shortened(stage.stdout.as_bytes()).0,
        "stderr": shortened(stage.stderr.as_bytes()).0,
        "seconds": stage.execution_time,
    })
}

/// Head and tail of an output as text, and how many bytes are missing between them.
fn shortened(output: &[u8]) -> (String, usize) {
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    let half = OUTPUT_BYTES_MAX / 2;
    let cut = output.len().saturating_sub(2 * half);
    if cut == 0 {
        return (text(output), 0);
    }
    let (head, rest) = output.split_at(half);
    let tail = rest.get(cut..).unwrap_or_default();
    let text = format!("{}\n[{cut} bytes left out]\n{}", text(head), text(tail));
    (text, cut)
}
