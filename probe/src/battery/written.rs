//! Code that the program wrote itself: executed only where the policy says so.

use policies::SyscallProfile;

use super::{EACCES, EPERM, OK};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];
const NO_EXEC: &[&str] = &["workspace", "landlock"];

fn execute(setting: &Setting, path: &str) -> Expectation {
    let runs = setting.may_execute(path);
    // Without Landlock only the mount's flag stands between.
    let open = !setting.writable_noexec && setting.landlock_abi == 0;
    Expectation::any(if runs || open { &[OK] } else { &[EACCES] })
}

fn mapped(setting: &Setting) -> Expectation {
    // Landlock does not look at mappings: only the mount does, and landlock mode has none.
    Expectation::any(if setting.writable_noexec && setting.own_namespaces {
        &[EPERM]
    } else {
        &[OK, EPERM]
    })
}

/// Landlock does not look at it; the filter does under `strict`.
fn memory_file(setting: &Setting) -> Expectation {
    if setting.profile == SyscallProfile::Strict || !setting.cgroup_memory {
        Expectation::any(&[EPERM])
    } else {
        Expectation::NotAsked("profiles from compat on let memory files be executed")
    }
}

/// The loader maps the file itself, which only the mount forbids.
fn by_loader(setting: &Setting) -> Expectation {
    if setting.writable_noexec && setting.own_namespaces {
        Expectation::any(&["refused", "no loader"])
    } else {
        Expectation::NotAsked("only a mount forbids it, and none does here")
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("execute_workspace", Class::InternalEscalation, "execute a program written to /workspace", NO_EXEC, Want::By(|setting| execute(setting, "/workspace"))),
    row("execute_tmp", Class::InternalEscalation, "execute a program written to /tmp", NO_EXEC, Want::By(|setting| execute(setting, "/tmp"))),
    row("execute_shm", Class::InternalEscalation, "execute a program written to /dev/shm", NO_EXEC, Want::By(|setting| execute(setting, "/dev/shm"))),
    row("map_written", Class::InternalEscalation, "map a written file as code", &["workspace"], Want::By(mapped)),
    row("own_jit", Class::InternalEscalation, "write code into memory and run it, as compilers at run time do", &[], Want::Always(&[OK, EACCES])).works(),
    row("execute_memory_file", Class::InternalEscalation, "execute a memory file", FILTER, Want::By(memory_file)),
    row("execute_by_loader", Class::InternalEscalation, "have the loader start a written program", &["workspace"], Want::By(by_loader)),
];
