//! Calls that reach deep into the kernel or change the host.

use policies::SyscallProfile;

use super::{EACCES, EBUSY, EINVAL, EMFILE, ENOSYS, EPERM, OK, SIGSYS, from_compat, from_debug};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];
const CLOSED: Want = Want::Always(&[EPERM]);
/// As a kernel answers that does not have the call.
const NEW: Want = Want::Always(&[ENOSYS]);

/// What namespaces of one's own make harmless is refused where there are none.
fn own_ipc(setting: &Setting, call: &str) -> Expectation {
    if setting.own_namespaces {
        from_compat(setting, call)
    } else {
        Expectation::any(&[EPERM])
    }
}

/// Refused by the filter, else for the limit of zero bytes.
fn posix_queue(setting: &Setting) -> Expectation {
    match own_ipc(setting, "mq_open") {
        Expectation::OneOf(words) if words.len() == 1 => Expectation::any(&[EPERM]),
        // A kernel without message queues says so.
        _ => Expectation::any(&[EMFILE, ENOSYS]),
    }
}

fn shared_memory(setting: &Setting) -> Expectation {
    if setting.cgroup_memory && setting.own_namespaces {
        from_compat(setting, "shmget")
    } else {
        Expectation::any(&[EPERM])
    }
}

/// Memory files are refused where memory is polled: they would lie in no process.
fn sealed_memfd(setting: &Setting) -> Expectation {
    // Kernels before 6.3 do not know the flag.
    Expectation::any(if setting.cgroup_memory {
        &[OK, EINVAL]
    } else {
        &[EPERM]
    })
}

fn plain_memfd(setting: &Setting) -> Expectation {
    let open = setting.cgroup_memory && setting.profile != SyscallProfile::Strict;
    // A host may let no memory file be executable (vm.memfd_noexec).
    Expectation::any(if open { &[OK, EACCES] } else { &[EPERM] })
}

/// Debuggers start their program without address randomisation.
fn domain(setting: &Setting) -> Expectation {
    Expectation::any(if setting.profile == SyscallProfile::Debug {
        &[OK]
    } else {
        &[EPERM]
    })
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("uring", Class::Escape, "set up io_uring", FILTER, CLOSED),
    row("bpf", Class::Escape, "load a program into the kernel", FILTER, CLOSED),
    row("perf", Class::HostLeak, "count the host's events", FILTER, CLOSED),
    row("userfault", Class::Escape, "stop the kernel at a page of one's own", FILTER, CLOSED),
    row("key_control", Class::Lateral, "use key rings, which are shared", FILTER, CLOSED),
    row("key_add", Class::Lateral, "add a key", FILTER, CLOSED),
    row("key_request", Class::Lateral, "ask for a key", FILTER, CLOSED),
    row("load_module", Class::Escape, "load a module", FILTER, CLOSED),
    row("load_kernel", Class::Escape, "load another kernel", FILTER, CLOSED),
    row("read_log", Class::HostLeak, "read the kernel's log", FILTER, CLOSED),
    row("restart", Class::HostDos, "restart the host", FILTER, CLOSED),
    row("set_time", Class::HostDos, "set the clock", FILTER, CLOSED),
    row("set_name", Class::InternalEscalation, "set the host name", FILTER, CLOSED),
    row("swap_on", Class::HostDos, "swap to a file", FILTER, CLOSED),
    row("account", Class::HostLeak, "turn on process accounting", FILTER, CLOSED),
    row("quota", Class::HostDos, "change quotas", FILTER, CLOSED),
    row("local_descriptors", Class::Escape, "change the local descriptor table", FILTER, CLOSED),
    row("io_level", Class::Escape, "use all I/O ports", FILTER, CLOSED).varies(),
    row("io_ports", Class::Escape, "use one I/O port", FILTER, CLOSED).varies(),
    row("fan_notify", Class::HostLeak, "watch the host's files", FILTER, CLOSED),
    row("domain", Class::InternalEscalation, "switch address randomisation off", FILTER, Want::By(domain)),
    row("real_time", Class::HostDos, "run in real time, before all others", FILTER, CLOSED).varies(),
    row("splice_pipe", Class::Escape, "move pages between pipes (Dirty Pipe)", FILTER, Want::By(|setting| from_compat(setting, "splice"))),
    row("shared_memory", Class::PeerDos, "keep memory in no process", FILTER, Want::By(shared_memory)),
    row("listener", Class::InternalEscalation, "listen to filtered calls in the guard's place", FILTER, Want::Always(&[EBUSY])),
    row("secure_bits", Class::InternalEscalation, "change the secure bits", FILTER, CLOSED),
    row("fake_memory_map", Class::InternalEscalation, "forge the own memory map", FILTER, CLOSED),
    row("terminal_input", Class::Escape, "put input into a terminal (TIOCSTI)", FILTER, CLOSED),
    row("memfd_executable", Class::InternalEscalation, "make a memory file to be executed", FILTER, CLOSED),
    row("memfd_plain", Class::InternalEscalation, "make a memory file that can be executed", FILTER, Want::By(plain_memfd)),
    row("memfd_sealed", Class::InternalEscalation, "make a memory file that cannot be executed, as programs do", &[], Want::By(sealed_memfd)).works(),
    row("int80", Class::Escape, "make a call through the 32-bit ABI", FILTER, Want::Always(&[SIGSYS])),
    row("x32", Class::Escape, "make a call through the x32 ABI", FILTER, Want::Always(&[SIGSYS])),
    row("uring_enter", Class::Escape, "enter an io_uring", FILTER, CLOSED),
    row("uring_register", Class::Escape, "register with an io_uring", FILTER, CLOSED),
    row("load_module_file", Class::Escape, "load a module from a file", FILTER, CLOSED),
    row("unload_module", Class::HostDos, "unload a module", FILTER, CLOSED),
    row("load_kernel_file", Class::Escape, "load another kernel from a file", FILTER, CLOSED),
    row("set_clock", Class::HostDos, "set one of the clocks", FILTER, CLOSED),
    row("adjust_clock", Class::HostDos, "slow the clock", FILTER, CLOSED),
    row("adjust_one_clock", Class::HostDos, "slow one of the clocks", FILTER, CLOSED),
    row("set_domain_name", Class::InternalEscalation, "set the domain name", FILTER, CLOSED),
    row("swap_off", Class::HostDos, "stop swapping", FILTER, CLOSED),
    row("quota_by_file", Class::HostDos, "change quotas by a file", FILTER, CLOSED),
    row("hang_up", Class::HostDos, "hang up a terminal", FILTER, CLOSED).not_outside(),
    row("sync_all", Class::PeerDos, "write all of the host's files back", FILTER, CLOSED).not_outside(),
    row("sync_one", Class::PeerDos, "write one of the host's file systems back", FILTER, CLOSED),
    row("fan_mark", Class::HostLeak, "mark files to be watched", FILTER, CLOSED),
    row("watch", Class::HostLeak, "watch files of the image, which are the host's", FILTER, Want::By(|setting| from_debug(setting, "inotify_init1"))),
    row("async_io", Class::PeerDos, "set up asynchronous I/O", FILTER, Want::By(|setting| from_compat(setting, "io_setup"))),
    row("message_queue", Class::PeerDos, "keep messages in no process", FILTER, Want::By(|setting| own_ipc(setting, "msgget"))),
    row("semaphores", Class::PeerDos, "keep semaphores in no process", FILTER, Want::By(|setting| own_ipc(setting, "semget"))),
    row("posix_queue", Class::PeerDos, "open a message queue without a limit", &["seccomp", "rlimits"], Want::By(posix_queue)),
    row("tee_pipe", Class::Escape, "copy pages between pipes", FILTER, Want::By(|setting| from_compat(setting, "tee"))),
    row("gift_pages", Class::Escape, "give pages to a pipe", FILTER, Want::By(|setting| from_compat(setting, "vmsplice"))),
    row("memory_policy", Class::PeerDos, "choose where memory lies", FILTER, Want::By(|setting| from_compat(setting, "set_mempolicy"))).varies(),
    row("move_pages", Class::PeerDos, "move memory between nodes", FILTER, CLOSED).varies(),
    row("migrate_pages", Class::PeerDos, "move all memory between nodes", FILTER, CLOSED).varies(),
    row("compare_kernel", Class::HostLeak, "compare addresses in the kernel", FILTER, Want::By(|setting| from_debug(setting, "kcmp"))),
    row("advise_others", Class::PeerDos, "have another process's memory swapped", FILTER, CLOSED),
    row("release_others", Class::PeerDos, "have another process's memory released", FILTER, CLOSED),
    row("scheduling_by_pointer", Class::HostDos, "ask for a deadline class where no filter looks", FILTER, CLOSED),
    row("round_robin", Class::HostDos, "run round robin, before all others", FILTER, CLOSED).varies(),
    row("secret_memory", Class::PeerDos, "take memory out of the kernel's sight", FILTER, NEW).varies(),
    row("futex_wait_many", Class::Escape, "wait for many futexes (GhostLock)", FILTER, NEW).varies(),
    row("futex_requeue", Class::Escape, "requeue futexes by the new call (GhostLock)", FILTER, NEW).varies(),
    row("attributes_at", Class::InternalEscalation, "use a call newer than any library needs", FILTER, NEW).varies(),
    row("next_new_call", Class::Escape, "make a call that no kernel has yet", FILTER, NEW).varies(),
    row("read_implies_exec", Class::InternalEscalation, "make all memory executable", FILTER, CLOSED),
    row("share_core", Class::HostLeak, "share a core with another process", FILTER, CLOSED).varies(),
    row("merge_memory", Class::HostLeak, "have equal pages merged (a side channel)", FILTER, CLOSED).varies(),
    row("unknown_option", Class::InternalEscalation, "set a process option that no kernel has", FILTER, Want::Always(&[EINVAL])).varies(),
    row("folder_signals", Class::HostLeak, "watch a folder by signals", FILTER, Want::Always(&[EINVAL])),
    row("terminal_input_high", Class::Escape, "hide TIOCSTI behind bits above the 32nd", FILTER, CLOSED),
    row("terminal_console", Class::Escape, "act on the console (TIOCLINUX)", FILTER, CLOSED),
    row("terminal_discipline", Class::Escape, "change a terminal's line discipline", FILTER, CLOSED),
    row("terminal_redirect", Class::Escape, "redirect the console", FILTER, CLOSED),
    row("session_keys", Class::Lateral, "use keys of the host's session", &["session_keyring", "seccomp"], Want::Always(&[EPERM, "no keys"])).varies(),
    row("persistent_keys", Class::Lateral, "use the user's persistent keys", FILTER, CLOSED).varies(),
    row("x32_execute", Class::Escape, "execute a program through the x32 ABI", FILTER, Want::Always(&[SIGSYS])),
    row("int80_socket", Class::Escape, "open sockets through the 32-bit ABI", FILTER, Want::Always(&[SIGSYS])),
];
