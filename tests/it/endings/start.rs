//! Programs that cannot be started, and what a started one finds: arguments, environment, files.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use verdict::Ending;

use crate::world::{World, message};

#[track_caller]
fn is_not_started(ending: &Ending, wanted: i32, wanted_path: &str) {
    match ending {
        Ending::NotStarted { code, path, reason } => {
            assert_eq!((*code, path.as_str()), (wanted, wanted_path), "{reason}");
            assert!(!reason.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_executed_is_not_started() {
    let Some(world) = World::start("what_cannot_be_executed_is_not_started") else {
        return;
    };
    let start = |policy: &str, program: &str, mode: u32| {
        let outcome = world.run(&json!({
            "policy": policy,
            "argv": [program, "argument"],
            "files": { "tool": { "text": "#!/bin/sh\necho ran\n", "mode": mode } },
        }));
        assert!(outcome.result.stdout.is_empty() && outcome.result.stderr.is_empty());
        outcome.ending
    };
    // Found, but not executable: no permission, a mount that forbids it, a folder.
    is_not_started(
        &start("build", "/workspace/tool", 0o644),
        126,
        "/workspace/tool",
    );
    is_not_started(
        &start("python", "/workspace/tool", 0o755),
        126,
        "/workspace/tool",
    );
    is_not_started(
        &start("shell", "/workspace/tool", 0o755),
        126,
        "/workspace/tool",
    );
    is_not_started(&start("shell", "/tmp", 0o755), 126, "/tmp");
    // Not found.
    is_not_started(
        &start("shell", "/nowhere/tool", 0o755),
        127,
        "/nowhere/tool",
    );
    match start("shell", "no-such-program", 0o755) {
        Ending::NotStarted {
            code: 127, path, ..
        } => assert!(path.contains("no-such-program"), "{path}"),
        other => panic!("{other:?}"),
    }
    is_not_started(&start("shell", "/bin/sh/tool", 0o755), 127, "/bin/sh/tool");
    // The control: where the policy lets it be executed, it runs.
    let outcome = world.run(&json!({
        "policy": "build",
        "argv": ["/workspace/tool"],
        "files": { "tool": { "text": "#!/bin/sh\necho ran\n", "mode": 0o755 } },
    }));
    assert_eq!(outcome.exited(0).stdout(), "ran\n");
    // A file that is no program.
    let outcome = world.run(&json!({
        "policy": "build",
        "argv": ["/workspace/tool"],
        "files": { "tool": { "text": "no program", "mode": 0o755 } },
    }));
    is_not_started(&outcome.ending, 126, "/workspace/tool");
}

#[test]
fn the_environment_is_the_fixed_defaults_and_what_was_given() {
    let Some(world) = World::start("the_environment_is_the_fixed_defaults_and_what_was_given")
    else {
        return;
    };
    let environment = |given: Value| -> BTreeMap<String, String> {
        let outcome = world.run(&json!({
            "policy": "shell", "argv": ["/usr/bin/env", "-0"], "env": given,
        }));
        outcome.exited(0);
        let text = outcome.stdout();
        let entries = text.split('\0').filter(|entry| !entry.is_empty());
        entries
            .map(|entry| entry.split_once('=').expect("a name and a value"))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let defaults = [
        ("HOME", "/workspace"),
        ("LANG", "C.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("TMPDIR", "/tmp"),
        ("TZ", "UTC"),
    ];
    let expected = |more: &[(&str, &str)]| -> BTreeMap<String, String> {
        let all = defaults.iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    assert_eq!(environment(json!({})), expected(&[]));
    let given = json!({ "TZ": "Asia/Tokyo", "EMPTY": "", "TEXT": "a=b \"c\"\n☃" });
    let more = [
        ("TZ", "Asia/Tokyo"),
        ("EMPTY", ""),
        ("TEXT", "a=b \"c\"\n☃"),
    ];
    assert_eq!(environment(given), expected(&more));
}

#[test]
fn arguments_working_folder_and_files_arrive_exactly() {
    let Some(world) = World::start("arguments_working_folder_and_files_arrive_exactly") else {
        return;
    };
    let show = "import os, sys\nprint([os.fsencode(a) for a in sys.argv[1:]], os.getcwd())";
    let mut request = message(&json!({ "policy": "python" }));
    request.argv_bytes = [
        b"python3".as_slice(),
        b"-c",
        show.as_bytes(),
        b"",
        b" a\nb ",
        b"\xff\xfe",
        "☃".as_bytes(),
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    request.cwd = "/tmp".to_owned();
    let result = world.wait(world.client().run(request)).expect("a result");
    let stdout = String::from_utf8_lossy(&result.stdout).into_owned();
    assert_eq!(
        stdout,
        "[b'', b' a\\nb ', b'\\xff\\xfe', b'\\xe2\\x98\\x83'] /tmp\n"
    );

    let outcome = world.run(&json!({
        "policy": "python",
        "files": {
            "plain.txt": "text",
            "/workspace/deep/er/bytes.bin": { "base64": "AAH+/w==" },
            "deep/tool.sh": { "text": "#!/bin/sh\n", "mode": 0o750 },
        },
        "argv": ["python3", "-c", r#"
import os, sys
for path in ("plain.txt", "deep/er/bytes.bin", "deep/tool.sh"):
    stat = os.stat(path)
    assert stat.st_uid == os.getuid() or os.access(path, os.W_OK), path
    print(path, oct(stat.st_mode & 0o7777), open(path, "rb").read())
os.makedirs("out/sub")
open("out/one.txt", "w").write("1")
open("out/sub/two.txt", "wb").write(b"\xff2")
open("out/sub/three.log", "w").write("3")
os.symlink("/etc/passwd", "out/link.txt")
os.mkfifo("out/pipe.txt")
"#],
        "collect": ["out/*.txt", "out/**/*.log", "out/sub/two.txt", "absent.txt"],
    }));
    let expected = "plain.txt 0o644 b'text'\n\
                    deep/er/bytes.bin 0o644 b'\\x00\\x01\\xfe\\xff'\n\
                    deep/tool.sh 0o750 b'#!/bin/sh\\n'\n";
    assert_eq!(outcome.exited(0).stdout(), expected);
    let mut files: Vec<(&str, &[u8])> = outcome
        .result
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.content.as_slice()))
        .collect();
    files.sort_unstable();
    let wanted: [(&str, &[u8]); 3] = [
        ("out/one.txt", b"1"),
        ("out/sub/three.log", b"3"),
        ("out/sub/two.txt", b"\xff2"),
    ];
    assert_eq!(files, wanted, "{:?}", outcome.result.files_missing);
    let missing: Vec<&str> = outcome
        .result
        .files_missing
        .iter()
        .map(|missing| missing.path.as_str())
        .collect();
    assert!(missing.contains(&"absent.txt"), "{missing:?}");
}
