//! Lays a plan out in a private folder and runs it. The report's descriptor gets its number by a
//! shell's redirection, so that no unsafe code is needed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use verdict::harness::{HarnessEvidence, judge, plan};
use verdict::{
    Ended, Ending, Framework, HarnessPlan, HarnessSpec, Output, Untrusted, Verdict, VerifySpec,
};

const NONCE: &str = "nonce-of-the-test";
/// Far above what any of these commands takes, also on a busy machine.
const LIMIT_S: &str = "300";

/// The tools that `./x set-up` lays out, and those of the system: its Go first, whose library is
/// built already.
fn path() -> String {
    let tools = std::env::var("ROLLCAGE_TOOLS_DIR");
    let tools = tools.unwrap_or_else(|_| "/opt/rollcage-tools".to_owned());
    let system = std::env::var("PATH").unwrap_or_default();
    format!("{tools}/rust/bin:{tools}/jest/node_modules/.bin:{system}:{tools}/go/go/bin")
}

pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new("/bin/sh")
        .args(["-c", "command -v \"$0\"", tool])
        .env("PATH", path())
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// Files of a task: path and text.
pub(crate) type Files<'a> = [(&'a str, &'a str)];

/// Judges the files by a framework with its usual command.
pub(crate) fn run(framework: Framework, files: &Files<'_>) -> Verdict {
    let spec = HarnessSpec {
        framework,
        ..HarnessSpec::default()
    };
    run_spec(spec, files)
}

/// Judges the files by `spec`.
pub(crate) fn run_spec(mut spec: HarnessSpec, files: &Files<'_>) -> Verdict {
    let folder = tempfile::tempdir().expect("a private folder");
    let root = folder.path().join("workspace");
    for (path, text) in files {
        write(&root.join(path), text.as_bytes());
    }
    environment(&mut spec, folder.path());
    fs::create_dir_all(folder.path().join("tmp")).expect("a folder");
    let spec = VerifySpec::Harness(spec);
    let plan = plan(&spec, NONCE).expect("a plan");
    for (path, (bytes, _)) in &plan.files {
        write(&root.join(path), bytes);
    }
    let (output, report) = start(&plan, &root);
    let code = output.status.code().unwrap_or(-1);
    let ending = Ending::Exited { code };
    let (stdout, stderr) = (Untrusted::new(output.stdout), Untrusted::new(output.stderr));
    let kept = |kept| Output {
        kept,
        dropped_bytes: 0,
    };
    let evidence = HarnessEvidence {
        ended: Ended {
            ending: &ending,
            oom_kills: 0,
        },
        stdout: kept(&stdout),
        stderr: kept(&stderr),
        report: &Untrusted::new(report),
        report_too_long: false,
        files: &BTreeMap::new(),
    };
    judge(&spec, NONCE, &evidence)
}

/// What a sandbox would have, below a private folder.
fn environment(spec: &mut HarnessSpec, folder: &Path) {
    let below = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let own = [
        ("PATH", path()),
        ("HOME", below("workspace")),
        ("TMPDIR", below("tmp")),
        ("CARGO_TARGET_DIR", below("tmp/target")),
        ("CARGO_HOME", below("tmp/cargo")),
        ("RUSTUP_TOOLCHAIN", "stable".to_owned()),
        ("GOCACHE", go_cache()),
    ];
    for (name, value) in own {
        spec.env.entry(name.to_owned()).or_insert(value);
    }
    if let Some(rustup) = rustup() {
        spec.env.insert("RUSTUP_HOME".to_owned(), rustup);
    }
}

/// Runs the plan to its end: what it wrote, and its report.
fn start(plan: &HarnessPlan, root: &Path) -> (std::process::Output, Vec<u8>) {
    const SHELL: &str = "exec /usr/bin/timeout -s KILL \"$@\" 4>&0 0</dev/null";
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SHELL, "sh", LIMIT_S])
        .args(&plan.argv)
        .current_dir(root.join(&plan.cwd))
        .env_clear()
        .envs(&plan.env)
        .stdin(Stdio::from(OwnedFd::from(writer)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("starts");
    drop(command);
    let report = thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("reads the report");
        bytes
    });
    let output = child.wait_with_output().expect("ends");
    (output, report.join().expect("is read"))
}

/// Where rustup has its toolchains, where `cargo` is its proxy.
fn rustup() -> Option<String> {
    let home = std::env::var("HOME").ok()?;
    let folder = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    Path::new(&folder).is_dir().then_some(folder)
}

/// One for all tests of this program, below the build's own folder: go builds its library into it.
fn go_cache() -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    folder.to_string_lossy().into_owned()
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("makes it");
    fs::write(path, bytes).expect("writes");
}
