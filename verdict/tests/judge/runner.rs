//! One command of a harness plan as a plain process: its files in a private folder, its report
//! through a pipe as descriptor 4.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use verdict::harness::{HarnessEvidence, judge, plan};
use verdict::verify::{Framework, HarnessSpec, TestFile};
use verdict::{Ended, Output, Untrusted, Verdict, VerifySpec};

use super::driver::ending;

/// More than any of the programs here takes, in seconds.
const LIMIT_S: u64 = 30;
const NONCE: &str = "5f1c7a3e9b2d4806";

/// The author's files as a specification.
pub(crate) fn spec(framework: Framework, tests: &[(&str, &str)]) -> HarnessSpec {
    let mut spec = HarnessSpec {
        framework,
        ..HarnessSpec::default()
    };
    for (path, text) in tests {
        let file = TestFile {
            content: text.as_bytes().to_vec(),
            mode: 0o644,
        };
        spec.phase.test_files.insert((*path).to_owned(), file);
    }
    spec
}

/// Judges `files` by `spec`: the author's files lie over them, ours over both.
/// `env` is what the attacker has set.
pub(crate) fn run<'a>(
    python: &str,
    spec: &HarnessSpec,
    files: &BTreeMap<String, Vec<u8>>,
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Verdict {
    let verify = VerifySpec::Harness(spec.clone());
    let ours = plan(&verify, NONCE).expect("a kind with a command");
    let folder = tempfile::tempdir().expect("a private folder");
    let mut all: BTreeMap<&str, &[u8]> = (files.iter())
        .filter(|(path, _)| !path.starts_with(".rollcage/"))
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    let tests = spec.phase.test_files.iter();
    all.extend(tests.map(|(path, file)| (path.as_str(), file.content.as_slice())));
    all.extend(
        ours.files
            .iter()
            .map(|(path, (bytes, _))| (path.as_str(), bytes.as_slice())),
    );
    for (path, bytes) in all {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("makes the folder");
        fs::write(path, bytes).expect("writes");
    }
    let (mut report_end, report_writer) = std::io::pipe().expect("a pipe");
    let mut command = command(python, &ours.argv, &folder.path().join(&ours.cwd));
    command
        .envs(env)
        .envs(&ours.env)
        .stdin(Stdio::from(OwnedFd::from(report_writer)));
    let mut child = command.spawn().expect("starts");
    drop(command);
    let mut report = Vec::new();
    report_end.read_to_end(&mut report).expect("reads");
    let ending = ending(child.wait().expect("waits"));
    let nothing = Untrusted::new(Vec::new());
    let output = Output {
        kept: &nothing,
        dropped_bytes: 0,
    };
    let evidence = HarnessEvidence {
        ended: Ended {
            ending: &ending,
            oom_kills: 0,
        },
        stdout: output,
        stderr: output,
        report: &Untrusted::new(report),
        report_too_long: false,
        files: &BTreeMap::new(),
    };
    judge(&verify, NONCE, &evidence)
}

/// `argv` under a time limit, with standard input as descriptor 4; its output is seen only where
/// `ROLLCAGE_TEST_SHOW` is set.
fn command(python: &str, argv: &[String], folder: &Path) -> Command {
    let quiet = std::env::var_os("ROLLCAGE_TEST_SHOW").is_none();
    let script = format!("exec 4<&0 0</dev/null; exec timeout -s KILL {LIMIT_S} \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh", python])
        .args(argv.iter().skip(1))
        .current_dir(folder);
    if quiet {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    command
}
