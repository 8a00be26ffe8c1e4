//! Java: what crosses between test and solution, and programs that want the reward without solving
//! the task.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, Language, Outcome, TestCode, TestStatus, Verdict};

use super::{assert_outcome, driver, skip};

fn java_or_skip(cases: usize) -> Option<String> {
    let java = driver::interpreter(Language::Java);
    if java.is_none() {
        skip("java", cases, "there is no javac on this machine");
    }
    java
}

fn judge(java: &str, solution: &str, spec: AssertsSpec) -> Verdict {
    let spec = AssertsSpec {
        file: "src/Solution.java".to_owned(),
        language: Language::Java,
        ..spec
    };
    let files = BTreeMap::from([(spec.file.clone(), solution.as_bytes().to_vec())]);
    driver::judge(java, &spec, &files)
}

fn by_code(body: &str) -> AssertsSpec {
    AssertsSpec {
        code: format!(
            "public class Main {{\n  public static void main(String[] args) {{\n{body}\n  }}\n}}"
        ),
        ..AssertsSpec::default()
    }
}

/// The task is `f(x) == x + 1`.
const TESTS: &str = "    Solution s = new Solution();\n    \
                     if (s.f(1) != 2 || s.f(41) != 42) throw new AssertionError();";

#[test]
fn values_cross_as_they_are() {
    let Some(java) = java_or_skip(1) else { return };
    let spec = AssertsSpec {
        code: include_str!("programs/passes.java.txt").to_owned(),
        ..AssertsSpec::default()
    };
    let verdict = judge(&java, include_str!("programs/solution.java.txt"), spec);
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
}

#[test]
fn hacks_are_refused() {
    let method = |body: &str| format!("class Solution {{ int f(int x) {{ {body} }} }}");
    let raw = |bytes: &str| {
        method(&format!(
            "try {{ var d = new java.io.FileDescriptor(); var n = java.io.FileDescriptor.class.getDeclaredField(\"fd\"); \
             n.setAccessible(true); n.setInt(d, 3); var out = new java.io.FileOutputStream(d); out.write({bytes}); \
             }} catch (Exception e) {{ }} return 0;"
        ))
    };
    let rows = [
        ("exit while loaded", "class Solution { static { System.exit(0); } int f(int x) { return 2; } }".to_owned()),
        ("halt in the constructor", "class Solution { Solution() { Runtime.getRuntime().halt(0); } int f(int x) { return 2; } }".to_owned()),
        ("exit in the call", method("System.exit(0); return 0;")),
        ("exit in a hook", method("Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); System.exit(0); return 0;")),
        ("an error of its own", method("throw new AssertionError();")),
        ("deep recursion", method("return f(x + 1) + 1;")),
        ("a class that ends the test", "class Solution { static class E extends RuntimeException { public String getMessage() { System.exit(0); return null; } } int f(int x) { throw new E(); } }".to_owned()),
        ("noise", raw("new byte[] {-1, -1, -1, -1}")),
        ("a forged answer", raw("new byte[] {10, 0, 0, 0, 'R', 'i', 0, 0, 0, 9, 0, 0, 0, 0}")),
        ("another type", "class Solution { Object f(int x) { return new Object() { public boolean equals(Object o) { return true; } }; } }".to_owned()),
        ("its own judge", "class Solution { int f(int x) { return 0; } } class Main { public static void main(String[] a) { } }".to_owned()),
    ];
    let Some(java) = java_or_skip(rows.len()) else {
        return;
    };
    for (name, solution) in &rows {
        let verdict = judge(&java, solution, by_code(TESTS));
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
    println!("{} Java hacks refused", rows.len());
}

#[test]
fn objects_that_agree_with_everything_are_refused() {
    let Some(java) = java_or_skip(2) else { return };
    let solution = "import java.util.*;\nclass Solution {\n  static class All { public boolean equals(Object o) { return true; } }\n  \
                    Object one() { return new All(); }\n  \
                    List<Integer> list() { return new ArrayList<>() { public boolean equals(Object o) { return true; } }; }\n}";
    let shadowing = "class Solution { Integer[] f() { return null; } } class Arrays { static boolean equals(Object[] a, Object[] b) { return true; } }";
    let body =
        "if (!Arrays.equals(new Solution().f(), new Integer[] {1})) throw new AssertionError();";
    let spec = by_code(body);
    let spec = AssertsSpec {
        code: format!("import java.util.*;\n{}", spec.code),
        ..spec
    };
    let verdict = judge(&java, shadowing, spec);
    assert_outcome(&verdict, Outcome::Failed, "a class of the library's name");
    for (call, cannot) in [
        ("s.one().equals(1) || Objects.equals(s.one(), 2)", true),
        ("s.list().equals(List.of(1))", false),
    ] {
        let body =
            format!("Solution s = new Solution(); if (!({call})) throw new AssertionError();");
        let verdict = judge(&java, solution, by_code(&body));
        assert_outcome(&verdict, Outcome::Failed, call);
        assert_eq!(
            verdict.reason.contains("cannot cross"),
            cannot,
            "{verdict:#?}"
        );
    }
}

#[test]
fn results_and_errors_are_told_with_their_lines() {
    let Some(java) = java_or_skip(6) else { return };
    let right = "class Solution { int f(int x) { return x + 1; } }";
    assert_outcome(
        &judge(&java, right, by_code(TESTS)),
        Outcome::Passed,
        "the honest control",
    );
    let test = |id: &str, wanted: u8| {
        TestCode {
        id: id.to_owned(),
        code: format!("class Main {{\n  static void main(String[] a) {{\n    assert help(new Solution()) == {wanted};\n  }}\n  static int help(Solution s) {{ return Helper.call(s); }}\n}}")
            .replace("static void main", "public static void main"),
    }
    };
    let spec = AssertsSpec {
        code: "class Helper { static int call(Solution s) { return s.f(1); } }".to_owned(),
        tests: vec![test("first", 2), test("second", 3)],
        ..AssertsSpec::default()
    };
    let verdict = judge(&java, right, spec);
    assert_outcome(&verdict, Outcome::Failed, "one of two");
    let told: Vec<_> = (verdict.tests.iter())
        .map(|test| (test.id.as_str(), test.status, test.line))
        .collect();
    let expected = [
        ("first", TestStatus::Passed, None),
        ("second", TestStatus::Failed, Some(3)),
    ];
    assert_eq!(told, expected, "{verdict:#?}");

    let broken = "class Solution {\n  int f(int x) {\n    return y;\n  }\n}";
    let verdict = judge(&java, broken, by_code(TESTS));
    assert_outcome(&verdict, Outcome::CompileError, "an unknown name");
    let found = &verdict.diagnostics[0];
    assert_eq!(
        (found.file.as_str(), found.line),
        ("src/Solution.java", Some(3)),
        "{verdict:#?}"
    );

    let declared = AssertsSpec {
        declaration: "class Solution { int f(int x); }".to_owned(),
        ..by_code("new Solution().f();")
    };
    assert_outcome(
        &judge(&java, right, declared),
        Outcome::VerifierError,
        "broken test code",
    );
    let verdict = judge(
        &java,
        right,
        by_code("new Solution().f(1); System.exit(0);"),
    );
    assert_outcome(&verdict, Outcome::Failed, "test code that ends the program");
    let spec = AssertsSpec {
        code: "class Main { }".to_owned(),
        ..AssertsSpec::default()
    };
    assert_outcome(
        &judge(&java, right, spec),
        Outcome::VerifierError,
        "no main",
    );
}
