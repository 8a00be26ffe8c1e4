//! Node's own test runner, with a reporter of ours. Each test file runs in a process of its own,
//! which does not have the report's descriptor.

use super::whole::contradiction;
use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe, lines, ours};
use crate::verify::HarnessSpec;

const REPORTER: &str = include_str!("../../harness/node_reporter.mjs");
const PRELOAD: &str = include_str!("../../harness/node_preload.cjs");

/// Our programs: name and text.
pub(super) const FILES: [(&str, &str); 2] = [
    ("node_reporter.mjs", REPORTER),
    ("node_preload.cjs", PRELOAD),
];

pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    let (reporter, reporter_file) = ours(spec, "node_reporter.mjs", REPORTER, nonce);
    let (preload, preload_file) = ours(spec, "node_preload.cjs", PRELOAD, nonce);
    let mut argv = vec![
        "node".to_owned(),
        "--test".to_owned(),
        format!("--test-reporter={reporter}"),
        "--test-reporter-destination=stdout".to_owned(),
    ];
    argv.extend(spec.args.iter().cloned());
    let mut env = spec.env.clone();
    let options = env.entry("NODE_OPTIONS".to_owned()).or_default();
    *options = format!("--require={preload} {options}")
        .trim_end()
        .to_owned();
    HarnessPlan {
        argv,
        env,
        cwd: spec.cwd.clone(),
        files: [reporter_file, preload_file].into(),
        report: ReportPipe::Private,
        ..HarnessPlan::default()
    }
}

pub(super) fn read(_spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let mut observed = lines::read(nonce, evidence);
    lines::not_loaded(&mut observed);
    contradiction(&mut observed, evidence);
    observed
}
