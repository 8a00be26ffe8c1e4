//! QuixBugs: one-line bugs in small algorithms, three of which never end; judged by pytest.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Task, Truth, folder, truths};

/// Those that never end are ended here.
const CPU_MS_MAX: u64 = 5_000;

pub(super) fn quixbugs() -> Option<Vec<Task>> {
    let root = folder("quixbugs")?;
    let truth = truths("quixbugs", "quixbugs")?;
    let mut tasks = Vec::new();
    for (id, (word, note)) in truth {
        let (name, version) = id.split_once(':').expect("NAME:VERSION");
        let line = request(&root, name, version == "fixed");
        let truth = match word.as_str() {
            "pass" => Truth::Passed,
            "timeout" => Truth::Timeout,
            _fail => Truth::Failing(count(&note, "failed=") + count(&note, "errors=")),
        };
        tasks.push(Task { id, line, truth });
    }
    Some(tasks)
}

/// `key` and the number after it in the table's note.
fn count(note: &str, key: &str) -> usize {
    let after = note.split(key).nth(1).unwrap_or_default();
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn request(root: &Path, name: &str, is_fixed: bool) -> Value {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let place = if is_fixed {
        "correct_python_programs"
    } else {
        "python_programs"
    };
    let mut files = Map::new();
    for program in [name, "node"] {
        let path = format!("{place}/{program}.py");
        if let Some(content) = read(&path) {
            files.insert(path, json!(content));
        }
    }
    let mut test_files = Map::new();
    let test = format!("python_testcases/test_{name}.py");
    let json = format!("json_testcases/{name}.json");
    for path in [
        test.as_str(),
        &json,
        "python_testcases/load_testdata.py",
        "python_testcases/node.py",
        "conftest.py",
    ] {
        if let Some(content) = read(path) {
            test_files.insert(path.to_owned(), json!(content));
        }
    }
    let mut args = vec![test.as_str()];
    if is_fixed {
        args.push("--correct");
    }
    json!({
        "policy": super::POLICY, "argv": [], "files": files,
        "limits": {"wall_ms_max": 120_000, "cpu_ms_max": CPU_MS_MAX},
        "verify": {"kind": "pytest", "args": args, "test_files": test_files},
    })
}
