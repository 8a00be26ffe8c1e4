//! Folders that a program could leave.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use nix::sys::stat::mkdirat;

use super::*;

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    place_in(&std::env::temp_dir())
}

fn place_in(parent: &Path) -> (tempfile::TempDir, std::path::PathBuf) {
    let top = tempfile::tempdir_in(parent).unwrap();
    let folder = top.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(top.path().join("outside")).unwrap();
    fs::write(top.path().join("outside/own"), "mine").unwrap();
    fs::set_permissions(
        top.path().join("outside"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    (top, folder)
}

#[track_caller]
fn is_gone_and_the_rest_is_not(top: &tempfile::TempDir) {
    assert!(fs::symlink_metadata(top.path().join("folder")).is_err());
    assert_eq!(
        fs::read_to_string(top.path().join("outside/own")).unwrap(),
        "mine"
    );
    let mode = fs::metadata(top.path().join("outside"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn links_pipes_and_closed_folders_go_and_what_links_lead_to_stays() {
    let (top, folder) = place();
    let deep = folder.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "").unwrap();
    symlink(top.path().join("outside"), folder.join("link")).unwrap();
    symlink(top.path().join("outside"), deep.join("link")).unwrap();
    fs::hard_link(top.path().join("outside/own"), deep.join("hard")).unwrap();
    nix::unistd::mkfifo(&deep.join("pipe"), Mode::S_IRWXU).unwrap();
    for closed in [deep.as_path(), deep.parent().unwrap(), folder.as_path()] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    }
    remove_tree(&folder).unwrap();
    is_gone_and_the_rest_is_not(&top);
}

#[test]
fn deeper_than_any_path_descriptor_table_or_stack() {
    // In memory: some disks take milliseconds for each folder.
    let (top, folder) = place_in(Path::new("/dev/shm"));
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
    let mut at = open(&folder, flags, Mode::empty()).unwrap();
    for _ in 0..30_000 {
        mkdirat(&at, "d", Mode::S_IRWXU).unwrap();
        at = openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    drop(at);
    remove_tree(&folder).unwrap();
    is_gone_and_the_rest_is_not(&top);
}

#[test]
fn a_link_in_its_place_is_removed_and_not_followed() {
    let (top, folder) = place();
    fs::remove_dir(&folder).unwrap();
    symlink(top.path().join("outside"), &folder).unwrap();
    remove_tree(&folder).unwrap();
    is_gone_and_the_rest_is_not(&top);
    remove_tree(&folder).unwrap();
    remove_tree(&folder.join("nothing/here")).unwrap();
}

/// Somebody who is still alive swaps a folder with a link while it is being removed.
#[test]
fn a_swap_with_a_link_removes_nothing_elsewhere() {
    let (top, folder) = place();
    symlink("outside", top.path().join("link")).unwrap();
    let victim = folder.join("victim");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (link, here) = (top.path().join("link"), nix::fcntl::AT_FDCWD);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let flags = nix::fcntl::RenameFlags::RENAME_EXCHANGE;
                // There is nothing to swap while the folder is away.
                if nix::fcntl::renameat2(here, &victim, here, &link, flags).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        for _ in 0..1_000 {
            fs::create_dir_all(&folder).unwrap();
            // The link may have taken its place already, or what was the folder the link's.
            if fs::create_dir(&victim).is_ok() {
                fs::write(folder.join("victim/x"), "").unwrap_or_default();
            }
            // Beaten in a race, it says so; the next attempt goes on.
            while remove_tree(&folder).is_err() {}
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(
        fs::read_to_string(top.path().join("outside/own")).unwrap(),
        "mine"
    );
}
