//! The parts of the start that need no root.

use super::folders::{self, FolderError};

#[test]
fn a_second_daemon_is_refused_with_the_pid_of_the_first() {
    let folder = tempfile::tempdir().expect("folder");
    let state_dir = folder.path().join("state");
    let socket = std::path::Path::new("/run/x.sock");
    let first = folders::lock(&state_dir, socket).expect("first");
    match folders::lock(&state_dir, socket) {
        Err(FolderError::InUse { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
        other => panic!("{other:?}"),
    }
    drop(first);
    folders::lock(&state_dir, socket).expect("the lock is free again");
    let text = std::fs::read_to_string(state_dir.join("lock")).expect("lock file");
    assert_eq!(text, format!("{}\n/run/x.sock\n", std::process::id()));
}

#[test]
fn a_folder_that_others_can_replace_is_not_safe() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let folder = tempfile::tempdir().expect("folder");
    let meta = |mode| {
        let wanted = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), wanted).expect("mode");
        std::fs::metadata(folder.path()).expect("metadata")
    };
    let (uid, gid) = (meta(0o700).uid(), meta(0o700).gid());
    assert!(folders::is_safe(&meta(0o755), [0, uid], gid));
    assert!(folders::is_safe(&meta(0o775), [0, uid], gid));
    assert!(folders::is_safe(&meta(0o1777), [0, uid], gid));
    assert!(!folders::is_safe(&meta(0o777), [0, uid], gid));
    assert!(!folders::is_safe(&meta(0o757), [0, uid], gid));
    // Made by somebody else before us, as in /tmp.
    assert!(!folders::is_safe(&meta(0o700), [uid + 1, uid + 2], gid));
    assert!(!folders::is_safe(&meta(0o1777), [uid + 1, uid + 2], gid));
}

#[test]
fn root_is_found_where_it_is_not_mapped() {
    assert_eq!(
        folders::root_as_seen("         0          0 4294967295\n"),
        0
    );
    assert_eq!(folders::root_as_seen("1000 1000 1\n"), 65_534);
    assert_eq!(folders::root_as_seen(""), 0);
}

#[test]
fn a_link_in_the_apis_folder_gives_no_other_file_away() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().expect("folder");
    let other = folder.path().join("other");
    std::fs::write(&other, "").expect("file");
    let before = std::fs::metadata(&other).expect("metadata").uid();
    let hard = folder.path().join("hard");
    std::fs::hard_link(&other, &hard).expect("hard link");
    let soft = folder.path().join("soft");
    std::os::unix::fs::symlink(&other, &soft).expect("link");
    let api = (before + 1, before + 1);
    for path in [&hard, &soft] {
        assert!(folders::give_away_file(path, api.0, api.1).is_err());
    }
    assert_eq!(std::fs::metadata(&other).expect("metadata").uid(), before);
}
