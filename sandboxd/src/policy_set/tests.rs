//! Loading from a folder.

use super::PolicySet;

#[test]
fn a_site_adds_policies_and_a_broken_one_refuses_the_whole_set() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("small.toml"), "extends = \"python\"\n").expect("write");
    std::fs::write(folder.path().join("notes.txt"), "not a policy").expect("write");
    let set = PolicySet::load(folder.path()).expect("set");
    let small = set.get("small").expect("small");
    assert_eq!(small.sha256, small.policy.sha256_hex());
    assert!(set.get("python").is_some() && set.get("notes").is_none());
    std::fs::write(folder.path().join("broken.toml"), "extnds = \"python\"\n").expect("write");
    assert!(PolicySet::load(folder.path()).is_err());
}

#[test]
fn no_folder_means_the_built_in_policies() {
    let set = PolicySet::load(std::path::Path::new("/nonexistent/policies")).expect("set");
    assert!(set.get("base").is_some());
}
