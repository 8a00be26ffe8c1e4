//! All that a sandbox sees, against lists: names in folders, mounts with their flags, descriptors,
//! variables. What is not on a list is told by name.

use std::borrow::Cow;

use super::{EACCES, EBADF, ENOENT, EPERM, HOST_TREE};
use crate::lists::{DEV_NAMES, KNOWN, ROOT_NAMES};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

/// Extra paths of the operator add their first names to the root.
fn root_names(setting: &Setting) -> Expectation {
    if !setting.own_namespaces {
        return Expectation::NotAsked(HOST_TREE);
    }
    let mut words = vec![Cow::Borrowed(KNOWN)];
    let mut tops: Vec<&str> = setting
        .extra_read_paths
        .iter()
        .filter_map(|path| path.split('/').find(|part| !part.is_empty()))
        .filter(|name| !ROOT_NAMES.contains(name))
        .collect();
    tops.sort_unstable();
    tops.dedup();
    if !tops.is_empty() {
        words.push(Cow::Owned(format!("also {}", tops.join(","))));
    }
    Expectation::OneOf(words)
}

/// A few files of our own, or nothing at all.
fn sys_names(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[KNOWN, ENOENT]
    } else {
        &[EACCES, ENOENT, EPERM]
    })
}

fn no_exec(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.writable_noexec) {
        (false, _) => Expectation::NotAsked(HOST_TREE),
        (true, true) => Expectation::any(&["none"]),
        (true, false) => Expectation::any(&["/workspace,/tmp,/dev/shm", "none"]),
    }
}

const _: () = assert!(!DEV_NAMES.is_empty());

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("root_listing", Class::HostLeak, "find anything in / beyond the list", &["root_tree", "pivot"], Want::By(root_names)),
    row("sys_listing", Class::HostLeak, "find anything in /sys beyond the list", &["root_tree", "pivot"], Want::By(sys_names)),
    row("dev_listing", Class::Escape, "find anything in /dev beyond the list", &["root_tree"], Want::Namespaced(&[KNOWN], HOST_TREE)),
    row("device_numbers", Class::Escape, "find a node in /dev that is another device than its name says", &["root_tree"], Want::Namespaced(&[KNOWN], HOST_TREE)).varies(),
    row("mount_table", Class::Escape, "find a mount without the flags that lock it", &["root_tree", "workspace", "pivot"], Want::Namespaced(&["locked"], HOST_TREE)),
    row("mounts_executable", Class::InternalEscalation, "find a writable mount that programs can be executed from", &["workspace"], Want::By(no_exec)),
    row("propagation", Class::Escape, "find a mount that the host's mounts and unmounts reach", &["private_mounts"], Want::Namespaced(&["private"], HOST_TREE)).varies(),
    row("set_id_usr", Class::InternalEscalation, "use set-uid programs of the image", &["root_tree"], Want::Namespaced(&["nosuid,nodev,ro", "nosuid,ro"], HOST_TREE)),
    row("set_id_mounts", Class::InternalEscalation, "make set-uid programs and devices in the workspace", &["workspace"], Want::Namespaced(&["nosuid,nodev"], HOST_TREE)),
    row("extra_descriptors", Class::Escape, "use a descriptor that was left open (Leaky Vessels)", &["descriptors"], Want::Always(&[EBADF])),
    row("standard_streams", Class::Escape, "use a file of the host that is a standard stream", &["descriptors"], Want::Always(&["plain"])).varies(),
    row("working_folder", Class::Escape, "start in a folder outside the root (CVE-2024-21626)", &["pivot"], Want::Always(&["inside"])).varies(),
    row("environment", Class::HostLeak, "find variables of the daemon", &[], Want::Always(&[KNOWN])).varies(),
];
