//! The CPU time of a sandbox, read from its control group, and when to look again.
//!
//! Looking costs a system call, so the next look is when the budget could be used up at the
//! earliest, given the sandbox's CPU rate.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::uio::pread;

/// Never look more often than this.
const LOOK_MIN: Duration = Duration::from_millis(5);
/// Longest content of the file that is of interest.
const FILE_BYTES_MAX: usize = 1024;

/// The CPU time used so far, in microseconds.
///
/// # Errors
/// If the file cannot be read or holds neither form (v1 `cpuacct.usage`, v2 `cpu.stat`).
pub(crate) fn read_us(file: &OwnedFd) -> io::Result<u64> {
    let mut buffer = [0; FILE_BYTES_MAX];
    let length = pread(file, &mut buffer, 0)?;
    let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default());
    parse_us(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no CPU time in it"))
}

fn parse_us(text: &str) -> Option<u64> {
    if let Ok(ns) = text.trim().parse::<u64>() {
        return Some(ns / 1000);
    }
    text.lines()
        .find_map(|line| line.strip_prefix("usage_usec "))
        .and_then(|us| us.trim().parse().ok())
}

/// How long the budget lasts at least, if all of the CPU rate is used.
pub(crate) fn next_look(used_us: u64, budget_us: u64, millicores: u64) -> Duration {
    let left_us = budget_us.saturating_sub(used_us);
    let earliest_us = left_us.saturating_mul(1000) / millicores.max(1);
    Duration::from_micros(earliest_us).max(LOOK_MIN)
}

#[cfg(test)]
mod tests;
