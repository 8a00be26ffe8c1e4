//! Other processes, and what a process may become.

use super::{EACCES, EINVAL, ENOENT, EPERM, EROFS, OK, from_debug};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];

/// In landlock mode the call itself is refused.
fn priority(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[EACCES]
    } else {
        &[EPERM, EACCES]
    })
}

/// Another user's in root mode; of the same one it is Landlock's to forbid, or the filter's.
fn supervisor(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.leased_ids) {
        (true, false) if setting.landlock_abi < SCOPES => Expectation::NotAsked(
            "pid 1 is of the same user; the kernel keeps deadly signals from it",
        ),
        _ => Expectation::any(&[EPERM]),
    }
}

/// Where neither Landlock nor an own pid namespace keeps signals in, the filter refuses all.
fn signals(setting: &Setting) -> Expectation {
    Expectation::any(
        if setting.own_namespaces || setting.landlock_abi >= SCOPES {
            &[OK]
        } else {
            &[EPERM]
        },
    )
}

/// The Landlock ABI from which signals are kept within a domain.
const SCOPES: u32 = 6;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("trace_child", Class::InternalEscalation, "trace another process", FILTER, Want::By(|setting| from_debug(setting, "ptrace"))),
    row("read_memory", Class::InternalEscalation, "read another process's memory", FILTER, Want::By(|setting| from_debug(setting, "process_vm_readv"))),
    row("steal_descriptor", Class::InternalEscalation, "take a descriptor out of another process", FILTER, Want::Always(&[EPERM])),
    row("become_root", Class::InternalEscalation, "become uid 0", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("become_group", Class::InternalEscalation, "become gid 0", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("set_groups", Class::InternalEscalation, "join other groups", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("raise_files", Class::PeerDos, "raise a hard limit", &["rlimits", "capabilities"], Want::Always(&[EPERM])).varies(),
    row("raise_priority", Class::PeerDos, "raise the own priority", &["capabilities"], Want::By(priority)),
    row("adjust_oom", Class::PeerDos, "leave the choice of whom the kernel kills for memory", &["landlock", "capabilities"], Want::Always(&[EACCES, ENOENT, EROFS])).varies(),
    row("change_groups_back", Class::InternalEscalation, "become another user by saved ids", &["identity", "capabilities"], Want::Always(&[EPERM, EINVAL])),
    row("raise_capability", Class::InternalEscalation, "give oneself capabilities", &["capabilities"], Want::Always(&[EPERM])),
    row("ambient_capability", Class::InternalEscalation, "give one's children a capability", &["capabilities", "bounding_set"], Want::Always(&[EPERM])).varies(),
    row("signal_supervisor", Class::InternalEscalation, "signal the process that supervises", &["identity", "landlock_rules", "landlock"], Want::By(supervisor)).not_outside(),
    row("trace_supervisor", Class::InternalEscalation, "trace the process that supervises", &["seccomp", "init_guard"], Want::Always(&[EPERM])).not_outside(),
    row("memory_of_supervisor", Class::InternalEscalation, "read the memory of the process that supervises", &["seccomp", "init_guard"], Want::Always(&[EPERM])).not_outside(),
    row("limits_of_supervisor", Class::PeerDos, "change the limits of the process that supervises", FILTER, Want::Always(&[EPERM])).not_outside(),
    row("descriptor_of_supervisor", Class::Escape, "take a descriptor out of the process that supervises", FILTER, Want::Always(&[EPERM])).not_outside(),
    row("signal_child", Class::InternalEscalation, "signal a child, as programs do", &[], Want::By(signals)).works(),
];
