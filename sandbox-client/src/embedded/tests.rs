//! Where the socket of a daemon of our own may lie.

use std::os::unix::fs::{PermissionsExt as _, chown};

use super::is_ours;

#[test]
fn a_folder_that_others_can_replace_is_not_ours() {
    let top = tempfile::tempdir().unwrap();
    let inner = top.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    assert!(is_ours(&inner));
    let mode = |bits| std::fs::Permissions::from_mode(bits);
    std::fs::set_permissions(top.path(), mode(0o777)).unwrap();
    assert!(!is_ours(&inner));
    std::fs::set_permissions(top.path(), mode(0o1777)).unwrap();
    assert!(is_ours(&inner));
    std::fs::set_permissions(top.path(), mode(0o700)).unwrap();
    std::os::unix::fs::symlink("/nonexistent", top.path().join("dangling")).unwrap();
    assert!(!is_ours(&top.path().join("dangling")));
    if nix::unistd::geteuid().is_root() {
        chown(top.path(), Some(61_199), None).unwrap();
        assert!(!is_ours(&inner), "root in the folder of somebody else");
    }
}
