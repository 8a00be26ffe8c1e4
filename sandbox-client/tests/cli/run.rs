//! `rollcage run`: output, exit codes, refusals, interruption; and where no daemon can be had.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::fake::{Daemon, stderr};

#[test]
fn output_is_byte_exact_and_the_code_is_the_programs_own() {
    let daemon = Daemon::start();
    let output = daemon.rollcage(&["run", "--", "bytes", "0"]);
    assert_eq!(output.stdout, b"\xc3\xa4\x00\n");
    assert_eq!(output.stderr, b"err\xff");
    for code in [0, 7, 137, 255] {
        let output = daemon.rollcage(&["run", "--", "exit", &code.to_string()]);
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn a_limit_is_explained_on_stderr_and_in_the_code() {
    let output = Daemon::start().rollcage(&["run", "--", "time-up"]);
    assert_eq!(output.status.code(), Some(124));
    assert_eq!(
        stderr(&output),
        "rollcage: ended at the wall-clock limit: 1.0 s allowed, 1.0 s used; allow more with --time\n"
    );
}

#[test]
fn a_refusal_is_125_with_its_reason_for_people_and_programs() {
    let daemon = Daemon::start();
    let output = daemon.rollcage(&["run", "--json", "--policy", "none", "--", "exit"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(
        stderr(&output).contains("there is no policy \"none\" [POLICY_UNKNOWN]"),
        "{output:?}"
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["reason"], "POLICY_UNKNOWN");
    assert_eq!(document["error"]["code"], "invalid_argument");
    let output = daemon.rollcage(&["run", "--", "die"]);
    assert_eq!(output.status.code(), Some(125));
}

#[test]
fn json_is_one_result() {
    let output = Daemon::start().rollcage(&["run", "--json", "--", "bytes"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        document["ending"],
        serde_json::json!({"kind": "exited", "code": 0})
    );
    assert!(!output.stderr.starts_with(b"err"));
}

#[test]
fn files_come_back_and_standard_input_goes_only_when_asked() {
    let daemon = Daemon::start();
    let output = daemon.rollcage(&["run", "--get", "out.txt", "--get-to", "got", "--", "exit"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let saved = std::fs::read(daemon.folder.path().join("got/out.txt")).unwrap();
    assert_eq!(saved, b"collected");
    let output = daemon.rollcage_with_stdin(&["run", "--", "stdin"], "text");
    assert_eq!(output.stdout, b"none");
    let output = daemon.rollcage_with_stdin(&["run", "--stdin", "-", "--", "stdin"], "text");
    assert_eq!(output.stdout, b"text");
}

#[test]
fn an_interrupt_cancels_the_run() {
    let daemon = Daemon::start();
    let mut child = daemon.command(&["run", "--", "wait"]).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let mut begun = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut begun).unwrap();
    kill(pid, Signal::SIGINT).unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("cancelled by uid:0"), "{said}");
}

#[test]
fn a_missing_file_and_a_wrong_option_are_usage_errors() {
    let daemon = Daemon::start();
    for words in [
        &["run", "missing.py"][..],
        &["run"],
        &["run", "--"],
        &["run", "--gpu", "--", "true"],
        &["run", "--allow-host", "x", "--", "true"],
        &["run", "--put", "/", "--time", "x", "--", "true"],
    ] {
        let output = daemon.rollcage(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn a_daemon_that_cannot_start_is_shown_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let sandboxd = folder.path().join("sandboxd");
    std::fs::write(
        &sandboxd,
        "#!/bin/sh\necho 'no space for the audit log' >&2\nexit 3\n",
    )
    .unwrap();
    std::fs::set_permissions(&sandboxd, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rollcage"))
        .args(["--embedded", "run", "--", "true"])
        .env("ROLLCAGE_BIN_DIR", folder.path())
        .env("ROLLCAGE_STATE_DIR", folder.path().join("state"))
        .env_remove("ROLLCAGE_LOG")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    let said = stderr(&output);
    assert!(
        said.contains("exit status: 3") && said.contains("no space for the audit log"),
        "{said}"
    );
}

#[test]
fn an_embedded_daemon_is_ended_in_order_whatever_happens() {
    let folder = tempfile::tempdir().unwrap();
    // Says that it is ready, listens nowhere, and ends when its standard input does.
    let script = "#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --ready-fd) fd=$2;; esac; shift; done
echo ready > \"/proc/$$/fd/$fd\"
cat > /dev/null
echo ended > \"$ROLLCAGE_STATE_DIR.ended\"
";
    let sandboxd = folder.path().join("sandboxd");
    std::fs::write(&sandboxd, script).unwrap();
    std::fs::set_permissions(&sandboxd, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rollcage"))
        .args(["--embedded", "run", "--", "true"])
        .env("ROLLCAGE_BIN_DIR", folder.path())
        .env("ROLLCAGE_STATE_DIR", folder.path().join("state"))
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(folder.path().join("state.ended").exists(), "{output:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("rollcage-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
