//! Control groups of sandboxes: limits written before any process exists, counters read when
//! none is left, both for v1 controllers and for v2.
//!
//! Pid 1 sits outside the payload's groups: the payload cannot starve its own supervisor, and
//! pid 1's memory is not the payload's.

mod v1;
mod v2;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use confine::host::CgroupLayout;
use confine::host::cgroups::MOUNT;
use confine::plan::LimitPlan;
use confine::report::{ControlReport, Layer, Status};
use confine::wire::{FdKind, KernelCounters};

/// Rows of the self-test about limits.
const LIMITS: [&str; 4] = [
    "host:cgroup_memory",
    "host:cgroup_pids",
    "host:cgroup_cpu",
    "host:cgroup_devices",
];

/// A cgroup operation that failed, with the file.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}", path.display())]
pub(crate) struct CgroupError {
    doing: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CgroupError {
    let path = path.to_owned();
    move |source| CgroupError {
        doing,
        path,
        source,
    }
}

/// Groups of this launcher; sandboxes' groups are made below.
#[derive(Debug)]
pub(crate) enum Groups {
    V1(v1::Groups),
    V2(v2::Groups),
    None,
}

/// Groups of one sandbox.
#[derive(Debug)]
pub(crate) enum SandboxGroups {
    V1(v1::SandboxGroups),
    V2(v2::SandboxGroups),
    None,
}

impl Groups {
    /// Makes our own group wherever the host lets us.
    pub(crate) fn create(layout: &CgroupLayout, name: &str) -> Result<Self, CgroupError> {
        match layout {
            CgroupLayout::V1 {
                controllers,
                unified,
            } => v1::Groups::create(name, controllers, *unified).map(Self::V1),
            CgroupLayout::V2 { controllers } => v2::Groups::create(name, controllers).map(Self::V2),
            CgroupLayout::None => Ok(Self::None),
        }
    }

    /// Makes the groups of a sandbox with all limits written.
    pub(crate) fn sandbox(
        &self,
        id: &str,
        limits: &LimitPlan,
    ) -> Result<SandboxGroups, CgroupError> {
        match self {
            Self::V1(groups) => groups.sandbox(id, limits).map(SandboxGroups::V1),
            Self::V2(groups) => groups.sandbox(id, limits).map(SandboxGroups::V2),
            Self::None => Ok(SandboxGroups::None),
        }
    }
}

impl SandboxGroups {
    /// Directory that pid 1 is cloned into, if there is a v2 hierarchy.
    pub(crate) fn init_dir(&self) -> Result<Option<OwnedFd>, CgroupError> {
        match self {
            Self::V1(groups) => groups.init_dir(),
            Self::V2(groups) => groups.init_dir().map(Some),
            Self::None => Ok(None),
        }
    }

    /// Open files through which a command attaches itself.
    pub(crate) fn attach_files(&self) -> Result<Vec<OwnedFd>, CgroupError> {
        match self {
            Self::V1(groups) => groups.attach_files(),
            Self::V2(groups) => groups.attach_files(),
            Self::None => Ok(Vec::new()),
        }
    }

    /// Descriptors for the api: it may kill and freeze this sandbox and watch its CPU time.
    pub(crate) fn control_files(&self) -> Result<Vec<(FdKind, OwnedFd)>, CgroupError> {
        match self {
            Self::V1(groups) => groups.control_files(),
            Self::V2(groups) => groups.control_files(),
            Self::None => Ok(Vec::new()),
        }
    }

    /// Kills every process in it.
    pub(crate) fn kill(&self) -> Result<(), CgroupError> {
        match self {
            Self::V1(groups) => groups.kill(),
            Self::V2(groups) => groups.kill(),
            Self::None => Ok(()),
        }
    }

    /// Whether the kernel tells this sandbox's own pressure.
    pub(crate) fn tells_pressure(&self) -> bool {
        match self {
            Self::V1(groups) => groups.tells_pressure(),
            Self::V2(groups) => groups.tells_pressure(),
            Self::None => false,
        }
    }

    /// The kernel's figures.
    pub(crate) fn counters(&self) -> KernelCounters {
        match self {
            Self::V1(groups) => groups.counters(),
            Self::V2(groups) => groups.counters(),
            Self::None => KernelCounters::default(),
        }
    }

    /// Removes the groups; the paths that are still busy come back.
    pub(crate) fn remove(&self) -> Vec<PathBuf> {
        let dirs = match self {
            Self::V1(groups) => groups.dirs(),
            Self::V2(groups) => groups.dirs(),
            Self::None => Vec::new(),
        };
        dirs.into_iter().filter(|dir| !removed(dir)).collect()
    }

    /// For each limit, by the name of its row, whether the kernel's own figure is what was asked.
    pub(crate) fn limits_in_force(&self, limits: &LimitPlan) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::V1(groups) => groups.limits_in_force(limits),
            Self::V2(groups) => groups.limits_in_force(limits),
            Self::None => LIMITS.map(|name| (name, "absent")).to_vec(),
        }
    }

    /// One manifest row per resource control.
    pub(crate) fn report(&self, limits: &LimitPlan) -> Vec<ControlReport> {
        let kind = match self {
            Self::V1(_) => "cgroup v1",
            Self::V2(_) => "cgroup v2",
            Self::None => "",
        };
        let has = |name: &str| match self {
            Self::V1(groups) => groups.has(name),
            Self::V2(groups) => groups.has(name),
            Self::None => false,
        };
        [
            ("memory", format!("{} bytes", limits.memory_bytes_max)),
            ("pids", limits.pids_max.to_string()),
            ("cpu", format!("{} millicores", limits.cpu_millicores_max)),
        ]
        .into_iter()
        .map(|(name, value)| ControlReport {
            step: name.to_owned(),
            layer: Layer::Resource,
            status: if has(name) {
                Status::Enforced
            } else {
                Status::Degraded(format!("this host has no {name} cgroup for us"))
            },
            applied: if has(name) {
                format!("{value} ({kind})")
            } else {
                String::new()
            },
        })
        .collect()
    }
}

/// Whether a test build leaves the limit of this controller out.
fn is_off(controller: &str) -> bool {
    [
        ("memory", "cgroup_memory"),
        ("pids", "cgroup_pids"),
        ("cpu", "cgroup_cpu"),
    ]
    .iter()
    .any(|(name, lock)| *name == controller && confine::mutation::is_off(lock))
}

/// Gives back the group that we were started in, if we took it apart and nobody else uses it so.
pub(crate) fn restore_base() -> Result<(), CgroupError> {
    v2::restore_base()
}

/// Kills and removes every group with this name in every hierarchy. Returns what is left.
pub(crate) fn sweep(name: &str) -> Vec<String> {
    let mut tops: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(MOUNT).into_iter().flatten().flatten() {
        tops.push(entry.path().join(name));
    }
    tops.extend(v2::base().map(|base| base.join(name)));
    tops.sort();
    tops.dedup();
    tops.retain(|top| top.is_dir());
    for top in &tops {
        kill_all(top);
    }
    tops.iter()
        .flat_map(|top| remove_tree(top))
        .map(|dir| dir.display().to_string())
        .collect()
}

/// How often an empty-to-be group is looked at again; each round waits for a process to die.
const REMOVE_ROUNDS: usize = 500;

fn kill_all(top: &Path) {
    if top.join("cgroup.kill").exists() {
        // An empty group takes the write too; a vanished one is what we want.
        if fs::write(top.join("cgroup.kill"), "1").is_ok() {
            return;
        }
    }
    for dir in tree(top) {
        for pid in pids(&dir) {
            // Between reading and killing it may have died; it is a process of a dead instance.
            if nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(pid),
                nix::sys::signal::Signal::SIGKILL,
            )
            .is_err()
            {}
        }
    }
}

fn pids(dir: &Path) -> Vec<i32> {
    let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The directory and all below it, deepest last.
fn tree(top: &Path) -> Vec<PathBuf> {
    let mut all = vec![top.to_owned()];
    let mut next = 0;
    while let Some(dir) = all.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                all.push(entry.path());
            }
        }
    }
    all
}

fn remove_tree(top: &Path) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for dir in tree(top).into_iter().rev() {
        let gone = (0..REMOVE_ROUNDS).any(|_round| removed(&dir) || !wait_for_death(&dir));
        if !gone && !removed(&dir) {
            left.push(dir);
        }
    }
    left
}

fn removed(dir: &Path) -> bool {
    match fs::remove_dir(dir) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Waits a little for one process of the group to die. Returns true always, to go on.
fn wait_for_death(dir: &Path) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let Some(pid) = pids(dir).first().copied() else {
        return true;
    };
    if let Ok(pidfd) = open_pidfd(pid) {
        let mut set = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        // A time-out only means another round.
        if poll(&mut set, PollTimeout::from(20u8)).is_err() {}
    }
    true
}

fn open_pidfd(pid: i32) -> Result<OwnedFd, nix::errno::Errno> {
    confine::sys::process::open_pidfd(pid)
}

fn make(dir: &Path) -> Result<(), CgroupError> {
    fs::create_dir(dir).map_err(failed("make cgroup", dir))
}

/// Makes a group that may be there already.
fn ensure(dir: &Path) -> Result<(), CgroupError> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(failed("make cgroup", dir)(error))
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, value: &str) -> Result<(), CgroupError> {
    // One write call: the kernel takes the whole value or none of it.
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(failed("write", path))
}

fn open_for_writing(path: &Path) -> Result<OwnedFd, CgroupError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .map(OwnedFd::from)
        .map_err(failed("open", path))
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, CgroupError> {
    File::open(path)
        .map(OwnedFd::from)
        .map_err(failed("open", path))
}

/// A file with one number; 0 if it is not there.
fn number(path: &Path) -> u64 {
    fs::read_to_string(path)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// The value behind `key ` in a flat keyed file; 0 if it is not there.
fn keyed(path: &Path, key: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .find_map(|line| {
            line.strip_prefix(key)?
                .strip_prefix(' ')?
                .trim()
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

/// Whether a figure that the kernel shows is the one that was asked, but for less than a page.
fn in_force(shown: &Path, asked: u64) -> &'static str {
    const PAGE_BYTES: u64 = 4096;
    let text = fs::read_to_string(shown).unwrap_or_default();
    let word = text.split_whitespace().next().unwrap_or_default();
    match word.parse::<u64>() {
        Ok(value) if value <= asked && asked - value < PAGE_BYTES => "as_asked",
        Ok(_) => "another",
        Err(_words) => "no_limit",
    }
}

/// Quota and period in microseconds for a bandwidth in thousandths of a CPU.
fn quota_us(millicores: u64) -> (u64, u64) {
    const PERIOD_US: u64 = 100_000;
    /// The kernel takes no quota below a millisecond.
    const QUOTA_US_MIN: u64 = 1_000;
    (
        (millicores.saturating_mul(PERIOD_US / 1000)).max(QUOTA_US_MIN),
        PERIOD_US,
    )
}
