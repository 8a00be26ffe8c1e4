//! The static check of a request's files: what is certainly wrong is told with its line before any
//! other sandbox is spent, what is right or cannot be checked runs as ever.

use sandbox_client::pb;
use serde_json::{Value, json};

use crate::audit;
use crate::world::{Outcome, World};

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn asked(files: Value, check: &str) -> Value {
    json!({
        "policy": "python", "files": files, "argv": ["python3", "main.py"],
        "static_check": check, "verify": { "kind": "exit_code" },
    })
}

fn diagnostics(outcome: &Outcome) -> Vec<(String, u64, String)> {
    let verdict = outcome.result.verdict.as_ref().expect("a verdict");
    let one = |found: &pb::Diagnostic| {
        (
            found.file().to_owned(),
            found.line.unwrap_or(0),
            found.code().to_owned(),
        )
    };
    verdict.diagnostics.iter().map(one).collect()
}

/// Roles of the sandboxes that the log has for this run.
fn roles(world: &World, outcome: &Outcome) -> Vec<String> {
    let run = outcome.result.run_id.as_str();
    let records = audit::records(world).into_iter();
    let of_run = records.filter(|it| it["run_id"] == run && it["event"] == "sandbox_requested");
    let role = |it: Value| it["data"]["role"].as_str().unwrap_or_default().to_owned();
    of_run.map(role).collect()
}

#[test]
fn what_is_certainly_wrong_is_told_and_not_run() {
    const TEST: &str = "static_check::what_is_certainly_wrong_is_told_and_not_run";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let broken = json!({ "main.py": "print(1)\n", "lib/broken.py": "x = 1\ndef f(:\n    pass\n" });
    let outcome = world.run(&asked(broken.clone(), "syntax"));
    assert_eq!(outcome.verdict(), pb::Outcome::CompileError);
    let ending = outcome.result.ending.as_ref().expect("an ending");
    assert_eq!(ending.kind(), pb::EndingKind::NotStarted);
    assert_eq!(ending.path(), "lib/broken.py");
    let told = diagnostics(&outcome);
    assert_eq!(told[0].0, "lib/broken.py");
    assert_eq!(told[0].1, 2, "{told:?}");
    assert_eq!(outcome.stdout(), "", "nothing ran");
    assert_eq!(roles(&world, &outcome), ["check"]);
    // Without the check the same files run, and the broken one is nobody's.
    let outcome = world.run(&asked(broken, "none"));
    assert_eq!(outcome.verdict(), pb::Outcome::Passed);
    assert_eq!(roles(&world, &outcome), ["program"]);

    let missing =
        json!({ "main.py": "import os, helper\nimport nowhere_at_all\n", "helper.py": "" });
    let outcome = world.run(&asked(missing.clone(), "imports"));
    assert_eq!(outcome.verdict(), pb::Outcome::CompileError);
    assert_eq!(
        diagnostics(&outcome),
        [("main.py".to_owned(), 2, "missing-import".to_owned())]
    );
    // The syntax alone has nothing against it: the program itself then finds it missing.
    let outcome = world.run(&asked(missing, "syntax"));
    assert_eq!(outcome.verdict(), pb::Outcome::Failed);
    assert_eq!(roles(&world, &outcome), ["check", "program"]);
}

#[test]
fn the_check_makes_nothing_pass_and_stops_nothing_right() {
    const TEST: &str = "static_check::the_check_makes_nothing_pass_and_stops_nothing_right";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let files = json!({
        "main.py": "import json\nprint(json.dumps(1))\n",
        "a.js": "const f = () => 1;\n", "b.go": "package b\n", "c.rs": "fn f() {}\n",
        "D.java": "class D {}\n", "e.sh": "echo\n", "notes.txt": "def f(:",
        // What macros mean cannot be known: a warning, and no more.
        "g.cpp": "TEST_CASE(\"x\") { REQUIRE(1 }\n",
    });
    let outcome = world.run(&asked(files, "imports"));
    outcome.exited(0);
    assert_eq!(outcome.verdict(), pb::Outcome::Passed);
    let told = diagnostics(&outcome);
    assert!(
        !told.is_empty() && told.iter().all(|it| it.0 == "g.cpp"),
        "{told:?}"
    );

    // A solution through the judge, and one that is wrong though it parses.
    let judged = |body: &str| {
        json!({
            "policy": "python", "argv": [], "static_check": "syntax",
            "files": { "s.py": format!("def f(): return {body}\n") },
            "verify": { "kind": "asserts", "file": "s.py", "code": "assert f() == 1" },
        })
    };
    let right = world.run(&judged("1"));
    assert_eq!(right.verdict(), pb::Outcome::Passed);
    assert_eq!(roles(&world, &right), ["check", "solution", "judge"]);
    assert_eq!(world.run(&judged("2")).verdict(), pb::Outcome::Failed);
    assert_eq!(
        world.run(&judged("(1")).verdict(),
        pb::Outcome::CompileError
    );

    // Files that break the check itself leave the run as it is.
    let deep = "(".repeat(3 << 20);
    let files = json!({ "main.py": "print(1)\n", "deep.py": deep });
    let outcome = world.run(&asked(files, "syntax"));
    let verdict = outcome.verdict();
    assert!(
        matches!(verdict, pb::Outcome::Passed | pb::Outcome::CompileError),
        "{verdict:?}"
    );
}
