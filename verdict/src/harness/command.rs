//! A command of the author's that writes a report of tests: JUnit XML, TAP, CTRF, or whatever
//! format the request names.

use super::whole::{how_it_ended, not_whole, observe};
use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe};
use crate::formats::{ReportFormat, parse};
use crate::grade::Output;
use crate::verdict::Outcome;
use crate::verify::{Framework, HarnessSpec, ReportFrom};

pub(super) fn plan(spec: &HarnessSpec, _nonce: &str) -> HarnessPlan {
    HarnessPlan {
        argv: spec.argv.clone(),
        env: spec.env.clone(),
        cwd: spec.cwd.clone(),
        collect: match &spec.report {
            ReportFrom::File(path) => vec![path.clone()],
            _ => Vec::new(),
        },
        report: ReportPipe::of(&spec.report),
        ..HarnessPlan::default()
    }
}

pub(super) fn read(spec: &HarnessSpec, _nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let mut observed = Observed::default();
    let cut = |output: Output<'_>| output.dropped_bytes > 0;
    let (bytes, broken, place) = match &spec.report {
        ReportFrom::Descriptor | ReportFrom::Path => (
            Some(evidence.report),
            evidence.report_too_long,
            "descriptor 4".to_owned(),
        ),
        ReportFrom::Stdout => (
            Some(evidence.stdout.kept),
            cut(evidence.stdout),
            "standard output".to_owned(),
        ),
        ReportFrom::Stderr => (
            Some(evidence.stderr.kept),
            cut(evidence.stderr),
            "standard error".to_owned(),
        ),
        ReportFrom::File(path) => (evidence.files.get(path), false, path.clone()),
    };
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
        let how = how_it_ended(evidence);
        let reason = format!("the command wrote no report to {place}; it {how}");
        observed.trouble = Some((Outcome::NoTests, reason));
        return observed;
    };
    let mut observed = observe(parse(format(spec), bytes), evidence);
    if broken {
        not_whole(&mut observed, evidence, "it is longer than what is kept");
    }
    observed
}

fn format(spec: &HarnessSpec) -> ReportFormat {
    let by_kind = match spec.framework {
        Framework::Tap => ReportFormat::Tap,
        Framework::Ctrf => ReportFormat::Ctrf,
        _ => ReportFormat::JunitXml,
    };
    match spec.framework {
        Framework::Command => spec.format.unwrap_or(by_kind),
        _ => by_kind,
    }
}
