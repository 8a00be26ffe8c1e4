//! The system calls that a policy can add to its profile.
//!
//! Calls that every profile has need no naming, and calls that no policy may have are not here.
//! The profiles themselves are `confine`'s; its table of optional calls has the same names.

#[cfg(test)]
mod tests;

use crate::policy::SyscallProfile::{self, Compat, Debug};

/// Each call that a policy can add, with the strictest profile that has it already.
#[rustfmt::skip]
pub const ALLOWABLE: &[(&str, SyscallProfile)] = &[
    // Moving pipe pages.
    ("splice", Compat), ("tee", Compat), ("vmsplice", Compat),
    // System V and POSIX message queues, semaphores and shared memory.
    ("shmget", Compat), ("shmat", Compat), ("shmctl", Compat), ("shmdt", Compat),
    ("semget", Compat), ("semop", Compat), ("semctl", Compat), ("semtimedop", Compat),
    ("msgget", Compat), ("msgsnd", Compat), ("msgrcv", Compat), ("msgctl", Compat),
    ("mq_open", Compat), ("mq_unlink", Compat), ("mq_timedsend", Compat),
    ("mq_timedreceive", Compat), ("mq_notify", Compat), ("mq_getsetattr", Compat),
    // The old asynchronous I/O.
    ("io_setup", Compat), ("io_destroy", Compat), ("io_getevents", Compat),
    ("io_pgetevents", Compat), ("io_submit", Compat), ("io_cancel", Compat),
    // Memory placement.
    ("mbind", Compat), ("set_mempolicy", Compat), ("set_mempolicy_home_node", Compat),
    // Tracing own children.
    ("ptrace", Debug), ("process_vm_readv", Debug), ("process_vm_writev", Debug),
    ("kcmp", Debug),
];

/// The strictest profile that has this call; `None` when no policy can add it.
pub fn profile_with(name: &str) -> Option<SyscallProfile> {
    ALLOWABLE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, profile)| *profile)
}
