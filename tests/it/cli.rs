//! The `rollcage` command itself: what it says, what it prints as JSON, what it ends with, and the
//! daemon it brings along where none runs.

use std::fs;

use serde_json::{Value, json};

use crate::host;
use crate::skips;
use crate::world::{Spoken, World, is_program, rollcage, speak};

#[test]
fn all_four_programs_are_there_and_tell_their_version() {
    for name in ["rollcage", "sandboxd", "sandbox-launcher"] {
        let program = skips::bin_dir().join(name);
        assert!(is_program(&program), "{}", program.display());
        let spoken = speak(std::process::Command::new(&program).arg("--version"), b"");
        assert!(
            spoken.ended(0).stdout().contains(env!("CARGO_PKG_VERSION")),
            "{}",
            spoken.stdout()
        );
    }
    assert!(is_program(&skips::bin_dir().join("sandbox-init")));
    assert!(is_program(&skips::bin_dir().join("sandbox-probe")));
}

#[test]
fn every_command_has_help_and_none_runs_bare() {
    let work = tempfile::tempdir().expect("a folder");
    let say = |arguments: &[&str]| speak(rollcage(work.path()).args(arguments), b"");
    let top = say(&["--help"]);
    for command in [
        "run", "batch", "policy", "audit", "doctor", "demo", "bench", "ps", "cancel", "explain",
    ] {
        assert!(
            top.ended(0).stdout().contains(&format!("\n  {command} ")),
            "{command}"
        );
        let help = say(&[command, "--help"]);
        assert!(
            help.ended(0).stdout().contains("Usage: ") && help.stderr().is_empty(),
            "{command}"
        );
    }
    for command in [
        "policy list",
        "policy show",
        "policy lint",
        "policy explain",
        "policy diff",
        "audit tail",
        "audit verify",
        "bench start",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        assert!(
            say(&words).ended(0).stdout().contains("Usage: "),
            "{command}"
        );
    }
    for usage in [
        &[][..],
        &["nonsense"],
        &["policy"],
        &["run"],
        &["run", "--"],
        &["cancel"],
        &["explain"],
        &["batch", "--concurrency", "0"],
    ] {
        let spoken = say(usage);
        spoken.ended(2);
        assert!(
            spoken.stdout().is_empty() && !spoken.stderr().is_empty(),
            "{usage:?}"
        );
    }
}

/// What `--json` prints is one document, or one a line.
#[track_caller]
fn documents(spoken: &Spoken) -> Vec<Value> {
    let text = spoken.stdout();
    if let Ok(one) = serde_json::from_str(&text) {
        return vec![one];
    }
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

#[test]
fn a_result_as_json_has_the_shape_of_the_contract() {
    let Some(world) = World::start("a_result_as_json_has_the_shape_of_the_contract") else {
        return;
    };
    let run = world.cli(&[
        "run",
        "--json",
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2; exit 3",
    ]);
    let result = run.ended(3).json();
    assert_eq!(result["ending"], json!({ "kind": "exited", "code": 3 }));
    assert_eq!(
        (&result["stdout"], &result["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    assert_eq!(result["verdict"]["outcome"], "unjudged");
    assert!(
        result["verdict"].get("reward").is_none_or(Value::is_null),
        "{}",
        result["verdict"]
    );
    for field in [
        "usage",
        "manifest",
        "audit",
        "sandbox_id",
        "node",
        "run_id",
        "dropped_bytes",
        "denials",
    ] {
        assert!(result.get(field).is_some(), "{field} is missing");
    }
    let manifest = result["manifest"].as_array().expect("a manifest");
    for control in [
        "seccomp",
        "landlock",
        "memory",
        "pids",
        "pivot",
        "user_namespace",
    ] {
        let row = manifest.iter().find(|row| row["name"] == control);
        let row = row.unwrap_or_else(|| panic!("no {control} in the manifest {manifest:?}"));
        assert_eq!(row["status"], "enforced", "{row}");
    }
}

#[test]
fn every_command_prints_json_when_asked() {
    let Some(world) = World::start("every_command_prints_json_when_asked") else {
        return;
    };
    let run = world.cli(&["run", "--json", "--", "true"]);
    let result = run.ended(0).json();
    let run_id = result["run_id"].as_str().expect("an id").to_owned();
    let policy = world.write("own.toml", "name = \"own\"\nextends = \"python\"\n");
    let policy = policy.to_string_lossy().into_owned();
    for command in [
        &["policy", "list"][..],
        &["policy", "show", "python"],
        &["policy", "lint", &policy],
        &["policy", "explain", "python"],
        &["policy", "diff", "python", "build"],
        &["audit", "tail"],
        &["audit", "verify"],
        &["doctor"],
        &["ps"],
        &["ps", "--all"],
        &["explain", &run_id],
    ] {
        let with_json: Vec<&str> = command.iter().copied().chain(["--json"]).collect();
        let spoken = world.cli(&with_json);
        assert_eq!(
            spoken.code,
            Some(0),
            "{command:?}: {}{}",
            spoken.stdout(),
            spoken.stderr()
        );
        assert!(
            !documents(&spoken).is_empty() || command == ["ps"],
            "{command:?}"
        );
        // And for people there is something too.
        let spoken = world.cli(command);
        assert_eq!(spoken.code, Some(0), "{command:?}: {}", spoken.stderr());
        assert!(
            !spoken.stdout().contains('\u{1b}'),
            "{command:?}: colours without a terminal"
        );
    }
    // Errors are documents as well.
    let spoken = world.cli(&["explain", "no-such-run", "--json"]);
    assert_ne!(spoken.code, Some(0));
    assert_eq!(
        spoken.json()["error"]["code"],
        "not_found",
        "{}",
        spoken.stdout()
    );
}

#[test]
fn run_ends_with_the_code_of_its_ending() {
    let Some(world) = World::start("run_ends_with_the_code_of_its_ending") else {
        return;
    };
    let shell = |options: &[&str], code: &str| {
        let mut all = vec!["run", "--policy", "shell"];
        all.extend(options);
        all.extend(["--", "sh", "-c", code]);
        world.cli(&all)
    };
    for code in [0, 1, 77, 255] {
        let spoken = shell(&[], &format!("echo said; exit {code}"));
        assert_eq!(
            (spoken.code, spoken.stdout().as_str()),
            (Some(code), "said\n"),
            "{}",
            spoken.stderr()
        );
    }
    for (options, program, code, says) in [
        (
            &["--time", "300ms"][..],
            "sleep 60",
            124,
            "wall-clock limit",
        ),
        (
            &["--cpu-time", "300ms"],
            "while :; do :; done",
            124,
            "CPU time limit",
        ),
        (
            &["--memory", "32M"],
            "exec python3 -c 'x = bytearray(1 << 30)'",
            137,
            "memory limit",
        ),
        (&["--output-cap", "100K"], "yes", 137, "output limit"),
        (
            &["--disk", "1M"],
            "cat /dev/zero > /tmp/x",
            137,
            "full disk",
        ),
        (&[], "kill -KILL $$", 137, "signal 9"),
        (&[], "kill -TERM $$", 143, "signal 15"),
        (&[], "exit 137", 137, ""),
    ] {
        let spoken = shell(options, program);
        assert_eq!(spoken.code, Some(code), "{program}: {}", spoken.stderr());
        assert!(
            spoken.stderr().contains(says),
            "{program}: {}",
            spoken.stderr()
        );
    }
    world
        .cli(&["run", "--policy", "shell", "--", "/etc/passwd"])
        .ended(126);
    world
        .cli(&["run", "--policy", "shell", "--", "no-such-program"])
        .ended(127);
    world
        .cli(&["run", "--policy", "no-such-policy", "--", "true"])
        .ended(125);
}

#[test]
fn files_go_in_and_out_and_the_language_is_told_by_the_file() {
    let Some(world) = World::start("files_go_in_and_out_and_the_language_is_told_by_the_file")
    else {
        return;
    };
    world.write(
        "main.py",
        "import sys; print('py', sys.argv[1:], sys.stdin.read())",
    );
    let spoken = speak(
        world
            .rollcage()
            .args(["run", "--stdin", "-", "main.py", "--time", "a b"]),
        b"input",
    );
    assert_eq!(spoken.ended(0).stdout(), "py ['--time', 'a b'] input\n");
    world.write("script.sh", "echo sh \"$1\" \"$GIVEN\"");
    let spoken = world.cli(&["run", "--env", "GIVEN=value", "script.sh", "one"]);
    assert_eq!(spoken.ended(0).stdout(), "sh one value\n");
    if skips::has_file(
        "files_go_in_and_out_and_the_language_is_told_by_the_file/node",
        "/usr/bin/node",
    ) {
        world.write("main.js", "console.log('js', process.argv.slice(2))");
        assert_eq!(
            world.cli(&["run", "main.js", "x"]).ended(0).stdout(),
            "js [ 'x' ]\n"
        );
    }
    if skips::has_file(
        "files_go_in_and_out_and_the_language_is_told_by_the_file/gcc",
        "/usr/bin/gcc",
    ) {
        world.write(
            "main.c",
            "#include <stdio.h>\nint main(void) { puts(\"c\"); return 5; }\n",
        );
        assert_eq!(world.cli(&["run", "main.c"]).ended(5).stdout(), "c\n");
    }
    fs::create_dir(world.work().join("data")).expect("a folder");
    world.write("data/in.txt", "content");
    let spoken = world.cli(&[
        "run",
        "--put",
        "data",
        "--put",
        "main.py:lib/renamed.py",
        "--get",
        "out/**",
        "--get-to",
        "got",
        "--",
        "sh",
        "-c",
        "mkdir -p out/deep && cp data/in.txt out/deep/copy.txt && ls lib",
    ]);
    assert_eq!(spoken.ended(0).stdout(), "renamed.py\n");
    let copied =
        fs::read_to_string(world.work().join("got/out/deep/copy.txt")).expect("the file came back");
    assert_eq!(copied, "content");
}

#[test]
fn doctor_tells_the_grade_and_a_fix_for_what_is_missing() {
    let Some(world) = World::start("doctor_tells_the_grade_and_a_fix_for_what_is_missing") else {
        return;
    };
    let report = world.cli(&["doctor", "--json"]);
    let report = report.ended(0).json();
    let features = report["features"].as_array().expect("features");
    for name in [
        "root",
        "user_namespaces",
        "landlock",
        "seccomp_notify",
        "cgroup_memory",
        "cgroup_pids",
    ] {
        assert!(
            features.iter().any(|feature| feature["name"] == name),
            "{name}: {features:?}"
        );
    }
    for feature in features {
        assert!(
            feature["why"].as_str().is_some_and(|why| !why.is_empty()),
            "{feature}"
        );
        let fix = feature["fix"].as_str().unwrap_or("");
        assert_eq!(
            feature["available"] == json!(false),
            !fix.is_empty(),
            "{feature}"
        );
    }
    assert_eq!(report["mode"], "root", "{report}");
}

#[test]
fn the_demo_does_the_main_job_and_leaves_nothing() {
    let test = "the_demo_does_the_main_job_and_leaves_nothing";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return;
    }
    let _turn = host::take_turn();
    let work = tempfile::tempdir().expect("a folder");
    let temporary = work.path().join("tmp");
    fs::create_dir(&temporary).expect("a folder");
    let socket = work.path().join("none.sock");
    let mut command = rollcage(work.path());
    command
        .arg("demo")
        .env("TMPDIR", &temporary)
        .env("ROLLCAGE_SOCKET", &socket);
    command
        .env("ROLLCAGE_STATE_DIR", work.path().join("state"))
        .env_remove("XDG_RUNTIME_DIR");
    let spoken = speak(&mut command, b"");
    let text = format!("{}{}", spoken.stdout(), spoken.stderr());
    assert_eq!(spoken.code, Some(0), "{text}");
    for word in ["passed", "failed"] {
        assert!(text.contains(word), "{text}");
    }
    let ours = work.path().to_string_lossy().into_owned();
    let left: Vec<host::Process> = host::processes()
        .into_iter()
        .filter(|one| one.command_line.contains(&ours))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let left: Vec<_> = fs::read_dir(&temporary)
        .expect("list")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_daemon_a_command_brings_its_own_and_takes_it_along() {
    let test = "without_a_daemon_a_command_brings_its_own_and_takes_it_along";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return;
    }
    let _turn = host::take_turn();
    let work = tempfile::tempdir().expect("a folder");
    let state = work.path().join("state");
    let say = |arguments: &[&str], stdin: &str| {
        let mut command = rollcage(work.path());
        command
            .arg("--embedded")
            .args(arguments)
            .env("ROLLCAGE_STATE_DIR", &state);
        command
            .env_remove("ROLLCAGE_SOCKET")
            .env_remove("XDG_RUNTIME_DIR");
        speak(&mut command, stdin.as_bytes())
    };
    let spoken = say(
        &[
            "run",
            "--policy",
            "shell",
            "--",
            "sh",
            "-c",
            "echo one; exit 4",
        ],
        "",
    );
    assert_eq!(spoken.ended(4).stdout(), "one\n");
    let line = json!({ "id": "b", "policy": "shell", "argv": ["echo", "two"] });
    let spoken = say(&["batch"], &format!("{line}\n"));
    assert_eq!(spoken.ended(0).json()["stdout"], "two\n");
    // One state folder: the second saw the first one's log, and all of it verifies offline.
    let spoken = say(&["audit", "verify", "--json"], "");
    spoken.ended(0);
    assert!(state.join("audit").is_dir());
    let ours = state.to_string_lossy().into_owned();
    let left: Vec<host::Process> = host::processes()
        .into_iter()
        .filter(|one| one.command_line.contains(&ours))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
