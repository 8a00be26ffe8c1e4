//! What is read of Java files, and what is written for the judge.

use super::*;

const SOURCE: &str = "import java.util.*;\nimport evil.Thing;\nimport static java.lang.Math.*;\n\n\
    public class Solution {\n    /** public int no(int x) { */\n    private int seen = count(1, 2);\n    \
    private int helper(int x) { return x; }\n    Solution(int start) { seen = start; }\n    \
    public List<List<Integer>> rows(final int[] a, Map<String, ? extends Number> m) throws java.io.IOException {\n        \
    if (a.length > 0) { return null; }\n        return new ArrayList<>() {{ add(null); }};\n    }\n    \
    @Override\n    public String toString() { return \"}\"; }\n    static long sum(long... all) { return 0; }\n    \
    public Thing thing() { return null; }\n    public static void main(String[] args) { }\n}\nclass Other { }\n";

#[test]
fn methods_of_plain_types_are_written_anew() {
    let found = classes(SOURCE);
    assert_eq!(found.len(), 2, "{found:#?}");
    let class = &found[0];
    assert!(class.is_public && class.has_main && class.has_constructor);
    let text = stand_in(class);
    for line in [
        "Solution(int a0) {",
        "public java.util.List<java.util.List<java.lang.Integer>> rows(int[] a0, \
         java.util.Map<java.lang.String, ? extends java.lang.Number> a1) throws java.io.IOException {",
        "public static long sum(long... a0) {",
        "new String[] {\"[I\", \"java.util.Map\"}",
        "public java.lang.String toString() {",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("helper") && !text.contains("Thing") && !text.contains(" no("));
    assert_eq!(library_imports(SOURCE), ["import java.util.*;"]);
}

#[test]
fn a_declaration_may_end_in_the_middle() {
    let text = "import java.util.*;\nclass Solution {\n    public boolean f(List<Double> numbers, double threshold) {\n";
    let found = classes(text);
    assert_eq!(found[0].methods.len(), 1, "{found:#?}");
    assert_eq!(found[0].methods[0].params[1].runtime, "double");
}

#[test]
fn nothing_of_the_solution_or_the_expectation_is_on_the_wrong_side() {
    let source = b"class Solution { int f(int x) { return secretOfSolution; } }".to_vec();
    let files = BTreeMap::from([("s.java".to_owned(), source)]);
    let spec = AssertsSpec {
        file: "s.java".to_owned(),
        code: "class Main { public static void main(String[] a) { assert new Solution().f(1) == 4711; } }".to_owned(),
        ..AssertsSpec::default()
    };
    let plan = plan(&spec, &files, "the-nonce").expect("is planned");
    let text = |build: &Option<Build>| {
        let files = &build.as_ref().expect("is built").files;
        files
            .values()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect::<String>()
    };
    let (solution, judge) = (text(&plan.solution_build), text(&plan.judge_build));
    assert!(!solution.contains("4711") && !solution.contains("the-nonce"));
    assert!(judge.contains("public int f(int a0)") && !judge.contains("secretOfSolution"));
}
