//! Which policies share a test, and which have none.

use policies::Catalog;

use super::*;

fn host() -> HostFacts {
    let mut host = confine::host::inspect();
    host.mode = Mode::Root;
    let controllers = ["memory", "pids", "cpu"].map(str::to_owned).to_vec();
    host.cgroups = confine::host::CgroupLayout::V2 { controllers };
    host
}

fn set(documents: &[(&str, &str)]) -> PolicySet {
    let documents = documents
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    PolicySet::new(Catalog::from_documents(documents.collect::<Vec<_>>()).unwrap())
}

fn judge(set: &PolicySet) -> Ready {
    set.get("python").unwrap().clone()
}

fn subjects(documents: &[(&str, &str)]) -> Subjects {
    let set = set(documents);
    of(&set, ("(judge)", &judge(&set)), (&host(), &[]))
}

#[test]
fn every_policy_and_the_judge_has_a_subject_and_equal_plans_share_one() {
    let tested = subjects(&[]);
    let mut names: Vec<String> = tested
        .all
        .iter()
        .flat_map(|one| one.names.clone())
        .collect();
    names.sort();
    let mut known: Vec<String> = set(&[]).catalog().names().map(str::to_owned).collect();
    known.push("(judge)".to_owned());
    known.sort();
    assert_eq!(names, known);
    let python = tested
        .all
        .iter()
        .find(|one| one.names.iter().any(|name| name == "python"));
    assert!(python.unwrap().names.iter().any(|name| name == "(judge)"));
    // Limits that the test evens out make no other plan; what a program may do does.
    let more = |text: &str| subjects(&[("site", text)]).all.len();
    let same = "name = \"site\"\nextends = \"python\"\n[limits]\npids_max = 40\n";
    assert_eq!(more(same), tested.all.len());
    let sealed = "name = \"site\"\nextends = \"python\"\n[network]\nmode = \"sealed\"\n";
    assert_eq!(more(sealed), tested.all.len() + 1);
}

#[test]
fn a_policy_that_kills_is_tested_with_the_filter_that_tells() {
    let kills = "name = \"site\"\nextends = \"python\"\n[syscalls]\ndeny_action = \"kill\"\n";
    let tested = subjects(&[("site", kills)]);
    let all = tested.all.iter();
    let site = all
        .filter(|one| one.names.iter().any(|name| name == "site"))
        .collect::<Vec<_>>();
    assert_eq!(site.len(), 1);
    assert_eq!(site[0].policy.syscalls.deny_action, DenyAction::Errno);
}

#[test]
fn what_the_host_cannot_enforce_is_not_tested() {
    let set = set(&[]);
    let mut host = host();
    host.cgroups = confine::host::CgroupLayout::None;
    let tested = of(&set, ("(judge)", &judge(&set)), (&host, &[]));
    let some = tested.all.len() + tested.not_planned.len();
    assert!(some > 0);
    for subject in &tested.all {
        assert!(subject.alone, "processes are counted by user here");
        assert!(!subject.setting.cgroup_pids);
    }
}
