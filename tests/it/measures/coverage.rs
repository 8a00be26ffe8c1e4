//! Coverage is the figure that the coverage tool gives itself, and hostile tests do not change it.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{metric, outcome, request, set};
use crate::data::data_dir;
use crate::world::World;
use crate::{batch, skips};

/// A program with tests: id, files, what is measured, and the command that runs the tests.
type Program = (String, Map<String, Value>, String, Vec<&'static str>);

fn python_programs(test: &str) -> Vec<Program> {
    let mut programs = Vec::new();
    let text = |path: &Path| json!(fs::read_to_string(path).expect("a file of the set"));
    if let Some(folder) = set(test, "quixbugs") {
        for name in ["gcd", "flatten"] {
            let mut files = Map::new();
            files.insert("conftest.py".to_owned(), text(&folder.join("conftest.py")));
            for part in [
                "python_testcases/load_testdata.py".to_owned(),
                format!("python_testcases/test_{name}.py"),
                format!("correct_python_programs/{name}.py"),
                format!("json_testcases/{name}.json"),
            ] {
                if folder.join(&part).is_file() {
                    files.insert(part.clone(), text(&folder.join(&part)));
                }
            }
            let command = vec![
                "python3",
                "-m",
                "pytest",
                "-q",
                "--correct",
                "python_testcases",
            ];
            programs.push((
                format!("quixbugs/{name}"),
                files,
                "correct_python_programs".to_owned(),
                command,
            ));
        }
    }
    if let Some(folder) = set(test, "exercism") {
        for slug in ["clock", "circular-buffer"] {
            let at = folder.join("python").join(slug);
            let name = slug.replace('-', "_");
            let mut files = Map::new();
            files.insert(format!("{name}.py"), text(&at.join(".meta/example.py")));
            let tests = format!("{name}_test.py");
            files.insert(tests.clone(), text(&at.join(&tests)));
            let command = vec!["python3", "-m", "pytest", "-q"];
            programs.push((format!("exercism/{slug}"), files, String::new(), command));
        }
    }
    programs
}

#[test]
fn coverage_is_the_figure_of_coverage_py_itself() {
    const TEST: &str = "measures::coverage::coverage_is_the_figure_of_coverage_py_itself";
    let there = [
        "/usr/lib/python3/dist-packages/coverage",
        "/usr/lib/python3/dist-packages/pytest",
    ];
    if !there.iter().all(|file| skips::has_file(TEST, file)) {
        return;
    }
    let Some(world) = World::start(TEST) else {
        return;
    };
    let programs = python_programs(TEST);
    let mut requests = Vec::new();
    for (id, files, measured, command) in &programs {
        let verify = json!({
            "kind": "coverage", "language": "python", "file": measured, "argv": command,
            "baseline_coverage_pct": 10.0,
        });
        requests.push(request(&format!("{id}/ours"), json!(files), verify));
        let source = if measured.is_empty() {
            "."
        } else {
            measured.as_str()
        };
        let line = format!(
            "python3 -m coverage run --source={source} {} >&2 && python3 -m coverage json -q -o /tmp/c.json && cat /tmp/c.json",
            command[1..].join(" ")
        );
        let mut own = request(
            &format!("{id}/own"),
            json!(files),
            json!({"kind": "exit_code"}),
        );
        own["argv"] = json!(["/bin/sh", "-c", line]);
        requests.push(own);
    }
    let results = batch::run(&world, &requests);
    for (id, ..) in &programs {
        let (ours, own) = (
            &results[&format!("{id}/ours")],
            &results[&format!("{id}/own")],
        );
        assert_eq!(outcome(ours), "passed", "{id}: {ours}");
        let own = own["stdout"].as_str().expect("coverage.py's own report");
        let own: Value = serde_json::from_str(own).expect("JSON");
        let own = own["totals"]["percent_covered"].as_f64().expect("a figure");
        let pct = metric(ours, "coverage_pct").expect("a figure");
        println!("{id}: {pct:.2} %, coverage.py itself {own:.2} %");
        assert!((pct - own).abs() < 0.1, "{id}: {pct} and {own}");
        let delta = metric(ours, "coverage_delta_pct").expect("a difference");
        assert!((delta - (pct - 10.0)).abs() < 1e-9, "{id}: {delta}");
    }
    assert!(
        programs.len() >= 4 || !data_dir().is_dir(),
        "{} programs",
        programs.len()
    );
}

#[test]
fn coverage_of_c_and_of_hostile_tests_is_what_was_there_before() {
    const TEST: &str =
        "measures::coverage::coverage_of_c_and_of_hostile_tests_is_what_was_there_before";
    let there = ["/usr/bin/gcov", "/usr/lib/python3/dist-packages/coverage"];
    if !there.iter().all(|file| skips::has_file(TEST, file)) {
        return;
    }
    let Some(world) = World::start(TEST) else {
        return;
    };
    let c = "int f(int x) {\n    if (x)\n        return 1;\n    return 2;\n}\nint main(void) { return f(1) - 1; }\n";
    let gcov =
        json!({"kind": "coverage", "language": "c", "file": "m.c", "min_coverage_pct": 80.0});
    let half = "def f(x):\n    if x:\n        return 1\n    return 2\n";
    let python = |test: &str| {
        let verify = json!({
            "kind": "coverage", "language": "python", "file": "m.py",
            "argv": ["python3", "t.py"], "min_coverage_pct": 90.0,
        });
        request("", json!({"m.py": half, "t.py": test}), verify)
    };
    let rewrites = "import m\nm.f(1)\nopen('m.py', 'w').write('x = 1\\n')\n";
    let kills = "import os, m\nos.kill(os.getppid(), 9)\n";
    let mut requests = vec![request("c", json!({"m.c": c}), gcov)];
    for (id, test) in [
        ("rewrites", rewrites),
        ("kills", kills),
        ("whole", "import m\nm.f(1)\nm.f(0)\n"),
    ] {
        let mut one = python(test);
        one["id"] = json!(id);
        requests.push(one);
    }
    let results = batch::run(&world, &requests);
    let c = &results["c"];
    assert_eq!(outcome(c), "passed", "{c}");
    let pct = metric(c, "coverage_pct").expect("a figure");
    assert!((pct - 80.0).abs() < 0.1, "{c}");
    assert_eq!(outcome(&results["whole"]), "passed", "{}", results["whole"]);
    let rewrites = &results["rewrites"];
    assert_eq!(outcome(rewrites), "failed", "{rewrites}");
    assert_eq!(metric(rewrites, "coverage_pct"), Some(75.0), "{rewrites}");
    assert!(
        rewrites["verdict"]["tamper"][0]["path"].is_string(),
        "{rewrites}"
    );
    assert_eq!(outcome(&results["kills"]), "failed", "{}", results["kills"]);
}
