//! What a set of outcomes means for the daemon.

use policies::Catalog;

use super::outcome::tests::{judged, outcome};
use super::*;

fn proof(right: bool) -> Proof {
    let rows = vec![judged("a", Some(true)), judged("b", Some(right))];
    Proof::Tested(Arc::new(Tested::new(outcome(rows), false)))
}

fn set(wrong: &[&str], right: &[&str]) -> PolicySet {
    let site = "name = \"site\"\nextends = \"python\"\n";
    let documents = vec![("site".to_owned(), site.to_owned())];
    let mut set = PolicySet::new(Catalog::from_documents(documents).unwrap());
    for name in wrong {
        set.set_proof(name, proof(false));
    }
    for name in right {
        set.set_proof(name, proof(true));
    }
    set
}

#[test]
fn a_wrong_built_in_policy_stops_the_start() {
    let right = ["base", "build", "node", "shell", "site", "task", JUDGE];
    assert_eq!(stops_start(&set(&[], &right)), None);
    let why = stops_start(&set(&["python"], &right)).expect("it stops");
    for part in ["python", "`b`", "`ok`", "`EPERM`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(stops_start(&set(&[JUDGE], &["python"])).is_some());
}

#[test]
fn a_wrong_site_policy_alone_does_not() {
    let wrong = set(
        &["site"],
        &["base", "build", "node", "python", "shell", "task"],
    );
    assert_eq!(stops_start(&wrong), None);
    assert_eq!(troubles(&wrong).count(), 1);
    // But where nothing at all is right there is nothing to serve.
    assert!(stops_start(&set(&["site"], &[])).is_some());
}

#[test]
fn one_trouble_is_told_once_for_all_policies_that_have_it() {
    let mut set = set(&["build", "python"], &["shell"]);
    let other = vec![judged("other", Some(false))];
    let other = Proof::Tested(Arc::new(Tested::new(outcome(other), false)));
    set.set_proof("node", other);
    let told = troubles_together(&set);
    let names: Vec<&str> = told.iter().map(|(names, _)| names.as_str()).collect();
    assert_eq!(names, ["build, python", "node"]);
}

#[test]
fn the_record_names_wrong_rows_and_is_one_that_the_log_takes() {
    let ask = Ask {
        occasion: Occasion::Asked("uid:1000".to_owned()),
        fresh: true,
        names: BTreeSet::new(),
    };
    let rows = vec![judged("a", Some(true)), judged("b", Some(false))];
    let tested = Arc::new(Tested::new(outcome(rows), false));
    let refused = BTreeMap::from([("strict".to_owned(), "no cgroups".to_owned())]);
    let found = Found {
        names: vec!["python".to_owned()],
        tested,
        answered: true,
    };
    let record = record(&ask, &[found], &refused);
    record.check().expect("a draft that the log takes");
    let value = serde_json::to_value(&record).unwrap();
    assert_eq!(value["data"]["plans"][0]["wrong_rows"][0]["name"], "b");
    assert_eq!(value["data"]["not_planned"]["strict"], "no cgroups");
    assert_eq!(value["principal"], "uid:1000");
}

fn found(name: &str, right: bool, answered: bool) -> Found {
    let rows = vec![judged("a", Some(true)), judged("b", Some(right))];
    let mut outcome = outcome(rows);
    if !answered {
        outcome.rows.clear();
        outcome.fault = "10000 runs are waiting already".to_owned();
    }
    Found {
        names: vec![name.to_owned()],
        tested: Arc::new(Tested::new(outcome, false)),
        answered,
    }
}

#[test]
fn a_test_that_was_asked_for_and_did_not_run_changes_nothing() {
    let mut set = set(&[], &["python", "base", "node"]);
    let all = || {
        vec![
            found("python", true, false),
            found("base", false, true),
            found("node", true, true),
        ]
    };
    let told = put_down(&mut set, all(), true).expect("it is told");
    assert!(told.to_string().contains("python"), "{told}");
    assert!(told.to_string().contains("are waiting"), "{told}");
    assert!(set.proof("python").trouble().is_none());
    assert!(set.proof("python").tested().is_some());
    assert!(set.proof("base").trouble().is_some(), "a wrong row counts");
    assert!(set.proof("node").trouble().is_none());
    // At a start nothing is known from before: it is refused.
    assert!(put_down(&mut set, all(), false).is_none());
    assert!(set.proof("python").trouble().is_some());
}

#[test]
fn what_is_known_of_a_plan_goes_over_to_other_policies() {
    let before = set(&["python"], &["base"]);
    let plan = "1".repeat(64);
    let mut after = set(&[], &[]);
    let names = |name: &str| vec![name.to_owned()];
    let plans = [(names("site"), plan), (names("node"), "2".repeat(64))];
    take_over(&mut after, &before, &plans);
    assert!(
        after.proof("site").trouble().is_some(),
        "the wrong one first"
    );
    assert!(after.proof("node").tested().is_none());
}
