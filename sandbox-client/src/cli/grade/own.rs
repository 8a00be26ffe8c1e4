//! Our own task folders: `task.toml` with a `[verify]` table whose fields are those of a request in
//! JSON, and the folders `environment/`, `tests/` and `solution/` (docs/tasks.md).

use std::collections::BTreeMap;
use std::path::Path;

use proto::json::JsonError;
use serde::Deserialize;
use serde_json::json;

use super::super::failure::Failure;
use super::solution::{Solution, takes_test_files};
use super::task::{Format, Task, folder_name, invalid};
use super::tree;
use crate::pb;

/// The policy of a task that names none: verdicts of framework kinds may earn there.
pub(super) const POLICY: &str = "task";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: Option<String>,
    #[serde(default)]
    description: String,
    may_be_trained_on: Option<bool>,
    #[serde(default = "policy")]
    policy: String,
    #[serde(default = "environment")]
    environment: String,
    #[serde(default = "tests")]
    tests: String,
    /// Folder below `/workspace` into which the content of `tests` is laid.
    #[serde(default)]
    tests_at: String,
    oracle: Option<String>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    limits: toml::Table,
    verify: toml::Table,
}

fn policy() -> String {
    POLICY.to_owned()
}
fn environment() -> String {
    "environment".to_owned()
}
fn tests() -> String {
    "tests".to_owned()
}

/// The document in `task.toml`, of whatever format.
pub(super) fn parse(file: &Path) -> Result<toml::Table, Failure> {
    let text = tree::read_text(file)?;
    toml::from_str(&text).map_err(|error| invalid(file, error.to_string()))
}

/// Reads a task of our own format.
pub(super) fn read(folder: &Path, document: toml::Table) -> Result<Task, Failure> {
    let file = folder.join("task.toml");
    let document: Document = document
        .try_into()
        .map_err(|error: toml::de::Error| invalid(&file, error.to_string()))?;
    let mut request = request(&document).map_err(|error| invalid(&file, error.to_string()))?;
    let tests = tree::read_if_there(&folder.join(&document.tests))?;
    if let Some(verify) = &mut request.verify {
        if !tests.is_empty() && !takes_test_files(verify.kind()) {
            let problem = format!(
                "`verify.kind` takes no test files, and {}/ has some; its tests stand in the \
                 [verify] table",
                document.tests
            );
            return Err(invalid(&file, problem));
        }
        for (path, test) in tree::below(&document.tests_at, tests) {
            verify.test_files.insert(path, test);
        }
    }
    let oracle = folder.join(document.oracle.as_deref().unwrap_or("solution"));
    let oracle = match document.oracle {
        None if !oracle.exists() => None,
        _ => Some(Solution::read(&oracle)?),
    };
    Ok(Task {
        format: Format::Own,
        name: document.name.unwrap_or_else(|| folder_name(folder)),
        description: document.description,
        may_be_trained_on: document.may_be_trained_on,
        environment: tree::read_if_there(&folder.join(&document.environment))?,
        request,
        oracle,
        notes: Vec::new(),
    })
}

/// By way of JSON, so that fields and units are those of every other request.
fn request(document: &Document) -> Result<pb::RunRequest, JsonError> {
    let request = json!({
        "policy": document.policy,
        "argv": document.argv,
        "env": document.env,
        "limits": document.limits,
        "verify": document.verify,
    });
    proto::json::from_json_value(&request)
}
