//! What is kept, and which files are not believed.

use std::os::unix::fs::PermissionsExt as _;

use super::super::outcome::tests::{judged, outcome};
use super::*;

fn own() -> (u32, u32) {
    let uid = nix::unistd::geteuid().as_raw();
    (uid, nix::unistd::getegid().as_raw())
}

fn cache() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    assert!(make_folder(&proof, own()).unwrap());
    // A second daemon finds it as it is.
    assert!(make_folder(&proof, own()).unwrap());
    (folder, Cache::new(proof))
}

fn right() -> Outcome {
    outcome(vec![judged("a", Some(true)), judged("b", None)])
}

#[test]
fn what_is_right_comes_back_until_it_is_forgotten() {
    let (_folder, cache) = cache();
    let outcome = right();
    assert_eq!(cache.read(&outcome.key), None);
    cache.keep(&outcome);
    assert_eq!(cache.read(&outcome.key), Some(outcome.clone()));
    assert_eq!(cache.read(&"x".repeat(64)), None);
    cache.forget(&outcome.key);
    cache.forget(&outcome.key);
    assert_eq!(cache.read(&outcome.key), None);
}

#[test]
fn what_is_wrong_is_not_kept() {
    let (_folder, cache) = cache();
    let wrong = outcome(vec![judged("a", Some(true)), judged("b", Some(false))]);
    cache.keep(&wrong);
    assert_eq!(cache.read(&wrong.key), None);
    assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 0);
}

#[test]
fn an_odd_file_counts_as_absent() {
    let (_folder, cache) = cache();
    let outcome = right();
    let path = cache.path(&outcome.key);
    let text = serde_json::to_vec(&outcome).unwrap();
    let put = |bytes: &[u8], mode| {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    put(&text, 0o600);
    assert!(cache.read(&outcome.key).is_some(), "the control");
    put(&text, 0o620);
    assert_eq!(cache.read(&outcome.key), None, "others may write it");
    put(b"{", 0o600);
    assert_eq!(cache.read(&outcome.key), None, "no JSON");
    let wrong = Outcome {
        rows: vec![judged("a", Some(false))],
        ..outcome.clone()
    };
    put(&serde_json::to_vec(&wrong).unwrap(), 0o600);
    assert_eq!(cache.read(&outcome.key), None, "a wrong one");
    let other = Outcome {
        key: "y".repeat(64),
        ..outcome.clone()
    };
    put(&serde_json::to_vec(&other).unwrap(), 0o600);
    assert_eq!(cache.read(&outcome.key), None, "of something else");
    put(&vec![b' '; 1 << 21], 0o600);
    assert_eq!(cache.read(&outcome.key), None, "too long");
    fs::remove_file(&path).unwrap();
    let elsewhere = cache.folder.join("elsewhere");
    fs::write(&elsewhere, &text).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(cache.read(&outcome.key), None, "a link");
}

#[test]
fn a_folder_that_others_can_look_into_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!make_folder(&open, own()).unwrap());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&open, &link).unwrap();
    assert!(!make_folder(&link, own()).unwrap());
    let foreign = folder.path().join("foreign");
    DirBuilder::new().mode(0o700).create(&foreign).unwrap();
    assert!(!make_folder(&foreign, (own().0 + 1, own().1)).unwrap());
}

#[test]
fn the_oldest_files_make_room() {
    let (_folder, cache) = cache();
    for number in 0..FILES_MAX + 3 {
        let mut outcome = right();
        outcome.key = format!("{number:064x}");
        cache.keep(&outcome);
    }
    assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), FILES_MAX);
    let last = format!("{:064x}", FILES_MAX + 2);
    assert!(cache.read(&last).is_some());
    assert!(cache.read(&format!("{:064x}", 0)).is_none());
}
