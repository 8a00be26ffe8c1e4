//! What the forker hands to `sandbox-init` at birth, and the two frames they exchange.
//!
//! Everything in it comes from the launcher: pid 1 takes no orders about its own confinement
//! from the api.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::seccomp::{FilterSpec, program::SockFilter};

/// Descriptor of the init channel to the api in `sandbox-init`.
pub const CHANNEL_FD: i32 = 3;
/// Descriptor of the boot socket to the forker in `sandbox-init`.
pub const BOOT_FD: i32 = 4;

/// One operation that builds the root tree, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootOp {
    /// Makes a directory.
    Dir {
        /// Relative to the new root.
        path: String,
        /// Permission bits.
        mode: u32,
    },
    /// Makes an empty file, to be covered by a bind.
    File {
        /// Relative to the new root.
        path: String,
    },
    /// Makes a symbolic link.
    Symlink {
        /// What it points to.
        target: String,
        /// Where it lies, relative to the new root.
        link: String,
    },
    /// Attaches a host tree read-only.
    Bind {
        /// Host path.
        source: String,
        /// Relative to the new root; the directory or file exists.
        target: String,
        /// Whether device nodes in it work.
        devices: bool,
        /// Whether its files may be executed.
        executable: bool,
    },
}

/// The CPUs of a sandbox: as many as its rate is worth, and what is shown of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuView {
    /// Their numbers on the host, ascending.
    pub numbers: Vec<u32>,
    /// The same as the kernel writes it: `0-2,5`.
    pub list: String,
    /// `/proc/cpuinfo`; empty where that is not shown.
    pub cpuinfo: String,
    /// `/proc/stat`; empty where that is not shown.
    pub stat: String,
}

/// Everything `sandbox-init` needs, sealed in a memfd.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Boot {
    /// What the sandbox is to be.
    pub plan: Plan,
    /// The root tree.
    pub root: Vec<RootOp>,
    /// The compiled filter for commands.
    pub filter: Vec<SockFilter>,
    /// What it was compiled from: gives the errno of a denial that is told.
    pub filter_spec: FilterSpec,
    /// The CPUs that commands may use.
    pub cpus: CpuView,
    /// Landlock ABI of this kernel.
    pub landlock_abi: u32,
    /// Host uid that uid 0 of the sandbox maps to (root mode).
    pub uid_base: u32,
    /// Landlock mode: the host folder that stands for `/workspace`, with `tmp` beside it.
    pub workspace: Option<String>,
    /// Host path of the program of ours that the plan asks for.
    pub own: Option<String>,
    /// Landlock mode: processes this user may have, those outside the sandbox included.
    pub user_processes_max: Option<u64>,
    /// First id of the caller when rootless, mapped to 0 inside.
    pub outer_uid: u32,
    /// Group likewise.
    pub outer_gid: u32,
}

impl Boot {
    /// The path that a path inside the sandbox has on disk: itself, but for `/workspace`, `/tmp`,
    /// `/dev/shm` and our own program in landlock mode.
    pub fn host_path(&self, path: &str) -> String {
        let Some(workspace) = &self.workspace else {
            return path.to_owned();
        };
        if let (Some(host), Some(own)) = (&self.own, self.plan.own)
            && path == own.path()
        {
            return host.clone();
        }
        let top = workspace.trim_end_matches("/workspace");
        for (name, place) in [
            ("/workspace", workspace.clone()),
            ("/tmp", format!("{top}/tmp")),
            ("/dev/shm", format!("{top}/tmp")),
        ] {
            match path.strip_prefix(name) {
                Some("") => return place,
                Some(rest) if rest.starts_with('/') => return format!("{place}{rest}"),
                _ => {}
            }
        }
        path.to_owned()
    }
}

/// forker -> init.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ToBoot {
    /// First frame. Beside it: the sealed [`Boot`], then one `cgroup.procs` descriptor for each
    /// cgroup that commands attach themselves to.
    Start,
    /// The id maps are written.
    Mapped,
}

/// init -> forker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FromBoot {
    /// A new user namespace waits for its maps.
    NeedMaps,
}
