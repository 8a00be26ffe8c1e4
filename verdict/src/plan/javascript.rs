//! The judging of JavaScript by node: nothing is built, both ends are our programs in `harness/js`.

use std::collections::BTreeMap;

use serde_json::json;

use super::{JudgePlan, ours, without_harness};
use crate::verify::AssertsSpec;

const SOLUTION_HOST: &str = "solution_host.cjs";
const JUDGE: &str = "judge.cjs";

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 4] = [
    ("values.cjs", include_str!("../../harness/js/values.cjs")),
    ("peer.cjs", include_str!("../../harness/js/peer.cjs")),
    (
        SOLUTION_HOST,
        include_str!("../../harness/js/solution_host.cjs"),
    ),
    (JUDGE, include_str!("../../harness/js/judge.cjs")),
];

pub(super) fn plan(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> JudgePlan {
    let mut solution_files = without_harness(files);
    solution_files.extend(host_files());
    let mut judge_files = harness(SOLUTION_HOST);
    judge_files.insert(ours("task.json"), task(spec, nonce));
    JudgePlan {
        solution_files,
        solution_argv: host_argv(&spec.file),
        judge_files,
        judge_argv: argv(JUDGE),
        solution_build: None,
        judge_build: None,
        declared_by_solution: false,
    }
}

/// Our programs of the solution's end.
pub(super) fn host_files() -> BTreeMap<String, Vec<u8>> {
    harness(JUDGE)
}

/// The command of the solution's end.
pub(super) fn host_argv(file: &str) -> Vec<String> {
    let mut argv = argv(SOLUTION_HOST);
    argv.push(file.to_owned());
    argv
}

/// Our programs but the one that belongs to the other sandbox.
fn harness(other: &str) -> BTreeMap<String, Vec<u8>> {
    (HARNESS_FILES.iter())
        .filter(|(name, _)| *name != other)
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()))
        .collect()
}

fn argv(program: &str) -> Vec<String> {
    ["node".to_owned(), "--no-warnings".to_owned(), ours(program)].to_vec()
}

fn task(spec: &AssertsSpec, nonce: &str) -> Vec<u8> {
    let tests: Vec<_> = (spec.tests.iter())
        .map(|test| json!({"id": test.id, "code": test.code}))
        .collect();
    let task = json!({
        "nonce": nonce,
        "file": spec.file,
        "code": spec.code,
        "tests": tests,
        "entry_points": spec.entry_points,
    });
    task.to_string().into_bytes()
}
