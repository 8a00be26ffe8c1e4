//! The host as an image, with traps in it: links in a folder that sandboxes are shown, a folder that
//! its owner swaps with a link after it was checked.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use verdict::Ending;

use super::{SENTINEL, is_unchanged, open_to_all, place, plant};
use crate::nobody::Nobody;
use crate::skips;
use crate::world::{World, shell};

/// Somebody without an account who owns what the operator shows.
const OWNER: u32 = Nobody::ImageOwner.id();

#[test]
fn links_in_a_shown_folder_lead_to_the_sandboxs_own_files_or_nowhere() {
    let test = "links_in_a_shown_folder_lead_to_the_sandboxs_own_files_or_nowhere";
    let (shown, hidden) = (place(Path::new("/opt")), place(Path::new("/opt")));
    let secret = plant(hidden.path(), "secret");
    symlink(&secret, shown.path().join("file")).expect("a link");
    symlink(hidden.path(), shown.path().join("folder")).expect("a link");
    symlink("/etc/hostname", shown.path().join("host")).expect("a link");
    symlink("/proc/1/root", shown.path().join("root")).expect("a link");
    fs::create_dir(shown.path().join("etc")).expect("a folder");
    symlink("../../../../etc/shadow", shown.path().join("etc/passwd")).expect("a link");
    let config = format!("[host_image]\nextra_read_paths = [{:?}]\n", shown.path());
    let Some(world) = World::with_config(test, &config) else {
        return;
    };
    let code = format!(
        "cd {}; cat file folder/secret root/opt/*/secret etc/passwd 2>/dev/null; hostname; \
         ls root/ 2>/dev/null; echo end",
        shown.path().display()
    );
    let outcome = world.run(&shell(&code));
    assert_eq!(outcome.exited(0).stdout(), "sandbox\nend\n");
    is_unchanged(&secret);
}

#[test]
fn a_shown_folder_that_is_swapped_with_a_link_shows_nothing() {
    let test = "a_shown_folder_that_is_swapped_with_a_link_shows_nothing";
    if !skips::is_root(test) {
        return;
    }
    let (top, hidden) = (place(Path::new("/opt")), place(Path::new("/opt")));
    let secret = plant(hidden.path(), "tool");
    let shown = top.path().join("toolchain");
    fs::create_dir(&shown).expect("a folder");
    open_to_all(&shown);
    fs::write(shown.join("tool"), "tool").expect("a tool");
    for path in [top.path(), &shown] {
        chown(path, Some(OWNER), Some(OWNER)).expect("give it away");
    }
    let config = format!("[host_image]\nextra_read_paths = [{shown:?}]\n");
    let Some(world) = World::with_config(test, &config) else {
        return;
    };
    let look = format!("cat {}/tool", shown.display());
    assert_eq!(world.run(&shell(&look)).exited(0).stdout(), "tool");
    // The owner's own folder goes away; in its place stands a link to what he may not read.
    let away = top.path().join("away");
    for target in [hidden.path(), Path::new("/root"), Path::new("/proc/1/root")] {
        fs::rename(&shown, &away).expect("move it");
        symlink(target, &shown).expect("a link");
        let outcome = world.run(&shell(&look));
        assert!(!outcome.stdout().contains(SENTINEL), "{outcome:?}");
        let refused =
            matches!(&outcome.ending, Ending::SandboxFailed { step, .. } if step == "root_tree");
        assert!(refused, "{:?}", outcome.ending);
        fs::remove_file(&shown).expect("take the link away");
        fs::rename(&away, &shown).expect("put it back");
    }
    // A link above it does the same.
    fs::rename(top.path(), top.path().with_extension("away")).expect("move it");
    symlink(hidden.path(), top.path()).expect("a link");
    fs::create_dir(hidden.path().join("toolchain")).expect("a folder");
    let outcome = world.run(&shell(&look));
    fs::remove_file(top.path()).expect("take the link away");
    fs::rename(top.path().with_extension("away"), top.path()).expect("put it back");
    assert!(
        matches!(outcome.ending, Ending::SandboxFailed { .. }),
        "{:?}",
        outcome.ending
    );
    assert_eq!(world.run(&shell(&look)).exited(0).stdout(), "tool");
    is_unchanged(&secret);
    world.allow_log("root_tree");
    world.allow_log("sandbox");
}
