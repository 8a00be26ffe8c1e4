//! Jest, with a reporter of ours beside which no other speaks.

use super::whole::contradiction;
use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe, lines, ours};
use crate::verify::HarnessSpec;

const REPORTER: &str = include_str!("../../harness/jest_reporter.cjs");

/// Our programs: name and text.
pub(super) const FILES: [(&str, &str); 1] = [("jest_reporter.cjs", REPORTER)];

pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    let (reporter, reporter_file) = ours(spec, "jest_reporter.cjs", REPORTER, nonce);
    let own = [
        "--ci",
        "--no-cache",
        "--no-watchman",
        "--colors=false",
        "--testLocationInResults",
    ];
    let mut argv = vec!["jest".to_owned()];
    argv.extend(own.map(str::to_owned));
    argv.push(format!("--reporters={reporter}"));
    argv.extend(spec.args.iter().cloned());
    HarnessPlan {
        argv,
        env: spec.env.clone(),
        cwd: spec.cwd.clone(),
        files: [reporter_file].into(),
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
