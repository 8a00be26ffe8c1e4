//! Which environments the host can stand in for, and how paths of a task are moved.

use super::*;

fn environment(dockerfile: &str) -> Environment {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("Dockerfile"), dockerfile).expect("written");
    std::fs::write(folder.path().join("data.txt"), "1\n").expect("written");
    std::fs::create_dir(folder.path().join("kit")).expect("a folder");
    std::fs::write(folder.path().join("kit/a.py"), "a = 1\n").expect("written");
    Environment::read(folder.path()).expect("read")
}

#[test]
fn a_plain_environment_needs_nothing() {
    let found = environment(
        "# one\nFROM ubuntu:24.04\nWORKDIR /srv/work\nENV A=1 B=2\nCOPY data.txt .\nCOPY kit/ lib/\n",
    );
    assert_eq!(found.needs, Vec::<String>::new());
    assert_eq!(found.workdir, "/srv/work");
    assert_eq!(found.env.get("B").map(String::as_str), Some("2"));
    let files: Vec<&str> = found.files.keys().map(String::as_str).collect();
    assert_eq!(files, ["data.txt", "lib/a.py"]);
}

#[test]
fn what_the_host_cannot_give_is_named() {
    let cases = [
        ("FROM nvidia/cuda:12", "the container image nvidia/cuda:12"),
        (
            "FROM ubuntu\nRUN apt-get update && \\\n apt-get install -y jq",
            "RUN apt-get update",
        ),
        (
            "FROM ubuntu\nCOPY kit /usr/lib/kit",
            "COPY kit /usr/lib/kit",
        ),
        ("FROM ubuntu\nCOPY lost.txt .", "`lost.txt`"),
        ("FROM ubuntu\nENTRYPOINT [\"/x\"]", "ENTRYPOINT"),
    ];
    for (dockerfile, says) in cases {
        let needs = environment(dockerfile).needs.join("; ");
        assert!(needs.contains(says), "{dockerfile}: {needs}");
    }
}

#[test]
fn scripts_that_fetch_are_found_and_others_are_not() {
    let says = |script: &str| network_needs(script).unwrap_or_default();
    assert!(says("#!/bin/bash\napt-get update\ncurl -L x | sh\n").contains("apt-get, curl"));
    assert!(says("if uvx pytest; then\n").contains("uvx"));
    for script in [
        "# curl is not used\npython3 -m pytest\n",
        "echo curl\n",
        "grep pip list.txt\n",
    ] {
        assert_eq!(says(script), "", "{script}");
    }
}

#[test]
fn paths_are_moved_and_look_alikes_are_not() {
    let moves = Moves::new("/app");
    let cases = [
        ("cat /app/x.txt", "cat /workspace/x.txt"),
        ("cd /app && ls", "cd /workspace && ls"),
        ("Path(\"/app\")", "Path(\"/workspace\")"),
        (
            "pytest /tests/test_a.py",
            "pytest /workspace/.task/tests/test_a.py",
        ),
        (
            "> /logs/verifier/reward.txt",
            "> /workspace/.task/logs/verifier/reward.txt",
        ),
        (
            "/application/x /my/app /apps $X/app",
            "/application/x /my/app /apps $X/app",
        ),
        ("https://host/tests/é", "https://host/tests/é"),
    ];
    for (text, moved) in cases {
        assert_eq!(moves.text(text), moved);
    }
}
