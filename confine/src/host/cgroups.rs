//! Where control groups of ours can be made: found by looking at what is mounted and what we may
//! write, never by making one. It does not know limits.

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::{CgroupLayout, read};

/// Where control groups are mounted.
pub const MOUNT: &str = "/sys/fs/cgroup";
/// The group below our base into which the daemon's own processes are moved: a group with processes
/// cannot pass controllers on.
pub const DAEMON_LEAF: &str = "rollcage-daemon";
/// Files of a group that have to be ours for groups to be made in it.
const DELEGATED: [&str; 3] = ["", "cgroup.procs", "cgroup.subtree_control"];

/// What this host gives us.
pub(super) fn layout(root: bool) -> CgroupLayout {
    if is_v2() {
        return match v2_base(root) {
            Some(base) => CgroupLayout::V2 {
                controllers: words(&base.join("cgroup.controllers")),
            },
            None => CgroupLayout::None,
        };
    }
    let known = ["memory", "pids", "cpu", "cpuacct", "devices", "blkio"];
    let mount = Path::new(MOUNT);
    let controllers: Vec<String> = known
        .iter()
        .filter(|name| root && is_ours(&mount.join(name)))
        .map(|name| (*name).to_owned())
        .collect();
    if controllers.is_empty() {
        return CgroupLayout::None;
    }
    CgroupLayout::V1 {
        controllers,
        unified: mount.join("unified/cgroup.procs").exists() && is_ours(&mount.join("unified")),
    }
}

/// Whether the one hierarchy of v2 is what is mounted.
fn is_v2() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// The v2 group in which ours is made, if there is one that we may use: the top for root, unless it
/// is started as a service, which has a group of its own; else the group that we were started in,
/// where that is delegated to us.
pub fn v2_base(root: bool) -> Option<PathBuf> {
    if !is_v2() {
        return None;
    }
    let base = base_of(&own_group(), root);
    let usable = DELEGATED.iter().all(|file| is_ours(&base.join(file)));
    usable.then_some(base)
}

fn base_of(own: &str, root: bool) -> PathBuf {
    let mount = Path::new(MOUNT);
    // A group of ours that we were moved into at an earlier start is not the base.
    let own = own
        .strip_suffix(DAEMON_LEAF)
        .unwrap_or(own)
        .trim_matches('/');
    // What lies above the root of our cgroup namespace cannot be named.
    let outside = own.starts_with("..");
    if own.is_empty() || outside || (root && !own.contains(".service")) {
        mount.to_owned()
    } else {
        mount.join(own)
    }
}

/// Whether we may write it; for root this tells a read-only mount.
fn is_ours(path: &Path) -> bool {
    access(path, AccessFlags::W_OK).is_ok()
}

fn words(path: &Path) -> Vec<String> {
    read(path).split_whitespace().map(str::to_owned).collect()
}

/// Path of our own v2 group below the mount point, `/` at the root.
fn own_group() -> String {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("0::"))
        .unwrap_or("/")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(own: &str, root: bool) -> String {
        let path = base_of(own, root);
        let below = path.strip_prefix(MOUNT).expect("below the mount point");
        below.to_string_lossy().into_owned()
    }

    #[test]
    fn root_takes_the_top_unless_it_is_a_service() {
        assert_eq!(base("/", true), "");
        assert_eq!(base("/user.slice/user-0.slice/session-1.scope", true), "");
        let service = "/system.slice/rollcage.service";
        assert_eq!(base(service, true), service.trim_start_matches('/'));
    }

    #[test]
    fn others_take_the_group_they_were_started_in() {
        let scope = "/user.slice/user-7.slice/user@7.service/app.slice/run-3.scope";
        assert_eq!(base(scope, false), scope.trim_start_matches('/'));
        let moved = format!("{scope}/{DAEMON_LEAF}");
        assert_eq!(base(&moved, false), scope.trim_start_matches('/'));
        assert_eq!(base("/", false), "");
        assert_eq!(base("/../../elsewhere", false), "");
    }
}
