//! Denied system calls: answers them and counts, bounded.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;

use crate::seccomp::{self, FilterSpec, Verdict};
use crate::sys;
use crate::wire::DeniedCall;

/// Different calls counted one by one; further ones are only summed.
const KINDS_MAX: usize = 64;

/// What was denied since it was last told.
#[derive(Debug)]
pub(super) struct Denials {
    spec: FilterSpec,
    calls: BTreeMap<(u32, u64), DeniedCall>,
    suppressed: u64,
}

/// A call that waits for its refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    id: u64,
    /// Thread that makes it.
    pub(super) thread: i32,
    errno: i32,
}

impl Refusal {
    /// Answers it. It is not an error if the caller has died.
    pub(super) fn give(&self, listener: &OwnedFd) -> Result<(), Errno> {
        sys::seccomp::refuse(listener.as_fd(), self.id, self.errno)
    }
}

impl Denials {
    pub(super) fn new(spec: FilterSpec) -> Self {
        Self {
            spec,
            calls: BTreeMap::new(),
            suppressed: 0,
        }
    }

    /// Takes one waiting call and counts it. The arguments are numbers only: no pointer is followed.
    pub(super) fn next(&mut self, listener: &OwnedFd) -> Result<Option<Refusal>, Errno> {
        let Some(event) = sys::seccomp::receive(listener.as_fd())? else {
            return Ok(None);
        };
        let errno = match seccomp::verdict_of(&self.spec, event.number, event.args) {
            Verdict::Notify(errno) | Verdict::Errno(errno) => i32::from(errno),
            // The filter never sends such a call here; refuse it all the same.
            Verdict::Allow | Verdict::Kill => Errno::EPERM as i32,
        };
        self.count(event.number, event.args[0], errno);
        Ok(Some(Refusal {
            id: event.id,
            thread: event.thread,
            errno,
        }))
    }

    fn count(&mut self, number: u32, first_arg: u64, errno: i32) {
        let full = self.calls.len() >= KINDS_MAX;
        // Only the low half: upper bits are the caller's to choose and would make every call new.
        let key = (number, first_arg & u64::from(u32::MAX));
        match self.calls.get_mut(&key) {
            Some(call) => call.count = call.count.saturating_add(1),
            None if full => self.suppressed = self.suppressed.saturating_add(1),
            None => {
                let call = DeniedCall {
                    number,
                    first_arg: key.1,
                    errno,
                    count: 1,
                };
                self.calls.insert(key, call);
            }
        }
    }

    /// Takes what was counted, if anything.
    pub(super) fn take(&mut self) -> Option<(Vec<DeniedCall>, u64)> {
        if self.calls.is_empty() && self.suppressed == 0 {
            return None;
        }
        let calls = std::mem::take(&mut self.calls).into_values().collect();
        Some((calls, std::mem::take(&mut self.suppressed)))
    }
}
