//! Directories that are taken and that are refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{ClaimError, claim};

#[test]
fn new_and_empty_directories_are_taken() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("new");
    claim(&dir).unwrap();
    claim(&dir).unwrap();
    assert_eq!(
        fs::metadata(&dir).unwrap().permissions().mode() & 0o7777,
        0o755
    );
}

#[test]
fn used_open_and_linked_directories_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let used = scratch.path().join("used");
    fs::create_dir(&used).unwrap();
    fs::write(used.join("x"), "").unwrap();
    assert!(matches!(claim(&used), Err(ClaimError::NotEmpty { .. })));

    let open = scratch.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(
        claim(&open),
        Err(ClaimError::NotOurs { mode: 0o777, .. })
    ));

    let real = scratch.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, scratch.path().join("link")).unwrap();
    assert!(matches!(
        claim(&scratch.path().join("link")),
        Err(ClaimError::NotEmpty { .. })
    ));
    assert!(matches!(
        claim(&scratch.path().join("no/where")),
        Err(ClaimError::Io { .. })
    ));
}
