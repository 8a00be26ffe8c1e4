//! Which CPUs a sandbox may use: as many as its rate is worth, taken where the least is leased.
//!
//! It keeps the books of this launcher alone. A lease says where programs run and how many CPUs
//! they count; how much of them they get is the control group's business.

use std::collections::BTreeMap;

use confine::boot::CpuView;
use confine::plan::{LimitPlan, ProcView};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use rootfs::HostCpus;
use rootfs::cpus::list;

/// The CPUs of one sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lease {
    /// Numbers, ascending.
    numbers: Vec<u32>,
    /// What it adds to the load of each of them, in thousandths of a CPU.
    share_millicores: u64,
}

/// The books.
#[derive(Debug)]
pub(crate) struct Cpus {
    host: HostCpus,
    /// What is leased of each CPU, in thousandths; none where nothing is.
    load_millicores: BTreeMap<u32, u64>,
    /// Where the search begins: equal loads are not always found at the same CPU.
    first: usize,
}

impl Cpus {
    /// Looks at the host. Launchers with different `number` begin at different CPUs.
    pub(crate) fn inspect(number: u32) -> Self {
        Self {
            host: HostCpus::inspect(),
            load_millicores: BTreeMap::new(),
            first: usize::try_from(number).unwrap_or(0),
        }
    }

    /// Leases CPUs for a sandbox; those of `beside` if it has as many, for two that take turns.
    pub(crate) fn lease(&mut self, limits: &LimitPlan, beside: Option<&Lease>) -> Lease {
        let allowed = allowed();
        let count = limits.cpus().min(allowed.len());
        let numbers = match beside {
            Some(other) if other.numbers.len() == count => other.numbers.clone(),
            _ => {
                let chosen = choose(&allowed, &self.load_millicores, count, self.first);
                self.first = self.first.wrapping_add(count);
                chosen
            }
        };
        let share = limits.cpu_millicores_max / u64::try_from(count.max(1)).unwrap_or(1);
        for number in &numbers {
            let load = self.load_millicores.entry(*number).or_insert(0);
            *load = load.saturating_add(share);
        }
        Lease {
            numbers,
            share_millicores: share,
        }
    }

    /// Takes a lease back.
    pub(crate) fn give_back(&mut self, lease: &Lease) {
        for number in &lease.numbers {
            if let Some(load) = self.load_millicores.get_mut(number) {
                *load = load.saturating_sub(lease.share_millicores);
            }
        }
    }

    /// What a sandbox is told of its CPUs.
    pub(crate) fn view(&self, lease: &Lease, proc: ProcView) -> CpuView {
        let numbers = lease.numbers.clone();
        let (cpuinfo, stat) = match proc {
            ProcView::PidsOnly => (String::new(), String::new()),
            ProcView::Masked => (self.host.cpuinfo(&numbers), self.host.stat(&numbers)),
        };
        CpuView {
            list: list(&numbers),
            numbers,
            cpuinfo,
            stat,
        }
    }
}

/// The CPUs that this launcher may use itself, asked each time: an administrator may narrow its
/// group, and CPUs go offline.
fn allowed() -> Vec<u32> {
    let named: Vec<usize> = match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count())
            .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
            .collect(),
        // More CPUs than such a set can name: those that it can are all there.
        Err(_too_many) => {
            let online = std::thread::available_parallelism().map_or(1, usize::from);
            (0..online.min(CpuSet::count())).collect()
        }
    };
    let numbers = named.into_iter().filter_map(|cpu| u32::try_from(cpu).ok());
    numbers.collect()
}

/// The `count` CPUs with the least load; among equals the one that comes first after the
/// `first`-th. Ascending.
fn choose(
    allowed: &[u32],
    load_millicores: &BTreeMap<u32, u64>,
    count: usize,
    first: usize,
) -> Vec<u32> {
    let total = allowed.len().max(1);
    let mut ranked: Vec<(u64, usize, u32)> = allowed
        .iter()
        .enumerate()
        .map(|(index, cpu)| {
            let load = load_millicores.get(cpu).copied().unwrap_or(0);
            let distance = (index + total - first % total) % total;
            (load, distance, *cpu)
        })
        .collect();
    ranked.sort_unstable();
    let mut chosen: Vec<u32> = ranked.into_iter().take(count).map(|row| row.2).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests;
