//! How much a sandbox may use. Limits of a process are read; those of the whole are run into.

use super::{EAGAIN, EMFILE, HOST_TREE};
use crate::lists::{DESCRIPTORS_TRIED, MEMORY_TRIED_BYTES, PROCESSES_TRIED};
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
    // Twice the limit, so that there is no doubt that it was passed.
    if setting.memory_bytes_max > MEMORY_TRIED_BYTES / 2 {
        return Expectation::NotAsked("the limit is beyond what is tried");
    }
    Expectation::any(&["memory_up", "signal 9"])
}

/// Descriptors are made up to it.
fn open_files(setting: &Setting) -> Expectation {
    if setting.open_files_max > DESCRIPTORS_TRIED {
        return Expectation::NotAsked("the limit is beyond what is tried");
    }
    Expectation::any(&[EMFILE])
}

const PAGE_BYTES: u64 = 4096;

/// The file system counts whole pages.
fn disk(setting: &Setting) -> Expectation {
    if !setting.own_namespaces {
        return Expectation::NotAsked(HOST_TREE);
    }
    Expectation::AtMost(setting.disk_bytes_max.div_ceil(PAGE_BYTES) * PAGE_BYTES)
}

fn inodes(setting: &Setting) -> Expectation {
    if !setting.own_namespaces {
        return Expectation::NotAsked(HOST_TREE);
    }
    Expectation::AtMost(setting.files_max)
}

/// A little more than the file system has: it is the one to refuse.
fn file_size(setting: &Setting) -> Expectation {
    Expectation::AtMost(setting.disk_bytes_max.saturating_add(PAGE_BYTES))
}

fn cpu_seconds(setting: &Setting) -> Expectation {
    Expectation::AtMost(setting.cpu_ms_max.div_ceil(1000).saturating_add(1))
}

const RLIMITS: &[&str] = &["rlimits"];

const fn at_most(number: u64) -> Want {
    Want::AtMost(number)
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("core_limit", Class::HostDos, "have a core dump written", RLIMITS, at_most(0)).varies(),
    row("open_files_limit", Class::HostDos, "be allowed more open descriptors", RLIMITS, Want::By(|setting| Expectation::AtMost(setting.open_files_max))),
    row("file_size_limit", Class::HostDos, "be allowed larger files", RLIMITS, Want::By(file_size)),
    row("message_queue_limit", Class::HostDos, "be allowed message queues", RLIMITS, at_most(0)),
    row("locked_memory_limit", Class::HostDos, "be allowed to lock more memory", RLIMITS, at_most(8 << 20)).varies(),
    row("pending_signals_limit", Class::HostDos, "be allowed more waiting signals", RLIMITS, at_most(4096)).varies(),
    row("real_time_limit", Class::HostDos, "be allowed real-time classes", RLIMITS, at_most(0)).varies(),
    row("niceness_limit", Class::HostDos, "be allowed a raised priority", RLIMITS, at_most(0)).varies(),
    row("cpu_limit", Class::HostDos, "be allowed more CPU time", RLIMITS, Want::By(cpu_seconds)),
    row("disk_size", Class::HostDos, "have a larger file system", &["workspace"], Want::By(disk)),
    row("inode_limit", Class::HostDos, "have more inodes", &["workspace"], Want::By(inodes)),
    row("open_files", Class::HostDos, "open descriptors without end", RLIMITS, Want::By(open_files)).not_outside(),
    row("pids_limit", Class::HostDos, "fork without end", &["cgroups", "cgroup_pids"], Want::By(pids)).not_outside(),
    row("memory_limit", Class::HostDos, "use memory without end", &["cgroups", "cgroup_memory"], Want::By(memory)).not_outside().by_itself(),
];
