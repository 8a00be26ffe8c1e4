//! New and other namespaces, and the calls that change the file tree.

use super::{ENOSYS, EPERM};
use crate::row::{Class, Row, Want, row};

const FILTER: &[&str] = &["seccomp"];
const CLOSED: Want = Want::Always(&[EPERM]);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("unshare_user", Class::InternalEscalation, "make a user namespace, and be root in it", FILTER, CLOSED),
    row("unshare_mount", Class::InternalEscalation, "make a mount namespace", FILTER, CLOSED),
    row("unshare_net", Class::InternalEscalation, "make a network namespace", FILTER, CLOSED),
    row("unshare_pid", Class::InternalEscalation, "make a pid namespace", FILTER, CLOSED),
    row("clone_user", Class::InternalEscalation, "clone into a user namespace", FILTER, CLOSED),
    row("clone_mount", Class::InternalEscalation, "clone into a mount namespace", FILTER, CLOSED),
    row("clone_net", Class::InternalEscalation, "clone into a network namespace", FILTER, CLOSED),
    row("clone_three", Class::InternalEscalation, "use clone3, whose flags no filter sees", FILTER, Want::Always(&[ENOSYS])),
    row("enter_ns", Class::Escape, "enter a namespace by its descriptor", FILTER, CLOSED),
    row("mount_proc", Class::HostLeak, "mount a whole /proc", FILTER, CLOSED),
    row("mount_tmpfs", Class::InternalEscalation, "mount a tmpfs", FILTER, CLOSED),
    row("unmount", Class::Escape, "unmount what covers something", FILTER, CLOSED),
    row("fs_open", Class::InternalEscalation, "open a file system (CVE-2022-0185)", FILTER, CLOSED),
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
