//! What this kernel and host give us. The only probe of kernel features.
//!
//! It decides nothing: [`crate::make_plan`] compares its facts with what a policy asks.

pub mod cgroups;
pub mod grade;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::plan::Mode;
use crate::sys;

/// How control groups are laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CgroupLayout {
    /// One v2 hierarchy with these controllers.
    V2 {
        /// Controllers it offers.
        controllers: Vec<String>,
    },
    /// v1 controllers, perhaps beside a v2 hierarchy without controllers.
    V1 {
        /// Controllers that are mounted.
        controllers: Vec<String>,
        /// Whether `/sys/fs/cgroup/unified` is a v2 hierarchy.
        unified: bool,
    },
    /// None that we may write to.
    None,
}

impl CgroupLayout {
    /// Whether a controller is there.
    pub fn has(&self, controller: &str) -> bool {
        match self {
            Self::V2 { controllers } | Self::V1 { controllers, .. } => {
                controllers.iter().any(|name| name == controller)
            }
            Self::None => false,
        }
    }

    /// Which controllers it offers, in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::V2 { controllers } => format!("v2: {}", controllers.join(" ")),
            Self::V1 {
                controllers,
                unified,
            } => {
                let beside = if *unified { ", beside v2" } else { "" };
                format!("v1: {}{beside}", controllers.join(" "))
            }
            Self::None => "none that we may write to".to_owned(),
        }
    }
}

/// One feature with what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    /// Short name.
    pub name: String,
    /// Whether it is there.
    pub present: bool,
    /// Value found, in words.
    pub found: String,
    /// What it is needed for.
    pub why: String,
    /// What to do when it is missing.
    pub fix: String,
}

/// Facts of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Kernel release, as in `uname -r`.
    pub kernel_release: String,
    /// Online CPUs.
    pub cpus: u32,
    /// Grade of confinement that is possible for this user.
    pub mode: Mode,
    /// Why not a higher one; empty for root mode.
    pub mode_reason: String,
    /// What an operator can do about that; empty for root mode.
    pub mode_fix: String,
    /// Whether the operator accepts landlock mode; without it such a host serves nothing.
    pub landlock_mode_accepted: bool,
    /// Landlock ABI, 0 = none.
    pub landlock_abi: u32,
    /// Control groups.
    pub cgroups: CgroupLayout,
    /// Whether unprivileged or privileged user namespaces can be made.
    pub user_namespaces: bool,
    /// Whether seccomp can tell us of denied calls.
    pub seccomp_notify: bool,
    /// All of the above and more, for people.
    pub features: Vec<Feature>,
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path)
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// Probes the host. Never fails: what cannot be read counts as missing.
pub fn inspect() -> HostFacts {
    let root = nix::unistd::geteuid().is_root();
    let landlock_abi = sys::landlock_abi();
    let cgroups = cgroups::layout(root);
    let (mode, obstacle) = grade::grade(root);
    let user_namespaces = mode != Mode::Landlock;
    let actions = read("/proc/sys/kernel/seccomp/actions_avail");
    let seccomp_notify = actions
        .split_whitespace()
        .any(|action| action == "user_notif");
    let (mode_reason, mode_fix) = obstacle
        .map(|obstacle| (obstacle.reason, obstacle.fix))
        .unwrap_or_default();
    let cpus = std::thread::available_parallelism()
        .ok()
        .and_then(|count| u32::try_from(count.get()).ok())
        .unwrap_or(1);
    let mut facts = HostFacts {
        kernel_release: read("/proc/sys/kernel/osrelease"),
        cpus,
        mode,
        mode_reason,
        mode_fix,
        landlock_mode_accepted: false,
        landlock_abi,
        cgroups,
        user_namespaces,
        seccomp_notify,
        features: Vec::new(),
    };
    facts.features = features(&facts, root);
    facts
}

/// How a user gets a group of its own; root has one wherever the hierarchy is writable.
const DELEGATE_FIX: &str = "start as root, or on a host with cgroup v2 in a group that is yours: \
     `systemd-run --user --scope -p Delegate=yes ...`; in a container mount /sys/fs/cgroup writable";

fn features(facts: &HostFacts, root: bool) -> Vec<Feature> {
    let row = |name: &str, present: bool, found: String, why: &str, fix: &str| Feature {
        name: name.to_owned(),
        present,
        found,
        why: why.to_owned(),
        fix: if present {
            String::new()
        } else {
            fix.to_owned()
        },
    };
    let cgroup = |name: &str| facts.cgroups.has(name);
    vec![
        row(
            "root",
            root,
            format!("euid {}", nix::unistd::geteuid()),
            "leased uid ranges and hard cgroup limits",
            "start sandboxd as root (its network-facing part drops all privileges)",
        ),
        row(
            "user_namespaces",
            facts.user_namespaces,
            format!("max {}", read("/proc/sys/user/max_user_namespaces")),
            "every sandbox has a user namespace of its own",
            &facts.mode_fix,
        ),
        row(
            "landlock",
            facts.landlock_abi > 0,
            format!("ABI {}", facts.landlock_abi),
            "the second lock on files, signals and abstract sockets",
            "a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in the lsm= list",
        ),
        row(
            "seccomp_notify",
            facts.seccomp_notify,
            read("/proc/sys/kernel/seccomp/actions_avail"),
            "denied system calls are told with their number",
            "a kernel of version 5.0 or later with CONFIG_SECCOMP_FILTER",
        ),
        row(
            "cgroup_memory",
            cgroup("memory"),
            facts.cgroups.in_words(),
            "hard memory limit and the true cause of an out-of-memory death",
            DELEGATE_FIX,
        ),
        row(
            "cgroup_pids",
            cgroup("pids"),
            String::new(),
            "hard limit on processes and threads",
            DELEGATE_FIX,
        ),
        row(
            "cgroup_cpu",
            cgroup("cpu"),
            String::new(),
            "CPU bandwidth and throttling figures",
            DELEGATE_FIX,
        ),
    ]
}
