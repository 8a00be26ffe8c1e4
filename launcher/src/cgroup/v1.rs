//! Groups of v1 controllers, each in a hierarchy of its own, with a v2 hierarchy beside them for
//! killing and freezing where there is one.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use confine::mutation;
use confine::plan::LimitPlan;
use confine::wire::{FdKind, KernelCounters};

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::{
    CgroupError, MOUNT, ensure, failed, keyed, make, number, open_for_reading, open_for_writing,
    pids, quota_us, write,
};
use crate::pressure;

/// Device numbers that a payload may use: null, zero, full, random, urandom, tty, ptmx, pts.
const DEVICES: [&str; 8] = [
    "c 1:3 rw",
    "c 1:5 rw",
    "c 1:7 rw",
    "c 1:8 rw",
    "c 1:9 rw",
    "c 5:0 rw",
    "c 5:2 rw",
    "c 136:* rw",
];

/// Our groups, one in each hierarchy.
#[derive(Debug)]
pub(crate) struct Groups {
    name: String,
    controllers: Vec<String>,
    unified: bool,
}

/// The groups of one sandbox.
#[derive(Debug)]
pub(crate) struct SandboxGroups {
    /// Controller and directory of the groups made for this sandbox alone.
    own: Vec<(String, PathBuf)>,
    /// The one devices group that all payloads share: its list is the same for all.
    devices: Option<PathBuf>,
    unified: Option<PathBuf>,
    /// Counts the times the memory group itself ran out; a machine-wide shortage does not move it.
    out_of_memory: Option<EventFd>,
}

fn top(hierarchy: &str, name: &str) -> PathBuf {
    Path::new(MOUNT).join(hierarchy).join(name)
}

impl Groups {
    pub(crate) fn create(
        name: &str,
        controllers: &[String],
        unified: bool,
    ) -> Result<Self, CgroupError> {
        for controller in controllers {
            ensure(&top(controller, name))?;
        }
        if unified {
            ensure(&top("unified", name))?;
        }
        let listed = !mutation::is_off("cgroup_devices");
        if listed && controllers.iter().any(|c| c == "devices") {
            let dir = top("devices", name);
            write(&dir.join("devices.deny"), "a")?;
            for device in DEVICES {
                write(&dir.join("devices.allow"), device)?;
            }
        }
        Ok(Self {
            name: name.to_owned(),
            controllers: controllers.to_vec(),
            unified,
        })
    }

    pub(crate) fn sandbox(
        &self,
        id: &str,
        limits: &LimitPlan,
    ) -> Result<SandboxGroups, CgroupError> {
        let mut groups = SandboxGroups {
            own: Vec::new(),
            devices: None,
            unified: None,
            out_of_memory: None,
        };
        let made = self.fill(&mut groups, id, limits);
        if made.is_err() {
            // Half a set of groups is no set: what was made goes again; the error is what counts.
            for dir in groups.dirs() {
                super::removed(&dir);
            }
        }
        made.map(|()| groups)
    }

    fn fill(
        &self,
        groups: &mut SandboxGroups,
        id: &str,
        limits: &LimitPlan,
    ) -> Result<(), CgroupError> {
        for controller in &self.controllers {
            match controller.as_str() {
                "devices" => groups.devices = Some(top("devices", &self.name)),
                "memory" | "pids" | "cpu" | "cpuacct" => {
                    let dir = top(controller, &self.name).join(id);
                    make(&dir)?;
                    groups.own.push((controller.clone(), dir.clone()));
                    limit(controller, &dir, limits)?;
                    if controller == "memory" {
                        groups.out_of_memory = Some(out_of_memory_events(&dir)?);
                    }
                }
                _ => {}
            }
        }
        if self.unified {
            let dir = top("unified", &self.name).join(id);
            make(&dir)?;
            groups.unified = Some(dir);
        }
        Ok(())
    }
}

/// An event descriptor that the kernel counts up whenever this group is out of memory.
fn out_of_memory_events(dir: &Path) -> Result<EventFd, CgroupError> {
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let events = EventFd::from_value_and_flags(0, flags)
        .map_err(|errno| failed("make an event descriptor for", dir)(errno.into()))?;
    let control = open_for_reading(&dir.join("memory.oom_control"))?;
    let line = format!("{} {}", events.as_raw_fd(), control.as_raw_fd());
    write(&dir.join("cgroup.event_control"), &line)?;
    Ok(events)
}

fn limit(controller: &str, dir: &Path, limits: &LimitPlan) -> Result<(), CgroupError> {
    if super::is_off(controller) {
        return Ok(());
    }
    match controller {
        "memory" => {
            let bytes = limits.memory_bytes_max.to_string();
            write(&dir.join("memory.limit_in_bytes"), &bytes)?;
            // Memory and swap together: without it the limit would leak into swap.
            let swap = dir.join("memory.memsw.limit_in_bytes");
            if swap.exists() {
                write(&swap, &bytes)
            } else {
                Ok(())
            }
        }
        "pids" => write(&dir.join("pids.max"), &limits.pids_max.to_string()),
        "cpu" => {
            let (quota, period) = quota_us(limits.cpu_millicores_max);
            write(&dir.join("cpu.cfs_period_us"), &period.to_string())?;
            write(&dir.join("cpu.cfs_quota_us"), &quota.to_string())
        }
        _ => Ok(()),
    }
}

impl SandboxGroups {
    fn dir(&self, controller: &str) -> Option<&Path> {
        self.own
            .iter()
            .find(|(name, _)| name == controller)
            .map(|(_, dir)| dir.as_path())
    }

    pub(crate) fn limits_in_force(&self, limits: &LimitPlan) -> Vec<(&'static str, &'static str)> {
        let shown = |controller: &str, file: &str, asked: u64| {
            self.dir(controller)
                .map_or("absent", |dir| super::in_force(&dir.join(file), asked))
        };
        let (quota, _period) = quota_us(limits.cpu_millicores_max);
        // A list that was never written allows all.
        let listed =
            self.devices.as_deref().map_or("absent", |dir| {
                match std::fs::read_to_string(dir.join("devices.list")) {
                    Ok(list) if !list.lines().any(|line| line.starts_with("a ")) => "listed",
                    Ok(_) => "all",
                    Err(_error) => "unknown",
                }
            });
        vec![
            (
                "host:cgroup_memory",
                shown("memory", "memory.limit_in_bytes", limits.memory_bytes_max),
            ),
            (
                "host:cgroup_pids",
                shown("pids", "pids.max", limits.pids_max),
            ),
            ("host:cgroup_cpu", shown("cpu", "cpu.cfs_quota_us", quota)),
            ("host:cgroup_devices", listed),
        ]
    }

    pub(crate) fn has(&self, controller: &str) -> bool {
        self.dir(controller).is_some()
    }

    pub(crate) fn dirs(&self) -> Vec<PathBuf> {
        self.own
            .iter()
            .map(|(_, dir)| dir.clone())
            .chain(self.unified.clone())
            .collect()
    }

    pub(crate) fn init_dir(&self) -> Result<Option<OwnedFd>, CgroupError> {
        self.unified.as_deref().map(open_for_reading).transpose()
    }

    /// `tasks`, not `cgroup.procs`: a lone thread that moves itself needs no lock over all forks of
    /// the machine, for which the kernel waits milliseconds (an RCU grace period).
    pub(crate) fn attach_files(&self) -> Result<Vec<OwnedFd>, CgroupError> {
        self.own
            .iter()
            .map(|(_, dir)| dir)
            .chain(&self.devices)
            .map(|dir| open_for_writing(&dir.join("tasks")))
            .collect()
    }

    pub(crate) fn control_files(&self) -> Result<Vec<(FdKind, OwnedFd)>, CgroupError> {
        let mut files = Vec::new();
        if let Some(dir) = &self.unified {
            files.push((
                FdKind::CgroupKill,
                open_for_writing(&dir.join("cgroup.kill"))?,
            ));
            files.push((
                FdKind::CgroupFreeze,
                open_for_writing(&dir.join("cgroup.freeze"))?,
            ));
        }
        if let Some(dir) = self.dir("cpuacct") {
            files.push((
                FdKind::CpuUsage,
                open_for_reading(&dir.join("cpuacct.usage"))?,
            ));
        }
        Ok(files)
    }

    pub(crate) fn kill(&self) -> Result<(), CgroupError> {
        if let Some(dir) = &self.unified {
            return write(&dir.join("cgroup.kill"), "1");
        }
        for dir in self.own.iter().map(|(_, dir)| dir) {
            for pid in pids(dir) {
                use nix::sys::signal::{Signal, kill};
                match kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL) {
                    Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
                    Err(errno) => return Err(failed("kill processes of", dir)(errno.into())),
                }
            }
        }
        Ok(())
    }

    /// Whether the kernel tells this sandbox's own pressure.
    pub(crate) fn tells_pressure(&self) -> bool {
        self.unified.as_deref().is_some_and(pressure::is_told)
    }

    pub(crate) fn counters(&self) -> KernelCounters {
        let mut counters = KernelCounters::default();
        if let Some(dir) = self.dir("cpuacct") {
            let used = |file: &str| number(&dir.join(file)) / 1000;
            let total = used("cpuacct.usage");
            let (user, system) = (used("cpuacct.usage_user"), used("cpuacct.usage_sys"));
            (counters.cpu_user_us, counters.cpu_system_us) = split(total, user, system);
        }
        if let Some(dir) = self.dir("cpu") {
            counters.cpu_throttled_us = keyed(&dir.join("cpu.stat"), "throttled_time") / 1000;
        }
        if let Some(dir) = self.dir("memory") {
            counters.memory_peak_bytes = number(&dir.join("memory.max_usage_in_bytes"));
            // The plain failure counter stays at 0 on recent kernels.
            let events = self
                .out_of_memory
                .as_ref()
                .map_or(0, |fd| fd.read().unwrap_or(0));
            counters.memory_limit_hits = events.max(number(&dir.join("memory.failcnt")));
            counters.oom_kills = keyed(&dir.join("memory.oom_control"), "oom_kill");
        }
        if let Some(dir) = self.dir("pids") {
            counters.pids_peak = number(&dir.join("pids.peak"));
            counters.pids_limit_hits = keyed(&dir.join("pids.events"), "max");
        }
        counters.pressure = self.unified.as_deref().and_then(pressure::of_group);
        counters
    }
}

/// Parts a total, which the kernel measures, like two shares, which it samples at its clock ticks
/// only: a short process may have none of either.
fn split(total: u64, user: u64, system: u64) -> (u64, u64) {
    let sampled = u128::from(user) + u128::from(system);
    if sampled == 0 {
        return (total, 0);
    }
    let share = u128::from(total) * u128::from(system) / sampled;
    let system = u64::try_from(share).unwrap_or(total);
    (total - system, system)
}
