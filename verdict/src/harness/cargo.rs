//! `cargo test`: built first, then run program by program. The target folder is always a new one:
//! over a warm one, sources with old times are not built again, and yesterday's tests pass.

use std::collections::BTreeSet;

use super::programs::Programs;
use super::whole::{contradiction, not_whole, observe, without};
use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe, ours};
use crate::diagnostics::{self, DiagnosticFormat};
use crate::formats::{ReportFormat, parse};
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Outcome, Severity};
use crate::verify::HarnessSpec;

const BUILD: &str = include_str!("../../harness/cargo.sh");
const RUNNER: &str = include_str!("../../harness/cargo-runner.sh");

/// Our programs: name and text.
pub(super) const FILES: [(&str, &str); 2] = [("cargo.sh", BUILD), ("cargo-runner.sh", RUNNER)];

/// Arguments that choose what is tested; without any, documentation tests are left out, for they
/// stand in the solution's own text.
const TARGETS: [&str; 11] = [
    "--lib",
    "--bins",
    "--bin",
    "--tests",
    "--test",
    "--examples",
    "--example",
    "--benches",
    "--bench",
    "--all-targets",
    "--doc",
];

pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    let (program, build) = ours(spec, "cargo.sh", BUILD, nonce);
    let (_, runner) = ours(spec, "cargo-runner.sh", RUNNER, nonce);
    let mut argv = vec!["/bin/sh".to_owned(), program];
    let mut own = vec!["--offline", "--no-fail-fast"];
    let chosen = |argument: &String| {
        let name = argument.split('=').next().unwrap_or_default();
        TARGETS.contains(&name)
    };
    let ours_to_choose = spec.args.iter().take_while(|argument| *argument != "--");
    if !ours_to_choose.clone().any(chosen) {
        own.push("--tests");
    }
    argv.extend(own.into_iter().map(str::to_owned));
    argv.extend(spec.args.iter().cloned());
    let mut env = [
        ("CARGO_TARGET_DIR", "/tmp/rollcage-target"),
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_NET_OFFLINE", "true"),
        ("CARGO_TERM_COLOR", "never"),
        ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into_iter()
    .collect::<std::collections::BTreeMap<_, _>>();
    env.extend(spec.env.clone());
    HarnessPlan {
        argv,
        env,
        cwd: spec.cwd.clone(),
        files: [build, runner].into(),
        report: ReportPipe::Private,
        ..HarnessPlan::default()
    }
}

pub(super) fn read(_spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let programs = Programs::split(evidence.report, nonce);
    if let Some(tool) = &programs.missing {
        return without(tool);
    }
    let (messages, output) = split(&programs.rest);
    let diagnostics = diagnostics::parse(DiagnosticFormat::RustcJson, &Untrusted::new(messages));
    let diagnostics = diagnostics.unwrap_or_default();
    if programs.begun == 0 {
        return not_built(diagnostics, evidence);
    }
    let report = parse(ReportFormat::Libtest, &Untrusted::new(output));
    let mut observed = observe(report, evidence);
    let told: BTreeSet<&str> = observed.tests.iter().map(|test| test.id.as_str()).collect();
    let listed = Programs {
        listed: tests_of(&programs.listed),
        ..programs
    };
    if let Some(gap) = listed.gap(&told) {
        not_whole(&mut observed, evidence, &gap);
    }
    Programs::drop_hidden(&mut observed.tests, nonce);
    if evidence.report_too_long {
        not_whole(&mut observed, evidence, "it is longer than what is read");
    }
    contradiction(&mut observed, evidence);
    observed.diagnostics = diagnostics;
    observed
}

/// Cargo's own messages, and what the test programs wrote.
fn split(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut messages, mut output) = (Vec::new(), Vec::new());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"{\"reason\":") {
            messages.extend_from_slice(line);
        } else {
            output.extend_from_slice(line);
        }
    }
    (messages, output)
}

/// Names of `a::b: test`; other lines are what a program without the test harness wrote.
fn tests_of(listed: &BTreeSet<String>) -> BTreeSet<String> {
    let name = |line: &String| line.strip_suffix(": test").map(str::to_owned);
    listed.iter().filter_map(name).collect()
}

fn not_built(diagnostics: Vec<Diagnostic>, evidence: &HarnessEvidence<'_>) -> Observed {
    let stderr = String::from_utf8_lossy(evidence.stderr.kept.inner()).into_owned();
    let mut errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let trouble = match errors.next() {
        Some(error) => super::compile_error(error),
        None => {
            let line = stderr.lines().find(|line| line.starts_with("error"));
            let line = line.unwrap_or("cargo built no test program");
            let reason = crate::reading::cut(line, 1024);
            if evidence.report.is_empty() && super::whole::exited_well(evidence.ended.ending) {
                (Outcome::NoTests, reason)
            } else {
                (Outcome::CompileError, reason)
            }
        }
    };
    Observed {
        diagnostics,
        trouble: Some(trouble),
        ..Observed::default()
    }
}
