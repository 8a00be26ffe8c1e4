//! How much a sandbox may use. Limits of a process are read; those of the whole are run into.

use super::EAGAIN;
use crate::lists::{MEMORY_TRIED_BYTES, PROCESSES_TRIED};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

fn pids(setting: &Setting) -> Expectation {
    if setting.pids_max > PROCESSES_TRIED {
        return Expectation::NotAsked("the limit is beyond what is tried");
    }
    Expectation::any(&[EAGAIN])
}

/// By the kernel the run ends; polled it does too, some moments later.
fn memory(setting: &Setting) -> Expectation {
    if setting.memory_bytes_max > MEMORY_TRIED_BYTES {
        return Expectation::NotAsked("the limit is beyond what is tried");
    }
    Expectation::any(&["memory_up", "signal 9"])
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("pids_limit", Class::HostDos, "fork without end", &["cgroups", "cgroup_pids"], Want::By(pids)).not_outside(),
    row("memory_limit", Class::HostDos, "use memory without end", &["cgroups", "cgroup_memory"], Want::By(memory)).not_outside().by_itself(),
];
