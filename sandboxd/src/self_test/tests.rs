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
    let right = ["base", "build", "node", "shell", "site", JUDGE];
    assert_eq!(stops_start(&set(&[], &right)), None);
    let why = stops_start(&set(&["python"], &right)).expect("it stops");
    for part in ["python", "`b`", "`ok`", "`EPERM`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(stops_start(&set(&[JUDGE], &["python"])).is_some());
}

#[test]
fn a_wrong_site_policy_alone_does_not() {
    let wrong = set(&["site"], &["base", "build", "node", "python", "shell"]);
    assert_eq!(stops_start(&wrong), None);
    assert_eq!(troubles(&wrong).count(), 1);
    // But where nothing at all is right there is nothing to serve.
    assert!(stops_start(&set(&["site"], &[])).is_some());
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
    let record = record(&ask, &[(vec!["python".to_owned()], tested)], &refused);
    record.check().expect("a draft that the log takes");
    let value = serde_json::to_value(&record).unwrap();
    assert_eq!(value["data"]["plans"][0]["wrong_rows"][0]["name"], "b");
    assert_eq!(value["data"]["not_planned"]["strict"], "no cgroups");
    assert_eq!(value["principal"], "uid:1000");
}
