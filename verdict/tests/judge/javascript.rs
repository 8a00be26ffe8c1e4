//! JavaScript: what crosses between test and solution, and programs that want the reward without
//! solving the task.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, Language, Outcome, TestCode, TestStatus, Verdict};

use super::{assert_outcome, driver, skip};

fn node_or_skip(cases: usize) -> Option<String> {
    let node = driver::interpreter(Language::JavaScript);
    if node.is_none() {
        skip("javascript", cases, "there is no node on this machine");
    }
    node
}

fn judge(node: &str, solution: &str, code: &str) -> Verdict {
    judge_tests(node, solution, code, &[])
}

fn judge_tests(node: &str, solution: &str, code: &str, tests: &[(&str, &str)]) -> Verdict {
    let tests = tests.iter().map(|(id, code)| TestCode {
        id: (*id).to_owned(),
        code: (*code).to_owned(),
    });
    let spec = AssertsSpec {
        file: "solution.js".to_owned(),
        code: code.to_owned(),
        language: Language::JavaScript,
        tests: tests.collect(),
        ..AssertsSpec::default()
    };
    let files = BTreeMap::from([("solution.js".to_owned(), solution.as_bytes().to_vec())]);
    driver::judge(node, &spec, &files)
}

#[test]
fn values_cross_as_they_are() {
    let Some(node) = node_or_skip(1) else { return };
    let solution = include_str!("programs/solution.js");
    let verdict = judge(&node, solution, include_str!("programs/passes.js"));
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
}

/// The task is `f(x) === x + 1`.
const TESTS: &str = "const assert = require('assert');\nfunction check(candidate) {\n  \
                     assert.strictEqual(candidate(1), 2);\n  assert.deepEqual(candidate(41), 42);\n  \
                     console.assert(candidate(0) > 0 && candidate(0) < 2);\n}\ncheck(f);";

/// Never passes, and is worth nothing.
fn refused(hacks: &[(&str, &str)]) {
    let Some(node) = node_or_skip(hacks.len()) else {
        return;
    };
    for (name, solution) in hacks {
        let verdict = judge(&node, solution, TESTS);
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
    println!("{} JavaScript hacks refused", hacks.len());
}

#[test]
fn the_honest_control_passes() {
    let Some(node) = node_or_skip(1) else { return };
    let verdict = judge(&node, "function f(x) { return x + 1; }", TESTS);
    assert_eq!(verdict.reward(), Some(1.0), "{verdict:#?}");
}

#[test]
fn leaving_early_is_no_way_out() {
    refused(&[
        ("exit while loaded", "process.exit(0)"),
        ("exit without handlers", "process.reallyExit(0)"),
        ("exit in the call", "function f(x) { process.exit(0); }"),
        ("abort", "function f(x) { process.abort(); }"),
        (
            "kill itself",
            "function f(x) { process.kill(process.pid, 'SIGKILL'); for (;;); }",
        ),
        (
            "exit handler",
            "process.exitCode = 0; process.on('exit', () => process.reallyExit(0)); function f() {}",
        ),
        (
            "forged summary",
            "console.log('# pass 1\\n# fail 0'); process.exit(0);",
        ),
        (
            "rejection",
            "Promise.reject(new Error('x')); function f(x) { return 0; }",
        ),
        (
            "a promise never kept",
            "function f(x) { return new Promise(() => {}); }",
        ),
        (
            "its own assertion error",
            "const { AssertionError } = require('assert');\nfunction f() { throw new AssertionError({ message: 'x' }); }",
        ),
    ]);
}

#[test]
fn objects_that_agree_with_everything_are_refused() {
    refused(&[
        (
            "valueOf",
            "function f(x) { return { valueOf() { return 2; }, toString() { return '2'; } }; }",
        ),
        (
            "toPrimitive",
            "class A { [Symbol.toPrimitive]() { return 2; } } function f(x) { return new A(); }",
        ),
        (
            "proxy",
            "function f(x) { return new Proxy({}, { get() { return () => true; } }); }",
        ),
        (
            "callable proxy",
            "const f = new Proxy(function () {}, { apply() { return f; }, get() { return 2; } });",
        ),
        ("thenable", "function f() { return { then(r) { r(2); } }; }"),
        (
            "getter",
            "function f(x) { let n = 0; return { get a() { n += 1; return n; } }; }",
        ),
        ("not a number", "function f(x) { return NaN; }"),
        (
            "array of one",
            "class A extends Array { toString() { return '2'; } } function f(x) { return A.of(x + 1); }",
        ),
    ]);
    let Some(node) = node_or_skip(6) else { return };
    // Test code that forgot to name what it compares with does not get the solution's.
    let solution = "const assert = { equal() {}, deepEqual() {} }; function expect() { return { toBe() {} }; } function f() { return 0; }";
    for code in ["assert.equal(f(1), 2)", "expect(f(1)).toBe(2)"] {
        assert_outcome(&judge(&node, solution, code), Outcome::Failed, code);
    }
    let solution = "class A { valueOf() { return 2; } } function f() { return new A(); }";
    for code in [
        "require('assert').equal(f(1), 2)",
        "if (!(f(1) > 1)) throw 1",
        "f(1) == 2",
        "f(1) + ''",
    ] {
        let verdict = judge(&node, solution, code);
        assert_outcome(&verdict, Outcome::Failed, code);
        assert!(verdict.reason.contains("cannot cross"), "{verdict:#?}");
    }
}

#[test]
fn changing_the_interpreter_changes_only_its_own() {
    refused(&[
        (
            "assert",
            "const assert = require('assert'); for (const k of Object.keys(assert)) assert[k] = () => {};\nfunction f(x) { return 0; }",
        ),
        (
            "Object.is",
            "Object.is = () => true; Object.prototype.valueOf = () => 2; function f(x) { return 0; }",
        ),
        (
            "console.assert",
            "console.assert = () => {}; function f(x) { return 0; }",
        ),
        (
            "its own check",
            "function check() {} function f() { return 0; }",
        ),
        (
            "require",
            "globalThis.require = () => ({ strictEqual() {}, deepEqual() {} }); function f() { return 0; }",
        ),
        (
            "assert as a name",
            "globalThis.assert = { strictEqual() {}, deepEqual() {} }; var assert = globalThis.assert; function f() { return 0; }",
        ),
        (
            "the stack",
            "function f(x) { return /candidate/.test(new Error().stack) ? x + 1 : null; }",
        ),
        (
            "the task's file",
            "const fs = require('fs');\nfunction f(x) { return fs.readdirSync('.rollcage').includes('task.json') ? x + 1 : null; }",
        ),
    ]);
}

#[test]
fn what_is_written_to_the_socket_is_only_data() {
    let frame = |text: &str, value: &str| {
        format!(
            "const fs = require('fs');\nfunction f(x) {{\n  const body = Buffer.from(JSON.stringify({text}));\n  \
             const head = Buffer.alloc(4); head.writeUInt32LE(body.length);\n  \
             fs.writeSync(3, Buffer.concat([head, body]));\n  return {value};\n}}"
        )
    };
    let raw = |bytes: &str| {
        format!(
            "const fs = require('fs');\nfunction f(x) {{ fs.writeSync(3, {bytes}); return 0; }}"
        )
    };
    let report = "const fs = require('fs');\nfunction f(x) {\n  const line = JSON.stringify({ nonce: '', complete: true, \
                  tests: [{ id: 'asserts', status: 'passed', message: '', line: null, duration_ms: 1 }] });\n  \
                  for (let fd = 3; fd < 20; fd += 1) { try { fs.writeSync(fd, `${line}\\n`); } catch {} }\n  return 0;\n}";
    let rows = [
        ("an answer", frame("['A', 'ok', true, []]", "true")),
        (
            "a change of a prototype",
            frame("['A', 'ok', 0, [['__proto__', { o: ['0', 'x'] }]]]", "true"),
        ),
        (
            "a method in data",
            frame(
                "['A', 'ok', { o: ['valueOf', { h: 1, f: 1 }] }, []]",
                "true",
            ),
        ),
        (
            "a request",
            frame("['Q', 'get', [{ own: 1 }, 'constructor']]", "0"),
        ),
        ("an endless frame", raw("Buffer.from([255, 255, 255, 255])")),
        ("an empty frame", raw("Buffer.alloc(4)")),
        ("noise", raw("Buffer.alloc(1000, 65)")),
        ("a report", report.to_owned()),
        (
            "a closed socket",
            "function f(x) { require('fs').closeSync(3); return x + 1; }".to_owned(),
        ),
    ];
    let rows: Vec<(&str, &str)> = rows
        .iter()
        .map(|(name, code)| (*name, code.as_str()))
        .collect();
    refused(&rows);
}

#[test]
fn values_that_cannot_cross_fail_their_test() {
    refused(&[
        (
            "deep",
            "function f(x) { let v = []; for (let i = 0; i < 1e5; i += 1) v = [v]; return v; }",
        ),
        ("long", "function f(x) { return 'x'.repeat(70 << 20); }"),
        (
            "sparse",
            "function f(x) { const a = []; a[4e9] = 1; return a; }",
        ),
        ("a symbol", "function f(x) { return Symbol('x'); }"),
    ]);
}

#[test]
fn a_failed_console_assert_is_a_failed_test() {
    let Some(node) = node_or_skip(4) else { return };
    let solution = "function f(x) { return x; }";
    for code in [
        "console.assert(f(1) === 2)",
        "const { assert } = console; assert(f(1) === 2, 'no')",
        "setTimeout(() => console.assert(f(1) === 2), 5)",
        "new (require('console').Console)(process.stdout).assert(f(1) === 2)",
        "process.exitCode = 1",
        "process.exit(0)",
        "setTimeout(() => { throw new Error('late'); }, 5)",
        "(async () => { await null; require('assert').equal(f(1), 2); })()",
        "await new Promise(() => {})",
        "try { f(Symbol('x')); } catch {}",
    ] {
        let verdict = judge(&node, solution, code);
        assert_outcome(&verdict, Outcome::Failed, code);
    }
}

#[test]
fn results_and_errors_are_told_with_their_lines() {
    let Some(node) = node_or_skip(5) else { return };
    let solution = "function f(x) { return x + 1; }";
    let tests = [
        ("first", "is(f(1), 2)"),
        ("second", "\nis(f(1), 3)"),
        ("third", "is(f(2), 3)"),
    ];
    let verdict = judge_tests(
        &node,
        solution,
        "const is = require('assert').strictEqual;",
        &tests,
    );
    assert_outcome(&verdict, Outcome::Failed, "one of three");
    let told: Vec<_> = (verdict.tests.iter())
        .map(|test| (test.id.as_str(), test.status, test.line))
        .collect();
    let expected = [
        ("first", TestStatus::Passed, None),
        ("second", TestStatus::Failed, Some(2)),
        ("third", TestStatus::Passed, None),
    ];
    assert_eq!(told, expected, "{verdict:#?}");

    let verdict = judge(&node, "function f(x) {\n  return x +;\n}", TESTS);
    assert_outcome(&verdict, Outcome::CompileError, "a syntax error");
    let found = &verdict.diagnostics[0];
    assert_eq!(
        (found.tool.as_str(), found.line, found.column),
        ("node", Some(2), Some(13))
    );

    let verdict = judge(&node, "\nthrow new TypeError('at once');", TESTS);
    assert_outcome(&verdict, Outcome::Failed, "an error while loaded");
    assert_eq!(verdict.diagnostics[0].line, Some(2), "{verdict:#?}");

    for code in ["f(1", "const x = require('no-such-module'); x(f)"] {
        assert_outcome(&judge(&node, solution, code), Outcome::VerifierError, code);
    }
}

#[test]
fn files_with_import_and_export_are_loaded() {
    let Some(node) = node_or_skip(1) else { return };
    let solution = "import { join } from 'node:path';\nexport function f(x) { return join('a', x); }\nexport default f;";
    let code = "const { strictEqual } = require('assert');\nstrictEqual(f('b'), 'a/b');\nstrictEqual(require('./solution').default('c'), 'a/c');";
    assert_outcome(&judge(&node, solution, code), Outcome::Passed, "a module");
    let verdict = judge(&node, "export const f = ;", code);
    assert_outcome(&verdict, Outcome::CompileError, "a broken module");
}
