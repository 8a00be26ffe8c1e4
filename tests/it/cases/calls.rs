//! Calls of functions in the languages that have them one process a call: values there and back, and
//! solutions that answer in the place of their function.

use serde_json::{Value, json};

use super::compiled::{is_there, task};
use super::{FAILED, PASSED, Row, check};
use crate::tools;

const CPP: &str = "#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>
using namespace std;
static int runs = 0;
int f(int n) {
    if (n == 3) abort();
    if (n == 4) for (volatile int i = 0;; i = i + 1) {}
    if (n == 5) _exit(0);
    if (n == 6) { (void)!write(3, \"\\x11\\0\\0\\0{\\\"ok\\\":{\\\"i\\\":\\\"12\\\"}}\", 21); }
    return 2 * n + runs++;
}
map<string, vector<double>> g(map<string, vector<double>> all, char c, pair<int, string> p,
                              optional<int> o, set<long> s) {
    all[string(1, c)] = {double(p.first), o ? *o + 0.5 : -1, double(s.size())};
    return all;
}
";

const C: &str = "#include <stdlib.h>
#include <unistd.h>
int f(int n) {
    static int runs;
    if (n == 3) abort();
    if (n == 4) for (;;) {}
    if (n == 5) _exit(0);
    if (n == 6) { if (write(3, \"\\x11\\0\\0\\0{\\\"ok\\\":{\\\"i\\\":\\\"12\\\"}}\", 21)) {} }
    return 2 * n + runs++;
}
double g(double *items, int count, const char *text) {
    double sum = 0;
    for (int at = 0; at < count; at++) sum += items[at];
    return sum + text[0];
}
";

const RUST: &str = "use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicI32, Ordering};
static RUNS: AtomicI32 = AtomicI32::new(0);
pub fn f(n: i32) -> i32 {
    match n {
        3 => panic!(\"down\"),
        4 => loop { std::hint::spin_loop() },
        5 => std::process::exit(0),
        6 => {
            let mut socket = unsafe { std::fs::File::from_raw_fd(3) };
            socket.write_all(b\"\\x11\\0\\0\\0{\\\"ok\\\":{\\\"i\\\":\\\"12\\\"}}\").unwrap();
            std::mem::forget(socket);
        }
        _ => {}
    }
    2 * n + RUNS.fetch_add(1, Ordering::SeqCst)
}
pub fn g(mut all: BTreeMap<String, Vec<f64>>, c: char, p: (i32, String), o: Option<i32>,
         s: HashSet<i64>) -> BTreeMap<String, Vec<f64>> {
    let o = o.map_or(-1.0, |o| f64::from(o) + 0.5);
    all.insert(c.to_string(), vec![f64::from(p.0), o, s.len() as f64]);
    all
}
";

const JAVASCRIPT: &str = "let runs = 0;
function f(n) {
    if (n === 3) throw new TypeError('down');
    if (n === 4) for (;;) { }
    if (n === 5) process.exit(0);
    if (n === 6) require('fs').writeSync(3, '\\x11\\0\\0\\0[\"A\",\"ok\",12,[ ]]');
    return 2 * n + runs++;
}
async function g(all, c, p, o, s) {
    await null;
    all[c] = [p[0], o === null ? -1 : o + 0.5, s.size];
    return all;
}
class Solution { add(a, b) { return a + b; } }
const same = (x) => x;
const object = () => new Solution();
const equal = () => ({ valueOf: () => 42, toJSON: () => 42 });
module.exports = { f };
";

const LANGUAGES: [(&str, &str, &str); 4] = [
    ("javascript", "s.js", JAVASCRIPT),
    ("cpp", "s.cpp", CPP),
    ("c", "s.c", C),
    ("rust", "s.rs", RUST),
];

/// Calls of `function`: arguments and what it must return.
fn calls(language: &str, id: &str, function: &str, cases: &Value) -> Value {
    let found = LANGUAGES.iter().find(|(name, ..)| *name == language);
    let (_, file, solution) = found.expect("a language");
    let cases = cases.as_array().expect("a list").iter();
    let cases = cases.map(|case| json!({"args": case[0], "expected": case[1]}));
    let mut line = task(language, id, file, solution, &cases.collect());
    line["verify"]["function"] = json!(function);
    line
}

/// The right value is twice the argument: the sixth answers itself first, and then again.
fn odd(language: &str) -> Row {
    let cases: Vec<Value> = (1..8)
        .map(|n| json!([[n], 2 * n + i32::from(n == 2)]))
        .collect();
    let states = &[PASSED, FAILED, "error", "timeout", "error", "error", PASSED];
    (calls(language, "odd", "f", &json!(cases)), FAILED, states)
}

/// Everything plain, there and back; and what is not of the type that is wanted.
fn values(language: &str) -> Row {
    let args = json!([{"a": [1, 2.5]}, "b", {"$tuple": [7, "x"]}, 3, {"$set": [1, 2]}]);
    let none = json!([{}, "b", [7, "x"], null, {"$set": []}]);
    let cases = json!([
        [args, {"a": [1, 2.5], "b": [7, 3.5, 2]}],
        [none, {"b": [7, -1, 0]}],
        [none, {"b": [7, -1, 1]}],
        [[{}, "bc", 7, null, {"$set": []}], {"b": [7, -1, 0]}],
    ]);
    let states: &[&str] = if language == "javascript" {
        &[PASSED, PASSED, FAILED, FAILED]
    } else {
        &[PASSED, PASSED, FAILED, "error"]
    };
    (calls(language, "values", "g", &cases), FAILED, states)
}

fn of_c() -> Vec<Row> {
    let sums = json!([[[[1, 2.5], 2, "A"], 68.5], [[[], 0, "\u{1}"], 1]]);
    let absent = calls("c", "absent", "h", &json!([[[], 1]]));
    let complex = calls("c", "complex", "f", &json!([[[{"$complex": [1, 2]}], 1]]));
    let mut declared = calls("c", "declared", "f", &json!([[[1], 2]]));
    declared["verify"]["declaration"] = json!("int f(int n);");
    let mut broken = calls("c", "broken", "f", &json!([[[1], 2]]));
    broken["files"]["s.c"] = json!("int f(int n) {\n    return x;\n}\n");
    vec![
        (calls("c", "sums", "g", &sums), PASSED, &[PASSED, PASSED]),
        (absent, FAILED, &[]),
        // What the author gives and the language has not is nobody's failure.
        (complex, "verifier_error", &[]),
        (declared, PASSED, &[PASSED]),
        (broken, "compile_error", &[]),
    ]
}

fn of_javascript() -> Vec<Row> {
    let call = |id, function, cases: Value| calls("javascript", id, function, &cases);
    let there = json!([
        [[{"$float": "nan"}], {"$float": "nan"}],
        [[{"$int": "9007199254740993"}], {"$int": "9007199254740993"}],
        [[{"$bytes": "AP8="}], {"$bytes": "AP8="}],
        [[{"$dict": [[1, [2.5]]]}], {"$dict": [[1, [2.5]]]}],
        [["ä\n"], "ä\n"],
        [[[[]]], [[]]],
    ]);
    let mut syntax = call("syntax", "f", json!([[[1], 2]]));
    syntax["files"]["s.js"] = json!("let 1;\n");
    let mut module = call("module", "twice", json!([[[4], 8]]));
    module["files"]["s.js"] = json!("export const twice = (n) => 2 * n;\n");
    vec![
        (call("same", "same", there), PASSED, &[PASSED; 6]),
        (
            call("class", "Solution().add", json!([[[1, 2], 3]])),
            PASSED,
            &[PASSED],
        ),
        (
            call("object", "object", json!([[[], 42]])),
            FAILED,
            &["error"],
        ),
        (
            call("equal", "equal", json!([[[], 42]])),
            FAILED,
            &["error"],
        ),
        (call("absent", "h", json!([[[], 1]])), FAILED, &["error"]),
        (syntax, "compile_error", &[]),
        (module, PASSED, &[PASSED]),
    ]
}

#[test]
fn functions_of_other_languages_are_called_one_process_a_case() {
    const TEST: &str = "functions_of_other_languages_are_called_one_process_a_case";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let mut rows = Vec::new();
    for (language, ..) in LANGUAGES {
        if !is_there(TEST, language) {
            continue;
        }
        rows.push(odd(language));
        match language {
            "c" => rows.extend(of_c()),
            other => rows.push(values(other)),
        }
        if language == "javascript" {
            rows.extend(of_javascript());
        }
    }
    check(&world, &rows);
}
