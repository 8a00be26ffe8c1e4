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
use super::tree::{self, Tree};
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
    /// A folder that is named has to be there; the usual one may be missing.
    environment: Option<String>,
    tests: Option<String>,
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

/// The document in `task.toml`, of whatever format.
pub(super) fn parse(file: &Path) -> Result<toml::Table, Failure> {
    let text = tree::read_text(file)?;
    toml::from_str(&text).map_err(|error| not_toml(file, &error))
}

/// Reads a task of our own format.
pub(super) fn read(folder: &Path, document: toml::Table) -> Result<Task, Failure> {
    let file = folder.join("task.toml");
    let document: Document = document
        .try_into()
        .map_err(|error: toml::de::Error| not_toml(&file, &error))?;
    let mut request = request(&document).map_err(|error| invalid(&file, error.to_string()))?;
    let tests = part(folder, &file, ("tests", document.tests.as_deref()))?;
    let environment = part(
        folder,
        &file,
        ("environment", document.environment.as_deref()),
    )?;
    if let Some(verify) = &mut request.verify {
        add_tests(&file, verify, &document.tests_at, tests)?;
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
        environment,
        request,
        oracle,
        notes: Vec::new(),
    })
}

/// The files of a part of the task: of the folder that the document names, else of the usual one,
/// where that is there.
fn part(folder: &Path, file: &Path, (key, named): (&str, Option<&str>)) -> Result<Tree, Failure> {
    let Some(name) = named else {
        return tree::read_if_there(&folder.join(key));
    };
    let path = folder.join(name);
    if path.is_dir() {
        return tree::read(&path);
    }
    let problem = format!("{key} is {name:?}; there is no such folder in the task");
    Err(invalid(file, problem))
}

/// Gives the author's files to the verification, below `at`.
fn add_tests(file: &Path, verify: &mut pb::Verify, at: &str, tests: Tree) -> Result<(), Failure> {
    if at.starts_with('/') || at.split('/').any(|part| part == "..") {
        let problem = format!("tests_at is {at:?}; give a folder relative to /workspace");
        return Err(invalid(file, problem));
    }
    if verify.kind() == pb::VerifyKind::Unspecified {
        let problem = "verify.kind is missing; say how it is judged, for example pytest";
        return Err(invalid(file, problem));
    }
    if !tests.is_empty() && !takes_test_files(verify.kind()) {
        let problem = "this verify.kind takes no test files, and the task's folder of tests has \
                       some: write its tests into the [verify] table";
        return Err(invalid(file, problem));
    }
    verify.test_files.extend(tree::below(at, tests));
    Ok(())
}

/// What the reader of TOML says, on lines of its own.
fn not_toml(file: &Path, error: &toml::de::Error) -> Failure {
    invalid(file, error.to_string().trim_end())
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
