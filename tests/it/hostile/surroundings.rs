//! Hostile surroundings of whoever calls the command: variables that name other users' folders, other
//! programs, libraries to load, nothing that can be read.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{is_unchanged, place, plant};
use crate::host;
use crate::modes::Mode;
use crate::nobody::Nobody;
use crate::skips;
use crate::user::User;
use crate::wait;
use crate::world::{Spoken, rollcage, speak};

/// Somebody else, whose folders the variables name.
const OTHER: u32 = Nobody::FolderOwner.id();
const ORDINARY: u32 = Nobody::Surrounded.id();

/// The command as root with a state folder of its own, and nothing else in its surroundings.
fn as_root(work: &Path) -> Command {
    let mut command = rollcage(work);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ROLLCAGE_STATE_DIR", work.join("state"))
        .arg("--embedded");
    command
}

fn run(mut command: Command, code: &str) -> Spoken {
    speak(
        command.args(["run", "--policy", "shell", "--", "sh", "-c", code]),
        b"",
    )
}

fn theirs(parent: &Path, name: &str) -> std::path::PathBuf {
    let folder = parent.join(name);
    fs::create_dir(&folder).expect("a folder");
    chown(&folder, Some(OTHER), Some(OTHER)).expect("give it away");
    folder
}

#[test]
fn root_trusts_no_folder_that_variables_name() {
    let test = "root_trusts_no_folder_that_variables_name";
    if !skips::is_root(test) {
        return;
    }
    let work = place(&std::env::temp_dir());
    let folder = theirs(work.path(), "theirs");
    let link = work.path().join("link");
    symlink(&folder, &link).expect("a link");
    for (name, value) in [
        ("HOME", folder.as_os_str()),
        ("HOME", OsStr::new("/proc/self/fd/3")),
        ("HOME", OsStr::from_bytes(b"/\xff\xfe")),
        ("XDG_STATE_HOME", link.as_os_str()),
        ("XDG_RUNTIME_DIR", folder.as_os_str()),
        ("XDG_RUNTIME_DIR", link.as_os_str()),
        ("XDG_RUNTIME_DIR", OsStr::new("/proc/self/fd/3")),
        ("TMPDIR", folder.as_os_str()),
        ("TMPDIR", OsStr::from_bytes(b"\xff")),
        ("XDG_CONFIG_HOME", folder.as_os_str()),
    ] {
        let mut command = as_root(work.path());
        command.env(name, value);
        // The socket's folder is there as long as the daemon is; who runs is not the owner's friend.
        let spoken = run(command, "echo ran");
        assert_eq!(
            spoken.ended(0).stdout(),
            "ran\n",
            "{name}={}",
            value.display()
        );
        assert_eq!(
            fs::read_dir(&folder).expect("list").count(),
            0,
            "{name}={}",
            value.display()
        );
        let changed = fs::metadata(&folder)
            .expect("look")
            .modified()
            .expect("a time");
        let born = fs::metadata(&link)
            .expect("look")
            .modified()
            .expect("a time");
        assert_eq!(changed, born);
    }
    // Named outright, it is refused, and the owner's links lead root nowhere.
    let sentinel = plant(work.path(), "sentinel");
    symlink(&sentinel, folder.join("lock")).expect("a link");
    for state in [folder.clone(), folder.join("deep/state"), link] {
        let mut command = as_root(work.path());
        command.arg("--state-dir").arg(&state);
        let spoken = run(command, "echo ran");
        spoken.ended(125);
        assert!(
            spoken.stderr().contains("others could replace"),
            "{}",
            spoken.stderr()
        );
        assert!(!folder.join("deep").exists());
    }
    is_unchanged(&sentinel);
}

#[test]
fn an_ordinary_user_gets_a_refusal_from_what_cannot_be_his() {
    let test = "an_ordinary_user_gets_a_refusal_from_what_cannot_be_his";
    if !skips::is_root(test) {
        return;
    }
    let user = User::new(ORDINARY);
    let work = place(&std::env::temp_dir());
    let folder = theirs(work.path(), "theirs");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&folder, open).expect("open it to all");
    let link = work.path().join("link");
    symlink(&folder, &link).expect("a link");
    for (name, value) in [
        ("HOME", OsStr::new("/proc/self/fd/3")),
        ("HOME", OsStr::from_bytes(b"/nowhere\xff")),
        ("HOME", folder.as_os_str()),
        ("XDG_STATE_HOME", link.as_os_str()),
        ("XDG_RUNTIME_DIR", folder.as_os_str()),
    ] {
        let mut command = user.command("none");
        command.env(name, value).arg("--embedded");
        let spoken = run(command, "echo ran");
        spoken.ended(125);
        assert!(
            !spoken.stderr().is_empty() && spoken.stdout().is_empty(),
            "{name}"
        );
        let left: Vec<_> = host::processes()
            .into_iter()
            .filter(|one| one.uid == ORDINARY)
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn programs_of_the_same_names_on_the_path_are_not_run() {
    let test = "programs_of_the_same_names_on_the_path_are_not_run";
    if !skips::is_root(test) {
        return;
    }
    let work = place(&std::env::temp_dir());
    let evil = work.path().join("evil");
    fs::create_dir(&evil).expect("a folder");
    let marker = work.path().join("marker");
    for name in [
        "sandboxd",
        "sandbox-launcher",
        "sandbox-init",
        "sandbox-probe",
        "sh",
        "rollcage",
    ] {
        let script = format!("#!/bin/sh\necho {name} >> {}\n", marker.display());
        fs::write(evil.join(name), script).expect("write a script");
        let program = fs::Permissions::from_mode(0o777);
        fs::set_permissions(evil.join(name), program).expect("make it a program");
    }
    for path in [evil.to_string_lossy().into_owned(), ".:evil".to_owned()] {
        let mut command = as_root(work.path());
        command
            .env("PATH", format!("{path}:/usr/bin:/bin"))
            .current_dir(&evil);
        assert_eq!(run(command, "echo ran").ended(0).stdout(), "ran\n");
    }
    // The control: they would run, and leave their mark.
    assert!(
        Command::new(evil.join("sh"))
            .status()
            .expect("run it")
            .success()
    );
    let text = fs::read_to_string(&marker).expect("the control's mark");
    assert_eq!(text, "sh\n");
}

/// Variables that make a loader, an allocator or an interpreter do something.
const LOADED: [(&str, &str); 7] = [
    ("LD_PRELOAD", "/nonexistent/evil.so"),
    ("LD_LIBRARY_PATH", "/nonexistent"),
    ("LD_AUDIT", "/nonexistent/audit.so"),
    ("GLIBC_TUNABLES", "glibc.malloc.check=3"),
    ("PYTHONSTARTUP", "/nonexistent/evil.py"),
    ("BASH_ENV", "/nonexistent/evil.sh"),
    ("EVIL", "carried along"),
];

#[test]
fn a_callers_variables_reach_neither_launcher_nor_sandbox() {
    for mode in Mode::all(
        "a_callers_variables_reach_neither_launcher_nor_sandbox",
        Nobody::Variables,
        Nobody::VariablesLowest,
    ) {
        let mut command = mode.command();
        command
            .envs(LOADED)
            .env("HUGE", "x".repeat(100_000))
            .env(OsStr::from_bytes(b"\xff\xfe"), OsStr::from_bytes(b"\xff"))
            .args(["run", "--policy", "shell", "--", "sh", "-c"])
            .arg("env; cat /proc/1/environ | tr '\\0' '\\n'; echo end; sleep 3")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = command.spawn().expect("start a run");
        let pid = i32::try_from(child.id()).expect("a pid");
        let ours = || -> Vec<host::Process> {
            let all = host::descendants(pid);
            all.into_iter()
                .filter(|one| one.name.starts_with("sandbox-") || one.name == "sh")
                .collect()
        };
        wait::until_it_holds("launcher and program run", Duration::from_secs(60), || {
            let found = ours();
            found
                .iter()
                .any(|one| one.name.starts_with("sandbox-launch"))
        });
        let mut seen = 0;
        for process in ours() {
            let Ok(bytes) = fs::read(format!("/proc/{}/environ", process.pid)) else {
                continue;
            };
            seen += 1;
            let text = String::from_utf8_lossy(&bytes);
            for (name, _) in
                LOADED
                    .into_iter()
                    .chain([("HUGE", ""), ("ROLLCAGE", ""), ("HOME=/tmp", "")])
            {
                assert!(
                    !text.contains(name),
                    "{}: {process:?} has {name}",
                    mode.name
                );
            }
        }
        assert!(seen > 0, "{}", mode.name);
        let output = child.wait_with_output().expect("the end of the run");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("end"), "{}: {text}", mode.name);
        for (name, _) in LOADED {
            assert!(!text.contains(name), "{}: {text}", mode.name);
        }
    }
}

#[test]
fn too_large_surroundings_are_refused_in_words() {
    let test = "too_large_surroundings_are_refused_in_words";
    if !skips::is_root(test) {
        return;
    }
    let work = place(&std::env::temp_dir());
    let mut command = as_root(work.path());
    command.env("HUGE", "x".repeat(120_000));
    let passed = speak(
        command.args([
            "run",
            "--env",
            "HUGE",
            "--policy",
            "shell",
            "--",
            "sh",
            "-c",
            "echo ${#HUGE}",
        ]),
        b"",
    );
    assert_eq!(passed.ended(0).stdout(), "120000\n");
    let mut command = as_root(work.path());
    command.arg("run");
    for number in 0..12 {
        let name = format!("HUGE{number}");
        command
            .env(&name, "x".repeat(120_000))
            .args(["--env", &name]);
    }
    let refused = speak(command.args(["--policy", "shell", "--", "true"]), b"");
    refused.ended(125);
    assert!(refused.stderr().contains("env"), "{}", refused.stderr());
    for name in ["ROLLCAGE_LOG", "ROLLCAGE_TOKEN", "NO_COLOR", "TERM"] {
        let mut command = as_root(work.path());
        command.env(name, OsStr::from_bytes(b"\xff\x1b]0;x\x07"));
        let spoken = run(command, "echo ran");
        assert!(matches!(spoken.code, Some(0 | 125)), "{name}: {spoken:?}");
    }
}
