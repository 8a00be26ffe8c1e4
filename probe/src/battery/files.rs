//! Files of the host and of pid 1, and what may be written.

use super::{EACCES, ENOENT, EPERM, EROFS, HOST_PROC, HOST_TREE, OK, hidden};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const TREE: &[&str] = &["root_tree", "pivot"];
const OF_1: &[&str] = &["proc", "init_guard", "identity"];
const READ_ONLY: &[&str] = &["root_tree", "landlock"];

/// Other users' processes are not there; ours that may not be traced are closed.
const NOT_OURS: Want = Want::Always(&[ENOENT, EPERM, EACCES]);
const NO_WRITE: Want = Want::Always(&[EROFS, EACCES]);
const HIDDEN: Want = Want::By(hidden);

/// Its file is being executed, which is looked at before Landlock is asked.
fn own_program(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[EROFS, EACCES]
    } else {
        &["ETXTBSY", EACCES, EROFS]
    })
}

/// Not there, or read-only.
const NOT_MADE: Want = Want::Always(&[EROFS, EACCES, ENOENT]);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("shadow_of_1", Class::HostLeak, "read /etc/shadow through the root of pid 1", OF_1, NOT_OURS).varies(),
    row("root_of_1", Class::Escape, "enter the root folder of pid 1", OF_1, NOT_OURS).varies(),
    row("cwd_of_1", Class::Escape, "enter the working folder of pid 1", OF_1, NOT_OURS).varies(),
    row("mem_of_1", Class::Escape, "write the memory of pid 1", OF_1, NOT_OURS).varies(),
    row("environ_of_1", Class::HostLeak, "read the environment of pid 1", OF_1, NOT_OURS).varies(),
    row("maps_of_1", Class::HostLeak, "read the memory map of pid 1", OF_1, NOT_OURS).varies(),
    row("fds_of_1", Class::Escape, "list the descriptors of pid 1", OF_1, Want::Namespaced(&[ENOENT, EPERM, EACCES], HOST_PROC)).varies(),
    row("exe_of_1", Class::Escape, "overwrite the program of pid 1 (CVE-2019-5736)", OF_1, NOT_OURS).varies(),
    row("shadow", Class::HostLeak, "read the host's /etc/shadow", TREE, HIDDEN),
    row("shadow_by_parents", Class::HostLeak, "read it by way of parent folders", TREE, HIDDEN),
    row("shadow_by_self", Class::HostLeak, "read it by way of /proc/self/root", TREE, HIDDEN),
    row("machine_id", Class::HostLeak, "read the host's identity", &["root_tree", "pivot"], Want::Namespaced(&[ENOENT, "ENODATA"], HOST_TREE)).varies(),
    row("cgroup_fs", Class::Escape, "open the host's control groups (CVE-2023-25809)", TREE, HIDDEN),
    row("release_agent", Class::Escape, "name a program that the host starts for an empty group (CVE-2022-0492)", TREE, HIDDEN).varies(),
    row("sys_kernel", Class::HostLeak, "open /sys/kernel", TREE, HIDDEN),
    row("uevent_helper", Class::Escape, "name a program that the host starts for a device", TREE, HIDDEN).varies(),
    row("debug_fs", Class::HostLeak, "open /sys/kernel/debug", TREE, HIDDEN).varies(),
    row("boot", Class::HostLeak, "open /boot", TREE, HIDDEN).varies(),
    row("host_var", Class::HostLeak, "open /var/lib", TREE, HIDDEN),
    row("host_logs", Class::HostLeak, "open /var/log", TREE, HIDDEN),
    row("docker_socket", Class::Escape, "reach a control socket of containers", TREE, HIDDEN).varies(),
    row("dev_mem", Class::Escape, "open physical memory", TREE, HIDDEN).varies(),
    row("dev_port", Class::Escape, "open the I/O ports", TREE, HIDDEN).varies(),
    row("dev_kmsg", Class::HostLeak, "open the kernel's log", TREE, HIDDEN).varies(),
    row("dev_fuse", Class::Escape, "open /dev/fuse", TREE, HIDDEN).varies(),
    row("dev_tun", Class::Exfiltration, "open /dev/net/tun", TREE, HIDDEN).varies(),
    row("dev_kvm", Class::Escape, "open /dev/kvm", TREE, HIDDEN).varies(),
    row("dev_vsock", Class::Escape, "open /dev/vsock", TREE, HIDDEN).varies(),
    row("dev_loop", Class::Escape, "open /dev/loop-control", TREE, HIDDEN).varies(),
    row("dev_userfault", Class::Escape, "open /dev/userfaultfd", TREE, HIDDEN).varies(),
    row("host_terminals", Class::HostLeak, "read a terminal of the host", &["root_tree"], Want::Always(&["none", EACCES])).varies(),
    row("own_terminal", Class::HostLeak, "open a controlling terminal that was left", &["session"], Want::Always(&["ENXIO", ENOENT, EACCES])).varies(),
    row("host_run", Class::Lateral, "find sockets of the host's services in /run", TREE, HIDDEN).varies(),
    row("host_home", Class::HostLeak, "find files in root's home", TREE, HIDDEN).varies(),
    row("host_homes", Class::HostLeak, "find files in /home", TREE, HIDDEN).varies(),
    row("own_exe", Class::Escape, "overwrite the own program, which is the host's file", READ_ONLY, Want::By(own_program)),
    row("cpu_count", Class::HostLeak, "count more CPUs than the rate is worth", &["cpu_lease", "cpu_view"], Want::Namespaced(&["as shown"], HOST_TREE)).varies(),
    row("write_root", Class::Escape, "make a file in /", READ_ONLY, NO_WRITE),
    row("write_usr", Class::Escape, "make a file in /usr", READ_ONLY, NO_WRITE),
    row("write_etc", Class::Escape, "make a file in /etc", READ_ONLY, NO_WRITE),
    row("write_dev", Class::Escape, "make a file in /dev", READ_ONLY, NO_WRITE).varies(),
    row("write_run", Class::Escape, "make a file in /run", READ_ONLY, NO_WRITE),
    row("write_var_tmp", Class::Escape, "make a file in /var/tmp", READ_ONLY, NOT_MADE),
    row("write_home", Class::Escape, "make a file in /home", READ_ONLY, NOT_MADE),
    row("write_opt", Class::Escape, "make a file in /opt", READ_ONLY, NOT_MADE).varies(),
    row("write_sh", Class::Escape, "overwrite /bin/sh", READ_ONLY, NOT_MADE),
    row("write_passwd", Class::InternalEscalation, "overwrite /etc/passwd", READ_ONLY, NO_WRITE),
    row("change_mode", Class::Escape, "change the mode of /bin/sh", READ_ONLY, Want::Always(&[EROFS, EPERM, ENOENT])),
    row("link_out", Class::Escape, "link a file of /etc into /tmp", READ_ONLY, Want::Always(&["EXDEV", EPERM, EACCES])),
    row("file_capabilities", Class::InternalEscalation, "give a written program capabilities", &["capabilities"], Want::Always(&[EPERM])),
    row("null_device", Class::HostDos, "use /dev/null, as programs do", &[], Want::Always(&[OK])).works(),
];
