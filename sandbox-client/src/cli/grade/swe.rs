//! Tasks like those of SWE-bench: a JSON document with `FAIL_TO_PASS` and `PASS_TO_PASS`, the
//! repository beside it as a folder or an archive, judged by pytest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::failure::Failure;
use super::own::POLICY;
use super::solution::Solution;
use super::task::{Format, Task, TaskError, folder_name, invalid};
use super::tree::{self, Tree};
use super::{archive, patch};
use crate::pb;

const ARCHIVES: &[&str] = &["repo.tar.gz", "repo.tar", "buggy.tar.gz"];
const FOLDERS: &[&str] = &["repo", "environment"];
const PATCHES: &[&str] = &["fix.patch", "gold.patch", "solution.patch"];

/// The JSON document of a task: `task.json`, else the only one of the folder that names such ids.
pub(super) fn find(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let listed = std::fs::read_dir(folder).map_err(|source| Failure::Read {
        path: folder.to_owned(),
        source,
    })?;
    let mut found = Vec::new();
    for entry in listed {
        let path = entry
            .map_err(|source| Failure::Read {
                path: folder.to_owned(),
                source,
            })?
            .path();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if is_json && path.is_file() && tree::read_text(&path)?.contains("\"FAIL_TO_PASS\"") {
            found.push(path);
        }
    }
    found.sort_by_key(|path| path.file_name() != Some("task.json".as_ref()));
    Ok(found.into_iter().next())
}

/// Reads a task.
pub(super) fn read(folder: &Path, file: &Path) -> Result<Task, Failure> {
    let document: Value = serde_json::from_str(&tree::read_text(file)?)
        .map_err(|error| invalid(file, error.to_string()))?;
    let document = match document {
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        Value::Object(_) => document,
        _ => return Err(invalid(file, "write one task, a JSON object")),
    };
    let text = |field: &str| document.get(field).and_then(Value::as_str);
    let ids = |field: &str| {
        let list = ids(&document, field);
        list.ok_or_else(|| invalid(file, format!("{field}: write a list of test ids")))
    };
    let (fail_to_pass, pass_to_pass) = (ids("FAIL_TO_PASS")?, ids("PASS_TO_PASS")?);
    if fail_to_pass.is_empty() {
        return Err(invalid(
            file,
            "FAIL_TO_PASS is empty: any solution would do",
        ));
    }
    let environment = environment(folder, &text)?;
    let mut test_files = Tree::new();
    let mut tested = environment.clone();
    if let Some(test_patch) = text("test_patch").filter(|patch| !patch.trim().is_empty()) {
        tested = patch::apply(&environment, test_patch.as_bytes()).map_err(|source| {
            TaskError::Patch {
                name: "test_patch".to_owned(),
                source,
            }
        })?;
        let changed = tested
            .iter()
            .filter(|(path, file)| environment.get(*path) != Some(*file));
        test_files.extend(changed.map(|(path, file)| (path.clone(), file.clone())));
    }
    let convert =
        |ids: Vec<String>| -> Vec<String> { ids.iter().map(|id| node_id(id, &tested)).collect() };
    let (fail_to_pass, pass_to_pass) = (convert(fail_to_pass), convert(pass_to_pass));
    let files = files_of([&fail_to_pass, &pass_to_pass]);
    for path in &files {
        let Some(file) = tested.get(path) else {
            return Err(invalid(
                file,
                format!("tests are in {path}, which the repository lacks"),
            ));
        };
        test_files.insert(path.clone(), file.clone());
    }
    let verify = pb::Verify {
        kind: pb::VerifyKind::Pytest.into(),
        args: files.into_iter().collect(),
        fail_to_pass,
        pass_to_pass,
        test_files,
        ..pb::Verify::default()
    };
    Ok(Task {
        format: Format::Swe,
        name: text("instance_id").map_or_else(|| folder_name(folder), str::to_owned),
        description: text("problem_statement").unwrap_or_default().to_owned(),
        may_be_trained_on: None,
        environment,
        request: pb::RunRequest {
            policy: POLICY.to_owned(),
            verify: Some(verify),
            ..pb::RunRequest::default()
        },
        oracle: oracle(folder, text("patch"))?,
        notes: Vec::new(),
    })
}

/// A list, or as SWE-bench has it, the text of one; `None`: it is neither.
fn ids(document: &Value, field: &str) -> Option<Vec<String>> {
    let value = match document.get(field) {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(value) => value.clone(),
    };
    serde_json::from_value(value).ok()
}

fn environment<'a>(
    folder: &Path,
    text: &impl Fn(&str) -> Option<&'a str>,
) -> Result<Tree, Failure> {
    for name in ARCHIVES {
        let file = folder.join(name);
        if file.is_file() {
            return archive::read(&file)
                .map_err(|source| TaskError::Archive { file, source }.into());
        }
    }
    for name in FOLDERS {
        if folder.join(name).is_dir() {
            return tree::read(&folder.join(name));
        }
    }
    let commit = text("base_commit").or_else(|| text("buggy_commit"));
    let needs = vec![format!(
        "the files of {} at {}: put them beside the document as {} or {}/",
        text("repo").unwrap_or("the repository"),
        commit.unwrap_or("the right commit"),
        ARCHIVES.join(", "),
        FOLDERS.join("/, ")
    )];
    Err(TaskError::Needs { needs }.into())
}

fn oracle(folder: &Path, patch: Option<&str>) -> Result<Option<Solution>, Failure> {
    for name in PATCHES {
        let file = folder.join(name);
        if file.is_file() {
            return Solution::read(&file).map(Some);
        }
    }
    Ok(patch.map(|patch| Solution::Patch {
        name: "patch".to_owned(),
        content: patch.as_bytes().to_vec(),
    }))
}

/// `tests.test_a.TestB::test_c`, as JUnit reports name tests, in pytest's own words:
/// `tests/test_a.py::TestB::test_c`.
fn node_id(id: &str, files: &Tree) -> String {
    let (left, test) = id.split_once("::").unwrap_or((id, ""));
    let parts: Vec<&str> = left.split('.').collect();
    let module = (1..=parts.len()).rev().find_map(|count| {
        let (module, classes) = parts.split_at_checked(count)?;
        let path = format!("{}.py", module.join("/"));
        files.contains_key(&path).then_some((path, classes))
    });
    match module {
        Some((path, classes)) if !left.ends_with(".py") => {
            let mut words = vec![path.as_str()];
            words.extend(classes);
            words.push(test);
            words.join("::")
        }
        _ => id.to_owned(),
    }
}

/// The files that ids name.
fn files_of(ids: [&Vec<String>; 2]) -> BTreeSet<String> {
    let files = ids.into_iter().flatten();
    files
        .filter_map(|id| id.split_once("::"))
        .map(|(file, _)| file.to_owned())
        .collect()
}

#[cfg(test)]
mod tests;
