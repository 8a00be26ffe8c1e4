//! The table itself, by subject. Each subject's rows stand beside the right answers; the acts stand
//! under the same names in `sandbox-probe`, and a test of that program compares the two lists.

mod files;
mod kernel;
mod limits;
mod listings;
mod namespaces;
mod proc;
mod processes;
mod sockets;
mod state;
mod written;

use crate::row::{Expectation, Row};
use crate::setting::Setting;

/// Rows by subject, in the order in which they are tried.
const SUBJECTS: &[&[Row]] = &[
    files::ROWS,
    proc::ROWS,
    listings::ROWS,
    namespaces::ROWS,
    sockets::ROWS,
    kernel::ROWS,
    processes::ROWS,
    state::ROWS,
    written::ROWS,
    limits::ROWS,
];

const COUNT: usize = {
    let mut count = 0;
    let mut subject = 0;
    while subject < SUBJECTS.len() {
        count += SUBJECTS[subject].len();
        subject += 1;
    }
    count
};

static ALL: [Row; COUNT] = {
    let mut all = [SUBJECTS[0][0]; COUNT];
    let (mut subject, mut filled) = (0, 0);
    while subject < SUBJECTS.len() {
        let mut at = 0;
        while at < SUBJECTS[subject].len() {
            all[filled] = SUBJECTS[subject][at];
            filled += 1;
            at += 1;
        }
        subject += 1;
    }
    all
};

/// Every attempt.
pub const BATTERY: &[Row] = &ALL;

/// The row of that name, tried or witnessed.
#[must_use]
pub fn row_named(name: &str) -> Option<&'static Row> {
    let mut all = BATTERY.iter().chain(crate::WITNESSED);
    all.find(|row| row.name == name)
}

const OK: &str = "ok";
const EPERM: &str = "EPERM";
const EMFILE: &str = "EMFILE";
const ENOENT: &str = "ENOENT";
const EAGAIN: &str = "EAGAIN";
const EBADF: &str = "EBADF";
const EACCES: &str = "EACCES";
const EBUSY: &str = "EBUSY";
const ENODEV: &str = "ENODEV";
const EINVAL: &str = "EINVAL";
const EROFS: &str = "EROFS";
const ENOSYS: &str = "ENOSYS";
const ENODATA: &str = "ENODATA";
const EPROTONOSUPPORT: &str = "EPROTONOSUPPORT";
const EAFNOSUPPORT: &str = "EAFNOSUPPORT";
const ENETUNREACH: &str = "ENETUNREACH";
/// The filter's end of a process: a call through a foreign ABI.
const SIGSYS: &str = "signal 31";

/// Why much is not asked in landlock mode.
const HOST_TREE: &str = "landlock mode shows the host's own file tree";
/// Likewise.
const HOST_PROC: &str = "landlock mode shows the host's own /proc";

/// Not there in a tree of one's own; closed in the host's.
fn hidden(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[ENOENT]
    } else {
        &[EACCES, ENOENT, EPERM]
    })
}

/// Not there where `/proc` shows processes only, closed in a whole one.
fn closed_in_proc(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.proc_pids_only) {
        (false, _) => Expectation::NotAsked(HOST_PROC),
        (true, true) => Expectation::any(&[ENOENT]),
        (true, false) => Expectation::any(&[EACCES, EPERM, ENOENT, ENODATA]),
    }
}

/// What the profile lets through: whatever the kernel makes of it is no fault of a lock. Kernels
/// are built without some of these calls, and hosts run short of what they give.
const LET_THROUGH: &[&str] = &[OK, ENOSYS, EAGAIN, EPERM];

/// Let through from the `compat` profile on, or where the policy adds the call.
fn from_compat(setting: &Setting, call: &str) -> Expectation {
    let strict = setting.profile == policies::SyscallProfile::Strict;
    Expectation::any(if strict && !setting.adds(call) {
        &[EPERM]
    } else {
        LET_THROUGH
    })
}

/// Let through under the `debug` profile, or where the policy adds the call.
fn from_debug(setting: &Setting, call: &str) -> Expectation {
    let open = setting.profile == policies::SyscallProfile::Debug || setting.adds(call);
    Expectation::any(if open { LET_THROUGH } else { &[EPERM] })
}

#[cfg(test)]
mod tests;
