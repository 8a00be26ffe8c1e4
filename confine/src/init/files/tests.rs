//! No link on the way to a file is followed, and a list that was cut says so.

use std::os::unix::fs::symlink;

use super::{matches_below, open_folder, write_one};
use crate::wire::ArchiveFile;

/// A folder with `inside/a`, `outside` beside it, and `inside/link` that leads there.
fn linked() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(top.path().join("inside/folder")).unwrap();
    std::fs::create_dir(top.path().join("outside")).unwrap();
    std::fs::write(top.path().join("inside/folder/a"), "").unwrap();
    std::fs::write(top.path().join("outside/secret"), "").unwrap();
    symlink("../outside", top.path().join("inside/link")).unwrap();
    top
}

#[test]
fn writing_follows_no_link_in_the_middle_of_a_path() {
    let top = linked();
    let root = open_folder(top.path().join("inside").to_str().unwrap()).unwrap();
    let file = |path: &str| ArchiveFile {
        path: path.to_owned(),
        mode: 0o644,
        content: Vec::new(),
    };
    assert!(write_one(&root, &file("link/new/file")).is_err());
    assert!(!top.path().join("outside/new").exists());
    write_one(&root, &file("folder/b/c/file")).unwrap();
    assert!(top.path().join("inside/folder/b/c/file").exists());
}

#[test]
fn wildcards_are_looked_for_behind_no_link() {
    let top = linked();
    let root = open_folder(top.path().join("inside").to_str().unwrap()).unwrap();
    let found = matches_below(&root, "**", 100).paths;
    assert_eq!(found, vec![std::path::PathBuf::from("folder/a")]);
    assert!(matches_below(&root, "link/*", 100).paths.is_empty());
}

#[test]
fn a_list_that_was_cut_says_so_and_a_file_comes_once() {
    let top = linked();
    let root = open_folder(top.path().join("inside").to_str().unwrap()).unwrap();
    for number in 0..10 {
        std::fs::write(top.path().join(format!("inside/{number}")), "").unwrap();
    }
    assert!(!matches_below(&root, "**", 100).cut);
    assert!(matches_below(&root, "**", 5).cut);
    let (ours, theirs) = nix::unistd::pipe().unwrap();
    let mut collector = super::Collector::new(theirs);
    let spec = crate::wire::CollectSpec {
        patterns: vec!["1".into(), "?".into(), "1".into()],
        bytes_max: 100,
        files_max: 100,
    };
    collector.run(&spec, top.path().join("inside").to_str().unwrap());
    assert_eq!((collector.files, collector.problems.len()), (10, 0));
    drop(ours);
}
