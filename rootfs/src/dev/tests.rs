//! The tree as built; needs root, and says so where it is not.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

use super::{DevError, NODES, prepare_dev};

#[test]
fn a_used_directory_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("x"), "").unwrap();
    assert!(matches!(
        prepare_dev(scratch.path()),
        Err(DevError::Claim { .. })
    ));
}

#[test]
fn nodes_links_and_mount_points() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("dev");
    match prepare_dev(&dir) {
        Ok(()) => {}
        Err(error) if !nix::unistd::geteuid().is_root() => {
            assert!(matches!(error, DevError::Make { .. }), "{error}");
            println!(
                "SKIP dev::nodes_links_and_mount_points: not root (1 of 2 tests of rootfs::dev)"
            );
            return;
        }
        Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
    }
    for &(name, major, minor) in NODES {
        let metadata = fs::symlink_metadata(dir.join(name)).unwrap();
        assert!(metadata.file_type().is_char_device(), "{name}");
        assert_eq!(
            metadata.rdev(),
            nix::sys::stat::makedev(major, minor),
            "{name}"
        );
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o666, "{name}");
    }
    let mut zeros = [1u8; 8];
    fs::File::open(dir.join("zero"))
        .unwrap()
        .read_exact(&mut zeros)
        .unwrap();
    assert_eq!(zeros, [0; 8]);
    assert_eq!(fs::read(dir.join("null")).unwrap(), b"");
    assert_eq!(
        fs::read_link(dir.join("ptmx")).unwrap().to_str(),
        Some("pts/ptmx")
    );
    assert_eq!(
        fs::metadata(dir.join("shm")).unwrap().permissions().mode() & 0o7777,
        0o1777
    );
    assert_eq!(fs::read_dir(&dir).unwrap().count(), NODES.len() + 5 + 2);
}
