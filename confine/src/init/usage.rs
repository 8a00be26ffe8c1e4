//! The soft limits of hosts without control groups: pid 1 adds up private memory and CPU time of
//! all processes every few milliseconds and ends the sandbox when either is too much.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};

use crate::boot::Boot;
use crate::plan::Mode;
use crate::wire::{Polled, PolledLimit};

/// Time between two polls. A program can allocate about a gigabyte in it.
pub(super) const POLL_MS: u16 = 20;

/// Watches one sandbox.
#[derive(Debug)]
pub(super) struct UsageWatch {
    memory_bytes_max: u64,
    cpu_ms_max: u64,
    page_bytes: u64,
    tick_ms: u64,
    mode: Mode,
    seen: Polled,
    /// Own CPU time of each process at the last poll.
    last_ms: BTreeMap<i32, u64>,
    /// What was seen to be used, summed up: the kernel forgets children that nobody waits for.
    summed_ms: u64,
}

/// What one process uses.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Resident less shared pages: libraries are mapped by all and cost once.
    memory_bytes: u64,
    /// Resident, with what is shared.
    resident_bytes: u64,
    /// Its own CPU time and that of children it waited for.
    cpu_ms: u64,
    /// Its own alone.
    own_cpu_ms: u64,
}

impl UsageWatch {
    /// A watch where the plan says that no memory cgroup holds the limit.
    pub(super) fn new(boot: &Boot) -> Option<Self> {
        let constant = |name, usual| {
            sysconf(name)
                .ok()
                .flatten()
                .and_then(|value| u64::try_from(value).ok())
                .unwrap_or(usual)
        };
        let polled = boot.plan.degradable.iter().any(|name| name == "memory");
        polled.then(|| Self {
            memory_bytes_max: boot.plan.limits.memory_bytes_max,
            cpu_ms_max: boot.plan.limits.cpu_ms_max,
            page_bytes: constant(SysconfVar::PAGE_SIZE, 4096),
            tick_ms: 1000 / constant(SysconfVar::CLK_TCK, 100).max(1),
            mode: boot.plan.mode,
            seen: Polled::default(),
            last_ms: BTreeMap::new(),
            summed_ms: 0,
        })
    }

    /// Looks once. True when the sandbox is over a limit.
    pub(super) fn over(&mut self, tmpfs_bytes: u64) -> bool {
        let pids = self.processes();
        let uses: Vec<Use> = pids.iter().map(|pid| self.one(*pid)).collect();
        let own: u64 = uses.iter().map(|each| each.memory_bytes).sum();
        let resident: u64 = uses.iter().map(|each| each.resident_bytes).sum();
        let running: u64 = uses.iter().map(|each| each.cpu_ms).sum();
        let mut memory = own.saturating_add(tmpfs_bytes);
        if memory > self.memory_bytes_max || resident > self.memory_bytes_max {
            // Forked children share pages that the quick look counts for each of them, and shared
            // memory may be libraries or may hide a hoard: only the slow look tells.
            memory = with_shared(&pids, &uses, tmpfs_bytes);
        }
        self.seen.memory_peak_bytes = self.seen.memory_peak_bytes.max(memory);
        self.seen.cpu_ms = self
            .seen
            .cpu_ms
            .max(running.saturating_add(reaped_cpu_ms()))
            .max(self.sum_up(&pids, &uses));
        if self.seen.over.is_none() {
            if memory > self.memory_bytes_max {
                self.seen.over = Some(PolledLimit::Memory);
            } else if self.seen.cpu_ms > self.cpu_ms_max {
                self.seen.over = Some(PolledLimit::Cpu);
            }
        }
        self.seen.over.is_some()
    }

    /// Adds what each process used since the last poll.
    fn sum_up(&mut self, pids: &[i32], uses: &[Use]) -> u64 {
        let mut now = BTreeMap::new();
        for (pid, each) in pids.iter().zip(uses) {
            let last = self.last_ms.get(pid).copied().unwrap_or(0);
            // Less than before: another process with the same number.
            let used = each.own_cpu_ms.checked_sub(last);
            self.summed_ms = self
                .summed_ms
                .saturating_add(used.unwrap_or(each.own_cpu_ms));
            now.insert(*pid, each.own_cpu_ms);
        }
        self.last_ms = now;
        self.summed_ms
    }

    pub(super) fn seen(&self) -> Polled {
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

    fn one(&self, pid: i32) -> Use {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let numbers = |text: &str| -> Vec<u64> {
            text.split_whitespace()
                .map(|field| field.parse().unwrap_or(0))
                .collect()
        };
        let pages = numbers(&statm);
        let page = |index: usize| pages.get(index).copied().unwrap_or(0);
        // The name may hold spaces and brackets; what follows the last one has fixed places:
        // utime, stime, cutime and cstime are fields 14 to 17 of the line, 11 to 14 from there.
        let rest = numbers(stat.rsplit_once(')').map_or("", |(_, rest)| rest));
        let ticks: u64 = rest.iter().skip(11).take(4).sum();
        let own_ticks: u64 = rest.iter().skip(11).take(2).sum();
        Use {
            resident_bytes: page(1).saturating_mul(self.page_bytes),
            memory_bytes: page(1)
                .saturating_sub(page(2))
                .saturating_mul(self.page_bytes),
            cpu_ms: ticks.saturating_mul(self.tick_ms),
            own_cpu_ms: own_ticks.saturating_mul(self.tick_ms),
        }
    }
}

/// Own and shared memory of these processes, each page counted once; mapped files are not in it.
fn with_shared(pids: &[i32], uses: &[Use], tmpfs_bytes: u64) -> u64 {
    let (mut own, mut shared) = (0u64, 0u64);
    for (pid, each) in pids.iter().zip(uses) {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        if text.is_empty() {
            // Just gone, or not to be read: then the quick look counts.
            own = own.saturating_add(each.memory_bytes);
            continue;
        }
        own = own.saturating_add(rollup_bytes(&text, "Pss_Anon:"));
        shared = shared.saturating_add(rollup_bytes(&text, "Pss_Shmem:"));
    }
    // Mapped files of the workspace are in both figures.
    own.saturating_add(shared.max(tmpfs_bytes))
}

/// A figure of `smaps_rollup`, which has kibibytes.
fn rollup_bytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or(0)
        .saturating_mul(1024)
}

/// CPU time of all that pid 1 has reaped, orphans included.
fn reaped_cpu_ms() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| {
        let sum = usage.user_time().num_milliseconds() + usage.system_time().num_milliseconds();
        u64::try_from(sum).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::rollup_bytes;

    #[test]
    fn figures_of_a_rollup_are_found_by_name() {
        let text = "5f-7f ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss:  7 kB\nPss_Anon:     3 kB\n\
                    Pss_Shmem:   300 kB\n";
        assert_eq!(rollup_bytes(text, "Pss_Anon:"), 3 << 10);
        assert_eq!(rollup_bytes(text, "Pss_Shmem:"), 300 << 10);
        assert_eq!(rollup_bytes("", "Pss_Shmem:"), 0);
    }
}
