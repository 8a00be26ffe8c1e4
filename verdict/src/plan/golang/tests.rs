//! What is read of Go files, and what is written for the judge.

use super::*;

fn signature(source: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (_, function) = functions(source).into_iter().next().expect("a function");
    function.map(|function| (function.params, function.results))
}

#[test]
fn signatures_of_plain_types_are_written_anew() {
    let rows: [(&str, &[&str], &[&str]); 9] = [
        (
            "func F(a []float64, b float64) bool {",
            &["[]float64", "float64"],
            &["bool"],
        ),
        (
            "func F(a, b int) (int, error) {",
            &["int", "int"],
            &["int", "error"],
        ),
        (
            "func F(x, y, z interface{}) interface{}{\n",
            &["interface{}"; 3],
            &["interface{}"],
        ),
        (
            "func F(d map[ string ] []int) [2]int {",
            &["map[string][]int"],
            &["[2]int"],
        ),
        (
            "func F(a int, more ...string) {",
            &["int", "...string"],
            &[],
        ),
        (
            "func F(int, string) (n int, err error) {",
            &["int", "string"],
            &["int", "error"],
        ),
        ("func F() map[rune]int {", &[], &["map[rune]int"]),
        (
            "// func G()\nfunc F(arr []int)[]string {",
            &["[]int"],
            &["[]string"],
        ),
        (
            "func F(\n\ta [][]int,\n\tb int,\n) [][2]int {",
            &["[][]int", "int"],
            &["[][2]int"],
        ),
    ];
    for (source, params, results) in rows {
        let expected = (
            params.iter().map(|&one| one.to_owned()).collect(),
            results.iter().map(|&one| one.to_owned()).collect(),
        );
        assert_eq!(signature(source), Some(expected), "{source}");
    }
    for source in [
        "func F(p *int) {",
        "func F(f func(int) int) int {",
        "func F(c chan int) {",
        "func F(p Point) {",
        "func F[T any](p T) {",
        "func F(a [n]int) {",
    ] {
        assert_eq!(signature(source), None, "{source}");
    }
}

#[test]
fn only_functions_at_the_top_level_are_found() {
    let source = "package main\nimport (\n\"fmt\"\n)\nvar s = `func A() {`\nvar t = \"func B() {\"\n\
                  func (p Point) M() {}\nfunc main() { f := func (x int) int { return x }; fmt.Print(f(1), '{') }\n\
                  func C() int { return 1 }";
    let names: Vec<String> = functions(source)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["main", "C"]);
}

#[test]
fn nothing_of_the_solution_or_the_expectation_is_on_the_wrong_side() {
    let files = BTreeMap::from([(
        "s.go".to_owned(),
        b"package main\nfunc F(x int) int { return secretOfSolution }".to_vec(),
    )]);
    let spec = AssertsSpec {
        file: "s.go".to_owned(),
        code: "package main\nimport \"testing\"\nfunc TestF(t *testing.T) { if F(1) != 4711 { t.Fail() } }".to_owned(),
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
    assert!(judge.contains("func F(a0 int) (r0 int) {") && !judge.contains("secretOfSolution"));
    assert_eq!(
        plan.solution_build.map(|build| build.argv[4..].join(" ")),
        Some(
            ".rollcage/rollcage_wire.go .rollcage/solution.go .rollcage/zz_rollcage_functions.go \
         .rollcage/zz_rollcage_host.go"
                .to_owned()
        )
    );
}

#[test]
fn heads_without_an_end_take_no_time() {
    // Each was looked for to the end of the file: minutes for a file of this size.
    let open = format!("package main\n{}", "func a() ".repeat(400_000));
    assert!(functions(&open).iter().all(|(name, _)| name == "a"));
    let bodies = format!("package main\n{}", "func a() {}\n".repeat(100_000));
    assert_eq!(functions(&bodies).len(), 10_000);
}
