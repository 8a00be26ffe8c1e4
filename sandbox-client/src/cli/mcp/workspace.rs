//! The files of a session, between its calls. Knows no sandbox.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::CallError;
use crate::pb;

/// Most bytes of all files: what a sandbox gives back at once.
const BYTES_MAX: usize = 32 << 20;
/// Most bytes of a file that is read as text.
const READ_BYTES_MAX: usize = 256 << 10;
/// Where files lie in a sandbox.
const ROOT: &str = "/workspace/";

/// The files, by path relative to the workspace.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    files: BTreeMap<String, pb::File>,
}

impl Workspace {
    /// The files for a request.
    pub(super) fn files<M: FromIterator<(String, pb::File)>>(&self) -> M {
        let files = self.files.iter();
        files
            .map(|(path, file)| (path.clone(), file.clone()))
            .collect()
    }

    /// The same as SandboxFusion's wire has them.
    pub(super) fn in_base64(&self) -> Map<String, Value> {
        let files = self.files.iter();
        files
            .map(|(path, file)| (path.clone(), json!(STANDARD.encode(&file.content))))
            .collect()
    }

    /// Puts a file, in place of another of its path.
    pub(super) fn write(&mut self, path: &str, content: Vec<u8>) -> Result<(), CallError> {
        let path = relative(path)?;
        let others = self.files.iter().filter(|(other, _)| *other != path);
        let bytes: usize = others.map(|(_, file)| file.content.len()).sum();
        if bytes.saturating_add(content.len()) > BYTES_MAX {
            let text = format!("the workspace would have more than {BYTES_MAX} bytes");
            return Err(CallError::Call(text));
        }
        let is_within = |outer: &str, inner: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let clash = self
            .files
            .keys()
            .find(|other| is_within(other, path) || is_within(path, other));
        if let Some(other) = clash {
            let text = format!("{path}: {other} is a file, and one of them would be a folder");
            return Err(CallError::Call(text));
        }
        let mode = self.files.get(path).and_then(|file| file.mode);
        self.files
            .insert(path.to_owned(), pb::File { content, mode });
        Ok(())
    }

    /// The text of a file.
    pub(super) fn read(&self, path: &str) -> Result<String, CallError> {
        let path = relative(path)?;
        let Some(file) = self.files.get(path) else {
            return Err(CallError::Call(format!("{path}: no such file")));
        };
        if file.content.len() > READ_BYTES_MAX {
            let text = format!(
                "{path}: {} bytes, more than {READ_BYTES_MAX}; look at a part of it with shell",
                file.content.len()
            );
            return Err(CallError::Call(text));
        }
        String::from_utf8(file.content.clone())
            .map_err(|_binary| CallError::Call(format!("{path}: not text in UTF-8")))
    }

    /// Paths and sizes.
    pub(super) fn list(&self) -> Value {
        let entry = |(path, file): (&String, &pb::File)| json!({ "path": path, "bytes": file.content.len() });
        self.files.iter().map(entry).collect()
    }

    /// Takes what a sandbox gave back, and tells what differs.
    pub(super) fn replace(&mut self, files: Vec<pb::CollectedFile>) -> Vec<String> {
        let next: BTreeMap<String, pb::File> = files
            .into_iter()
            .map(|file| {
                let content = file.content;
                let mode = Some(file.mode);
                (file.path, pb::File { content, mode })
            })
            .collect();
        let is_same = |path: &String, file: &pb::File| {
            let before = self.files.get(path);
            before.is_some_and(|before| before.content == file.content)
        };
        let written = next.iter().filter(|(path, file)| !is_same(path, file));
        let mut changes: Vec<String> = written.map(|(path, _)| path.clone()).collect();
        let gone = self.files.keys().filter(|path| !next.contains_key(*path));
        changes.extend(gone.map(|path| format!("{path} (removed)")));
        self.files = next;
        changes
    }
}

/// A path below the workspace, as the daemon takes it.
fn relative(path: &str) -> Result<&str, CallError> {
    let below = path.strip_prefix(ROOT).unwrap_or(path);
    let is_plain = !below.is_empty()
        && !below.starts_with('/')
        && below
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."))
        && !below.contains('\0');
    if is_plain {
        return Ok(below);
    }
    Err(CallError::Call(format!(
        "path = {path:?}: must be relative to the workspace, or below {ROOT}, without `.` and `..`"
    )))
}
