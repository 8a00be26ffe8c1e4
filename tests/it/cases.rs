//! Kind `cases`: programs, commands and functions judged case by case, each in a fork or process of
//! its own; and solutions that forge, kill, outlive or remember their cases, which pass none by it.

mod calls;
mod compiled;

use serde_json::{Value, json};

use crate::batch;
use crate::world::World;

fn task(id: &str, solution: &str, verify: Value) -> Value {
    let mut verify = verify;
    verify["kind"] = json!("cases");
    json!({
        "id": id, "policy": "python", "argv": [], "files": {"s.py": solution}, "verify": verify,
        "limits": {"wall_ms_max": 60_000, "cpu_ms_max": 30_000},
    })
}

/// Calls of `f` in `solution`: arguments and what they must return.
fn calls(id: &str, solution: &str, cases: &Value) -> Value {
    let cases = cases.as_array().expect("a list").iter();
    let cases: Vec<Value> = cases
        .map(|case| json!({"args": case[0], "expected": case[1]}))
        .collect();
    let verify = json!({"file": "s.py", "function": "f", "cases": cases, "case_wall_ms": 2000});
    task(id, solution, verify)
}

/// Runs of `solution`: what it reads and must write.
fn programs(id: &str, solution: &str, cases: &Value) -> Value {
    let cases = cases.as_array().expect("a list").iter();
    let cases: Vec<Value> = cases
        .map(|case| json!({"stdin": case[0], "stdout": case[1]}))
        .collect();
    task(
        id,
        solution,
        json!({"file": "s.py", "cases": cases, "case_wall_ms": 2000}),
    )
}

fn statuses(result: &Value) -> Vec<&str> {
    let tests = result["verdict"]["tests"].as_array();
    let tests = tests.map_or(&[][..], Vec::as_slice);
    tests
        .iter()
        .map(|test| test["status"].as_str().expect("a status"))
        .collect()
}

/// A row: the task, the outcome it deserves, and the state of each case.
type Row = (Value, &'static str, &'static [&'static str]);

#[track_caller]
fn check(world: &World, rows: &[Row]) {
    let lines: Vec<Value> = rows.iter().map(|(line, ..)| line.clone()).collect();
    let results = batch::run(world, &lines);
    let mut wrong = Vec::new();
    for (line, outcome, states) in rows {
        let id = line["id"].as_str().expect("an id");
        let result = &results[id];
        let told = (&result["verdict"]["outcome"], statuses(result));
        if told != (&json!(outcome), states.to_vec()) {
            wrong.push(format!(
                "{id}: {told:?}, not {outcome} {states:?}; {}; {}; {}; {}",
                result["verdict"]["reason"],
                result["verdict"]["tests"],
                result["ending"],
                result["error"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const PASSED: &str = "passed";
const FAILED: &str = "failed";

const DOUBLE: &str = "import sys\nprint(int(input()) * 2)\nsys.exit(0)\n";

/// Programs, commands, functions and methods.
fn honest() -> Vec<Row> {
    let double = |id, cases: Value| programs(id, DOUBLE, &cases);
    let argv = json!(["sh", "-c", "read n; echo $((n + $1))", "sh"]);
    let command = json!({"argv": argv, "cases": [
        {"id": "one", "stdin": "20\n", "argv": ["22"], "stdout": "42\n"},
        {"id": "two", "stdin": "1\n", "argv": ["1"], "stdout": "3\n"},
        {"id": "code", "stdin": "x\n", "argv": ["+"], "exit_code": 2},
    ]});
    let class = "class Solution:\n    def add(self, a, *, b=0):\n        return a + b\n";
    let class_cases = json!({"file": "s.py", "function": "Solution().add", "float_tolerance": 1e-6,
        "cases": [{"args": [0.1], "kwargs": {"b": 0.2}, "expected": 0.3}]});
    let mut stopping = double(
        "stopping",
        json!([["1\n", "2\n"], ["1\n", "3\n"], ["1\n", "2\n"]]),
    );
    stopping["verify"]["stop_on_first_fail"] = json!(true);
    let mut share = double("share", json!([["1\n", "2\n"], ["1\n", "3\n"]]));
    share["verify"]["partial_credit"] = json!(true);
    let right = double("double", json!([["1\n", "2\n"], ["21\n", "42\n"]]));
    // To the end of its input, whether or not a line ends there, or there is none at all.
    let sum = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n";
    let sums = json!([["1\n2\n", "3\n"], ["1 2", "3\n"], ["", "0\n"]]);
    // Beside its three streams only the folder that it lists.
    let lists = "import os\nprint(len(os.listdir('/proc/self/fd')))\n";
    let listed = json!([["", "4\n"], ["1", "4\n"]]);
    let wrong = double("wrong", json!([["1\n", "2\n"], ["x\n", "42\n"]]));
    vec![
        (right, PASSED, &[PASSED, PASSED]),
        (wrong, FAILED, &[PASSED, "error"]),
        (
            task("command", "", command),
            FAILED,
            &[PASSED, FAILED, PASSED],
        ),
        (task("class", class, class_cases), PASSED, &[PASSED]),
        (stopping, FAILED, &[PASSED, FAILED, "skipped"]),
        (share, FAILED, &[PASSED, FAILED]),
        (
            programs("sum", sum, &sums),
            PASSED,
            &[PASSED, PASSED, PASSED],
        ),
        (
            programs("listed", lists, &listed),
            PASSED,
            &[PASSED, PASSED],
        ),
    ]
}

/// Values of every kind, there and back.
fn values() -> Row {
    let values = json!([
        [[{"$bytes": "AP8="}], {"$tuple": [{"$bytes": "AP8="}, null]}],
        [[{"$set": [1, "a"]}], {"$tuple": [{"$set": ["a", 1]}, null]}],
        [[{"$float": "nan"}], {"$tuple": [{"$float": "nan"}, null]}],
        [[{"$dict": [[1, [2.5]]]}], {"$tuple": [{"$dict": [[1, [2.5]]]}, null]}],
        [[{"$int": "100000000000000000000"}], {"$tuple": [{"$int": "100000000000000000000"}, null]}],
        [["ä\n"], {"$tuple": ["ä\n", null]}],
        [[true], {"$tuple": [1, null]}],
        [[[1, 2]], [[1, 2], null]],
    ]);
    let all_but_the_last = &[
        PASSED, PASSED, PASSED, PASSED, PASSED, PASSED, PASSED, FAILED,
    ];
    let solution = "def f(x): return (x, None)\n";
    (calls("values", solution, &values), FAILED, all_but_the_last)
}

/// Solutions that cannot be run, or not be called.
fn broken() -> Vec<Row> {
    let one = json!([[[], 1]]);
    let call =
        |id, solution, outcome, status| -> Row { (calls(id, solution, &one), outcome, status) };
    let object = "class A: pass\ndef f(): return A()\n";
    let syntax = programs("syntax-io", "print(\n", &json!([["", ""]]));
    vec![
        call("no-function", "def g(): pass\n", FAILED, &["skipped"]),
        call(
            "syntax",
            "def f() return 1\n",
            "compile_error",
            &["skipped"],
        ),
        (syntax, "compile_error", &["skipped"]),
        call(
            "exit",
            "import sys\nsys.exit(0)\n",
            "no_tests",
            &["skipped"],
        ),
        call("raise", "1 / 0\n", FAILED, &["skipped"]),
        call("raises", "def f(): return {}[1]\n", FAILED, &["error"]),
        call("object", object, FAILED, &["error"]),
    ]
}

#[test]
fn programs_commands_and_functions_are_judged_case_by_case() {
    let Some(world) = World::start("programs_commands_and_functions_are_judged_case_by_case")
    else {
        return;
    };
    let mut rows = honest();
    rows.push(values());
    rows.extend(broken());
    check(&world, &rows);
}

/// Writes a whole report of the case after this one, with the right value, to every descriptor.
const FORGER: &str = "import os, struct
def f(n):
    if n == 1:
        value = b'r' + b'i' + struct.pack('<q', 22)
        frame = struct.pack('<IIBiQQQI', 37 + len(value), 1, ord('e'), 0, 1, 1, len(value), len(value)) + value
        for fd in range(3, 64):
            for data in (frame, value):
                try: os.write(fd, data)
                except OSError: pass
        print(frame)
    return 11
";

/// Leaves a process that goes on writing, and looks whether one of the case before still does.
const LEAVER: &str = "import os, time
def f(n):
    if n == 1:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    with open('/tmp/alive', 'w') as file: file.write(str(time.monotonic()))
            os._exit(0)
        while not os.path.exists('/tmp/alive'): pass
        return 'left'
    before = open('/tmp/alive').read()
    time.sleep(0.3)
    return 'gone' if open('/tmp/alive').read() == before else 'there'
";

const STATE: &str = "n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n";
const PARENT: &str = "import os\ndef f(n):\n    os.kill(os.getppid(), 9)\n    return 11 * n\n";
const EVERYBODY: &str = "import os\ndef f(n):\n    os.kill(-1, 9)\n    return 11 * n\n";
const BOTH: &str = "import os\ndef f(n):\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n    \
                    return 11 * n\n";
const EQUAL: &str =
    "class A(int):\n    def __eq__(self, other): return True\ndef f(n): return A(7)\n";
const BOMB: &str = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n";
const CRASH: &str = "import os, signal\nprint('42')\nos.kill(os.getpid(), signal.SIGSEGV)\n";
const THREAD: &str = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), \
                      print('42'))).start()\n";
const LATE: &str = "def f(n):\n    while n == 1: pass\n    return 22\n";
const HUNGRY: &str = "def f(n): return [0] * 10 ** 14 if n == 1 else 22\n";

/// Functions: the right values are 11 for 1 and 22 for 2.
fn odd_functions() -> Vec<Row> {
    let two = json!([[[1], 11], [[2], 22]]);
    let call =
        |id, solution, outcome, states| -> Row { (calls(id, solution, &two), outcome, states) };
    let mut by_cpu = calls("cpu", LATE, &two);
    by_cpu["verify"]["case_cpu_ms"] = json!(500);
    by_cpu["verify"]["case_wall_ms"] = json!(30_000);
    let leaver = calls("leaver", LEAVER, &json!([[[1], "left"], [[2], "gone"]]));
    let state = calls("state", STATE, &json!([[[0], 1], [[0], 1], [[0], 2]]));
    let exits = "import os\ndef f(n): os._exit(0)\n";
    vec![
        call("forger", FORGER, FAILED, &["error", FAILED]),
        (leaver, PASSED, &[PASSED, PASSED]),
        (state, FAILED, &[PASSED, PASSED, FAILED]),
        (by_cpu, "timeout", &["timeout", PASSED]),
        call("exits", exits, FAILED, &["error", "error"]),
        call("both", BOTH, FAILED, &["error", "error"]),
        call("parent", PARENT, FAILED, &["skipped", "skipped"]),
        call("everybody", EVERYBODY, FAILED, &["skipped", "skipped"]),
        call("late", LATE, "timeout", &["timeout", PASSED]),
        call("equal", EQUAL, FAILED, &["error", "error"]),
        call("hungry", HUNGRY, FAILED, &["error", PASSED]),
    ]
}

fn odd_programs() -> Vec<Row> {
    let run = |id, solution, cases: Value| programs(id, solution, &cases);
    let flood = run(
        "flood",
        "while True: print('x' * 1000)\n",
        json!([["", ""]]),
    );
    let bomb = run("bomb", BOMB, json!([["", "x"], ["", "x"]]));
    let crash = run("crash", CRASH, json!([["", "42\n"]]));
    let thread = run("thread", THREAD, json!([["", "42\n"]]));
    vec![
        (flood, FAILED, &["error"]),
        (bomb, "timeout", &["timeout", "timeout"]),
        (crash, FAILED, &["error"]),
        (thread, PASSED, &[PASSED]),
    ]
}

#[test]
fn solutions_that_play_with_their_cases_gain_nothing() {
    let Some(world) = World::start("solutions_that_play_with_their_cases_gain_nothing") else {
        return;
    };
    let mut rows = odd_functions();
    rows.extend(odd_programs());
    check(&world, &rows);
}

#[test]
fn ten_thousand_cases_go_into_one_request() {
    let Some(world) = World::start("ten_thousand_cases_go_into_one_request") else {
        return;
    };
    let cases: Vec<Value> = (0..10_000)
        .map(|n| json!({"args": [n], "expected": n * n}))
        .collect();
    let solution = "def f(n): return n * n if n != 7777 else 0\n";
    let verify = json!({"file": "s.py", "function": "f", "cases": cases});
    let mut line = task("many", solution, verify);
    line["limits"] = json!({"wall_ms_max": 200_000, "cpu_ms_max": 60_000});
    let results = batch::run(&world, &[line]);
    let verdict = &results["many"]["verdict"];
    let tests = verdict["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 10_000, "{}", verdict["reason"]);
    let bad: Vec<&Value> = (tests.iter())
        .filter(|test| test["status"] != PASSED)
        .collect();
    assert_eq!(bad.len(), 1, "{}", verdict["reason"]);
    assert_eq!(bad[0]["id"], "cases/7778");
    assert_eq!(verdict["outcome"], FAILED);
    println!(
        "10,000 cases: {} ms of wall time",
        results["many"]["usage"]["wall_ms"]
    );
}
