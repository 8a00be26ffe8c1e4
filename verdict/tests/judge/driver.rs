//! Runs a plan with plain processes: no sandbox, the same socket, pipe and command lines.
//! Descriptors get their numbers by a shell's redirections, so that no unsafe code is needed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use verdict::{
    AssertsSpec, Ended, Ending, HarnessCache, Language, Untrusted, Verdict, judge_asserts,
    plan_asserts, plan_cache,
};

use super::built;

const NONCE: &str = "nonce-of-the-test";
/// Far above what any of these programs takes.
const LIMIT_S: u64 = 30;

/// Whether there is an interpreter to test with.
pub(crate) fn python() -> Option<String> {
    // The system's own first: `python3` may be a slow wrapper.
    let named = std::env::var("ROLLCAGE_TEST_PYTHON");
    let candidates = named.map_or_else(
        |_| vec!["/usr/bin/python3".to_owned(), "python3".to_owned()],
        |python| vec![python],
    );
    candidates.into_iter().find(|python| {
        let found = Command::new(python).args(["-I", "-S", "-c", "1"]).status();
        found.is_ok_and(|status| status.success())
    })
}

/// The program in place of the first word of a plan's command lines, if it is on this machine.
pub(crate) fn interpreter(language: Language) -> Option<String> {
    match language {
        Language::Python => python(),
        Language::JavaScript => runs("node", "--version").then(|| "node".to_owned()),
        Language::C | Language::Cpp => runs("g++", "--version").then(String::new),
        Language::Rust => runs("rustc", "--version").then(String::new),
        Language::Go => runs("go", "version").then(String::new),
        Language::Java => runs("javac", "-version").then(String::new),
        _ => None,
    }
}

/// Whether a program is on this machine. What is built is started by its own name.
fn runs(program: &str, arg: &str) -> bool {
    let output = Command::new(program).arg(arg).output();
    output.is_ok_and(|output| output.status.success())
}

/// Judges `files` by `spec` with the real programs.
pub(crate) fn judge(
    python: &str,
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
) -> Verdict {
    let mut plan = match plan_asserts(spec, files, NONCE) {
        Ok(plan) => plan,
        Err(verdict) => return *verdict,
    };
    if spec.language == Language::Python
        && let Some(cache) = cache(python)
    {
        plan = plan.with_cache(cache);
    }
    let folder = tempfile::tempdir().expect("a private folder");
    let solution_root = write_files(&folder.path().join("solution"), &plan.solution_files);
    let judge_root = write_files(&folder.path().join("judge"), &plan.judge_files);
    if let Err(verdict) = built::build(&plan, (&solution_root, &judge_root)) {
        return *verdict;
    }
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let (mut report_end, report_writer) = std::io::pipe().expect("a pipe");

    let mut solution = shell(
        python,
        &plan.solution_argv,
        &solution_root,
        "3<&0 0</dev/null",
    )
    .stdin(Stdio::from(OwnedFd::from(theirs)))
    .stdout(Stdio::null())
    .spawn()
    .expect("starts the solution");
    let mut judge = shell(
        python,
        &plan.judge_argv,
        &judge_root,
        "3<&0 4>&1 0</dev/null 1>&2",
    )
    .stdin(Stdio::from(OwnedFd::from(ours)))
    .stdout(Stdio::from(OwnedFd::from(report_writer)))
    .spawn()
    .expect("starts the judge");
    let mut report = Vec::new();
    report_end
        .read_to_end(&mut report)
        .expect("reads the report");
    let judge_ending = ending(judge.wait().expect("waits"));
    let solution_ending = ending(solution.wait().expect("waits"));
    judge_asserts(
        spec,
        NONCE,
        &Untrusted::new(report),
        Ended {
            ending: &solution_ending,
            oom_kills: 0,
        },
        Ended {
            ending: &judge_ending,
            oom_kills: 0,
        },
    )
}

/// Our programs compiled once; `ROLLCAGE_TEST_NO_CACHE` = always from their text.
fn cache(python: &str) -> Option<&'static HarnessCache> {
    static CACHE: OnceLock<Option<HarnessCache>> = OnceLock::new();
    let compile = || {
        if std::env::var_os("ROLLCAGE_TEST_NO_CACHE").is_some() {
            return None;
        }
        let plan = plan_cache();
        let folder = tempfile::tempdir().expect("a private folder");
        let root = write_files(folder.path(), &plan.files);
        let output = shell(python, &plan.argv, &root, "0</dev/null")
            .output()
            .expect("compiles");
        assert!(output.status.success(), "{output:?}");
        Some(HarnessCache::from_output(&Untrusted::new(output.stdout)).expect("a cache"))
    };
    CACHE.get_or_init(compile).as_ref()
}

pub(crate) fn write_files(root: &Path, files: &BTreeMap<String, Vec<u8>>) -> PathBuf {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("makes the folder");
        fs::write(path, bytes).expect("writes");
    }
    root.to_owned()
}

/// `argv` under a time limit, with the shell's redirections; built by the caller's `Command`
/// methods only as far as stdin and stdout are concerned.
pub(crate) fn shell(python: &str, argv: &[String], root: &Path, redirections: &str) -> Command {
    let root = root.to_str().expect("a plain path");
    let program = if python.is_empty() { &argv[0] } else { python };
    let mut words = vec![program.to_owned()];
    words.extend(
        argv[1..]
            .iter()
            .map(|word| word.replace("/workspace", root)),
    );
    let script = format!("exec {redirections}; exec timeout -s KILL {LIMIT_S} \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .args(words)
        .stderr(Stdio::null())
        .current_dir(root);
    command
}

pub(crate) fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        // What `timeout -s KILL` ends with.
        (Some(137), _) => {
            let limit_ms = LIMIT_S * 1000;
            Ending::WallTimeUp {
                limit_ms,
                used_ms: limit_ms,
                throttled_ms: 0,
            }
        }
        (Some(code), _) => Ending::Exited { code },
        (None, signal) => Ending::Signalled {
            signal: signal.unwrap_or(0),
            core_dumped: false,
            sent_by: None,
        },
    }
}
