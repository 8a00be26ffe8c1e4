//! Which command a file becomes.

use super::*;

fn argv(path: &str, content: &str) -> Vec<String> {
    let path = Path::new(path);
    let launch = launch_of(path, content.as_bytes()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    launch
        .argv(name)
        .into_iter()
        .map(|word| word.into_string().unwrap())
        .collect()
}

#[test]
fn by_ending() {
    assert_eq!(argv("dir/x.py", ""), ["python3", "x.py"]);
    assert_eq!(argv("X.JS", ""), ["node", "X.JS"]);
    assert_eq!(argv("-rf.sh", ""), ["bash", "./-rf.sh"]);
}

#[test]
fn by_first_line() {
    assert_eq!(
        argv("tool", "#!/usr/bin/env -S python3.12 -u\n"),
        ["python3", "tool"]
    );
    assert_eq!(argv("tool", "#! /bin/dash\necho"), ["bash", "tool"]);
    assert!(launch_of(Path::new("tool"), b"#!/bin/frobnicate\n").is_err());
    assert!(launch_of(Path::new("tool"), b"\x7fELF").is_err());
    assert!(launch_of(Path::new("x.wasm"), b"").is_err());
}

#[test]
fn policy_is_that_of_the_language() {
    let policy = |path: &str| launch_of(Path::new(path), b"").unwrap().policy;
    assert_eq!(
        [
            policy("a.py"),
            policy("a.js"),
            policy("a.sh"),
            policy("a.c"),
            policy("a.rs")
        ],
        ["python", "node", "shell", "build", "build"]
    );
    for (ending, _) in LANGUAGES {
        assert_eq!(
            policy(&format!("a.{ending}")),
            policies::policy_for_extension(ending)
        );
    }
}

#[test]
fn names_and_arguments_say_nothing_to_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a; touch pwned $(touch pwned) ' \".c";
    // The real script with a compiler that only makes a program which prints its arguments.
    let launch = launch_of(Path::new(name), b"").unwrap();
    let mut argv: Vec<String> = launch
        .argv(name)
        .into_iter()
        .map(|word| word.into_string().unwrap())
        .collect();
    argv[2] = argv[2]
        .replace("gcc -O2 -o \"${TMPDIR:-/tmp}/program\"", "printf '%s\\n'")
        .replace("-lm -pthread", "")
        .replace("exec \"${TMPDIR:-/tmp}/program\"", "printf '%s|'");
    let output = std::process::Command::new(&argv[0])
        .args(&argv[1..])
        .args(["$(touch pwned)", "b c", "`touch pwned`"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("{name}\n$(touch pwned)|b c|`touch pwned`|")
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
