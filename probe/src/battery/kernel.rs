//! Calls that reach deep into the kernel or change the host.

use policies::SyscallProfile;

use super::{EBUSY, EPERM, OK, SIGSYS, from_compat};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];
const CLOSED: Want = Want::Always(&[EPERM]);

fn shared_memory(setting: &Setting) -> Expectation {
    if setting.cgroup_memory && setting.own_namespaces {
        from_compat(setting, "shmget")
    } else {
        Expectation::any(&[EPERM])
    }
}

/// Memory files are refused where memory is polled: they would lie in no process.
fn sealed_memfd(setting: &Setting) -> Expectation {
    Expectation::any(if setting.cgroup_memory {
        &[OK]
    } else {
        &[EPERM]
    })
}

fn plain_memfd(setting: &Setting) -> Expectation {
    let open = setting.cgroup_memory && setting.profile != SyscallProfile::Strict;
    Expectation::any(if open { &[OK] } else { &[EPERM] })
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
];
