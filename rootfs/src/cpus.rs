//! What a sandbox sees of CPUs: `/proc/cpuinfo` and `/proc/stat` of the CPUs that it may use, and
//! of no others, with what programs choose their code by and without what only tells machines apart.
//!
//! The host is looked at once. Who gets which CPUs, and how the texts come into place, is not known
//! here.

use std::collections::BTreeMap;
use std::fs;

/// Fields of the host's `/proc/cpuinfo` that are shown as they are.
const SHOWN: &[&str] = &[
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "cache size",
    "fpu",
    "fpu_exception",
    "cpuid level",
    "wp",
    "flags",
    "vmx flags",
    "bogomips",
    "clflush size",
    "cache_alignment",
    "address sizes",
];

/// Clock ticks of `/proc/stat` in a second, the same on every Linux that programs see.
const TICKS_PER_SECOND: u64 = 100;

/// The host's CPUs as sandboxes may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostCpus {
    /// By number, the lines that are the same in every sandbox.
    lines: BTreeMap<u32, String>,
    /// When the host started, in seconds since 1970, as in `/proc/stat`.
    boot_time_s: u64,
    /// How long it ran when it was looked at, in seconds.
    uptime_s: u64,
}

impl HostCpus {
    /// Looks at this host. What cannot be read is left out: a sandbox then sees fewer lines.
    #[must_use]
    pub fn inspect() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self::from_texts(
            &read("/proc/cpuinfo"),
            &read("/proc/stat"),
            &read("/proc/uptime"),
        )
    }

    fn from_texts(cpuinfo: &str, stat: &str, uptime: &str) -> Self {
        let number = |text: &str| text.parse().unwrap_or(0);
        let boot_time = stat.lines().find_map(|line| line.strip_prefix("btime "));
        Self {
            lines: cpuinfo.split("\n\n").filter_map(one_cpu).collect(),
            boot_time_s: boot_time.map_or(0, |text| number(text.trim())),
            uptime_s: uptime.split('.').next().map_or(0, number),
        }
    }

    /// `/proc/cpuinfo` with these CPUs alone. Each is shown as a core of one package.
    #[must_use]
    pub fn cpuinfo(&self, cpus: &[u32]) -> String {
        let count = cpus.len();
        let mut text = String::new();
        for (index, cpu) in cpus.iter().enumerate() {
            let lines = self.lines.get(cpu).map_or("", String::as_str);
            text.push_str(&format!(
                "processor\t: {cpu}\n{lines}physical id\t: 0\nsiblings\t: {count}\n\
                 core id\t\t: {index}\ncpu cores\t: {count}\napicid\t\t: {cpu}\n\n"
            ));
        }
        text
    }

    /// `/proc/stat` with these CPUs alone, idle since the host's start: what they and the host do
    /// is nobody's business, and figures that stand still divide by no zero.
    #[must_use]
    pub fn stat(&self, cpus: &[u32]) -> String {
        let idle = self.uptime_s.max(1).saturating_mul(TICKS_PER_SECOND);
        let count = u64::try_from(cpus.len()).unwrap_or(1);
        let mut text = format!("cpu  0 0 0 {} 0 0 0 0 0 0\n", idle.saturating_mul(count));
        for cpu in cpus {
            text.push_str(&format!("cpu{cpu} 0 0 0 {idle} 0 0 0 0 0 0\n"));
        }
        text.push_str(&format!(
            "intr 0\nctxt 0\nbtime {}\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n\
             softirq 0 0 0 0 0 0 0 0 0 0 0\n",
            self.boot_time_s
        ));
        text
    }
}

/// The number of a block of `/proc/cpuinfo` and those of its lines that are shown.
fn one_cpu(block: &str) -> Option<(u32, String)> {
    let mut number = None;
    let mut lines = String::new();
    for line in block.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        match name.trim() {
            "processor" => number = value.trim().parse().ok(),
            shown if SHOWN.contains(&shown) => {
                lines.push_str(line);
                lines.push('\n');
            }
            _ => {}
        }
    }
    Some((number?, lines))
}

/// CPU numbers as the kernel writes lists of them: `0-2,5`.
#[must_use]
pub fn list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in sorted {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let shown = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
