//! No false alarm: programs that are known to run must pass the check. Reads the sets that
//! `ROLLCAGE_DATA_DIR` names, else `../shared/data` beside the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use syntax::{Language, Source, check_syntax};
use verdict::Severity;

/// A language of HumanEval-X: its name there, and an extension.
const LANGUAGES: [(&str, &str); 6] = [
    ("cpp", "cpp"),
    ("go", "go"),
    ("java", "java"),
    ("js", "js"),
    ("python", "py"),
    ("rust", "rs"),
];

fn data() -> PathBuf {
    let named = std::env::var_os("ROLLCAGE_DATA_DIR").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    named.unwrap_or(beside)
}

/// Where `./x test` counts what could not be tried.
fn skip(test: &str, path: &Path) {
    let line = format!("SKIP {test}: no data set at {}\n", path.display());
    if let Some(log) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        use std::io::Write;
        let mut log = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(log)
            .expect("the list of skips can be written");
        log.write_all(line.as_bytes()).expect("a skip is counted");
    }
}

/// Ids that pass by the table beside the data.
fn passing(table: &Path) -> BTreeMap<String, bool> {
    let text = fs::read_to_string(table).expect("the table is beside the set");
    let rows = text.lines().skip(1).map(|line| {
        let mut fields = line.split('\t');
        let id = fields.next().unwrap_or_default().to_owned();
        (id, fields.next() == Some("pass"))
    });
    rows.collect()
}

fn alarms(name: &str, extension: &str, text: &str) -> Vec<String> {
    let path = format!("{name}.{extension}");
    let language = Language::of_path(Path::new(&path)).expect("a known extension");
    let source = Source {
        path: &path,
        text: text.as_bytes(),
        language,
    };
    check_syntax(&source)
        .into_iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| format!("{path}:{:?}: {}", found.line, found.message))
        .collect()
}

#[test]
fn solutions_that_pass_their_tests_raise_no_alarm() {
    let folder = data().join("humaneval_x");
    if !folder.is_dir() {
        skip("solutions_that_pass_their_tests_raise_no_alarm", &folder);
        return;
    }
    let (mut seen, mut raised) = (0, Vec::new());
    for (language, extension) in LANGUAGES {
        let table = format!("GROUND_TRUTH.humaneval_x_{language}.tsv");
        let truth = passing(&folder.join(table));
        let file = folder.join(format!("humaneval_{language}.jsonl"));
        let tasks = fs::read_to_string(file).expect("the set is there");
        for line in tasks.lines() {
            let task: Value = serde_json::from_str(line).expect("JSON lines");
            let text = |field: &str| task[field].as_str().unwrap_or_default();
            let id = text("task_id");
            if truth.get(id) != Some(&true) {
                continue;
            }
            // The Rust tasks alone keep the first line of the function apart from the prompt.
            let head = match language {
                "rust" => text("declaration"),
                _ => "",
            };
            let package = match language {
                "go" => "package main\n",
                _ => "",
            };
            let code = format!(
                "{package}{}{head}{}",
                text("prompt"),
                text("canonical_solution")
            );
            let close = if language == "rust" && !balanced(&code) {
                "\n}"
            } else {
                ""
            };
            seen += 1;
            raised.extend(alarms(
                &id.replace('/', "_"),
                extension,
                &format!("{code}{close}"),
            ));
        }
    }
    assert!(seen > 500, "only {seen} solutions were seen");
    assert!(raised.is_empty(), "{raised:#?}");
}

/// Some canonical solutions leave the function's last brace to the tests that follow.
fn balanced(code: &str) -> bool {
    code.matches('{').count() <= code.matches('}').count()
}
