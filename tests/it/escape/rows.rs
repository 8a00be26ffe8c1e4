//! What each attempt of `tests/probe/probe.c` must come to: a result of the probe, or several with
//! `|` between them where more than one layer may be the first to refuse.

/// Whether the attempt answers otherwise outside of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// On any host that runs these tests.
    Differs,
    /// Hosts differ: a kernel without that part, a root without that capability.
    DependsOnHost,
}

/// One attempt.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Under the profiles of `python` and `shell`, of `node`, of `build`.
    pub(super) wanted: [&'static str; 3],
    pub(super) outside: Outside,
}

const fn row(name: &'static str, wanted: &'static str) -> Row {
    Row {
        name,
        wanted: [wanted; 3],
        outside: Outside::Differs,
    }
}

/// The host's own answer may be the same.
const fn unsure(name: &'static str, wanted: &'static str) -> Row {
    Row {
        name,
        wanted: [wanted; 3],
        outside: Outside::DependsOnHost,
    }
}

const fn by_policy(name: &'static str, wanted: [&'static str; 3]) -> Row {
    Row {
        name,
        wanted,
        outside: Outside::Differs,
    }
}

/// What works inside and outside: a probe that finds everything closed proves nothing.
pub(super) const ALLOWED: &[&str] = &[
    "netlink_route",
    "tcp",
    "udp6",
    "unix_pair",
    "own_loopback",
    "memfd_sealed",
    "own_jit",
];

const EPERM: &str = "1";
const ENOENT: &str = "2";
/// Other users' processes are not there in a `/proc` of processes only, and closed in a whole one.
const OF_1: &str = "2|1|13";

/// What must be closed.
pub(super) const CLOSED: &[Row] = &[
    // Files of the host, of pid 1, of the kernel.
    unsure("shadow_of_1", OF_1),
    row("shadow", ENOENT),
    unsure("root_of_1", OF_1),
    unsure("mem_of_1", OF_1),
    unsure("environ_of_1", OF_1),
    unsure("maps_of_1", OF_1),
    unsure("fds_of_1", OF_1),
    unsure("exe_of_1", OF_1),
    row("own_exe", "13|30"),
    by_policy("core_pattern", [ENOENT, "13|30", "13|30"]),
    unsure("modprobe", "2|13|30"),
    unsure("sysrq", "2|13|30"),
    unsure("kcore", "2|13|1"),
    by_policy("kallsyms", [ENOENT, "2|13|1|61", "2|13|1|61"]),
    by_policy("keys", [ENOENT, "2|13|1|61", "2|13|1|61"]),
    row("cgroup_fs", ENOENT),
    row("sys_kernel", ENOENT),
    unsure("dev_mem", ENOENT),
    unsure("dev_kmsg", ENOENT),
    unsure("dev_fuse", ENOENT),
    unsure("dev_tun", ENOENT),
    unsure("dev_kvm", ENOENT),
    unsure("host_run", ENOENT),
    unsure("host_home", "2|13"),
    row("write_root", "13|30"),
    row("write_usr", "13|30"),
    row("write_etc", "13|30"),
    row("write_sh", "13|30"),
    row("write_passwd", "13|30"),
    row("remount_usr", EPERM),
    // Namespaces and mounts.
    row("unshare_user", EPERM),
    row("unshare_mount", EPERM),
    row("unshare_net", EPERM),
    row("unshare_pid", EPERM),
    row("clone_user", EPERM),
    row("clone_mount", EPERM),
    row("clone_net", EPERM),
    row("clone_three", "38"),
    row("enter_ns", EPERM),
    row("mount_proc", EPERM),
    row("mount_tmpfs", EPERM),
    row("unmount", EPERM),
    row("fs_open", EPERM),
    row("tree_open", EPERM),
    row("mount_move", EPERM),
    row("mount_attr", EPERM),
    row("pivot", EPERM),
    row("change_root", EPERM),
    row("make_block", EPERM),
    row("make_char", EPERM),
    row("by_handle", EPERM),
    row("to_handle", EPERM),
    // Sockets.
    unsure("vsock", "97"),
    row("packet", "97"),
    unsure("alg", "97"),
    row("netlink_netfilter", "93"),
    unsure("netlink_audit", "93"),
    row("raw_ip", EPERM),
    unsure("ping", "93"),
    unsure("mptcp", "93"),
    unsure("sctp", "93"),
    unsure("bluetooth", "97"),
    unsure("can", "97"),
    unsure("send_out", "101"),
    unsure("connect_out", "101"),
    row("low_port", "13"),
    row("change_interface", EPERM),
    unsure("other_interfaces", "19"),
    row("attach_filter", EPERM),
    // Kernel surface.
    row("uring", EPERM),
    row("bpf", EPERM),
    row("perf", EPERM),
    row("userfault", EPERM),
    row("key_control", EPERM),
    row("key_add", EPERM),
    row("key_request", EPERM),
    row("load_module", EPERM),
    row("load_kernel", EPERM),
    row("read_log", EPERM),
    row("restart", EPERM),
    row("set_time", EPERM),
    row("set_name", EPERM),
    row("swap_on", EPERM),
    row("account", EPERM),
    row("quota", EPERM),
    row("local_descriptors", EPERM),
    unsure("io_level", EPERM),
    unsure("io_ports", EPERM),
    row("fan_notify", EPERM),
    row("domain", EPERM),
    unsure("real_time", EPERM),
    by_policy("splice_pipe", [EPERM, "ok", "ok"]),
    by_policy("shared_memory", [EPERM, "ok", "ok"]),
    row("listener", "16"),
    row("secure_bits", EPERM),
    row("fake_memory_map", EPERM),
    row("terminal_input", EPERM),
    row("memfd_executable", EPERM),
    by_policy("memfd_plain", [EPERM, "ok", "ok"]),
    row("int80", "signal 31"),
    row("x32", "signal 31"),
    // Other processes, identity, limits.
    row("trace_child", EPERM),
    row("read_memory", EPERM),
    row("steal_descriptor", EPERM),
    row("become_root", "1|22"),
    row("become_group", "1|22"),
    row("set_groups", "1|22"),
    unsure("raise_files", EPERM),
    row("raise_priority", "13"),
    unsure("adjust_oom", "13|2|30"),
    row("extra_descriptors", "9"),
    row("capabilities", EPERM),
    // Code that was written.
    by_policy("execute_workspace", ["13", "13", "ok"]),
    by_policy("execute_tmp", ["13", "13", "ok"]),
    by_policy("execute_shm", ["13", "13", "13"]),
    by_policy("map_written", [EPERM, EPERM, "ok"]),
    row("set_id_mounts", EPERM),
    row("set_id_usr", EPERM),
];
