//! Namespaces: that the own ones are not the host's, that none can be made or entered, and the calls
//! that change the file tree.

use super::{ENOSYS, EPERM, OK};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];
const CLOSED: Want = Want::Always(&[EPERM]);
const OWN: Want = Want::Namespaced(&["own"], "landlock mode has no namespaces");

/// By a leased range in root mode, by the user's one id in rootless mode.
fn id_map(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.leased_ids) {
        (false, _) => Expectation::NotAsked("landlock mode has no namespaces"),
        (true, true) => Expectation::any(&["leased"]),
        (true, false) => Expectation::any(&["one"]),
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("own_user_namespace", Class::Escape, "be in the host's user namespace", &["user_namespace", "ns_user"], OWN),
    row("own_mount_namespace", Class::Escape, "be in the host's mount namespace", &["ns_mnt"], OWN).varies(),
    row("own_pid_namespace", Class::Lateral, "be in the host's pid namespace", &["ns_pid"], OWN),
    row("own_net_namespace", Class::Exfiltration, "be in the host's network namespace", &["ns_net"], OWN).varies(),
    row("own_ipc_namespace", Class::Lateral, "be in the host's IPC namespace", &["ns_ipc"], OWN).varies(),
    row("own_uts_namespace", Class::HostLeak, "be in the host's UTS namespace", &["ns_uts"], OWN).varies(),
    row("own_cgroup_namespace", Class::HostLeak, "be in the host's cgroup namespace", &["ns_cgroup"], OWN),
    row("id_map", Class::Escape, "find ids of the host in the id map", &["maps", "user_namespace", "lease"], Want::By(id_map)),
    row("host_name", Class::HostLeak, "learn the host's name", &["host_name", "ns_uts"], Want::Namespaced(&["sandbox"], "landlock mode has no UTS namespace")),
    row("unshare_user", Class::InternalEscalation, "make a user namespace, and be root in it", FILTER, CLOSED),
    row("unshare_mount", Class::InternalEscalation, "make a mount namespace", FILTER, CLOSED),
    row("unshare_net", Class::InternalEscalation, "make a network namespace", FILTER, CLOSED),
    row("unshare_pid", Class::InternalEscalation, "make a pid namespace", FILTER, CLOSED),
    row("clone_user", Class::InternalEscalation, "clone into a user namespace", FILTER, CLOSED),
    row("clone_mount", Class::InternalEscalation, "clone into a mount namespace", FILTER, CLOSED),
    row("clone_net", Class::InternalEscalation, "clone into a network namespace", FILTER, CLOSED),
    row("unshare_ipc", Class::InternalEscalation, "make an IPC namespace", FILTER, CLOSED),
    row("unshare_uts", Class::InternalEscalation, "make a UTS namespace", FILTER, CLOSED),
    row("unshare_cgroup", Class::InternalEscalation, "make a cgroup namespace", FILTER, CLOSED),
    row("unshare_time", Class::InternalEscalation, "make a time namespace", FILTER, CLOSED).varies(),
    row("clone_pid", Class::InternalEscalation, "clone into a pid namespace", FILTER, CLOSED),
    row("clone_ipc", Class::InternalEscalation, "clone into an IPC namespace", FILTER, CLOSED),
    row("clone_uts", Class::InternalEscalation, "clone into a UTS namespace", FILTER, CLOSED),
    row("clone_cgroup", Class::InternalEscalation, "clone into a cgroup namespace", FILTER, CLOSED),
    row("clone_high_bits", Class::InternalEscalation, "hide a namespace flag behind bits above the 32nd", FILTER, CLOSED),
    row("plain_clone", Class::InternalEscalation, "clone without a namespace, as programs do", &[], Want::Always(&[OK])).works(),
    row("clone_three", Class::InternalEscalation, "use clone3, whose flags no filter sees", FILTER, Want::Always(&[ENOSYS])),
    row("enter_ns", Class::Escape, "enter a namespace by its descriptor", FILTER, CLOSED),
    row("mount_proc", Class::HostLeak, "mount a whole /proc", FILTER, CLOSED),
    row("mount_tmpfs", Class::InternalEscalation, "mount a tmpfs", FILTER, CLOSED),
    row("unmount", Class::Escape, "unmount what covers something", FILTER, CLOSED),
    row("fs_open", Class::InternalEscalation, "open a file system (CVE-2022-0185)", FILTER, CLOSED),
    row("fs_pick", Class::Escape, "pick a mounted file system to change it", FILTER, CLOSED),
    row("fs_config", Class::Escape, "configure a file system (CVE-2022-0185)", FILTER, CLOSED),
    row("fs_mount", Class::Escape, "make a mount of an opened file system", FILTER, CLOSED),
    row("mount_status", Class::HostLeak, "ask for a mount by its number", FILTER, CLOSED),
    row("mount_list", Class::HostLeak, "list mounts by number", FILTER, CLOSED),
    row("mount_cgroup", Class::Escape, "mount the control groups (CVE-2022-0492)", FILTER, CLOSED),
    row("bind_over", Class::InternalEscalation, "mount one folder over another", FILTER, CLOSED),
    row("remount_usr", Class::Escape, "make the mount of /usr writable", &["seccomp", "user_namespace"], CLOSED),
    row("tree_open", Class::Escape, "copy a mount", FILTER, CLOSED),
    row("mount_move", Class::Escape, "move a mount", FILTER, CLOSED),
    row("mount_attr", Class::Escape, "change a mount's flags", FILTER, CLOSED),
    row("pivot", Class::Escape, "change the root mount", FILTER, CLOSED),
    row("change_root", Class::Escape, "change the root folder", FILTER, CLOSED),
    row("make_block", Class::Escape, "make the node of a disk", FILTER, CLOSED),
    row("make_char", Class::Escape, "make the node of /dev/mem", FILTER, CLOSED),
    row("by_handle", Class::Escape, "open a file by its handle (shocker)", FILTER, CLOSED),
    row("to_handle", Class::Escape, "learn a file's handle", FILTER, CLOSED),
];
