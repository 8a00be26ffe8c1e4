//! Groups of the one v2 hierarchy: a folder per sandbox with two leaves, `init` and `payload`,
//! since a group with processes cannot pass controllers on.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use confine::host::own_v2_cgroup;
use confine::plan::LimitPlan;
use confine::wire::{FdKind, KernelCounters};

use super::{
    CgroupError, MOUNT, ensure, keyed, make, number, open_for_reading, open_for_writing, quota_us,
    write,
};
use crate::pressure;

const WANTED: [&str; 3] = ["cpu", "memory", "pids"];

/// Our group.
#[derive(Debug)]
pub(crate) struct Groups {
    dir: PathBuf,
    controllers: Vec<String>,
}

/// The groups of one sandbox.
#[derive(Debug)]
pub(crate) struct SandboxGroups {
    dir: PathBuf,
    controllers: Vec<String>,
}

/// Where our group is made: in the cgroup we were started in when that is delegated to us (a
/// service with `Delegate=yes`, a user session), else at the top.
pub(crate) fn base() -> PathBuf {
    let own = own_v2_cgroup();
    let own = own.trim_start_matches('/');
    let dir = Path::new(MOUNT).join(own);
    // A group of ours that we were moved into at an earlier start is not the base.
    let dir = if dir.ends_with("rollcage-daemon") {
        dir.parent()
            .map_or_else(|| PathBuf::from(MOUNT), Path::to_owned)
    } else {
        dir
    };
    let delegated = fs::metadata(dir.join("cgroup.subtree_control")).is_ok();
    if delegated && !own.is_empty() && dir.to_string_lossy().contains(".service") {
        dir
    } else if nix::unistd::geteuid().is_root() {
        PathBuf::from(MOUNT)
    } else {
        dir
    }
}

impl Groups {
    pub(crate) fn create(name: &str, controllers: &[String]) -> Result<Self, CgroupError> {
        let base = base();
        let wanted: Vec<String> = WANTED
            .iter()
            .filter(|w| controllers.iter().any(|c| c == *w))
            .map(|w| (*w).into())
            .collect();
        if base != Path::new(MOUNT) {
            vacate(&base)?;
        }
        enable(&base, &wanted)?;
        let dir = base.join(name);
        ensure(&dir)?;
        enable(&dir, &wanted)?;
        Ok(Self {
            dir,
            controllers: wanted,
        })
    }

    pub(crate) fn sandbox(
        &self,
        id: &str,
        limits: &LimitPlan,
    ) -> Result<SandboxGroups, CgroupError> {
        let groups = SandboxGroups {
            dir: self.dir.join(id),
            controllers: self.controllers.clone(),
        };
        let made = groups.fill(limits);
        if made.is_err() {
            for dir in groups.dirs() {
                super::removed(&dir);
            }
        }
        made.map(|()| groups)
    }
}

/// Moves the daemon's own processes into a leaf, so that the group may pass controllers on.
fn vacate(base: &Path) -> Result<(), CgroupError> {
    let leaf = base.join("rollcage-daemon");
    ensure(&leaf)?;
    for pid in super::pids(base) {
        write(&leaf.join("cgroup.procs"), &pid.to_string())?;
    }
    Ok(())
}

fn enable(dir: &Path, controllers: &[String]) -> Result<(), CgroupError> {
    let path = dir.join("cgroup.subtree_control");
    let on = fs::read_to_string(&path).unwrap_or_default();
    for controller in controllers {
        if !on.split_whitespace().any(|name| name == controller) {
            write(&path, &format!("+{controller}"))?;
        }
    }
    Ok(())
}

impl SandboxGroups {
    fn payload(&self) -> PathBuf {
        self.dir.join("payload")
    }

    fn fill(&self, limits: &LimitPlan) -> Result<(), CgroupError> {
        make(&self.dir)?;
        enable(&self.dir, &self.controllers)?;
        make(&self.dir.join("init"))?;
        let payload = self.payload();
        make(&payload)?;
        let limited = |controller| self.has(controller) && !super::is_off(controller);
        if limited("memory") {
            write(
                &payload.join("memory.max"),
                &limits.memory_bytes_max.to_string(),
            )?;
            let swap = payload.join("memory.swap.max");
            if swap.exists() {
                write(&swap, "0")?;
            }
        }
        if limited("pids") {
            write(&payload.join("pids.max"), &limits.pids_max.to_string())?;
        }
        if limited("cpu") {
            let (quota, period) = quota_us(limits.cpu_millicores_max);
            write(&payload.join("cpu.max"), &format!("{quota} {period}"))?;
        }
        Ok(())
    }

    pub(crate) fn limits_in_force(&self, limits: &LimitPlan) -> Vec<(&'static str, &'static str)> {
        let payload = self.payload();
        let shown = |controller: &str, file: &str, asked: u64| {
            if self.has(controller) {
                super::in_force(&payload.join(file), asked)
            } else {
                "absent"
            }
        };
        let (quota, _period) = quota_us(limits.cpu_millicores_max);
        vec![
            (
                "host:cgroup_memory",
                shown("memory", "memory.max", limits.memory_bytes_max),
            ),
            (
                "host:cgroup_pids",
                shown("pids", "pids.max", limits.pids_max),
            ),
            ("host:cgroup_cpu", shown("cpu", "cpu.max", quota)),
            // Its devices are a program in the kernel, of which we have none.
            ("host:cgroup_devices", "absent"),
        ]
    }

    pub(crate) fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|name| name == controller)
    }

    pub(crate) fn dirs(&self) -> Vec<PathBuf> {
        vec![self.payload(), self.dir.join("init"), self.dir.clone()]
    }

    pub(crate) fn init_dir(&self) -> Result<OwnedFd, CgroupError> {
        open_for_reading(&self.dir.join("init"))
    }

    pub(crate) fn attach_files(&self) -> Result<Vec<OwnedFd>, CgroupError> {
        Ok(vec![open_for_writing(
            &self.payload().join("cgroup.procs"),
        )?])
    }

    pub(crate) fn control_files(&self) -> Result<Vec<(FdKind, OwnedFd)>, CgroupError> {
        Ok(vec![
            (
                FdKind::CgroupKill,
                open_for_writing(&self.dir.join("cgroup.kill"))?,
            ),
            (
                FdKind::CgroupFreeze,
                open_for_writing(&self.dir.join("cgroup.freeze"))?,
            ),
            (
                FdKind::CpuUsage,
                open_for_reading(&self.payload().join("cpu.stat"))?,
            ),
        ])
    }

    pub(crate) fn kill(&self) -> Result<(), CgroupError> {
        write(&self.dir.join("cgroup.kill"), "1")
    }

    /// Whether the kernel tells this sandbox's own pressure.
    pub(crate) fn tells_pressure(&self) -> bool {
        pressure::is_told(&self.payload())
    }

    pub(crate) fn counters(&self) -> KernelCounters {
        let payload = self.payload();
        let cpu = payload.join("cpu.stat");
        let memory = payload.join("memory.events");
        KernelCounters {
            cpu_user_us: keyed(&cpu, "user_usec"),
            cpu_system_us: keyed(&cpu, "system_usec"),
            cpu_throttled_us: keyed(&cpu, "throttled_usec"),
            memory_peak_bytes: number(&payload.join("memory.peak")),
            oom_kills: keyed(&memory, "oom_kill"),
            memory_limit_hits: keyed(&memory, "max"),
            pids_peak: number(&payload.join("pids.peak")),
            pids_limit_hits: keyed(&payload.join("pids.events"), "max"),
            io_bytes: 0,
            pressure: pressure::of_group(&payload),
        }
    }
}
