//! A forker's view of the host: only the mounts that a new sandbox takes something from.
//!
//! Each sandbox starts with a copy of its forker's mount table and drops it again; on a host with
//! many mounts that is most of what its making costs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use confine::boot::RootOp;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

/// Needed besides the image's own sources: `/proc` to write id maps, `/dev` for descriptors 0 to 2.
const ALWAYS: [&str; 2] = ["/proc", "/dev"];

/// Enters a mount namespace of our own and lets go of everything that `image` has no use for.
pub(super) fn keep_only(image: &[&RootOp]) -> Result<()> {
    let none: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS).context("enter a forker's mount namespace")?;
    let kind = if confine::mutation::is_off("private_mounts") {
        MsFlags::MS_SHARED
    } else {
        MsFlags::MS_PRIVATE
    };
    mount(none, "/", none, MsFlags::MS_REC | kind, none)
        .context("make a forker's mounts private")?;
    let sources: Vec<PathBuf> = image
        .iter()
        .filter_map(|op| match op {
            RootOp::Bind { source, .. } => Some(PathBuf::from(source)),
            RootOp::Dir { .. } | RootOp::File { .. } | RootOp::Symlink { .. } => None,
        })
        .collect();
    let table = fs::read_to_string("/proc/self/mountinfo").context("read the mount table")?;
    // The last first: what lies on top goes before what it lies on.
    for line in table.lines().rev() {
        let Some(point) = line.split(' ').nth(4).map(unescape) else {
            continue;
        };
        if is_needed(&point, &sources) {
            continue;
        }
        match umount2(&point, MntFlags::MNT_DETACH) {
            // Gone with one it lay on, or nothing that can be let go: a sandbox then copies it.
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT | Errno::EBUSY) => {}
            Err(errno) => {
                return Err(errno).with_context(|| format!("let go of {}", point.display()));
            }
        }
    }
    Ok(())
}

/// Removes the folder of the instance: from this view of the mounts first, which makes it go from
/// all others too.
pub(super) fn take_away(folder: &Path) -> Result<()> {
    match umount2(folder, MntFlags::MNT_DETACH) {
        Ok(()) | Err(Errno::EINVAL) => {}
        Err(errno) => {
            return Err(errno).with_context(|| format!("unmount {}", folder.display()));
        }
    }
    fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))
}

fn is_needed(point: &Path, sources: &[PathBuf]) -> bool {
    point == Path::new("/")
        || ALWAYS.iter().any(|always| point == Path::new(always))
        || sources
            .iter()
            .any(|source| source.starts_with(point) || point.starts_with(source))
}

/// Spaces and their like stand as three octal digits in the table.
fn unescape(field: &str) -> PathBuf {
    let mut text = field.to_owned();
    for (code, plain) in [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ] {
        text = text.replace(code, plain);
    }
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::{is_needed, unescape};
    use std::path::{Path, PathBuf};

    #[test]
    fn only_what_an_image_shows_is_kept() {
        let sources = [
            PathBuf::from("/usr"),
            PathBuf::from("/run/rollcage/instance-0/etc"),
        ];
        for point in [
            "/",
            "/proc",
            "/dev",
            "/usr",
            "/usr/local",
            "/run",
            "/run/rollcage/instance-0",
        ] {
            assert!(is_needed(Path::new(point), &sources), "{point}");
        }
        for point in ["/home", "/sys/fs/cgroup", "/dev/shm", "/usrx", "/run/user"] {
            assert!(!is_needed(Path::new(point), &sources), "{point}");
        }
    }

    #[test]
    fn names_with_spaces_are_read() {
        assert_eq!(unescape("/a\\040b"), PathBuf::from("/a b"));
    }
}
