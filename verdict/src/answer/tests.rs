//! Which answers are right: as text, as numbers, as expressions.

use serde_json::json;

use super::*;

fn spec(compare: AnswerMatch, expected: &str) -> AnswerSpec {
    AnswerSpec {
        expected: vec![expected.to_owned()],
        compare,
        ..AnswerSpec::default()
    }
}

fn grade(spec: &AnswerSpec, text: &str) -> Outcome {
    match grade_answer_text(spec, &Untrusted::new(text.as_bytes().to_vec())) {
        Graded::Verdict(verdict) => verdict.outcome(),
        Graded::Symbolic(_) => Outcome::Unjudged,
    }
}

#[test]
fn a_text_is_compared_but_for_space_at_its_ends() {
    let spec = spec(AnswerMatch::Exact, "forty two");
    assert_eq!(grade(&spec, "  forty two\n"), Outcome::Passed);
    for wrong in ["forty  two", "Forty two", "forty two.", "", "42"] {
        assert_eq!(grade(&spec, wrong), Outcome::Failed, "{wrong:?}");
    }
}

#[test]
fn numbers_are_compared_exactly_unless_a_tolerance_is_given() {
    let right = [
        ("1234567", "1,234,567"),
        ("0.5", ".50"),
        ("0.5", "1/2"),
        ("0.5", "\\frac{1}{2}"),
        ("-3/4", "$-\\dfrac{3}{4}$"),
        ("1e3", "1000"),
        ("1.50e-2", "0.015"),
        ("0", "-0.0"),
        ("7", "+7"),
        ("1/3", "2/6"),
        (
            "100000000000000000000000000000000000000001",
            "100000000000000000000000000000000000000001.0",
        ),
    ];
    for (expected, got) in right {
        assert_eq!(
            grade(&spec(AnswerMatch::Numeric, expected), got),
            Outcome::Passed,
            "{got}"
        );
    }
    let wrong = [
        ("0.3", "0.30000000000000001"),
        ("1234", "12,34"),
        ("1234", "1,2345"),
        ("1/3", "0.3333333333333333"),
        ("12", "twelve"),
        ("12", "12 apples"),
        ("12", "12%"),
        ("1", "1/0"),
        ("1", "nan"),
        ("1", "inf"),
        ("1", "--1"),
        (
            "100000000000000000000000000000000000000001",
            "100000000000000000000000000000000000000002",
        ),
    ];
    for (expected, got) in wrong {
        assert_eq!(
            grade(&spec(AnswerMatch::Numeric, expected), got),
            Outcome::Failed,
            "{got}"
        );
    }
    let mut near = spec(AnswerMatch::Numeric, "1/3");
    near.float_tolerance = Some(1e-6);
    assert_eq!(grade(&near, "0.3333333"), Outcome::Passed);
    assert_eq!(grade(&near, "0.333"), Outcome::Failed);
    assert_eq!(grade(&near, "1e999"), Outcome::Failed);
}

#[test]
fn the_answer_is_where_the_request_says() {
    let mut spec = spec(AnswerMatch::Numeric, "42");
    let text = "I think it is \\boxed{41}, no:\n\\boxed{ 42 }\nDone.\n42\n\n";
    assert_eq!(grade(&spec, text), Outcome::Failed);
    spec.take = AnswerTake::LastLine;
    assert_eq!(grade(&spec, text), Outcome::Passed);
    spec.take = AnswerTake::Boxed;
    assert_eq!(grade(&spec, text), Outcome::Passed);
    assert_eq!(grade(&spec, "42"), Outcome::Failed);
    assert_eq!(grade(&spec, "\\boxed{42"), Outcome::Failed);
    spec.expected = vec!["\\frac{1}{2}".to_owned()];
    assert_eq!(grade(&spec, "\\boxed{\\frac{1}{2}}"), Outcome::Passed);
}

#[test]
fn expressions_become_trees_of_known_operations() {
    for (text, tree) in [
        ("2x", json!(["mul", ["num", "2"], ["name", "x"]])),
        ("x = 3", json!(["num", "3"])),
        ("-x^2", json!(["neg", ["pow", ["name", "x"], ["num", "2"]]])),
        ("2^-1", json!(["pow", ["num", "2"], ["neg", ["num", "1"]]])),
        (
            "\\frac{\\sqrt{3}}{2}",
            json!(["div", ["sqrt", ["num", "3"]], ["num", "2"]]),
        ),
        (
            "\\sqrt[3]{x}",
            json!(["pow", ["name", "x"], ["div", ["num", "1"], ["num", "3"]]]),
        ),
        (
            "\\sin^2 x",
            json!(["pow", ["sin", ["name", "x"]], ["num", "2"]]),
        ),
        (
            "\\left(1+\\pi\\right)!",
            json!(["factorial", ["add", ["num", "1"], ["name", "pi"]]]),
        ),
        ("|x|", json!(["abs", ["name", "x"]])),
        ("ab", json!(["mul", ["name", "a"], ["name", "b"]])),
    ] {
        assert_eq!(expression::parse(text), Ok(tree), "{text}");
    }
    let long = "(".repeat(3000);
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    let powers = "2^".repeat(500) + "2";
    let roots = "\\sqrt ".repeat(200) + "2";
    for text in [
        "",
        "1+",
        "(1",
        "1)",
        "\\input{x}",
        "__import__('os')",
        "x; y",
        "1..2",
        "\\frac{1}",
        "f'",
        "\u{1f600}",
        &long,
        &deep,
        &powers,
        &roots,
    ] {
        assert!(expression::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_comparison_of_expressions_believes_its_own_program_only() {
    let spec = spec(AnswerMatch::Symbolic, "x^2 - 1");
    assert_eq!(grade(&spec, "x^2-1"), Outcome::Passed);
    assert_eq!(grade(&spec, "import os"), Outcome::Unjudged);
    assert_eq!(grade(&spec, "os.system('x')"), Outcome::Failed);
    let text = Untrusted::new(b"(x-1)(x+1)".to_vec());
    let Graded::Symbolic(comparison) = grade_answer_text(&spec, &text) else {
        panic!("it has to be computed");
    };
    let plan = plan_symbolic(&comparison);
    assert!(plan.files.contains_key(".rollcage/task.json"));
    let judge = |ending: &Ending, text: &str| {
        let kept = Untrusted::new(text.as_bytes().to_vec());
        let output = Output {
            kept: &kept,
            dropped_bytes: 0,
        };
        let ended = Ended {
            ending,
            oom_kills: 0,
        };
        judge_symbolic(&comparison, ended, output).outcome()
    };
    let exited = Ending::Exited { code: 0 };
    assert_eq!(judge(&exited, "{\"equal\": true}"), Outcome::Passed);
    assert_eq!(judge(&exited, "{\"equal\": false}"), Outcome::Failed);
    assert_eq!(
        judge(&exited, "{\"missing\": \"no sympy\"}"),
        Outcome::VerifierError
    );
    assert_eq!(judge(&exited, ""), Outcome::Failed);
    let late = Ending::WallTimeUp {
        limit_ms: 1,
        used_ms: 1,
        throttled_ms: 0,
    };
    assert_eq!(judge(&late, "{\"equal\": true}"), Outcome::Failed);
}

#[test]
fn an_expected_answer_that_cannot_be_compared_is_refused() {
    for (compare, text) in [
        (AnswerMatch::Numeric, "a dozen"),
        (AnswerMatch::Symbolic, "\\unknown{x}"),
    ] {
        assert!(
            check_expected(&spec(compare, text), text).is_err(),
            "{text}"
        );
    }
}
