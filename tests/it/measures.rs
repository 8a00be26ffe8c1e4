//! Compiling, coverage, leaks and lint through the real tools in sandboxes: each language's compile
//! errors have their lines, leaky samples are told from clean ones, and coverage is the figure
//! that coverage.py gives itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::skips::{self, repository};
use crate::world::World;
use crate::{batch, tools};

/// Folder of the data sets: as `./x test` names it, else the one beside the repository.
fn data_dir() -> PathBuf {
    let named = std::env::var_os("ROLLCAGE_DATA_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| repository().join("../shared/data"))
}

/// A set's folder, or a counted skip.
fn set(test: &str, name: &str) -> Option<PathBuf> {
    let folder = data_dir().join(name);
    let there = folder.is_dir();
    if !there {
        skips::skip(
            test,
            &format!("data set {name} is not at {}", folder.display()),
        );
    }
    there.then_some(folder)
}

/// Where commands are looked for: our own tools, then the image's.
fn path() -> String {
    let own = ["rust/bin", "python/bin"].map(|part| tools::folder().join(part));
    let own = own.map(|folder| folder.display().to_string()).join(":");
    format!("{own}:/usr/local/bin:/usr/bin:/bin")
}

/// A request that only verifies.
#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn request(id: &str, files: Value, verify: Value) -> Value {
    json!({"id": id, "policy": "build", "files": files, "argv": [], "verify": verify})
}

fn outcome(result: &Value) -> &str {
    result["verdict"]["outcome"].as_str().unwrap_or("none")
}

fn metric(result: &Value, name: &str) -> Option<f64> {
    result["verdict"]["metrics"][name].as_f64()
}

/// A language: its compiler, its file, source that is right, source that is not, and the line of
/// the mistake.
const LANGUAGES: [(&str, &str, &str, &str, &str, u64); 13] = [
    (
        "c",
        "gcc",
        "m.c",
        "int main(void) { return 0; }\n",
        "int f(void) {\n    return 1 +;\n}\n",
        2,
    ),
    (
        "cpp",
        "g++",
        "m.cpp",
        "int main() { return 0; }\n",
        "#include <string>\n\nint f() { return std::strin(1); }\n",
        3,
    ),
    (
        "rust",
        "rust/bin/rustc",
        "m.rs",
        "fn main() {}\n",
        "fn main() {\n    let x: u32 = \"a\";\n}\n",
        2,
    ),
    (
        "go",
        "go",
        "m.go",
        "package main\n\nfunc main() {}\n",
        "package main\n\nfunc main() {\n\tx := 1\n}\n",
        4,
    ),
    (
        "java",
        "javac",
        "M.java",
        "class M {}\n",
        "class M {\n    int f() {\n        return 1\n    }\n}\n",
        3,
    ),
    (
        "python",
        "python3",
        "m.py",
        "x = 1\n",
        "x = 1\n\ndef f(:\n    pass\n",
        3,
    ),
    (
        "javascript",
        "node",
        "m.js",
        "let x = 1;\n",
        "let x = 1;\nlet y = ;\n",
        2,
    ),
    (
        "typescript",
        "tsc",
        "m.ts",
        "let x: number = 1;\n",
        "let a: number = 1;\nlet b: number = \"c\";\n",
        2,
    ),
    (
        "php",
        "php",
        "m.php",
        "<?php\n$x = 1;\n",
        "<?php\n$x = 1;\n$y = ;\n",
        3,
    ),
    ("ruby", "ruby", "m.rb", "x = 1\n", "x = 1\ny = (\n)]\n", 3),
    (
        "perl",
        "perl",
        "m.pl",
        "my $x = 1;\n",
        "use strict;\nmy $x = 1;\n$y = 2;\n",
        3,
    ),
    (
        "lua",
        "luac",
        "m.lua",
        "local x = 1\n",
        "local x = 1\nlocal y = = 2\n",
        2,
    ),
    (
        "shell",
        "bash",
        "m.sh",
        "true\n",
        "true\nif true; then\n)\n",
        3,
    ),
];

#[test]
fn compile_errors_of_every_language_have_their_lines() {
    const TEST: &str = "measures::compile_errors_of_every_language_have_their_lines";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let env = json!({"PATH": path()});
    let mut requests = Vec::new();
    for (language, tool, file, right, wrong, _) in LANGUAGES {
        let at = match tool.contains('/') {
            true => tools::folder().join(tool),
            false => Path::new("/usr/bin").join(tool),
        };
        if !skips::has_file(&format!("{TEST}/{language}"), &at.display().to_string()) {
            continue;
        }
        let verify = json!({"kind": "compile", "language": language, "file": file, "env": env});
        for (kind, source) in [("right", right), ("wrong", wrong)] {
            let id = format!("{language}/{kind}");
            requests.push(request(&id, json!({ file: source }), verify.clone()));
        }
    }
    // Without the compiler nothing is known of the solution.
    let nowhere =
        json!({"kind": "compile", "language": "c", "file": "m.c", "env": {"PATH": "/nowhere"}});
    requests.push(request("missing", json!({"m.c": "int x;\n"}), nowhere));
    let results = batch::run(&world, &requests);
    for (language, _, file, _, _, line) in LANGUAGES {
        let (Some(right), Some(wrong)) = (
            results.get(&format!("{language}/right")),
            results.get(&format!("{language}/wrong")),
        ) else {
            continue;
        };
        assert_eq!(outcome(right), "passed", "{right}");
        assert_eq!(metric(right, "compile_ok"), Some(1.0), "{right}");
        assert_eq!(outcome(wrong), "compile_error", "{wrong}");
        // `BEGIN` runs while Perl compiles: such a verdict earns nothing without leave of the policy.
        let reward = if language == "perl" {
            Value::Null
        } else {
            json!(0.0)
        };
        assert_eq!(wrong["verdict"]["reward"], reward, "{wrong}");
        let said = wrong["verdict"]["diagnostics"]
            .as_array()
            .expect("diagnostics");
        let told = said.iter().any(|said| {
            said["severity"] == "error"
                && said["line"] == json!(line)
                && said["file"].as_str().is_some_and(|at| at.ends_with(file))
        });
        assert!(told, "{language}: no error in line {line}: {wrong}");
    }
    let missing = &results["missing"];
    assert_eq!(outcome(missing), "verifier_error", "{missing}");
    assert!(missing["verdict"]["reward"].is_null(), "{missing}");
}

/// Samples whose bad build a tool flags, and whose good build is clean.
const JULIET: [&str; 12] = [
    "CWE121/CWE121_Stack_Based_Buffer_Overflow__CWE805_char_declare_memcpy_01.c",
    "CWE122/CWE122_Heap_Based_Buffer_Overflow__c_CWE805_char_loop_01.c",
    "CWE122/CWE122_Heap_Based_Buffer_Overflow__cpp_CWE805_int64_t_loop_01.cpp",
    "CWE126/CWE126_Buffer_Overread__CWE170_char_loop_01.c",
    "CWE190/CWE190_Integer_Overflow__int_max_square_01.c",
    "CWE401/CWE401_Memory_Leak__int_calloc_01.c",
    "CWE401/CWE401_Memory_Leak__new_array_int_01.cpp",
    "CWE415/CWE415_Double_Free__new_delete_int_01.cpp",
    "CWE457/CWE457_Use_of_Uninitialized_Variable__double_01.c",
    "CWE476/CWE476_NULL_Pointer_Dereference__char_01.c",
    "CWE590/CWE590_Free_Memory_Not_on_Heap__free_char_static_01.c",
    "CWE762/CWE762_Mismatched_Memory_Management_Routines__delete_char_malloc_01.cpp",
];

/// What both tools say of a build, by the table beside the data.
#[derive(Debug, Default, Clone, Copy)]
struct Truth {
    flagged: bool,
    clean: bool,
}

fn truth(folder: &Path) -> BTreeMap<(String, String), Truth> {
    let table = folder.join("GROUND_TRUTH.juliet_subset.tsv");
    let text = fs::read_to_string(table).expect("a table of truth");
    let mut all: BTreeMap<(String, String), Truth> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let mut columns = row.split('\t');
        let (id, verdict) = (columns.next(), columns.next());
        let (Some(id), Some(verdict)) = (id, verdict) else {
            continue;
        };
        let mut parts = id.split(':');
        let (Some(file), Some(build)) = (parts.next(), parts.next()) else {
            continue;
        };
        let key = (file.to_owned(), build.to_owned());
        let known = all.entry(key).or_insert(Truth {
            flagged: false,
            clean: true,
        });
        let found = ["asan:", "vg:", "lsan", "ubsan"];
        known.flagged |= found.iter().any(|start| verdict.starts_with(start));
        known.clean &= verdict == "clean_exit";
    }
    all
}

fn juliet_request(folder: &Path, (id, sample): (usize, &str), build: &str) -> Value {
    let support = [
        "io.c",
        "std_testcase.h",
        "std_testcase_io.h",
        "std_thread.c",
        "std_thread.h",
    ];
    let mut files = Map::new();
    for name in support {
        let path = folder.join("testcasesupport").join(name);
        if let Ok(text) = fs::read_to_string(path) {
            files.insert(name.to_owned(), json!(text));
        }
    }
    let cpp = sample.ends_with(".cpp");
    let file = if cpp { "sample.cpp" } else { "sample.c" };
    let text = fs::read(folder.join("testcases").join(sample)).expect("a sample");
    files.insert(file.to_owned(), json!(String::from_utf8_lossy(&text)));
    let without = if build == "bad" {
        "OMITGOOD"
    } else {
        "OMITBAD"
    };
    let verify = json!({
        "kind": "leaks", "language": if cpp { "cpp" } else { "c" }, "file": file,
        "env": {"CPPFLAGS": format!("-DINCLUDEMAIN -D{without} -I."), "LDLIBS": "io.c"},
    });
    let mut request = request(&format!("{id}-{build}"), Value::Object(files), verify);
    request["limits"] = json!({"wall_ms_max": 60_000, "cpu_ms_max": 20_000});
    request
}

/// All of the set with `ROLLCAGE_JULIET=all`, the long form.
#[test]
fn leaky_samples_are_told_from_clean_ones() {
    const TEST: &str = "measures::leaky_samples_are_told_from_clean_ones";
    let tools_there =
        skips::has_file(TEST, "/usr/bin/valgrind") && skips::has_file(TEST, "/usr/bin/g++");
    let (true, Some(folder), Some(world)) =
        (tools_there, set(TEST, "juliet_subset"), World::start(TEST))
    else {
        return;
    };
    let truth = truth(&folder);
    let mut samples: Vec<String> = JULIET.iter().map(|&sample| sample.to_owned()).collect();
    let all = std::env::var_os("ROLLCAGE_JULIET").is_some();
    if all {
        samples = (truth.keys().filter(|(_, build)| build == "bad"))
            .map(|(file, _)| format!("{}/{file}", file.split('_').next().unwrap_or(file)))
            .collect();
    }
    let builds = (samples.iter().enumerate())
        .flat_map(|sample| ["bad", "good"].map(|build| (sample, build)))
        // In the short form every third good build.
        .filter(|((id, _), build)| all || *build == "bad" || id % 3 == 0);
    let requests: Vec<Value> = builds
        .map(|((id, sample), build)| juliet_request(&folder, (id, sample), build))
        .collect();
    let results = batch::run(&world, &requests);
    let (mut agree, mut differ) = (0, Vec::new());
    for (id, sample) in samples.iter().enumerate() {
        let file = sample.rsplit('/').next().unwrap_or(sample);
        for build in ["bad", "good"] {
            let Some(result) = results.get(&format!("{id}-{build}")) else {
                continue;
            };
            assert!(result["verdict"].is_object(), "{result}");
            let Some(known) = truth.get(&(file.to_owned(), build.to_owned())) else {
                continue;
            };
            let found = metric(result, "leaks").unwrap_or(0.0)
                + metric(result, "memory_errors").unwrap_or(0.0);
            let same = match (known.flagged, known.clean) {
                (true, _) => outcome(result) == "failed" && found > 0.0,
                (false, true) => outcome(result) == "passed" && found == 0.0,
                // Neither tool says anything, and it does not end well: limits, signals, codes.
                (false, false) => outcome(result) != "passed",
            };
            if same {
                agree += 1;
            } else {
                differ.push(format!("{file}:{build}: {known:?}, {}", result["verdict"]));
            }
        }
    }
    println!(
        "juliet_subset: {agree} builds agree, {} differ",
        differ.len()
    );
    assert!(differ.is_empty() || all, "{differ:#?}");
    for line in differ {
        println!("{line}");
    }
}

#[test]
fn a_program_that_hides_its_leaks_does_not_pass() {
    const TEST: &str = "measures::a_program_that_hides_its_leaks_does_not_pass";
    let (true, Some(world)) = (
        skips::has_file(TEST, "/usr/bin/valgrind"),
        World::start(TEST),
    ) else {
        return;
    };
    let leak =
        "#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <stdio.h>\n";
    let hacks = [
        ("leaves_at_once", "malloc(10); _exit(0);"),
        (
            "kills_the_runner",
            "malloc(10); kill(getppid(), SIGKILL); sleep(1);",
        ),
        (
            "writes_into_reports",
            "volatile char *p = malloc(10); p[11] = 1; for (int fd = 3; fd < 32; fd++) dprintf(fd, \"<!--\");",
        ),
        ("clean", ""),
    ];
    let requests: Vec<Value> = (hacks.iter())
        .map(|(id, body)| {
            let source = format!("{leak}int main(void) {{ {body} return 0; }}\n");
            let verify = json!({"kind": "leaks", "language": "c", "file": "m.c"});
            request(id, json!({"m.c": source}), verify)
        })
        .collect();
    let results = batch::run(&world, &requests);
    for (id, _) in hacks {
        let expected = if id == "clean" { "passed" } else { "failed" };
        assert_eq!(outcome(&results[id]), expected, "{id}: {}", results[id]);
        assert_eq!(
            results[id]["verdict"]["evidence"]["isolation"], "shared",
            "{id}"
        );
    }
}

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
    const TEST: &str = "measures::coverage_is_the_figure_of_coverage_py_itself";
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
    const TEST: &str = "measures::coverage_of_c_and_of_hostile_tests_is_what_was_there_before";
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

#[test]
fn linters_count_and_a_missing_one_earns_nothing() {
    const TEST: &str = "measures::linters_count_and_a_missing_one_earns_nothing";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let env = json!({"PATH": path()});
    let leak = "#include <stdlib.h>\nvoid f(void) {\n    char *p = malloc(10);\n    if (p)\n        p[0] = 1;\n}\n";
    let lint = |language: &str, file: &str| json!({"kind": "lint", "language": language, "file": file, "env": env, "max_warnings": 0});
    let sarif = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [
        {"level": "error", "message": {"text": "m"}, "locations": [{"physicalLocation":
            {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 7}}}]}]}]});
    let of_command = json!({
        "kind": "lint", "argv": ["/bin/cat", "r.sarif"], "format": "sarif", "report": "stdout",
    });
    let mut requests = vec![
        request("leaky", json!({"m.c": leak}), lint("c", "m.c")),
        request(
            "clean",
            json!({"m.c": "int f(void) { return 1; }\n"}),
            lint("c", "m.c"),
        ),
        request("sarif", json!({"r.sarif": sarif.to_string()}), of_command),
    ];
    if tools::tool(&format!("{TEST}/ruff"), "python/bin/ruff").is_some() {
        requests.push(request(
            "ruff",
            json!({"m.py": "import os\n"}),
            lint("python", "m.py"),
        ));
        requests.push(request(
            "hidden",
            json!({"m.py": "import os  # noqa\n"}),
            lint("python", "m.py"),
        ));
    }
    let mut nowhere = lint("python", "m.py");
    nowhere["env"] = json!({"PATH": "/usr/bin:/bin"});
    requests.push(request("missing", json!({"m.py": "x = 1\n"}), nowhere));
    let results = batch::run(&world, &requests);
    assert_eq!(outcome(&results["clean"]), "passed", "{}", results["clean"]);
    for (id, line) in [("leaky", 6), ("sarif", 7), ("ruff", 1), ("hidden", 1)] {
        let Some(result) = results.get(id) else {
            continue;
        };
        assert_eq!(outcome(result), "failed", "{id}: {result}");
        let said = result["verdict"]["diagnostics"]
            .as_array()
            .expect("diagnostics");
        assert!(
            said.iter().any(|said| said["line"] == json!(line)),
            "{id}: {result}"
        );
    }
    assert_eq!(
        outcome(&results["missing"]),
        "verifier_error",
        "{}",
        results["missing"]
    );
}
