//! The soft memory limit of hosts without a memory cgroup: pid 1 adds up the private memory of all
//! processes every few milliseconds and ends the sandbox when it is too much.

use std::fs;

use crate::boot::Boot;
use crate::plan::Mode;
use crate::wire::PolledMemory;

/// Time between two polls. A program can allocate about a gigabyte in it.
pub(super) const POLL_MS: u16 = 20;

/// Watches one sandbox.
#[derive(Debug)]
pub(super) struct MemoryWatch {
    limit_bytes: u64,
    page_bytes: u64,
    mode: Mode,
    seen: PolledMemory,
}

impl MemoryWatch {
    /// A watch where the plan says that no memory cgroup holds the limit.
    pub(super) fn new(boot: &Boot) -> Option<Self> {
        let polled = boot.plan.degradable.iter().any(|name| name == "memory");
        let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)
            .ok()
            .flatten();
        polled.then(|| Self {
            limit_bytes: boot.plan.limits.memory_bytes_max,
            page_bytes: page
                .and_then(|bytes| u64::try_from(bytes).ok())
                .unwrap_or(4096),
            mode: boot.plan.mode,
            seen: PolledMemory {
                peak_bytes: 0,
                over: false,
            },
        })
    }

    /// Looks once. True when the sandbox is over its limit.
    pub(super) fn over(&mut self, tmpfs_bytes: u64) -> bool {
        let private: u64 = self
            .processes()
            .iter()
            .map(|pid| self.private_bytes(*pid))
            .sum();
        let sum = private.saturating_add(tmpfs_bytes);
        self.seen.peak_bytes = self.seen.peak_bytes.max(sum);
        self.seen.over |= sum > self.limit_bytes;
        self.seen.over
    }

    pub(super) fn seen(&self) -> PolledMemory {
        self.seen
    }

    fn processes(&self) -> Vec<i32> {
        if self.mode == Mode::Landlock {
            return super::tree::descendants();
        }
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != 1)
            .collect()
    }

    /// Resident less shared pages: libraries are mapped by all and cost once.
    fn private_bytes(&self, pid: i32) -> u64 {
        let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut fields = text
            .split_whitespace()
            .skip(1)
            .map(|f| f.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
        resident
            .saturating_sub(shared)
            .saturating_mul(self.page_bytes)
    }
}
