//! Files of the host, of pid 1 and of the kernel.

use super::{EACCES, ENOENT, EPERM, EROFS, HOST_TREE, closed_in_proc, hidden};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const TREE: &[&str] = &["root_tree", "pivot"];
const OF_1: &[&str] = &["proc", "init_guard", "identity"];
const PROC: &[&str] = &["proc", "user_namespace"];
const READ_ONLY: &[&str] = &["root_tree", "landlock"];

/// Other users' processes are not there; ours that may not be traced are closed.
const NOT_OURS: Want = Want::Always(&[ENOENT, EPERM, EACCES]);
const NO_WRITE: Want = Want::Always(&[EROFS, EACCES]);

fn sysctl(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (true, true) => Expectation::any(&[ENOENT]),
        _ => Expectation::any(&[EACCES, EROFS, ENOENT]),
    }
}

fn sysrq(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (true, true) => Expectation::any(&[ENOENT]),
        _ => Expectation::any(&[EACCES, EROFS, ENOENT, EPERM]),
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("shadow_of_1", Class::HostLeak, "read /etc/shadow through the root of pid 1", OF_1, NOT_OURS).varies(),
    row("shadow", Class::HostLeak, "read the host's /etc/shadow", TREE, Want::By(hidden)),
    row("root_of_1", Class::Escape, "enter the root folder of pid 1", OF_1, NOT_OURS).varies(),
    row("mem_of_1", Class::Escape, "write the memory of pid 1", OF_1, NOT_OURS).varies(),
    row("environ_of_1", Class::HostLeak, "read the environment of pid 1", OF_1, NOT_OURS).varies(),
    row("maps_of_1", Class::HostLeak, "read the memory map of pid 1", OF_1, NOT_OURS).varies(),
    row("fds_of_1", Class::Escape, "list the descriptors of pid 1", OF_1, NOT_OURS).varies(),
    row("exe_of_1", Class::Escape, "overwrite the program of pid 1", OF_1, Want::Always(&[ENOENT, EPERM, EACCES])).varies(),
    row("own_exe", Class::Escape, "overwrite the own program, which is the host's file", READ_ONLY, NO_WRITE),
    row("core_pattern", Class::Escape, "name a program that the host starts for a core dump", PROC, Want::By(sysctl)),
    row("modprobe", Class::Escape, "name a program that the host starts for a module", PROC, Want::By(sysctl)).varies(),
    row("sysrq", Class::HostDos, "restart the host through /proc/sysrq-trigger", PROC, Want::By(sysrq)).varies(),
    row("kcore", Class::HostLeak, "read the kernel's memory through /proc/kcore", PROC, Want::By(sysrq)).varies(),
    row("kallsyms", Class::HostLeak, "read addresses of the kernel", &["proc"], Want::By(closed_in_proc)),
    row("keys", Class::HostLeak, "list keys of the host", &["proc", "session_keyring"], Want::By(closed_in_proc)),
    row("cgroup_fs", Class::Escape, "open the host's control groups", TREE, Want::By(hidden)),
    row("sys_kernel", Class::HostLeak, "open /sys/kernel", TREE, Want::By(hidden)),
    row("cpu_count", Class::HostLeak, "count more CPUs than the rate is worth", &["cpu_lease", "cpu_view"], Want::Namespaced(&["as shown"], HOST_TREE)).varies(),
    row("dev_mem", Class::Escape, "open physical memory", TREE, Want::By(hidden)).varies(),
    row("dev_kmsg", Class::HostLeak, "open the kernel's log", TREE, Want::By(hidden)).varies(),
    row("dev_fuse", Class::Escape, "open /dev/fuse", TREE, Want::By(hidden)).varies(),
    row("dev_tun", Class::Exfiltration, "open /dev/net/tun", TREE, Want::By(hidden)).varies(),
    row("dev_kvm", Class::Escape, "open /dev/kvm", TREE, Want::By(hidden)).varies(),
    row("host_run", Class::Lateral, "find sockets of the host's services in /run", TREE, Want::By(hidden)).varies(),
    row("host_home", Class::HostLeak, "find files in root's home", TREE, Want::By(hidden)).varies(),
    row("write_root", Class::Escape, "make a file in /", READ_ONLY, NO_WRITE),
    row("write_usr", Class::Escape, "make a file in /usr", READ_ONLY, NO_WRITE),
    row("write_etc", Class::Escape, "make a file in /etc", READ_ONLY, NO_WRITE),
    row("write_sh", Class::Escape, "overwrite /bin/sh", READ_ONLY, NO_WRITE),
    row("write_passwd", Class::InternalEscalation, "overwrite /etc/passwd", READ_ONLY, NO_WRITE),
    row("remount_usr", Class::Escape, "make the mount of /usr writable", &["seccomp", "user_namespace"], Want::Always(&[EPERM])),
    row("set_id_usr", Class::InternalEscalation, "use set-uid programs of the image", &["root_tree"], Want::Namespaced(&["nosuid,ro"], HOST_TREE)),
    row("set_id_mounts", Class::InternalEscalation, "make set-uid programs and devices in the workspace", &["workspace"], Want::Namespaced(&["nosuid,nodev"], HOST_TREE)),
];
