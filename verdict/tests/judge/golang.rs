//! Go: what crosses between test and solution, and programs that want the reward without solving
//! the task.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, Language, Outcome, TestCode, TestStatus, Verdict};

use super::{assert_outcome, driver, skip};

fn go_or_skip(cases: usize) -> Option<String> {
    let go = driver::interpreter(Language::Go);
    if go.is_none() {
        skip("golang", cases, "there is no go on this machine");
    }
    go
}

fn judge(go: &str, solution: &str, spec: AssertsSpec) -> Verdict {
    let spec = AssertsSpec {
        file: "solution.go".to_owned(),
        language: Language::Go,
        ..spec
    };
    let files = BTreeMap::from([(spec.file.clone(), solution.as_bytes().to_vec())]);
    driver::judge(go, &spec, &files)
}

fn by_code(code: &str) -> AssertsSpec {
    AssertsSpec {
        code: format!("package main\nimport \"testing\"\n{code}"),
        ..AssertsSpec::default()
    }
}

/// The task is `F(x) == x + 1`.
const TESTS: &str = "func TestF(t *testing.T) {\n\tif F(1) != 2 {\n\t\tt.Error(\"one\")\n\t}\n\t\
                     if F(41) != 42 {\n\t\tt.Error(\"many\")\n\t}\n}";

#[test]
fn values_cross_as_they_are() {
    let Some(go) = go_or_skip(1) else { return };
    let spec = AssertsSpec {
        code: include_str!("programs/passes.go.txt").to_owned(),
        ..AssertsSpec::default()
    };
    let verdict = judge(&go, include_str!("programs/solution.go.txt"), spec);
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
}

#[test]
fn hacks_are_refused() {
    let forged = "package main\nimport \"os\"\nfunc F(x int) int {\n\tfor fd := 3; fd < 12; fd++ {\n\t\t\
                  os.NewFile(uintptr(fd), \"x\").Write([]byte(TEXT))\n\t}\n\treturn 0\n}";
    let report = "`{\"version\":1,\"nonce\":\"\",\"complete\":true,\"tests\":[]}` + \"\\n\"";
    let answer = "\"\\x1b\\x00\\x00\\x00{\\\"ok\\\":[\\\"9\\\"],\\\"args\\\":[\\\"1\\\"]}\"";
    let rows = [
        (
            "exit while loaded",
            "import \"os\"\nfunc init() { os.Exit(0) }\nfunc F(x int) int { return 0 }",
        ),
        (
            "exit in a variable",
            "import \"os\"\nvar _ = func() int { os.Exit(0); return 0 }()\nfunc F(x int) int { return 0 }",
        ),
        (
            "exit in the call",
            "import \"os\"\nfunc F(x int) int { os.Exit(0); return 0 }",
        ),
        (
            "its own main",
            "import \"fmt\"\nfunc main() { fmt.Println(\"PASS\") }\nfunc F(x int) int { return 0 }",
        ),
        (
            "its own len",
            "func len(x []int) int { return 1 }\nfunc F(x int) int { return 0 }",
        ),
        (
            "its own test",
            "func TestF() {}\nfunc F(x int) int { return 0 }",
        ),
        ("panic", "func F(x int) int { panic(\"no\") }"),
        ("stack overflow", "func F(x int) int { return F(x+1) + 1 }"),
        (
            "kill itself",
            "import \"syscall\"\nfunc F(x int) int { syscall.Kill(syscall.Getpid(), 9); for { } }",
        ),
        (
            "goexit",
            "import \"runtime\"\nfunc F(x int) int { runtime.Goexit(); return 0 }",
        ),
        ("noise", &forged.replace("TEXT", "\"\\xff\\xff\\xff\\xff\"")),
        ("a report", &forged.replace("TEXT", report)),
        ("an answer", &forged.replace("TEXT", answer)),
        (
            "closed descriptors",
            "import \"syscall\"\nfunc F(x int) int { for fd := 0; fd < 12; fd++ { syscall.Close(fd) }; return x + 1 }",
        ),
    ];
    let Some(go) = go_or_skip(rows.len()) else {
        return;
    };
    for (name, solution) in rows {
        let verdict = judge(&go, solution, by_code(TESTS));
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
    println!("{} Go hacks refused", rows.len());
}

#[test]
fn the_honest_control_passes() {
    let Some(go) = go_or_skip(1) else { return };
    let verdict = judge(&go, "func F(x int) int { return x + 1 }", by_code(TESTS));
    assert_eq!(verdict.reward(), Some(1.0), "{verdict:#?}");
}

#[test]
fn results_and_errors_are_told_with_their_lines() {
    let Some(go) = go_or_skip(5) else { return };
    let test = |name: &str, wanted: u8| TestCode {
        id: name.to_lowercase(),
        code: format!(
            "import \"testing\"\nfunc Test{name}(t *testing.T) {{\n\tif F(1) != {wanted} {{\n\t\tt.Errorf(\"no\")\n\t}}\n}}"
        ),
    };
    let spec = AssertsSpec {
        tests: vec![test("First", 2), test("Second", 3)],
        ..AssertsSpec::default()
    };
    let verdict = judge(&go, "func F(x int) int { return x + 1 }", spec);
    assert_outcome(&verdict, Outcome::Failed, "one of two");
    let told: Vec<_> = (verdict.tests.iter())
        .map(|test| (test.id.as_str(), test.status, test.line))
        .collect();
    let expected = [
        ("first", TestStatus::Passed, None),
        ("second", TestStatus::Failed, Some(4)),
    ];
    assert_eq!(told, expected, "{verdict:#?}");

    let broken = "package main\n\nfunc F(x int) int {\n\treturn y\n}\n";
    let verdict = judge(&go, broken, by_code(TESTS));
    assert_outcome(&verdict, Outcome::CompileError, "an unknown name");
    let found = &verdict.diagnostics[0];
    assert_eq!(
        (found.file.as_str(), found.line),
        ("solution.go", Some(4)),
        "{verdict:#?}"
    );

    let verdict = judge(&go, "func G() {}", by_code(TESTS));
    assert_outcome(
        &verdict,
        Outcome::CompileError,
        "a function that is not there",
    );
    let declared = AssertsSpec {
        declaration: "func F(x int) int".to_owned(),
        ..by_code("func TestF(t *testing.T) { F(1, 2) }")
    };
    let verdict = judge(&go, "func F(x int) int { return x }", declared);
    assert_outcome(
        &verdict,
        Outcome::VerifierError,
        "test code that does not compile",
    );
    let verdict = judge(
        &go,
        "func F(x int) int { return x }",
        by_code("func helper() {}"),
    );
    assert_outcome(&verdict, Outcome::VerifierError, "no test");
}
