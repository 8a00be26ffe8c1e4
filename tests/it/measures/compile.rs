//! Each language's compile errors have their lines.

use std::path::Path;

use serde_json::{Value, json};

use super::{metric, outcome, path, request};
use crate::{batch, skips, tools};

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
    const TEST: &str = "measures::compile::compile_errors_of_every_language_have_their_lines";
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

/// Go reads from the home folder which toolchain it is; in the workspace that would be the
/// solution's, which compiles whatever one likes.
#[test]
fn a_toolchain_of_the_solution_compiles_nothing() {
    const TEST: &str = "measures::compile::a_toolchain_of_the_solution_compiles_nothing";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    if !skips::has_file(TEST, "/usr/bin/go") {
        return;
    }
    let tool = |name: &str| {
        let version = std::fs::read_to_string("/usr/lib/go/VERSION").unwrap_or_default();
        let version = version.lines().next().unwrap_or_default().to_owned();
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *-V=full*) echo '{name} version {version}';; esac\n\
             for a in \"$@\"; do if [ \"$p\" = -o ]; then\n\
             echo 'go object linux amd64 {version}' > \"$a\"; fi; p=\"$a\"; done\nexit 0\n"
        );
        json!({"text": text, "mode": 0o755})
    };
    let mut files = json!({
        "s.go": "package main\nvar x int = \"not an int\"\nfunc main() { undefined() }\n",
        ".config/go/env": "GOROOT=/workspace/fake\n",
        "fake/VERSION": "go1.19.8",
    });
    for name in ["compile", "link", "asm", "buildid", "pack", "cgo", "vet"] {
        files[format!("fake/pkg/tool/linux_amd64/{name}")] = tool(name);
    }
    for package in ["runtime", "internal/cpu", "runtime/internal/sys"] {
        let last = package.rsplit('/').next().unwrap_or_default();
        files[format!("fake/src/{package}/x.go")] = json!(format!("package {last}\n"));
    }
    let verify = json!({"kind": "compile", "language": "go", "file": "s.go"});
    let results = batch::run(&world, &[request("forged", files, verify)]);
    let result = &results["forged"];
    assert_eq!(outcome(result), "compile_error", "{result}");
}
