//! What one sandbox is to be: pure data, made from a policy and the facts of
//! this host, sent to the launcher and on to `sandbox-init`.
//!
//! It does not know how any of it is done (see [`crate::sequence`]), and the
//! launcher checks it against ceilings of its own before acting on it.

use serde::{Deserialize, Serialize};

/// A program of ours that the launcher shows, read-only, to sandboxes that are made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnProgram {
    /// What a self-test runs.
    Probe,
    /// The static check of a request's files.
    Check,
}

impl OwnProgram {
    /// Its folder inside the sandbox.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Probe => "/.probe",
            Self::Check => "/.check",
        }
    }

    /// The program inside the sandbox.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Probe => "/.probe/sandbox-probe",
            Self::Check => "/.check/sandbox-check",
        }
    }

    /// Its name on the launcher's command line, in a plan and in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Check => "check",
        }
    }
}

/// How much of the kernel's confinement this host offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The launcher is root: namespaces, leased uid ranges, cgroups. The full set.
    Root,
    /// An ordinary user with user namespaces: one mapped uid, cgroups only where delegated.
    Rootless,
    /// No user namespaces: Landlock, seccomp and rlimits alone. The lowest grade.
    Landlock,
}

/// Hard numbers of one sandbox. All are ceilings enforced by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitPlan {
    /// Memory of the payload, tmpfs pages included, in bytes.
    pub memory_bytes_max: u64,
    /// Tasks (processes and threads) of the payload.
    pub pids_max: u64,
    /// CPU bandwidth in thousandths of one CPU.
    pub cpu_millicores_max: u64,
    /// Size of the one tmpfs behind `/workspace`, `/tmp` and `/dev/shm`, in bytes.
    pub disk_bytes_max: u64,
    /// Inodes of that tmpfs.
    pub files_max: u64,
    /// Open descriptors of one process.
    pub open_files_max: u64,
    /// CPU time of one process, in milliseconds (second line; the whole sandbox is watched by cgroup).
    pub cpu_ms_max: u64,
}

impl LimitPlan {
    /// How many CPUs the rate is worth: what programs are told that they have.
    pub fn cpus(&self) -> usize {
        usize::try_from(self.cpu_millicores_max.div_ceil(1000).max(1)).unwrap_or(usize::MAX)
    }
}

/// What of the file tree may be touched, as absolute paths inside the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlan {
    /// Readable trees.
    pub read: Vec<String>,
    /// Writable trees; only `/workspace`, `/tmp`, `/dev/shm` and paths below them.
    pub write: Vec<String>,
    /// Trees whose files may be executed.
    pub execute: Vec<String>,
    /// Whether every writable mount is `noexec`.
    pub writable_noexec: bool,
}

/// How much of `/proc` there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcView {
    /// `subset=pid`: processes of the sandbox and nothing else.
    PidsOnly,
    /// The full tree, read-only, with host details masked and true CPU counts.
    Masked,
}

/// What network there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkPlan {
    /// No IP sockets at all.
    Sealed,
    /// An own network namespace with `lo` up and no route.
    Loopback,
}

/// Which system calls may be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallPlan {
    /// The built-in profile.
    pub profile: policies::SyscallProfile,
    /// Names allowed in addition; only from the table of optional calls.
    pub allow: Vec<String>,
    /// What a denied call gets.
    pub deny_action: policies::DenyAction,
    /// Whether denials are told to `sandbox-init`, which counts them.
    pub notify: bool,
}

/// One sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Grade of confinement.
    pub mode: Mode,
    /// Image by name; the launcher resolves it in its own catalog.
    pub image: String,
    /// Host name inside.
    pub hostname: String,
    /// Numbers.
    pub limits: LimitPlan,
    /// Files.
    pub files: FilePlan,
    /// `/proc`.
    pub proc: ProcView,
    /// Network.
    pub network: NetworkPlan,
    /// System calls.
    pub syscalls: SyscallPlan,
    /// Controls that may be missing on this host, by name; all others refuse.
    pub degradable: Vec<String>,
    /// Which program of the launcher's own is shown: for self-tests and static checks only.
    pub own: Option<OwnProgram>,
}
