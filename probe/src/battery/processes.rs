//! Other processes, identity and what a process was given.

use policies::SyscallProfile;

use super::{EACCES, EBADF, EINVAL, ENOENT, EPERM, EROFS, OK};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];

fn tracing(setting: &Setting, call: &str) -> Expectation {
    let open = setting.profile == SyscallProfile::Debug || setting.adds(call);
    Expectation::any(if open { &[OK] } else { &[EPERM] })
}

/// In landlock mode the call itself is refused.
fn priority(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[EACCES]
    } else {
        &[EPERM, EACCES]
    })
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("trace_child", Class::InternalEscalation, "trace another process", FILTER, Want::By(|setting| tracing(setting, "ptrace"))),
    row("read_memory", Class::InternalEscalation, "read another process's memory", FILTER, Want::By(|setting| tracing(setting, "process_vm_readv"))),
    row("steal_descriptor", Class::InternalEscalation, "take a descriptor out of another process", FILTER, Want::Always(&[EPERM])),
    row("become_root", Class::InternalEscalation, "become uid 0", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("become_group", Class::InternalEscalation, "become gid 0", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("set_groups", Class::InternalEscalation, "join other groups", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("raise_files", Class::PeerDos, "raise a hard limit", &["rlimits", "capabilities"], Want::Always(&[EPERM])).varies(),
    row("raise_priority", Class::PeerDos, "raise the own priority", &["capabilities"], Want::By(priority)),
    row("adjust_oom", Class::PeerDos, "leave the choice of whom the kernel kills for memory", &["landlock", "capabilities"], Want::Always(&[EACCES, ENOENT, EROFS])).varies(),
    row("extra_descriptors", Class::Escape, "use a descriptor that was left open (Leaky Vessels)", &["descriptors"], Want::Always(&[EBADF])),
    row("capabilities", Class::InternalEscalation, "hold a capability, run without no_new_privs or without a filter", &["capabilities", "bounding_set", "no_new_privs", "seccomp"], Want::Always(&["none"])),
];
