//! Node's own test runner, and Jest, over small modules.

use verdict::{Framework, Outcome, TestStatus, Verdict};

use super::{assert_outcome, driver, has, ids};

const TESTS: &str = "const { test, describe } = require('node:test');\n\
    const assert = require('node:assert');\nconst { twice } = require('./it.js');\n\
    test('two', () => assert.strictEqual(twice(1), 2));\n\
    describe('more', () => {\n  test('four', () => assert.strictEqual(twice(2), 4));\n\
    \x20 test('later', { skip: true }, () => {});\n});\n";

fn node(text: &str) -> Verdict {
    let files = [("it.js", text), ("it.test.js", TESTS)];
    driver::run(Framework::NodeTest, &files)
}

#[test]
fn node_tells_solutions_apart() {
    if !has("node", "node/solutions") {
        return;
    }
    let right = node("exports.twice = (n) => n * 2;");
    assert_outcome(&right, Outcome::Passed, "");
    assert_eq!(ids(&right, TestStatus::Passed), ["more > four", "two"]);
    assert_eq!(ids(&right, TestStatus::Skipped), ["more > later"]);
    let wrong = node("exports.twice = (n) => n + 1;");
    assert_outcome(&wrong, Outcome::Failed, "more > four");
    assert_eq!(ids(&wrong, TestStatus::Failed), ["more > four"]);
    let broken = node("exports.twice = (n => n * 2;");
    assert_outcome(&broken, Outcome::CompileError, "it.js:1");
    assert_eq!(broken.diagnostics[0].line, Some(1), "{broken:#?}");
}

#[test]
fn node_that_leaves_before_its_tests_is_no_pass() {
    if !has("node", "node/exits") {
        return;
    }
    let leaves = node("process.exit(0);");
    assert_outcome(&leaves, Outcome::NoTests, "no file of tests ran any");
    let later = node("exports.twice = () => process.exit(0);");
    assert_ne!(later.outcome(), Outcome::Passed, "{later:#?}");
}

/// A `console.assert` that does not hold only prints, and the program ends with 0.
#[test]
fn console_assert_is_a_failure() {
    if !has("node", "node/console_assert") {
        return;
    }
    let tests = |expected: u32| {
        format!(
            "const {{ test }} = require('node:test');\nconst {{ twice }} = require('./it.js');\n\
             test('two', () => console.assert(twice(1) === {expected}, 'not so'));\n"
        )
    };
    let run = |tests: &str| {
        let files = [
            ("it.js", "exports.twice = (n) => n * 2;"),
            ("it.test.js", tests),
        ];
        driver::run(Framework::NodeTest, &files)
    };
    assert_outcome(&run(&tests(2)), Outcome::Passed, "");
    assert_outcome(
        &run(&tests(3)),
        Outcome::Failed,
        "console.assert does not hold",
    );
}

const JEST: &str = "const { twice } = require('./it.js');\n\
    test('two', () => expect(twice(1)).toBe(2));\n\
    describe('more', () => {\n  test('four', () => expect(twice(2)).toBe(4));\n\
    \x20 test.skip('later', () => {});\n});\n";

fn jest(text: &str) -> Verdict {
    let files = [
        ("it.js", text),
        ("it.test.js", JEST),
        ("package.json", "{}"),
    ];
    driver::run(Framework::Jest, &files)
}

#[test]
fn jest_tells_solutions_apart() {
    if !has("jest", "jest/solutions") {
        return;
    }
    let right = jest("exports.twice = (n) => n * 2;");
    assert_outcome(&right, Outcome::Passed, "");
    assert_eq!(ids(&right, TestStatus::Passed), ["more > four", "two"]);
    assert_eq!(ids(&right, TestStatus::Skipped), ["more > later"]);
    let wrong = jest("exports.twice = (n) => n + 1;");
    assert_outcome(&wrong, Outcome::Failed, "more > four");
    let failed = wrong
        .tests
        .iter()
        .find(|test| test.id == "more > four")
        .expect("it");
    assert_eq!((failed.status, failed.line), (TestStatus::Failed, Some(4)));
    let broken = jest("exports.twice = (n => n * 2;");
    assert_outcome(&broken, Outcome::Failed, "");
    let leaves = jest("process.exit(0);");
    assert_ne!(leaves.outcome(), Outcome::Passed, "{leaves:#?}");
}
