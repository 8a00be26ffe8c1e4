//! The static check of a request's files: our own program in a sandbox of its own, before any other
//! sandbox is spent. Its parsers are written in C and read what anybody may have sent; it can stop a
//! run, and whatever becomes of it can make none pass.

use std::collections::BTreeMap;

use confine::plan::OwnProgram;
use verdict::static_check::Checked;
use verdict::{Diagnostic, Ending, Severity, StaticCheck, Untrusted, Verdict};

use super::Inner;
use super::conclude::conclude;
use super::plan::{CWD_DEFAULT, plan_for, spawn_spec};
use super::program::{Outside, Program, Ran, run_program};
use super::request::Request;

/// Wall time of a check in milliseconds: files of some megabytes take a fraction of it.
const WALL_MS_MAX: u64 = 20_000;
/// Files that are looked at; their names have to fit on a command line.
const FILES_MAX: usize = 2_000;
/// Bytes of those names.
const NAMES_BYTES_MAX: usize = 512 << 10;
/// The exit code of what is there and cannot run, as in a shell.
const NOT_EXECUTABLE: i32 = 126;
/// What its sandbox is for, in records.
pub(super) const ROLE: &str = "check";
/// The tool of a diagnostic about the check itself.
const TOOL: &str = "static-check";

/// What a check came to.
#[derive(Debug)]
pub(super) enum Precheck {
    /// The run may go on; these are to be told with its verdict.
    Go(Vec<Diagnostic>),
    /// Something is certainly wrong.
    Stop(Box<Stopped>),
    /// The check's own sandbox failed or was cancelled.
    NotChecked(Box<Ran>),
}

/// Why nothing runs.
#[derive(Debug)]
pub(super) struct Stopped {
    /// How the program is said to have ended.
    pub ending: Ending,
    /// The verdict, if one is asked; it has the diagnostics in either case.
    pub verdict: Verdict,
}

/// Whether a check is asked for and has anything to look at.
pub(super) fn is_asked(request: &Request) -> bool {
    request.static_check != StaticCheck::None && !request.files.is_empty()
}

/// Checks the files of `request` in the sandbox called `sandbox_id`.
pub(super) async fn check(
    inner: &Inner,
    request: &Request,
    sandbox_id: &str,
    outside: &Outside,
) -> Precheck {
    let mut limits = inner.judge.limits;
    limits.wall_ms_max = WALL_MS_MAX.min(limits.wall_ms_max);
    // The judge's sandbox has to hold what the request may bring.
    limits.disk_bytes_max = limits.disk_bytes_max.max(request.limits.disk_bytes_max);
    limits.memory_bytes_max = limits.memory_bytes_max.max(request.limits.memory_bytes_max);
    limits.files_max = limits.files_max.max(request.limits.files_max);
    let plan = plan_for(&inner.judge.policy, &limits, "", inner.link.host());
    let mut plan = match plan {
        Ok(plan) => plan,
        Err(error) => return Precheck::Go(vec![note(&error.to_string())]),
    };
    plan.own = Some(OwnProgram::Check);
    let argv = command(request);
    let program = Program {
        sandbox_id: sandbox_id.to_owned(),
        plan: &plan,
        limits: &limits,
        files: &request.files,
        spec: spawn_spec(&argv, &BTreeMap::new(), CWD_DEFAULT),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &[],
        inspect: false,
    };
    let ran = run_program(&inner.link, program, outside.quiet()).await;
    let deny = inner.judge.policy.syscalls.deny_action;
    let ending = conclude(&ran, &limits, deny, 0).ending;
    if ran.facts.refused
        || matches!(
            ending,
            Ending::SandboxFailed { .. } | Ending::Cancelled { .. }
        )
    {
        return Precheck::NotChecked(Box::new(ran));
    }
    if ending != (Ending::Exited { code: 0 }) {
        return Precheck::Go(vec![note(&format!("it ended as {}", ending.kind()))]);
    }
    match Checked::read(&Untrusted::new(ran.stdout.kept)) {
        Ok(checked) => conclusion(checked, request),
        Err(error) => Precheck::Go(vec![note(&error.to_string())]),
    }
}

fn command(request: &Request) -> Vec<Vec<u8>> {
    let mut argv = vec![OwnProgram::Check.path().as_bytes().to_vec()];
    if request.static_check == StaticCheck::Imports {
        argv.push(b"--imports".to_vec());
    }
    // A file may be called like an option.
    argv.push(b"--".to_vec());
    let mut bytes = 0;
    for file in request.files.iter().take(FILES_MAX) {
        bytes += file.path.len();
        if bytes > NAMES_BYTES_MAX {
            break;
        }
        argv.push(file.path.as_bytes().to_vec());
    }
    argv
}

fn conclusion(checked: Checked, request: &Request) -> Precheck {
    let Some(found) = checked.verdict() else {
        return Precheck::Go(checked.diagnostics);
    };
    let first = found.diagnostics.iter();
    let mut first = first.filter(|one| one.severity == Severity::Error);
    let path = first.next().map(|one| one.file.clone()).unwrap_or_default();
    let ending = Ending::NotStarted {
        code: NOT_EXECUTABLE,
        path,
        reason: found.reason.clone(),
    };
    let verdict = match request.verify {
        Some(_) => found,
        None => {
            let mut unjudged = Verdict::unjudged();
            unjudged.diagnostics = found.diagnostics;
            unjudged
        }
    };
    Precheck::Stop(Box::new(Stopped { ending, verdict }))
}

/// The check could say nothing: the run decides, and the caller is told.
fn note(why: &str) -> Diagnostic {
    Diagnostic {
        tool: TOOL.to_owned(),
        severity: Severity::Note,
        code: "not-checked".to_owned(),
        message: format!("the files were not checked: {why}"),
        file: String::new(),
        line: None,
        column: None,
    }
}
