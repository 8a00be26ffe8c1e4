//! What is said to hold, and how rows and policies are put together.

use super::super::super::terminal::Acts;
use super::*;

fn terminal() -> Terminal {
    Terminal {
        json: false,
        moving: false,
        color: false,
        width: None,
        acts: Acts::default(),
    }
}

fn row(name: &str, class: &str, right: Option<bool>) -> pb::SelfTestRow {
    pb::SelfTestRow {
        name: name.into(),
        class: class.into(),
        right,
        ..pb::SelfTestRow::default()
    }
}

fn test(policy: &str, state: State) -> pb::PolicySelfTest {
    pb::PolicySelfTest {
        policy: policy.into(),
        state: state.into(),
        ..pb::PolicySelfTest::default()
    }
}

fn reply(policies: Vec<pb::PolicySelfTest>) -> pb::SelfTestReply {
    pb::SelfTestReply {
        policies,
        ..pb::SelfTestReply::default()
    }
}

#[test]
fn it_holds_only_where_something_is_right_and_nothing_is_open() {
    let holds = |states: &[State]| {
        holds(&reply(
            states.iter().map(|state| test("p", *state)).collect(),
        ))
    };
    assert!(holds(&[State::Right]));
    assert!(holds(&[State::Right, State::NotEnforceable]));
    assert!(!holds(&[State::Right, State::Wrong]));
    assert!(!holds(&[State::Right, State::NotTested]));
    assert!(!holds(&[State::NotEnforceable]));
    assert!(!holds(&[]));
}

#[test]
fn rows_are_counted_by_class() {
    let rows = [
        row("a", "escape", Some(true)),
        row("b", "escape", Some(false)),
        row("c", "lateral", None),
    ];
    let text = class_table(&rows).render(None);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines,
        [["escape", "1", "1", "0"], ["lateral", "0", "0", "1"]]
    );
}

#[test]
fn policies_with_one_plan_are_shown_together() {
    let planned = |name, plan: &str| pb::PolicySelfTest {
        plan_sha256: plan.into(),
        ..test(name, State::Right)
    };
    let policies = [planned("a", "1"), planned("b", "2"), planned("c", "1")];
    let groups = by_plan(&policies);
    let names: Vec<String> = groups.iter().map(|(names, _)| names.join("+")).collect();
    assert_eq!(names, ["a+c", "b"]);
    // Policies without a plan have nothing in common.
    let none = [test("a", State::NotTested), test("b", State::NotTested)];
    assert_eq!(by_plan(&none).len(), 2);
}

#[test]
fn it_fails_where_a_probe_got_through_or_the_grade_is_too_low() {
    assert_eq!(exit_code(true, true), 0);
    for (holds, enough) in [(true, false), (false, true), (false, false)] {
        assert_eq!(exit_code(holds, enough), NEGATIVE);
    }
}

#[test]
fn a_wrong_row_names_what_was_to_hold_it() {
    let wrong = pb::SelfTestRow {
        found: "ok".into(),
        expected: "EPERM".into(),
        what: "write a core".into(),
        proves: vec!["rlimits".into(), "seccomp".into()],
        ..row("core", "host_dos", Some(false))
    };
    assert_eq!(
        wrong_lines(&terminal(), &[row("fine", "escape", Some(true)), wrong]),
        [
            "WRONG core (host_dos): found ok, expected EPERM",
            "  it tried: write a core; what was to hold it: rlimits, seccomp",
            "  if it works, a program can take the host down or slow it",
        ]
    );
}

#[test]
fn only_so_many_wrong_rows_are_shown() {
    let rows = |count| vec![row("a", "escape", Some(false)); count];
    let shown = |count| {
        let lines = wrong_lines(&terminal(), &rows(count));
        let told = lines.iter().filter(|line| line.starts_with("WRONG"));
        (told.count(), lines.last().cloned().unwrap())
    };
    assert_eq!(
        shown(WRONG_SHOWN_MAX + 3),
        (WRONG_SHOWN_MAX, "and 3 more; `--json` has all".to_owned())
    );
    let (count, last) = shown(WRONG_SHOWN_MAX);
    assert_eq!(count, WRONG_SHOWN_MAX);
    assert!(last.starts_with("  if it works"), "{last}");
}

#[test]
fn reasons_for_not_asking_are_counted() {
    let for_reason = |reason: &str| pb::SelfTestRow {
        expected: format!("not asked: {reason}"),
        ..row("a", "escape", None)
    };
    let rows = ["b", "a", "b"].map(for_reason);
    assert_eq!(
        not_asked_lines(&rows),
        ["3 rows were not asked:", "  2: b", "  1: a"]
    );
    assert_eq!(
        not_asked_lines(&rows[1..2]),
        ["1 row was not asked:", "  1: a"]
    );
    assert!(not_asked_lines(&[row("a", "escape", Some(true))]).is_empty());
}
