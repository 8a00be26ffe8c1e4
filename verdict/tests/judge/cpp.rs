//! C++ and C: what crosses between test and solution, and programs that want the reward without
//! solving the task.

use std::collections::BTreeMap;

use verdict::{AssertsSpec, Language, Outcome, TestCode, TestStatus, Verdict};

use super::{assert_outcome, driver, skip};

fn compiler_or_skip(cases: usize) -> bool {
    let found = driver::interpreter(Language::Cpp).is_some();
    if !found {
        skip("cpp", cases, "there is no g++ on this machine");
    }
    found
}

fn spec(language: Language, declaration: &str, code: &str) -> AssertsSpec {
    let file = if language == Language::C {
        "solution.c"
    } else {
        "solution.cpp"
    };
    AssertsSpec {
        file: file.to_owned(),
        code: code.to_owned(),
        language,
        declaration: declaration.to_owned(),
        ..AssertsSpec::default()
    }
}

fn judge(spec: &AssertsSpec, solution: &str) -> Verdict {
    let files = BTreeMap::from([(spec.file.clone(), solution.as_bytes().to_vec())]);
    driver::judge("", spec, &files)
}

#[test]
fn values_cross_as_they_are() {
    if !compiler_or_skip(1) {
        return;
    }
    let passes = include_str!("programs/passes.cpp");
    let (declaration, code) = passes.split_once("// tests\n").expect("has both parts");
    let verdict = judge(
        &spec(Language::Cpp, declaration, code),
        include_str!("programs/solution.cpp"),
    );
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
}

#[test]
fn values_of_c_cross_as_they_are() {
    if !compiler_or_skip(1) {
        return;
    }
    let passes = include_str!("programs/passes.c");
    let (declaration, code) = passes.split_once("// tests\n").expect("has both parts");
    let solution = include_str!("programs/solution.c");
    let verdict = judge(&spec(Language::C, declaration, code), solution);
    assert_outcome(&verdict, Outcome::Passed, "one of everything");
    // And as the solution itself declares them.
    let verdict = judge(&spec(Language::C, "", code), solution);
    assert_outcome(&verdict, Outcome::Passed, "declared by the solution");
}

const DECLARATION: &str =
    "#include <vector>\n#include <string>\nusing namespace std;\nint f(int x);";
/// The task is `f(x) == x + 1`.
const TESTS: &str = "#include <assert.h>\nint main() {\n  auto candidate = f;\n  assert(candidate(1) == 2);\n  \
                     assert(f(41) == 42);\n}\n";

#[test]
fn each_trouble_is_told_as_what_it_is() {
    if !compiler_or_skip(9) {
        return;
    }
    let of = |solution: &str| judge(&spec(Language::Cpp, DECLARATION, TESTS), solution);
    assert_outcome(
        &of("int f(int x) { return x + 1; }\nint main() { return 7; }"),
        Outcome::Passed,
        "right",
    );
    let verdict = of("int f(int x) { return x == 1 ? 2 : 0; }");
    assert_outcome(&verdict, Outcome::Failed, "wrong");
    assert_eq!(
        (verdict.tests[0].line, verdict.tests[0].status),
        (Some(5), TestStatus::Failed)
    );
    assert!(verdict.reason.contains("f(41) == 42"), "{}", verdict.reason);
    let verdict = of("int f(int x) {\n  return y;\n}");
    assert_outcome(&verdict, Outcome::CompileError, "does not compile");
    let said = &verdict.diagnostics[0];
    assert_eq!(
        (said.file.as_str(), said.line),
        ("solution.cpp", Some(2)),
        "{said:?}"
    );
    assert_outcome(
        &of("int g(int x) { return x; }"),
        Outcome::CompileError,
        "has another name",
    );
    let verdict = of("#include <stdexcept>\nint f(int) { throw std::out_of_range(\"far\"); }");
    assert_outcome(&verdict, Outcome::Failed, "throws");
    assert!(
        verdict
            .reason
            .contains("the solution raised std::out_of_range: far"),
        "{}",
        verdict.reason
    );
    let verdict = of("int f(int x) { int* p = nullptr; return *p + x; }");
    assert_outcome(&verdict, Outcome::Failed, "crashes");
    let broken = judge(
        &spec(
            Language::Cpp,
            DECLARATION,
            "int main() { assert(f(1 == 2); }",
        ),
        "int f(int x) { return 2; }",
    );
    assert_outcome(
        &broken,
        Outcome::VerifierError,
        "test code does not compile",
    );
    let nothing = judge(
        &spec(Language::Cpp, "int x;", TESTS),
        "int f(int x) { return 2; }",
    );
    assert_outcome(&nothing, Outcome::VerifierError, "nothing is declared");
}

#[test]
fn tests_of_a_list_are_told_one_by_one() {
    if !compiler_or_skip(1) {
        return;
    }
    let list = AssertsSpec {
        code: "static int twice(int x) { return 2 * x; }".to_owned(),
        tests: [
            ("a", "assert(f(1) == twice(1));"),
            ("b", "assert(f(2) == twice(2));"),
            ("c", "assert(f(3) == 4);"),
        ]
        .map(|(id, code)| TestCode {
            id: id.to_owned(),
            code: code.to_owned(),
        })
        .to_vec(),
        ..spec(
            Language::Cpp,
            &format!("#include <assert.h>\n{DECLARATION}"),
            "",
        )
    };
    let verdict = judge(&list, "int f(int x) { return x + 1; }");
    assert_outcome(&verdict, Outcome::Failed, "one of three fails");
    let statuses: Vec<TestStatus> = verdict.tests.iter().map(|test| test.status).collect();
    assert_eq!(
        statuses,
        [TestStatus::Passed, TestStatus::Failed, TestStatus::Passed]
    );
}

/// Never passes, and is worth nothing.
fn refused(spec: &AssertsSpec, hacks: &[(&str, &str)]) {
    for (name, solution) in hacks {
        let verdict = judge(spec, solution);
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
}

/// A whole report, and an answer to whatever is asked, from a process that never had the nonce.
const FORGED: &str = r#"
#include <unistd.h>
#include <string.h>
#include <stdlib.h>
static void frame(int fd, const char* text) {
  unsigned n = strlen(text); unsigned char head[4] = {(unsigned char)n, (unsigned char)(n >> 8), 0, 0};
  write(fd, head, 4); write(fd, text, n);
}
static void report(int fd) {
  const char* text = "{\"version\":1,\"nonce\":\"nonce-of-the-test\",\"load\":{\"state\":\"ok\"},\"verifier_error\":null,"
    "\"changed\":[],\"tests\":[{\"id\":\"asserts\",\"status\":\"passed\",\"message\":\"\",\"line\":null,\"duration_ms\":0}],"
    "\"gone\":null,\"complete\":true}\n";
  write(fd, text, strlen(text));
}
"#;

#[test]
fn hacks_get_nothing() {
    if !compiler_or_skip(14) {
        return;
    }
    let forged = |more: &str| format!("{FORGED}{more}");
    let early = forged(
        "__attribute__((constructor)) static void early() { for (int fd = 0; fd < 32; ++fd) report(fd); _exit(0); }\nint f(int x) { return 0; }",
    );
    let many = forged(
        "int f(int x) { for (int i = 0; i < 9; ++i) frame(3, \"{\\\"ok\\\":true,\\\"args\\\":[]}\"); return 0; }",
    );
    let ahead = forged(
        "struct S { S() { frame(3, \"{\\\"ok\\\":null,\\\"args\\\":[]}\"); frame(3, \"{\\\"ok\\\":{\\\"i\\\":\\\"2\\\"},\\\"args\\\":[null]}\"); } } s;\nint f(int x) { exit(0); }",
    );
    let hacks: &[(&str, &str)] = &[
        (
            "exits with 0",
            "#include <stdlib.h>\nint f(int x) { exit(0); }",
        ),
        (
            "exits at once",
            "#include <unistd.h>\nint f(int x) { _exit(0); }",
        ),
        ("aborts", "#include <stdlib.h>\nint f(int x) { abort(); }"),
        (
            "exits while it is loaded",
            "#include <stdlib.h>\nstruct S { S() { exit(0); } } s;\nint f(int x) { return 0; }",
        ),
        ("writes a report everywhere", &early),
        ("answers more than it is asked", &many),
        ("answers ahead, then leaves", &ahead),
        (
            "has an assert of its own",
            "#undef assert\n#define assert(x) ((void)0)\nint f(int x) { return 0; }",
        ),
        (
            "has the assertion's end",
            "#include <stdlib.h>\nextern \"C\" void __assert_fail(const char*, const char*, unsigned, const char*) noexcept { exit(0); }\nint f(int x) { return 0; }",
        ),
        (
            "makes comparison true",
            "struct T { int v; bool operator==(int) const { return true; } operator int() const { return 0; } };\nT f(int x) { return {x}; }",
        ),
        (
            "redefines main",
            "int f(int x) { return 0; }\n#undef main\nint main() { return 0; }",
        ),
        ("changes what tests are", "#define f(x) 0\nint f(int x);"),
        (
            "names our own",
            "namespace rollcage { int serve(...) { return 0; } }\nint f(int x) { return 0; }",
        ),
        (
            "reads the judge's files",
            "#include <fstream>\nint f(int x) { std::ifstream in(\".rollcage/nonce\"); std::ifstream more(\".rollcage/judge.cpp\"); return in || more ? 2 : 0; }",
        ),
    ];
    refused(&spec(Language::Cpp, DECLARATION, TESTS), hacks);
}

/// Functions that only the solution declares do not take the place of a library's, or of the
/// test code's own.
#[test]
fn a_solution_s_own_declarations_get_nothing() {
    if !compiler_or_skip(7) {
        return;
    }
    let cpp = spec(
        Language::Cpp,
        "",
        "bool same(vector<int> a, vector<int> b) { return a == b; }\nint main() { assert(same(f(2), {1, 2})); assert(abs(g(1) - 0.5) < 1e-6); }",
    );
    let right = "using namespace std;\n#include <vector>\nvector<int> f(int n) { vector<int> a; for (int i = 1; i <= n; ++i) a.push_back(i); return a; }\nfloat g(int x) { return x / 2.0; }\n".replacen("using namespace std;\n#include <vector>\n", "#include <vector>\nusing namespace std;\n", 1);
    assert_outcome(&judge(&cpp, &right), Outcome::Passed, "right");
    let wrong = "#include <vector>\nusing namespace std;\nvector<int> f(int n) { return {}; }\nfloat g(int x) { return 9; }\n";
    let with = |more: &str| format!("{wrong}{more}");
    let same = with("bool same(vector<int> a, vector<int> b) { return true; }");
    let near = with("bool same(const vector<int>& a, const vector<int>& b) { return true; }");
    let abs_float = with("float abs(float x) { return 0; }");
    let abs_double = with("double abs(double x) { return 0; }");
    refused(
        &cpp,
        &[
            ("the test's own function", &same),
            ("nearly the test's own", &near),
            ("a library's function", &abs_float),
            ("another of the library's", &abs_double),
        ],
    );
    let c = spec(
        Language::C,
        "",
        "#include <string.h>\nint main() { assert(strcmp(f(1), \"one\") == 0); }",
    );
    refused(
        &c,
        &[(
            "the C library's comparison",
            "char* f(int x) { return \"no\"; }\nint strcmp(const char* a, const char* b) { return 0; }",
        )],
    );
}
