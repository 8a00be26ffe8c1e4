//! `go test`, one package after the other, with the events of its JSON form.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::programs::Programs;
use super::whole::{contradiction, not_whole, observe, without};
use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe, ours};
use crate::diagnostics::{self, DiagnosticFormat};
use crate::formats::{ReportFormat, parse};
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Severity};
use crate::verify::HarnessSpec;

const RUN: &str = include_str!("../../harness/go.sh");
const RUNNER: &str = include_str!("../../harness/go-runner.sh");

/// Our programs: name and text.
pub(super) const FILES: [(&str, &str); 2] = [("go.sh", RUN), ("go-runner.sh", RUNNER)];

pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    let (program, run) = ours(spec, "go.sh", RUN, nonce);
    let (_, runner) = ours(spec, "go-runner.sh", RUNNER, nonce);
    let mut argv = vec!["/bin/sh".to_owned(), program];
    if spec.args.is_empty() {
        argv.push("./...".to_owned());
    }
    argv.extend(spec.args.iter().cloned());
    // The module must not lie in the folder of temporary files: go then does not see it.
    let mut env: BTreeMap<String, String> = [
        ("GOCACHE", "/tmp/rollcage-go/cache"),
        ("GOPATH", "/tmp/rollcage-go/path"),
        ("GOFLAGS", "-mod=mod"),
        ("GOPROXY", "off"),
        ("GOSUMDB", "off"),
        ("GOTOOLCHAIN", "local"),
        ("TMPDIR", "/tmp"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if spec
        .env
        .get("GO111MODULE")
        .is_some_and(|value| value == "off")
    {
        env.remove("GOFLAGS");
    }
    env.extend(spec.env.clone());
    HarnessPlan {
        argv,
        env,
        cwd: spec.cwd.clone(),
        files: [run, runner].into(),
        report: ReportPipe::Private,
        ..HarnessPlan::default()
    }
}

pub(super) fn read(_spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let programs = Programs::split(evidence.report, nonce);
    if let Some(tool) = &programs.missing {
        return without(tool);
    }
    let build = build_messages(&programs.rest, evidence);
    let report = parse(ReportFormat::GoJson, &Untrusted::new(programs.rest.clone()));
    let mut observed = observe(report, evidence);
    let errors = |found: &&Diagnostic| found.severity == Severity::Error;
    if let Some(error) = build.iter().find(errors) {
        // Packages that do not compile: what the others tell does not matter.
        observed.trouble = Some(super::compile_error(error));
    }
    let told: BTreeSet<&str> = (observed.tests.iter())
        .map(|test| {
            test.id
                .rsplit_once("::")
                .map_or(&*test.id, |(_, name)| name)
        })
        .collect();
    if let Some(gap) = programs.gap(&told) {
        not_whole(&mut observed, evidence, &gap);
    }
    Programs::drop_hidden(&mut observed.tests, nonce);
    if evidence.report_too_long {
        not_whole(&mut observed, evidence, "it is longer than what is read");
    }
    contradiction(&mut observed, evidence);
    observed.diagnostics = build;
    observed
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BuildOutput {
    action: String,
    #[serde(default)]
    output: String,
}

/// Messages of the compiler: on standard error, since go 1.24 among the events.
fn build_messages(events: &[u8], evidence: &HarnessEvidence<'_>) -> Vec<Diagnostic> {
    let mut failed = false;
    let mut text = evidence.stderr.kept.inner().clone();
    for line in events.split_inclusive(|byte| *byte == b'\n') {
        let tail = line.trim_ascii_end();
        failed |= tail.ends_with(b"[build failed]") || tail.ends_with(b"[setup failed]");
        if line.starts_with(b"{")
            && let Ok(event) = serde_json::from_slice::<BuildOutput>(line)
        {
            failed |= event.action == "build-fail";
            if event.action == "build-output" {
                text.extend_from_slice(event.output.as_bytes());
            }
        }
    }
    if !failed {
        return Vec::new();
    }
    diagnostics::parse(DiagnosticFormat::GoText, &Untrusted::new(text)).unwrap_or_default()
}
