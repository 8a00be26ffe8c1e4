//! Verifications that are one command in a fresh sandbox: what to put there and what to start,
//! and the verdict on what came of it. Pure; each kind has a module that plans and reads, the
//! decision is the same for all. It does not know how a sandbox is had, nor whose files are in it
//! (see [`crate::protect`]).

mod cargo;
mod command;
mod decide;
mod go;
mod jest;
mod lines;
mod node;
mod programs;
mod pytest;
mod python;
mod repeat;
#[cfg(test)]
mod tests;
mod unittest;
mod whole;

use std::collections::BTreeMap;

pub use repeat::agree;

use crate::grade::{Ended, Output};
use crate::plan::HARNESS_FOLDER;
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Isolation, Outcome, TamperNote, TestResult, Verdict};
use crate::verify::{Framework, HarnessSpec, Measure, MeasureSpec, ReportFrom, VerifySpec};

/// Name of the variable with the number of the report's descriptor.
pub const REPORT_FD_ENV: &str = "ROLLCAGE_REPORT_FD";

/// What to put into the sandbox of a verification beside the files under test, and what to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HarnessPlan {
    /// The command.
    pub argv: Vec<String>,
    /// Its environment, over the fixed defaults.
    pub env: BTreeMap<String, String>,
    /// Its working folder, relative to `/workspace`; empty = that.
    pub cwd: String,
    /// Our own files, by path below [`crate::plan::HARNESS_FOLDER`]: bytes and permission bits.
    pub files: BTreeMap<String, (Vec<u8>, u32)>,
    /// Patterns of files that are read when every process is gone.
    pub collect: Vec<String>,
    /// Whether descriptor 4 is a pipe for a report; [`REPORT_FD_ENV`] then names it.
    pub report: ReportPipe,
}

/// The pipe that a report comes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportPipe {
    /// There is none.
    #[default]
    None,
    /// Only whoever was given the descriptor can write to it.
    Private,
    /// Every process of the sandbox can, if it finds one that has it: it can be opened by path.
    Openable,
}

impl ReportPipe {
    /// What a report needs that comes from there.
    pub(crate) fn of(from: &ReportFrom) -> Self {
        match from {
            ReportFrom::Descriptor => Self::Private,
            ReportFrom::Path => Self::Openable,
            ReportFrom::Stdout | ReportFrom::Stderr | ReportFrom::File(_) => Self::None,
        }
    }
}

/// What the command left behind.
#[derive(Debug, Clone, Copy)]
pub struct HarnessEvidence<'a> {
    /// How its sandbox ended.
    pub ended: Ended<'a>,
    /// What it wrote to standard output.
    pub stdout: Output<'a>,
    /// What it wrote to standard error.
    pub stderr: Output<'a>,
    /// What came through the private pipe, at most [`crate::plan::REPORT_BYTES_MAX`] bytes.
    pub report: &'a Untrusted<Vec<u8>>,
    /// Whether more came, so that it counts for nothing.
    pub report_too_long: bool,
    /// Files that were asked for, by path relative to `/workspace`.
    pub files: &'a BTreeMap<String, Untrusted<Vec<u8>>>,
}

/// What a kind's own module makes of the evidence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The tests, as reported.
    pub tests: Vec<TestResult>,
    /// Messages of compilers and checkers.
    pub diagnostics: Vec<Diagnostic>,
    /// Measures.
    pub metrics: BTreeMap<String, f64>,
    /// What of the framework was touched from within: such a report is no pass.
    pub tamper: Vec<TamperNote>,
    /// What else was touched or looks like it: told in the verdict, and no proof of anything.
    pub noticed: Vec<TamperNote>,
    /// What decides before the tests do, with its reason: for example a compile error, no tests
    /// and why, or a framework that this image does not have. It must not be made of anything
    /// that the solution could have said where it is `verifier_error`.
    pub trouble: Option<(Outcome, String)>,
}

/// The two functions of a framework's module.
struct Kind {
    plan: fn(&HarnessSpec, &str) -> HarnessPlan,
    read: fn(&HarnessSpec, &str, &HarnessEvidence<'_>) -> Observed,
}

/// The module of a framework; `None` while there is none.
fn framework(framework: Framework) -> Option<Kind> {
    match framework {
        Framework::Pytest => Some(Kind {
            plan: pytest::plan,
            read: pytest::read,
        }),
        Framework::Unittest => Some(Kind {
            plan: unittest::plan,
            read: unittest::read,
        }),
        Framework::CargoTest => Some(Kind {
            plan: cargo::plan,
            read: cargo::read,
        }),
        Framework::GoTest => Some(Kind {
            plan: go::plan,
            read: go::read,
        }),
        Framework::NodeTest => Some(Kind {
            plan: node::plan,
            read: node::read,
        }),
        Framework::Jest => Some(Kind {
            plan: jest::plan,
            read: jest::read,
        }),
        Framework::JunitXml | Framework::Tap | Framework::Ctrf | Framework::Command => Some(Kind {
            plan: command::plan,
            read: command::read,
        }),
    }
}

/// Our programs in the sandbox of a framework, before they get their nonce: name and text.
pub(crate) fn own_files(framework: Framework) -> &'static [(&'static str, &'static str)] {
    match framework {
        Framework::Pytest | Framework::Unittest => &python::RUNNER_FILES,
        Framework::CargoTest => &cargo::FILES,
        Framework::GoTest => &go::FILES,
        Framework::NodeTest => &node::FILES,
        Framework::Jest => &jest::FILES,
        Framework::JunitXml | Framework::Tap | Framework::Ctrf | Framework::Command => &[],
    }
}

/// One of our files: how a command that starts in the folder of `spec` calls it, and the file, with
/// this run's nonce in it.
fn ours(
    spec: &HarnessSpec,
    name: &str,
    text: &str,
    nonce: &str,
) -> (String, (String, (Vec<u8>, u32))) {
    let folders = spec
        .cwd
        .split('/')
        .filter(|part| !matches!(*part, "" | "."));
    let up = "../".repeat(folders.count());
    let path = format!("{HARNESS_FOLDER}/{name}");
    let bytes = text.replace("@NONCE@", nonce).into_bytes();
    (format!("./{up}{path}"), (path, (bytes, 0o644)))
}

/// A compiler's error as what decides.
fn compile_error(error: &Diagnostic) -> (Outcome, String) {
    let place = match (error.file.as_str(), error.line) {
        ("", _) => String::new(),
        (file, None) => format!("{file}: "),
        (file, Some(line)) => format!("{file}:{line}: "),
    };
    let first = error.message.lines().next().unwrap_or_default();
    (Outcome::CompileError, format!("{place}{first}"))
}

/// The functions of a measure's module. `judge` decides by itself, once the host and the limits
/// have been looked at; `None` while there is none.
struct MeasureKind {
    plan: PlanMeasure,
    judge: JudgeMeasure,
}

type PlanMeasure = fn(&MeasureSpec, &str) -> HarnessPlan;
type JudgeMeasure = fn(&MeasureSpec, &str, &HarnessEvidence<'_>) -> Verdict;

fn measure(measure: Measure) -> Option<MeasureKind> {
    use crate::measure::{compile, coverage, leaks, lint};
    let (plan, judge): (PlanMeasure, JudgeMeasure) = match measure {
        Measure::Compile => (compile::plan, compile::judge),
        Measure::Coverage => (coverage::plan, coverage::judge),
        Measure::Leaks => (leaks::plan, leaks::judge),
        Measure::Lint => (lint::plan, lint::judge),
    };
    Some(MeasureKind { plan, judge })
}

/// Plans the command of `spec`; `None` for a kind that is not one command. The nonce must be
/// fresh for this run.
#[must_use]
pub fn plan(spec: &VerifySpec, nonce: &str) -> Option<HarnessPlan> {
    match spec {
        VerifySpec::Harness(spec) => framework(spec.framework).map(|kind| (kind.plan)(spec, nonce)),
        VerifySpec::Measure(spec) => measure(spec.measure).map(|kind| (kind.plan)(spec, nonce)),
        _ => None,
    }
}

/// Whether solution and tests share a process in a verification of this kind.
#[must_use]
pub fn isolation(spec: &VerifySpec) -> Isolation {
    match spec {
        VerifySpec::Harness(_) => Isolation::Shared,
        VerifySpec::Measure(spec) => crate::measure::isolation(spec),
        VerifySpec::Combined(spec) => {
            let shared = |part: &crate::verify::Part| isolation(&part.verify) == Isolation::Shared;
            if spec.parts.iter().any(shared) {
                Isolation::Shared
            } else {
                Isolation::Separate
            }
        }
        _ => Isolation::Separate,
    }
}

/// The verdict on what the command of [`plan`] left behind.
#[must_use]
pub fn judge(spec: &VerifySpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Verdict {
    let mut verdict = match spec {
        VerifySpec::Harness(harness) => match framework(harness.framework) {
            Some(kind) => {
                let observed = (kind.read)(harness, nonce, evidence);
                decide::by_tests(harness, observed, evidence.ended)
            }
            None => not_a_command(spec),
        },
        VerifySpec::Measure(measured) => match measure(measured.measure) {
            Some(kind) => decide::by_host_or_start(&measured.argv, evidence.ended)
                .unwrap_or_else(|| (kind.judge)(measured, nonce, evidence)),
            None => not_a_command(spec),
        },
        _ => not_a_command(spec),
    };
    verdict.evidence.isolation = isolation(spec);
    verdict
}

fn not_a_command(spec: &VerifySpec) -> Verdict {
    let reason = format!("{} cannot be judged by a command", spec.kind());
    Verdict::new(Outcome::VerifierError, reason)
}
