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

impl Denials {
    pub(super) fn new(spec: FilterSpec) -> Self {
        Self {
            spec,
            calls: BTreeMap::new(),
            suppressed: 0,
        }
    }

    /// Answers one waiting call. The arguments are numbers only: no pointer is followed.
    pub(super) fn answer(&mut self, listener: &OwnedFd) -> Result<(), Errno> {
        let Some(event) = sys::seccomp::receive(listener.as_fd())? else {
            return Ok(());
        };
        let errno = match seccomp::verdict_of(&self.spec, event.number, event.args) {
            Verdict::Notify(errno) | Verdict::Errno(errno) => i32::from(errno),
            // The filter never sends such a call here; refuse it all the same.
            Verdict::Allow | Verdict::Kill => Errno::EPERM as i32,
        };
        self.count(event.number, event.args[0], errno);
        sys::seccomp::refuse(listener.as_fd(), event.id, errno)
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
