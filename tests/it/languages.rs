//! Test code in other languages than Python, against the measured truth of the language sets: a
//! sample of each, all of it with `ROLLCAGE_LANGUAGES_ALL=1`. Through `rollcage batch`.

mod built;
mod go;
mod java;
mod js;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::data::{FAILED, NOT_PASSED, PASSED, Task, check, data_dir, text, truth_in};
use crate::skips;
use crate::world::World;

/// Tasks of a sample.
const SAMPLE: usize = 10;

/// A set of tasks in one language.
pub(crate) struct Set {
    /// Its folder below the data.
    pub(crate) folder: &'static str,
    /// Its file there.
    pub(crate) file: &'static str,
    /// The name in the table's file name, and what ids there have in front.
    pub(crate) table: (&'static str, &'static str),
    /// `verify.language`.
    pub(crate) language: &'static str,
    /// The policy of its runs.
    pub(crate) policy: &'static str,
    /// The solution's file.
    pub(crate) solution: &'static str,
    /// Solution and test code of a line.
    pub(crate) parts: fn(&Value) -> (String, String),
    /// A solution of a line that solves nothing, if there is one.
    pub(crate) emptied: fn(&Value) -> Option<String>,
    /// Tasks whose own test code is broken.
    pub(crate) broken: &'static [&'static str],
}

/// Judges a sample of the set, or all of it, in one batch.
pub(crate) fn judge(test: &str, set: &Set) {
    let Some(lines) = lines_of(&data_dir().join(set.folder).join(set.file)) else {
        skips::skip(test, &format!("data set {} is not there", set.folder));
        return;
    };
    let Some(world) = World::start(test) else {
        return;
    };
    let (table, prefix) = set.table;
    let truth = truth_in(set.folder, table);
    let all = std::env::var_os("ROLLCAGE_LANGUAGES_ALL").is_some();
    let step = if all { 1 } else { lines.len().div_ceil(SAMPLE) };
    let mut tasks = Vec::new();
    for line in lines.iter().step_by(step) {
        let id = text(line, "task_id");
        let (solution, code) = (set.parts)(line);
        let allowed = match truth(&format!("{prefix}{id}")) {
            true => PASSED,
            false if set.broken.contains(&id) => BROKEN,
            false => NOT_PASSED,
        };
        tasks.push(Task {
            line: request(set, id, &solution, &code),
            allowed,
        });
        if let Some(emptied) = (set.emptied)(line) {
            tasks.push(Task {
                line: request(set, &format!("{id}/emptied"), &emptied, &code),
                allowed: FAILED,
            });
        }
    }
    check(&world, table, &tasks);
}

const BROKEN: &[&str] = &["verifier_error"];

fn request(set: &Set, id: &str, solution: &str, code: &str) -> Value {
    json!({
        "id": id, "policy": set.policy, "files": {set.solution: solution}, "argv": [],
        "verify": {
            "kind": "asserts", "file": set.solution, "language": set.language, "code": code,
        },
    })
}

/// Lines of a set, which may be compressed.
fn lines_of(path: &Path) -> Option<Vec<Value>> {
    let bytes = if path.extension().is_some_and(|kind| kind == "gz") {
        let output = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
        output.status.success().then_some(output.stdout)?
    } else {
        fs::read(path).ok()?
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    Some(
        lines
            .map(|line| serde_json::from_slice(line).expect("a data set is JSON lines"))
            .collect(),
    )
}

/// Prompt and reference.
pub(crate) fn reference(line: &Value) -> (String, String) {
    let solution = format!(
        "{}{}",
        text(line, "prompt"),
        text(line, "canonical_solution")
    );
    (solution, text(line, "test").to_owned())
}

/// The first block of code of a real answer, or all of it.
pub(crate) fn answer(line: &Value) -> (String, String) {
    let answer = text(line, "gpt_solution");
    let code = match answer.split_once("```") {
        None => answer,
        Some((_, block)) => {
            let (_, code) = block.split_once('\n').unwrap_or(("", block));
            code.split("```").next().unwrap_or(code)
        }
    };
    (code.to_owned(), text(line, "tests").to_owned())
}
