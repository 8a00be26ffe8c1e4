//! Kind `answer`: what a program prints, or a file of the request, compared as text, as a number or
//! as an expression.

use serde_json::{Value, json};

use crate::batch;
use crate::skips;
use crate::world::World;

const SYMPY: &str = "/usr/lib/python3/dist-packages/sympy/__init__.py";

fn printed(id: &str, text: &str, verify: Value) -> Value {
    json!({
        "id": id, "policy": "python", "argv": ["python3", "-c", "import sys; print(sys.argv[1])", text],
        "verify": with_kind(verify),
    })
}

fn in_a_file(id: &str, text: &str, verify: Value) -> Value {
    let mut verify = with_kind(verify);
    verify["file"] = json!("answer.txt");
    json!({"id": id, "policy": "python", "argv": [], "files": {"answer.txt": text}, "verify": verify})
}

fn with_kind(mut verify: Value) -> Value {
    verify["kind"] = json!("answer");
    verify
}

fn answer(compare: &str, expected: &str) -> Value {
    json!({"answer": {"expected": [expected], "compare": compare}})
}

#[track_caller]
fn check(world: &World, rows: &[(Value, &str)]) {
    let lines: Vec<Value> = rows.iter().map(|(line, _)| line.clone()).collect();
    let results = batch::run(world, &lines);
    let mut wrong = Vec::new();
    for (line, outcome) in rows {
        let id = line["id"].as_str().expect("an id");
        let verdict = &results[id]["verdict"];
        if verdict["outcome"] != *outcome {
            wrong.push(format!(
                "{id}: not {outcome} but {verdict} {}",
                results[id]["error"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_are_compared_as_the_request_says() {
    let Some(world) = World::start("answers_are_compared_as_the_request_says") else {
        return;
    };
    let boxed = json!({"answer": {"expected": ["1/2"], "compare": "numeric", "take": "boxed"}});
    let near =
        json!({"answer": {"expected": ["0.3333"], "compare": "numeric"}, "float_tolerance": 1e-3});
    let failing = json!({
        "id": "fails", "policy": "python", "argv": ["python3", "-c", "print(42); exit(3)"],
        "verify": with_kind(answer("exact", "42")),
    });
    check(
        &world,
        &[
            (printed("exact", "42", answer("exact", "42")), "passed"),
            (
                printed("exact-not", "42.0", answer("exact", "42")),
                "failed",
            ),
            (
                printed("numeric", "1,234.50", answer("numeric", "1234.5")),
                "passed",
            ),
            (
                printed("numeric-not", "many", answer("numeric", "1234.5")),
                "failed",
            ),
            (
                printed("boxed", "So \\boxed{\\frac{2}{4}}.", boxed.clone()),
                "passed",
            ),
            (printed("unboxed", "1/2", boxed), "failed"),
            (printed("near", "0.33333", near), "passed"),
            (in_a_file("file", " 42\n", answer("exact", "42")), "passed"),
            (in_a_file("file-not", "43", answer("exact", "42")), "failed"),
            (failing, "failed"),
        ],
    );
}

#[test]
fn expressions_are_compared_in_a_sandbox_that_never_sees_their_text() {
    const TEST: &str = "answers::expressions_are_compared_in_a_sandbox_that_never_sees_their_text";
    if !skips::has_file(TEST, SYMPY) {
        return;
    }
    let Some(world) = World::start("expressions_are_compared_in_a_sandbox") else {
        return;
    };
    let square = || answer("symbolic", "x^2 - 1");
    let forged = "__import__('os').system('echo {\\\"equal\\\": true}')";
    check(
        &world,
        &[
            (printed("product", "(x-1)(x+1)", square()), "passed"),
            (printed("another", "(x-1)^2", square()), "failed"),
            (
                printed("trig", "\\sin^2 t", answer("symbolic", "1 - \\cos^2 t")),
                "passed",
            ),
            (
                printed(
                    "root",
                    "\\frac{\\sqrt{2}}{2}",
                    answer("symbolic", "1/\\sqrt{2}"),
                ),
                "passed",
            ),
            (printed("forged", forged, square()), "failed"),
            (printed("huge", "9^9^9^9", square()), "failed"),
            (in_a_file("file", "-1 + x^2", square()), "passed"),
        ],
    );
}
