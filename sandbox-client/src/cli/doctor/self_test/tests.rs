//! What is said to hold, and how rows and policies are put together.

use super::*;

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
