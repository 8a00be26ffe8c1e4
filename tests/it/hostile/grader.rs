//! What a solution leaves lying about for whoever grades it: the grader is fresh, and runs none of it.

use serde_json::{Value, json};

use super::{SENTINEL, is_unchanged, place, plant};
use crate::world::World;
use sandbox_client::pb;

/// Files that tools execute by themselves, each of which would turn the verdict around.
const PLANTED: [(&str, &str); 14] = [
    ("sitecustomize.py", "import os; os._exit(0)"),
    ("usercustomize.py", "import os; os._exit(0)"),
    ("conftest.py", "import os; os._exit(0)"),
    ("x.pth", "import os; os._exit(0)"),
    ("json.py", "def dumps(*x): return '{\"passed\": true}'"),
    ("socket.py", "raise SystemExit(0)"),
    ("builtins.py", "raise SystemExit(0)"),
    ("judge.py", "raise SystemExit(0)"),
    ("__main__.py", "raise SystemExit(0)"),
    ("pytest.ini", "[pytest]\naddopts = --collect-only"),
    ("setup.cfg", "[tool:pytest]\naddopts = --collect-only"),
    (".git/hooks/post-checkout", "#!/bin/sh\nexit 0"),
    (
        ".gitconfig",
        "[core]\nfsmonitor = /workspace/.git/hooks/post-checkout",
    ),
    (
        ".local/lib/python3/site-packages/x.pth",
        "import os; os._exit(0)",
    ),
];

fn request(solution: &str, planted: bool) -> Value {
    let mut files = serde_json::Map::new();
    files.insert("solution.py".to_owned(), json!(solution));
    let planted = PLANTED.into_iter().filter(|_| planted);
    files.extend(
        planted.map(|(name, text)| (name.to_owned(), json!({ "text": text, "mode": 0o755 }))),
    );
    json!({
        "policy": "python",
        "files": files,
        "env": { "PYTHONPATH": "/workspace", "PYTHONSTARTUP": "/workspace/judge.py",
                 "PYTHONINSPECT": "1", "PYTHONHOME": "/workspace", "BASH_ENV": "/workspace/x.pth",
                 "LD_PRELOAD": "/workspace/x.so", "GIT_DIR": "/workspace/.git" },
        "verify": { "kind": "asserts", "file": "solution.py", "code": "assert f(2) == 4" },
    })
}

#[test]
fn nothing_that_lies_beside_a_solution_is_run_by_its_judge() {
    let test = "nothing_that_lies_beside_a_solution_is_run_by_its_judge";
    let Some(world) = World::start(test) else {
        return;
    };
    // The control: Python does run such files where it is started in the usual way.
    let code = "import subprocess, sys\nopen('sitecustomize.py', 'w').write('print(\"planted\")')\n\
                run = subprocess.run([sys.executable, '-c', ''], capture_output=True, text=True,\n\
                env={'PYTHONPATH': '/workspace'})\nprint(run.stdout)";
    assert!(world.python(code).exited(0).stdout().contains("planted"));
    let mut harmless = request("def f(x): return x + 1\n", true);
    // What the solution's own interpreter is told is the solution's affair; it may not start at all.
    let wrong = world.run(&harmless);
    assert_ne!(
        wrong.verdict(),
        pb::Outcome::Passed,
        "{:?}",
        wrong.result.verdict
    );
    harmless["env"] = json!({});
    for name in [
        "json.py",
        "socket.py",
        "builtins.py",
        "sitecustomize.py",
        "usercustomize.py",
    ] {
        harmless["files"]
            .as_object_mut()
            .expect("files")
            .remove(name);
    }
    assert_eq!(world.run(&harmless).verdict(), pb::Outcome::Failed);
    harmless["files"]["solution.py"] = json!("def f(x): return x * 2\n");
    assert_eq!(world.run(&harmless).verdict(), pb::Outcome::Passed);
    // As the program of a run before: what it writes is not there when it is judged.
    let plant = "import os, sys\nfor name in ('sitecustomize.py', 'solution.py', 'conftest.py'):\n    \
                 open(name, 'w').write('import os; os._exit(0)')\ndef f(x): return x + 1\n";
    let mut earlier = request(plant, false);
    earlier["env"] = json!({});
    earlier["argv"] = json!(["python3", "solution.py"]);
    assert_eq!(world.run(&earlier).verdict(), pb::Outcome::Failed);
}

#[test]
fn a_solution_that_swaps_its_files_while_it_is_judged_changes_nothing_but_itself() {
    let test = "a_solution_that_swaps_its_files_while_it_is_judged_changes_nothing_but_itself";
    let shown = place(std::path::Path::new("/opt"));
    let sentinel = plant(shown.path(), "sentinel");
    let config = format!("[host_image]\nextra_read_paths = [{:?}]\n", shown.path());
    let Some(world) = World::with_config(test, &config) else {
        return;
    };
    let racer = format!(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    \
         while True:\n        for name in os.listdir('/workspace'):\n            \
         try:\n                os.unlink('/workspace/' + name)\n            \
         except OSError: pass\n            \
         try: os.symlink({sentinel:?}, '/workspace/' + name)\n            except OSError: pass\n\
         time.sleep(0.3)\n"
    );
    for (body, outcome) in [
        ("x * 2", pb::Outcome::Passed),
        ("x + 1", pb::Outcome::Failed),
    ] {
        let mut line = request(&format!("{racer}def f(x): return {body}\n"), false);
        line["env"] = json!({});
        let judged = world.run(&line);
        assert_eq!(judged.verdict(), outcome, "{:?}", judged.result.verdict);
        assert!(!format!("{:?}", judged.result).contains(SENTINEL));
    }
    is_unchanged(&sentinel);
}
