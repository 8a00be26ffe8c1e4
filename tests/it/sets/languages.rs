//! HumanEval-X, MultiPL-E and MBXP in languages that `asserts` knows: the solution runs in another
//! sandbox than its tests.

use serde_json::{Value, json};

use super::scripts::code_of;
use super::{Set, Task, Truth, lines, optional, set, text, truths};

const NODE: &[&str] = &["/usr/bin/node"];
const CPP: &[&str] = &["/usr/bin/g++", "/usr/include/boost/any.hpp"];
const RUST: &[&str] = &["rust/bin/rustc"];
const GO: &[&str] = &[
    "/usr/bin/go",
    "/usr/share/gocode/src/github.com/stretchr/testify",
];
const JAVA: &[&str] = &["/usr/bin/javac"];

pub(super) fn sets() -> Vec<Set> {
    vec![
        set("humaneval_x_python", 8, || humaneval_x("python")),
        set("humaneval_x_js", 8, || humaneval_x("js")).with(NODE),
        set("humaneval_x_cpp", 2, || humaneval_x("cpp")).with(CPP),
        set("humaneval_x_rust", 2, || humaneval_x("rust")).with(RUST),
        set("humaneval_x_go", 2, || humaneval_x("go")).with(GO),
        set("humaneval_x_java", 2, || humaneval_x("java")).with(JAVA),
        set("multipl_e_humaneval-js", 8, || multipl_e("humaneval-js")).with(NODE),
        set("multipl_e_mbpp-js", 0, || multipl_e("mbpp-js")).with(NODE),
        set("multipl_e_humaneval-cpp", 2, || multipl_e("humaneval-cpp")).with(CPP),
        set("multipl_e_humaneval-rs", 2, || multipl_e("humaneval-rs")).with(RUST),
        set("mbxp_js", 4, mbxp_js).with(&["/usr/bin/node", "jest/node_modules/lodash"]),
    ]
}

/// The word of the contract, and the file's ending.
fn language_of(name: &str) -> (&'static str, &'static str) {
    match name {
        "js" => ("javascript", "js"),
        "cpp" => ("cpp", "cpp"),
        "rust" | "rs" => ("rust", "rs"),
        "go" => ("go", "go"),
        "java" => ("java", "java"),
        _python => ("python", "py"),
    }
}

fn asserts(name: &str, solution: &str, tests: &str) -> Value {
    let (language, ending) = language_of(name);
    let file = format!("solution.{ending}");
    let policy = match language {
        "python" => "python",
        "javascript" => "node",
        _compiled => "build",
    };
    let path = format!(
        "{}/rust/bin:/usr/bin:/bin",
        crate::tools::folder().display()
    );
    json!({
        "policy": policy, "argv": [], "files": {file.as_str(): solution}, "env": {"PATH": path},
        "limits": {"wall_ms_max": 120_000},
        "verify": {"kind": "asserts", "language": language, "file": file, "code": tests},
    })
}

/// Declares the functions of a compiled language in the author's words, which C++ and Rust read.
fn declare(name: &str, line: &mut Value, declaration: &str) {
    if matches!(name, "cpp" | "rust" | "rs") {
        line["verify"]["declaration"] = json!(declaration);
    }
}

/// Without the packages that are not there; programs that use one do not compile.
fn without_packages(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        !["use rand::", "use regex::", "use md5;"]
            .iter()
            .any(|package| line.starts_with(package))
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Packages that solutions and tests of Go use.
const GO_PACKAGES: [&str; 12] = [
    "bytes",
    "crypto/md5",
    "fmt",
    "github.com/stretchr/testify/assert",
    "math",
    "math/rand",
    "regexp",
    "sort",
    "strconv",
    "strings",
    "testing",
    "time",
];

/// A Go file with the imports that it uses in place of its own: the set has one list for solution
/// and tests together, and Go takes neither an import too few nor one too many.
fn with_imports(file: &str) -> String {
    let mut code = String::new();
    let mut within = false;
    for line in file.lines() {
        match line.trim_start() {
            "import (" => within = true,
            ")" if within => within = false,
            "package main" => {}
            line if within || line.starts_with("import \"") => {}
            _code => code.push_str(&format!("{line}\n")),
        }
    }
    let used = GO_PACKAGES.iter().filter(|package| {
        let name = package.rsplit('/').next().unwrap_or(package);
        let call = format!("{name}.");
        // What a package gives starts with a capital; "strings." ends a sentence.
        let used = |at: usize| {
            let (before, after) = (&code[..at], &code[at + call.len()..]);
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                && after.starts_with(|c: char| c.is_uppercase())
        };
        code.match_indices(&call).any(|(at, _)| used(at))
    });
    let imports: String = used
        .map(|package| format!("import \"{package}\"\n"))
        .collect();
    format!("package main\n{imports}{code}")
}

fn humaneval_x(name: &str) -> Option<Vec<Task>> {
    let truth = truths("humaneval_x", &format!("humaneval_x_{name}"))?;
    let task = |row: &Value| {
        let id = text(row, "task_id").to_owned();
        let solution = match name {
            "rust" => format!(
                "{}{}",
                without_packages(text(row, "declaration")),
                text(row, "canonical_solution")
            ),
            "go" => with_imports(&format!(
                "package main\n{}{}",
                text(row, "prompt"),
                text(row, "canonical_solution")
            )),
            _ => format!("{}{}", text(row, "prompt"), text(row, "canonical_solution")),
        };
        let mut tests = format!("{}{}", optional(row, "test_setup"), text(row, "test"));
        if name == "go" {
            tests = with_imports(&tests);
        }
        let mut line = asserts(name, &solution, &tests);
        let declaration = without_packages(optional(row, "declaration"));
        declare(name, &mut line, &declaration);
        let truth = truth.get(&id).map(|(word, _)| Truth::of(word))?;
        Some(Task { id, line, truth })
    };
    let rows = lines("humaneval_x", &format!("humaneval_{name}.jsonl"))?;
    Some(rows.iter().filter_map(task).collect())
}

fn multipl_e(name: &str) -> Option<Vec<Task>> {
    let truth = truths("multipl_e", &format!("multipl_e_{name}"))?;
    let language = name.rsplit('-').next().unwrap_or(name);
    let task = |row: &Value| {
        let id = format!("{name}/{}", text(row, "task_id"));
        let mut solution = code_of(text(row, "gpt_solution"));
        // The table's programs have the tests' `main` in place of the answer's.
        let own = match language {
            "cpp" => solution.find("\nint main("),
            "rs" => solution.find("\nfn main("),
            _interpreted => None,
        };
        solution.truncate(own.unwrap_or(solution.len()));
        // The end of the function that a model was asked to complete.
        let tests = text(row, "tests").trim_start_matches('}');
        let mut line = asserts(language, &solution, tests);
        declare(language, &mut line, text(row, "prompt"));
        let truth = truth.get(&id).map(|(word, _)| Truth::of(word))?;
        Some(Task { id, line, truth })
    };
    let rows = lines("multipl_e", &format!("{name}.jsonl.gz"))?;
    Some(rows.iter().filter_map(task).collect())
}

fn mbxp_js() -> Option<Vec<Task>> {
    let truth = truths("mbxp", "mbxp_js")?;
    let lodash = crate::tools::folder().join("jest/node_modules/lodash");
    let lodash = format!("require({lodash:?})");
    let task = |row: &Value| {
        let id = text(row, "task_id").to_owned();
        let solution = format!(
            "{}{}",
            text(row, "prompt"),
            optional(row, "canonical_solution")
        );
        let tests = text(row, "test").replace("require(\"lodash\")", &lodash);
        let line = asserts("js", &solution, &tests);
        let truth = truth.get(&id).map(|(word, _)| Truth::of(word))?;
        Some(Task { id, line, truth })
    };
    let rows = lines("mbxp", "mbjsp_release_v1.2.jsonl.gz")?;
    Some(rows.iter().filter_map(task).collect())
}
