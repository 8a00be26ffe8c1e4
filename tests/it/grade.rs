//! `rollcage grade`: solutions of task folders in each format, proofs of tasks, and what is said of
//! those that this machine's own programs cannot judge.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::data::data_dir;
use crate::skips;
use crate::world::{Spoken, World};

/// Files of a folder by path, below the world's folder of work.
fn folder(world: &World, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = world.work().join(name);
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    }
    folder
}

/// `rollcage --json grade TASK ARGUMENTS`.
fn grade(world: &World, task: &Path, arguments: &[&str]) -> Spoken {
    let task = task.to_str().expect("text");
    let mut words = vec!["--json", "grade", task];
    words.extend(arguments);
    world.cli(&words)
}

#[test]
fn tasks_are_proved() {
    const TEST: &str = "grade::tasks_are_proved";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let asserts = |code: &str| {
        format!(
            "policy = \"python\"\n[verify]\nkind = \"asserts\"\nfile = \"s.py\"\ncode = \"{code}\"\n"
        )
    };
    let proof = |name: &str, code: &str, solution: Option<&str>, exit: i32| -> Value {
        let text = asserts(code);
        let mut files = vec![("task.toml", text.as_str())];
        files.extend(solution.map(|solution| ("solution/s.py", solution)));
        let task = folder(&world, name, &files);
        grade(&world, &task, &["--self-check"]).ended(exit).json()
    };
    let right = "def f():\n    return 1\n";
    let good = proof("good", "assert f() == 1", Some(right), 0);
    assert_eq!(good["proved"], true);
    assert_eq!(good["oracle"].as_array().map(Vec::len), Some(5));
    let holds = |proof: &Value| -> Vec<Value> {
        let findings = proof["findings"].as_array().expect("findings");
        findings
            .iter()
            .map(|finding| finding["holds"].clone())
            .collect()
    };
    let broken = proof("broken", "assert f() == 2", Some(right), 1);
    assert_eq!(holds(&broken), [false, true, true]);
    let lax = proof("lax", "x = 1", Some(right), 1);
    assert_eq!(holds(&lax), [true, false, true]);
    let flaky = "import os\ndef f():\n    return os.urandom(1)[0] % 2\n";
    let drawn: String = (0..8).map(|_| "assert f() == 1\\n").collect();
    let flaky = proof("flaky", &drawn, Some(flaky), 1);
    assert_eq!(flaky["proved"], false);
    let none = proof("none", "assert f() == 1", None, 1);
    assert_eq!(holds(&none), [false, true]);
}

/// Tasks of others need images, networks and servers: each says so, and is never scored.
#[test]
fn what_a_task_needs_is_said() {
    const TEST: &str = "grade::what_a_task_needs_is_said";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let needs = [
        (
            "harbor_cookbook/simple-task",
            "a network while it is judged",
        ),
        ("harbor_cookbook/mcp-tools", "servers of tools"),
        ("harbor_cookbook/multi-container", "several containers"),
        (
            "harbor_cookbook/skills",
            "an image built with `RUN apt-get update",
        ),
        ("harbor_cookbook/computer-use-windows", "several containers"),
        ("harbor_templates/check-task", "the container image"),
        ("terminal_bench_adapted/hf-model-inference", "setup.sh"),
        ("terminal_bench_adapted/pytorch-model-recovery", "setup.sh"),
    ];
    if !data_dir().join("harbor_cookbook").is_dir() {
        skips::skip(TEST, "the data sets lie beside the checkout, not in it");
        return;
    }
    for (task, says) in needs {
        let task = data_dir().join(task);
        let spoken = grade(&world, &task, &["--oracle"]);
        spoken.ended(125);
        let said = spoken.stderr();
        assert!(said.contains(says), "{}: {said}", task.display());
    }
}
