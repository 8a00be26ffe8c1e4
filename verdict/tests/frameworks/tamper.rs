//! Known ways to a reward without a solution in other languages: none passes but those that
//! `docs/tampering.md` says cannot be stopped where solution and tests share a process.

use verdict::{Framework, Isolation, Outcome, Verdict};

use super::{driver, has};

const NODE_TESTS: &str = "const { test } = require('node:test');\nconst assert = require('node:assert');\n\
                          const { add } = require('./it.js');\n\
                          test('small', () => assert.strictEqual(add(2, 3), 5));\n\
                          test('large', () => assert.strictEqual(add(40, 2), 42));\n";
/// Name, solution, and whether it is known to get through.
const NODE: [(&str, &str, bool); 7] = [
    ("exit at load", "process.exit(0);", false),
    (
        "exit in call",
        "exports.add = () => process.exit(0);",
        false,
    ),
    (
        "forged lines, then exit",
        "console.log('TAP version 13\\nok 1 - small\\nok 2 - large\\n1..2\\n# pass 2');\nprocess.exit(0);",
        false,
    ),
    (
        "exit code",
        "process.on('exit', () => { process.exitCode = 0; });\nexports.add = () => 7;",
        false,
    ),
    (
        "every descriptor",
        "const fs = require('fs');\nfor (let fd = 3; fd < 64; fd++) try { fs.writeSync(fd, \
         '{\"event\":\"end\",\"tests\":0}\\n'); } catch {}\nexports.add = () => 7;",
        false,
    ),
    (
        "kills the runner",
        "process.kill(process.ppid, 'SIGKILL');\nexports.add = () => 7;",
        false,
    ),
    (
        "assert replaced",
        "require('node:assert').strictEqual = () => {};\nexports.add = () => 7;",
        false,
    ),
];

const GO_TESTS: &str = "package it\n\nimport \"testing\"\n\n\
                        func TestSmall(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
const GO: [(&str, &str, &str); 3] = [
    (
        "forged lines, then exit",
        "package it\n\nimport (\n\t\"fmt\"\n\t\"syscall\"\n)\n\nfunc Add(a, b int) int {\n\t\
         fmt.Print(\"--- PASS: TestSmall (0.00s)\\nPASS\\n\")\n\tsyscall.Exit(0)\n\treturn 0\n}\n",
        "",
    ),
    (
        "a main of its own",
        "package it\n\nfunc Add(a, b int) int { return 7 }\n",
        "package it\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n",
    ),
    (
        "lines on every descriptor",
        "package it\n\nimport \"syscall\"\n\nfunc init() {\n\tfor fd := 3; fd < 64; fd++ {\n\t\t\
         syscall.Write(fd, []byte(\"{\\\"Action\\\":\\\"pass\\\",\\\"Test\\\":\\\"TestSmall\\\"}\\n\"))\n\t}\n}\n\n\
         func Add(a, b int) int { return 7 }\n",
        "",
    ),
];

const MANIFEST: &str = "[package]\nname = \"it\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const RUST_TESTS: &str = "#[test]\nfn small() { assert_eq!(it::add(2, 3), 5); }\n";
const RUST: [(&str, &str); 3] = [
    (
        "exit in call",
        "pub fn add(_: i32, _: i32) -> i32 { std::process::exit(0) }",
    ),
    (
        "forged lines by way of /proc, then exit",
        "pub fn add(_: i32, _: i32) -> i32 {\n    let text = \"{\\\"type\\\":\\\"test\\\",\\\"event\\\":\
         \\\"ok\\\",\\\"name\\\":\\\"small\\\"}\\ntest small ... ok\\n\\ntest result: ok. 1 passed; 0 failed; \
         0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n\";\n    \
         let _ = std::fs::write(\"/proc/self/fd/1\", text);\n    std::process::exit(0)\n}",
    ),
    (
        "an operator that agrees with everything",
        "pub struct Any;\nimpl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }\n\
         impl std::fmt::Debug for Any { fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result \
         { f.write_str(\"5\") } }\npub fn add(_: i32, _: i32) -> i32 { 7 }",
    ),
];

#[track_caller]
fn check(kind: &str, name: &str, verdict: &Verdict, known: bool) {
    println!(
        "{kind:10} {name:42} {:?} {}",
        verdict.outcome(),
        verdict.reason
    );
    assert_eq!(verdict.evidence.isolation, Isolation::Shared);
    assert_eq!(
        verdict.outcome() == Outcome::Passed,
        known,
        "{kind} {name}: {verdict:#?}"
    );
    assert_ne!(
        verdict.outcome(),
        Outcome::VerifierError,
        "{kind} {name}: {verdict:#?}"
    );
}

#[test]
fn no_hack_passes_node_but_those_known() {
    if !has("node", "tamper/node") {
        return;
    }
    for (name, solution, known) in NODE {
        let files = [("it.js", solution), ("it.test.js", NODE_TESTS)];
        check(
            "node_test",
            name,
            &driver::run(Framework::NodeTest, &files),
            known,
        );
    }
}

#[test]
fn no_hack_passes_go() {
    if !has("go", "tamper/go") {
        return;
    }
    for (name, solution, beside) in GO {
        let mut files = vec![
            ("go.mod", "module it\n\ngo 1.18\n"),
            ("it.go", solution),
            ("it_test.go", GO_TESTS),
        ];
        if !beside.is_empty() {
            files.push(("zz_test.go", beside));
        }
        check(
            "go_test",
            name,
            &driver::run(Framework::GoTest, &files),
            false,
        );
    }
}

#[test]
fn no_hack_passes_cargo() {
    if !has("cargo", "tamper/cargo") {
        return;
    }
    for (name, solution) in RUST {
        let files = [
            ("Cargo.toml", MANIFEST),
            ("src/lib.rs", solution),
            ("tests/t.rs", RUST_TESTS),
        ];
        check(
            "cargo_test",
            name,
            &driver::run(Framework::CargoTest, &files),
            false,
        );
    }
}
