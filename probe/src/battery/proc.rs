//! The kernel's own files: what `/proc` tells and takes, apart from the processes in it.

use super::{EACCES, ENODATA, ENOENT, EPERM, EROFS, HOST_PROC, closed_in_proc};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const PROC: &[&str] = &["proc"];
const SYSCTL: &[&str] = &["proc", "user_namespace"];

/// A knob of the kernel: not there, or read-only.
fn sysctl(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (true, true) => Expectation::any(&[ENOENT]),
        _ => Expectation::any(&[EROFS, EACCES, ENOENT, EPERM]),
    }
}

/// Landlock alone forbids it where `/proc` itself can be written.
fn own_proc(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        _ if setting.landlock_abi == 0 && setting.proc_pids_only => {
            Expectation::NotAsked("only Landlock forbids it, and this kernel has none")
        }
        (true, false) => Expectation::any(&[EROFS]),
        _ => Expectation::any(&[EACCES]),
    }
}

fn listing(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (false, _) => Expectation::NotAsked(HOST_PROC),
        (true, true) => Expectation::any(&["processes"]),
        (true, false) => Expectation::any(&["masked"]),
    }
}

const OWN: Want = Want::Namespaced(&["none"], HOST_PROC);
const CLOSED: Want = Want::By(closed_in_proc);

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("core_pattern", Class::Escape, "name a program that the host starts for a core dump", SYSCTL, Want::By(sysctl)),
    row("modprobe", Class::Escape, "name a program that the host starts for a module", SYSCTL, Want::By(sysctl)).varies(),
    row("binfmt", Class::Escape, "register an interpreter for programs of the host", SYSCTL, Want::By(sysctl)).varies(),
    row("namespace_limits", Class::InternalEscalation, "change how many namespaces may be made", SYSCTL, Want::By(sysctl)),
    row("randomize", Class::Escape, "switch the host's address randomisation off", SYSCTL, Want::By(sysctl)),
    row("panic_on_oops", Class::HostDos, "change how the host fails", SYSCTL, Want::By(sysctl)),
    row("sysrq", Class::HostDos, "restart the host through /proc/sysrq-trigger", SYSCTL, Want::By(sysctl)).varies(),
    row("own_comm", Class::InternalEscalation, "write a file of the own process in /proc", &["landlock_rules", "landlock"], Want::By(own_proc)),
    row("proc_listing", Class::HostLeak, "find anything in /proc beyond the list", PROC, Want::By(listing)),
    row("kcore", Class::HostLeak, "read the kernel's memory", PROC, CLOSED).varies(),
    row("kallsyms", Class::HostLeak, "read addresses of the kernel", PROC, CLOSED),
    row("kmsg", Class::HostLeak, "read the kernel's log through /proc", PROC, CLOSED).varies(),
    row("keys", Class::HostLeak, "list keys of the host", PROC, CLOSED),
    row("key_users", Class::HostLeak, "list users of keys", PROC, CLOSED).varies(),
    row("timer_list", Class::HostLeak, "list the host's timers", PROC, CLOSED).varies(),
    row("sched_debug", Class::HostLeak, "list what the host's CPUs run", PROC, CLOSED).varies(),
    row("iomem", Class::HostLeak, "read the map of physical memory", PROC, CLOSED).varies(),
    row("interrupts", Class::HostLeak, "count the host's interrupts (keystrokes)", PROC, CLOSED),
    row("kernel_command_line", Class::HostLeak, "read the kernel's command line", PROC, CLOSED),
    row("modules", Class::HostLeak, "list the kernel's modules", PROC, CLOSED).varies(),
    row("slabs", Class::HostLeak, "read the kernel's own memory use", PROC, CLOSED).varies(),
    row("partitions", Class::HostLeak, "list the host's disks", PROC, CLOSED).varies(),
    row("page_flags", Class::HostLeak, "read flags of physical pages", PROC, CLOSED).varies(),
    row("locks", Class::HostLeak, "list the host's file locks", PROC, CLOSED).varies(),
    row("abstract_sockets", Class::Lateral, "find abstract sockets of the host (containerd)", &["ns_net"], OWN).varies(),
    row("listeners", Class::Lateral, "find TCP listeners of the host", &["ns_net"], OWN).varies(),
    row("other_processes", Class::HostLeak, "find processes that are not ours", &["proc", "ns_pid", "init_guard"], OWN),
    row("shared_memory_files", Class::Lateral, "find System V memory of others", &["ns_ipc"], Want::By(sysv)).varies(),
];

/// Where `/proc` is whole, and the list is not masked with the rest.
fn sysv(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (false, _) => Expectation::NotAsked(HOST_PROC),
        _ => Expectation::any(&[ENOENT, ENODATA, "none"]),
    }
}
