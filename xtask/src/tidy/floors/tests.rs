//! Floors, on small graphs in cargo's own form.

use super::{check, members, parse};

fn graph(crates: &[(&str, Option<u8>, &[&str])]) -> String {
    let package = |(name, floor, imports): &(&str, Option<u8>, &[&str])| {
        let metadata = floor.map(|floor| serde_json::json!({ "house": { "floor": floor } }));
        let imports: Vec<_> = imports
            .iter()
            .map(|name| serde_json::json!({ "name": name }))
            .collect();
        serde_json::json!({ "name": name, "metadata": metadata, "dependencies": imports })
    };
    serde_json::json!({ "packages": crates.iter().map(package).collect::<Vec<_>>() }).to_string()
}

fn findings(crates: &[(&str, Option<u8>, &[&str])]) -> Vec<String> {
    let crates = parse(&graph(crates)).expect("cargo's form");
    check(&crates).iter().map(ToString::to_string).collect()
}

#[test]
fn imports_go_down() {
    let good = [
        ("policies", Some(0), &["serde"][..]),
        ("confine", Some(1), &["policies"]),
    ];
    assert_eq!(findings(&good), [""; 0]);
    let up = [
        ("policies", Some(0), &["confine"][..]),
        ("confine", Some(1), &[]),
    ];
    assert_eq!(findings(&up).len(), 1);
    let same = [
        ("sandboxd", Some(2), &["sandbox-client"][..]),
        ("sandbox-client", Some(2), &[]),
    ];
    assert_eq!(findings(&same).len(), 1);
}

#[test]
fn every_crate_has_a_floor() {
    assert_eq!(findings(&[("policies", None, &[])]).len(), 1);
    assert_eq!(findings(&[("policies", Some(5), &[])]).len(), 1);
}

#[test]
fn the_runtime_stays_on_its_crates() {
    assert_eq!(findings(&[("confine", Some(1), &["tokio"])]).len(), 1);
    assert_eq!(findings(&[("confine", Some(1), &["tonic-prost"])]).len(), 1);
    assert_eq!(findings(&[("confine", Some(1), &["tokiolike"])]).len(), 0);
    assert_eq!(
        findings(&[("sandboxd", Some(2), &["tokio", "tonic"])]).len(),
        0
    );
    assert_eq!(
        findings(&[("proto", Some(0), &["tonic-prost-build"])]).len(),
        0
    );
}

#[test]
fn members_are_read_from_the_root_manifest() {
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n";
    assert_eq!(members(manifest).expect("a manifest"), ["a", "b"]);
    assert!(members("[package]\nname = \"x\"\n").is_err());
}
