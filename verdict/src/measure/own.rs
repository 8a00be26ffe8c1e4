//! Compilers and linters that we start ourselves: how, on which file of our own they must work,
//! and what they write. A tool that cannot even do that file is the image's fault.

use std::collections::BTreeMap;

use crate::diagnostics::DiagnosticFormat as F;
use crate::harness::{HarnessEvidence, HarnessPlan, ReportPipe};
use crate::plan::HARNESS_FOLDER;
use crate::verify::{Language, Measure, MeasureSpec};

/// Prints what is wrong with a Python file, without running it.
pub(super) const COMPILE_PYTHON: &str = include_str!("../../harness/compile_python.py");

/// One tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tool {
    /// Its name in words.
    pub(super) name: &'static str,
    /// A command of the shell; `"$1"` is the file.
    command: &'static str,
    /// The highest exit code with which it has done its work, whatever it found.
    pub(super) code_max: i32,
    /// How it writes its messages.
    pub(super) format: F,
    /// A file of ours that is right: its ending and its text.
    ours: (&'static str, &'static str),
}

const fn tool(
    name: &'static str,
    command: &'static str,
    format: F,
    ours: (&'static str, &'static str),
) -> Tool {
    Tool {
        name,
        command,
        code_max: 1,
        format,
        ours,
    }
}

const C: (&str, &str) = ("c", "int rollcage_check(int x) { return x + 1; }\n");
const CPP: (&str, &str) = ("cpp", C.1);
const RS: (&str, &str) = ("rs", "pub fn check(x: i32) -> i32 {\n    x + 1\n}\n");
const GO: (&str, &str) = ("go", "package main\n\nfunc main() {}\n");
const PY: (&str, &str) = ("py", "X = 1\n");
const JAVA: (&str, &str) = ("java", "class RollcageCheck {}\n");

/// The compiler of a language.
pub(super) fn compiler(language: Language, file: &str) -> Tool {
    match language {
        Language::C => tool("gcc", "gcc -c -o /dev/null \"$1\"", F::GccText, C),
        Language::Cpp => tool("g++", "g++ -c -o /dev/null \"$1\"", F::GccText, CPP),
        Language::Rust if file.ends_with("Cargo.toml") => tool(
            "cargo",
            "case \"$1\" in *.toml) cargo check --offline --quiet --all-targets --message-format=json --manifest-path \"$1\" ;; *) cargo --version ;; esac",
            F::RustcJson,
            RS,
        ),
        Language::Rust => tool(
            "rustc",
            "rustc --edition 2021 --crate-type lib --crate-name checked -A dead_code --emit metadata --out-dir \"$TMPDIR\" --error-format json \"$1\"",
            F::RustcJson,
            RS,
        ),
        Language::Go => tool("go", "go build -o /dev/null \"$1\"", F::GoText, GO),
        Language::Java => tool(
            "javac",
            "javac -encoding UTF-8 -proc:none -implicit:class -d \"$TMPDIR\" \"$1\"",
            F::Javac,
            JAVA,
        ),
        Language::Python => tool(
            "python3",
            "python3 -I .rollcage/compile_python.py \"$1\"",
            F::GccText,
            PY,
        ),
        Language::JavaScript => tool(
            "node",
            "node --check \"$1\"",
            F::Node,
            ("js", "let x = 1;\n"),
        ),
        Language::TypeScript => tool(
            "tsc",
            "tsc --noEmit --pretty false --target es2022 \"$1\"",
            F::Tsc,
            ("ts", "const x: number = 1;\nexport { x };\n"),
        ),
        Language::Php => tool(
            "php",
            "php -n -d display_errors=stderr -d log_errors=0 -l \"$1\"",
            F::Php,
            ("php", "<?php $x = 1;\n"),
        ),
        Language::Ruby => tool("ruby", "ruby -c \"$1\"", F::Ruby, ("rb", "x = 1\n")),
        Language::Perl => tool("perl", "perl -c \"$1\"", F::Perl, ("pl", "my $x = 1;\n")),
        Language::Lua => tool(
            "luac",
            "$(command -v luac || command -v luac5.4 || command -v luac5.3 || echo luac) -p \"$1\"",
            F::Lua,
            ("lua", "local x = 1\n"),
        ),
        Language::Shell => tool("bash", "bash -n \"$1\"", F::Shell, ("sh", "true\n")),
    }
}

/// The linter of a language, where we have one.
pub(super) fn linter(language: Language, file: &str) -> Option<Tool> {
    Some(match language {
        Language::C => tool(
            "gcc -fanalyzer",
            "gcc -fanalyzer -Wall -Wextra -O1 -c -o /dev/null \"$1\"; silenced \"$?\" gcc \"$1\"",
            F::GccText,
            C,
        ),
        Language::Cpp => tool(
            "g++",
            "g++ -Wall -Wextra -O1 -c -o /dev/null \"$1\"; silenced \"$?\" g++ \"$1\"",
            F::GccText,
            CPP,
        ),
        Language::Python => tool(
            "ruff",
            "ruff check --isolated --ignore-noqa --no-cache --output-format json \"$1\"",
            F::RuffJson,
            PY,
        ),
        Language::Go => tool("go vet", "go vet \"$1\"", F::GoText, GO),
        Language::Java => tool(
            "javac -Xlint",
            "javac -encoding UTF-8 -proc:none -Xlint:all -d \"$TMPDIR\" \"$1\"",
            F::Javac,
            JAVA,
        ),
        Language::Rust if file.ends_with("Cargo.toml") => Tool {
            code_max: 101,
            ..tool(
                "cargo clippy",
                "case \"$1\" in *.toml) cargo clippy --offline --quiet --message-format=json --manifest-path \"$1\" ;; *) cargo clippy --version ;; esac",
                F::RustcJson,
                RS,
            )
        },
        Language::Shell => tool(
            "shellcheck",
            "shellcheck --norc -f gcc \"$1\"",
            F::GccText,
            ("sh", "#!/bin/sh\ntrue\n"),
        ),
        _ => return None,
    })
}

/// Whether what is started can run code of the solution: a whole command of the author may, build
/// scripts and macros of a crate do, and so does `BEGIN` in Perl.
pub(super) fn runs_code(spec: &MeasureSpec) -> bool {
    let of_crate = spec.file.ends_with("Cargo.toml");
    !spec.argv.is_empty()
        || match (spec.measure, spec.language) {
            (Measure::Compile, Some(Language::Perl)) => true,
            (_, Some(Language::Rust)) => of_crate,
            _ => false,
        }
}

/// Tells, as a warning where it stands, what makes a compiler of C or C++ keep its warnings to
/// itself: in the file and in those of the task's that it includes. Then exits as the compiler did.
const SILENCED: &str = r##"silenced() {
    for file in $("$2" -MM "$3" 2>/dev/null | tr -d '\\'); do
        case "$file" in *:) continue ;; esac
        sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' "$file" \
            | grep -nE '^(.*\*/)?[[:space:]]*(#|%:|\?\?=)(/\*.*\*/|[[:space:]])*(pragma.*(diagnostic|system_header)|line[[:space:]]|[0-9])|_Pragma' \
            | while IFS=: read -r line _; do
                printf '%s:%s:1: warning: warnings are switched off here [-Wsilenced]\n' "$file" "$line" >&2
            done
    done
    return "$1"
}
"##;

/// Our script. It is read whole before it starts anything.
fn script(tool: Tool) -> String {
    format!(
        "{{\n{SILENCED}check() {{ {}; }}\ncheck \"$2\" 4>&-\ncode=$?\n\
         if [ \"$code\" -ne 0 ]; then\n    check \"$3\" >/dev/null 2>&1 4>&-\n    \
         printf '%s %s\\n' \"$1\" \"$?\" >&4\nfi\nexit \"$code\"\n}}\n",
        tool.command
    )
}

/// Plans to run `tool` on the solution's file, and, if it is not content, on ours.
pub(super) fn plan(tool: Tool, spec: &MeasureSpec, nonce: &str) -> HarnessPlan {
    let ours = format!("{HARNESS_FOLDER}/right.{}", tool.ours.0);
    let ours_text = (tool.ours.1.as_bytes().to_vec(), 0o644);
    let check = format!("{HARNESS_FOLDER}/check.sh");
    let mut files = BTreeMap::from([
        (check.clone(), (script(tool).into_bytes(), 0o644)),
        (ours.clone(), ours_text),
    ]);
    if tool.command.contains("compile_python.py") {
        let path = format!("{HARNESS_FOLDER}/compile_python.py");
        files.insert(path, (COMPILE_PYTHON.as_bytes().to_vec(), 0o644));
    }
    let file = match spec.file.starts_with('-') {
        true => format!("./{}", spec.file),
        false => spec.file.clone(),
    };
    let argv = ["/bin/sh", &check, nonce, &file, &ours];
    let defaults = [
        ("LC_ALL", "C.UTF-8"),
        ("TMPDIR", "/tmp"),
        ("GOCACHE", "/tmp/rollcage-go"),
        ("GOFLAGS", "-mod=mod"),
        ("GOTOOLCHAIN", "local"),
        // A home in the workspace is the solution's: tools read there which toolchain to run.
        ("GOENV", "off"),
        ("HOME", "/tmp"),
        ("CARGO_TARGET_DIR", "/tmp/rollcage-cargo"),
    ];
    let mut env: BTreeMap<String, String> = (defaults.iter())
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    env.extend(spec.env.clone());
    HarnessPlan {
        argv: argv.map(str::to_owned).to_vec(),
        env,
        cwd: String::new(),
        files,
        collect: Vec::new(),
        report: ReportPipe::Private,
    }
}

/// Whether the tool failed on our own file as well; `None` where that was not tried.
pub(super) fn is_broken(nonce: &str, evidence: &HarnessEvidence<'_>) -> Option<bool> {
    let text = String::from_utf8_lossy(evidence.report.inner());
    let code = text.lines().find_map(|line| {
        let (first, code) = line.split_once(' ')?;
        code.parse::<i32>().ok().filter(|_| first == nonce)
    })?;
    Some(code != 0)
}
