//! Groups of the one v2 hierarchy: a folder per sandbox with two leaves, `init` and `payload`,
//! since a group with processes cannot pass controllers on.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use confine::host::cgroups::{DAEMON_LEAF, v2_base};
use confine::plan::LimitPlan;
use confine::wire::{FdKind, KernelCounters};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::{
    CgroupError, MOUNT, ensure, failed, keyed, make, number, open_for_reading, open_for_writing,
    quota_us, write,
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

impl Groups {
    pub(crate) fn create(name: &str, controllers: &[String]) -> Result<Self, CgroupError> {
        let Some(base) = base() else {
            return Err(failed("use", Path::new(MOUNT))(
                io::ErrorKind::PermissionDenied.into(),
            ));
        };
        let wanted: Vec<String> = WANTED
            .iter()
            .filter(|w| controllers.iter().any(|c| c == *w))
            .map(|w| (*w).into())
            .collect();
        let _alone = alone(&base)?;
        if !is_top(&base) {
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

/// The group in which ours is made, if there is one.
pub(crate) fn base() -> Option<PathBuf> {
    v2_base(nix::unistd::geteuid().is_root())
}

/// Whether it is the top of the whole hierarchy, which may hold processes beside groups; the root of
/// a cgroup namespace only looks like it.
fn is_top(dir: &Path) -> bool {
    !dir.join("cgroup.type").exists()
}

/// Keeps other launchers of the same base from taking it apart or together meanwhile.
fn alone(base: &Path) -> Result<Flock<File>, CgroupError> {
    let dir = File::open(base).map_err(failed("open", base))?;
    Flock::lock(dir, FlockArg::LockExclusive)
        .map_err(|(_dir, errno)| failed("lock", base)(errno.into()))
}

/// How often the group is looked at for processes that started meanwhile.
const VACATE_ROUNDS: usize = 100;

/// Moves all processes of the base, the daemon's and what else the user started in it, into a leaf,
/// so that the base may pass controllers on.
fn vacate(base: &Path) -> Result<(), CgroupError> {
    let leaf = base.join(DAEMON_LEAF);
    ensure(&leaf)?;
    for _round in 0..VACATE_ROUNDS {
        let pids = super::pids(base);
        if pids.is_empty() {
            break;
        }
        move_all(&pids, &leaf)?;
    }
    Ok(())
}

fn move_all(pids: &[i32], to: &Path) -> Result<(), CgroupError> {
    // 0 is a process that our pid namespace does not show; nobody here can move it.
    for pid in pids.iter().filter(|pid| **pid != 0) {
        match write(&to.join("cgroup.procs"), &pid.to_string()) {
            // It ended meanwhile.
            Err(error) if error.source.raw_os_error() == Some(Errno::ESRCH as i32) => {}
            moved => moved?,
        }
    }
    Ok(())
}

/// Undoes [`vacate`] once no launcher has a group in the base any more: the controllers go, the
/// processes come back, the leaf goes.
pub(crate) fn restore_base() -> Result<(), CgroupError> {
    let Some(base) = base().filter(|base| base.join(DAEMON_LEAF).is_dir()) else {
        return Ok(());
    };
    let _alone = alone(&base)?;
    let entries = fs::read_dir(&base).map_err(failed("list", &base))?;
    let others = entries.flatten().any(|entry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != DAEMON_LEAF
    });
    if others {
        return Ok(());
    }
    let control = base.join("cgroup.subtree_control");
    let on = fs::read_to_string(&control).map_err(failed("read", &control))?;
    for controller in on.split_whitespace() {
        write(&control, &format!("-{controller}"))?;
    }
    let leaf = base.join(DAEMON_LEAF);
    for _round in 0..VACATE_ROUNDS {
        move_all(&super::pids(&leaf), &base)?;
        if super::removed(&leaf) {
            break;
        }
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
