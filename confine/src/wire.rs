//! The frames between the daemon's processes: api, launcher and `sandbox-init`.
//!
//! One frame is one `SOCK_SEQPACKET` message, postcard-encoded, at most
//! [`FRAME_BYTES_MAX`] long; anything large travels as a sealed memfd beside it.
//! Descriptors travel api -> launcher -> init only, never back from a sandbox.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::report::{ControlReport, StepReport};

/// Longest frame in bytes. A longer one is a protocol error and ends the connection.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Most descriptors beside one frame.
pub const FRAME_FDS_MAX: usize = 16;
/// Most descriptors a command gets beyond 0, 1 and 2.
pub const EXTRA_FDS_MAX: usize = 8;

/// Names a sandbox between api and launcher; chosen by the api, never reused within its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SandboxToken(pub u64);

/// Names a command within one sandbox; chosen by the api, never reused within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommandToken(pub u32);

/// api -> launcher.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ToLauncher {
    /// Make a sandbox. Beside it one descriptor: the guest end of the init channel.
    Start {
        /// Name for all later frames.
        token: SandboxToken,
        /// Public sandbox id (letters, digits, `-`; at most 64 bytes); names the cgroup.
        id: String,
        /// What it is to be.
        plan: Box<Plan>,
        /// Live sandboxes with the same number take turns (a solution and its judge) and are put on
        /// the same CPUs.
        group: Option<u64>,
    },
    /// Kill every process of it now; `Reaped` follows.
    Kill {
        /// Which.
        token: SandboxToken,
    },
    /// Look at its pid 1 and its groups from outside; `Inspected` follows.
    Inspect {
        /// Which.
        token: SandboxToken,
    },
    /// Kill everything, clean up, exit.
    Stop,
}

/// Something about a sandbox that its program cannot see, as found by who can: a row of the
/// self-test, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// `host:...` seen by the launcher, `init:...` by pid 1.
    pub name: String,
    /// What was found, in one word.
    pub found: String,
}

impl Fact {
    /// By name.
    pub fn new(name: &str, found: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            found: found.into(),
        }
    }
}

/// launcher -> api.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FromLauncher {
    /// First frame after start: what this launcher can do.
    Hello {
        /// Facts of the host.
        host: Box<crate::host::HostFacts>,
        /// Digest of the host image and whether it is pinned.
        image_sha256: String,
    },
    /// Pid 1 runs. Beside it the descriptors named in `fds`, in that order.
    Started {
        /// Which.
        token: SandboxToken,
        /// Host pid of init.
        pid: i32,
        /// First host uid of the leased range.
        uid_base: u32,
        /// Controls applied from outside (cgroups, namespaces), one row each.
        controls: Vec<ControlReport>,
        /// What the descriptors are.
        fds: Vec<FdKind>,
    },
    /// No program ran. All kernel objects are gone again.
    StartFailed {
        /// Which.
        token: SandboxToken,
        /// Name of the step.
        step: String,
        /// Why, for an operator.
        reason: String,
        /// Whether the request asked beyond the launcher's ceilings (a refusal, not a fault).
        refused: bool,
    },
    /// What was asked for with `Inspect`; nothing if it does not live.
    Inspected {
        /// Which.
        token: SandboxToken,
        /// One a row.
        facts: Vec<Fact>,
    },
    /// All processes are gone, the cgroups are removed and the uid range is free.
    Reaped {
        /// Which.
        token: SandboxToken,
        /// How init ended: exit code, or -signal.
        init_status: i32,
        /// The kernel's own counters, read when the cgroup was empty.
        counters: Box<KernelCounters>,
        /// What could not be cleaned; empty in a healthy system.
        leftovers: Vec<String>,
    },
}

/// What a descriptor beside [`FromLauncher::Started`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FdKind {
    /// Writing `1` kills every process of the sandbox (cgroup v2 `cgroup.kill`).
    CgroupKill,
    /// Reading from offset 0 gives the CPU time used: v1 `cpuacct.usage` (one number, ns) or v2 `cpu.stat`.
    CpuUsage,
    /// Writing `1`/`0` freezes/thaws (cgroup v2 `cgroup.freeze`).
    CgroupFreeze,
}

/// The kernel's evidence about one sandbox, zero where the host has no such counter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCounters {
    /// User CPU time in microseconds.
    pub cpu_user_us: u64,
    /// System CPU time in microseconds.
    pub cpu_system_us: u64,
    /// Time the group was held back by its CPU quota, in microseconds.
    pub cpu_throttled_us: u64,
    /// Peak memory in bytes.
    pub memory_peak_bytes: u64,
    /// Kernel OOM kills in the payload's cgroup.
    pub oom_kills: u64,
    /// How often the payload's own memory limit was hit.
    pub memory_limit_hits: u64,
    /// Peak number of tasks.
    pub pids_peak: u64,
    /// How often a fork was refused by the pids limit.
    pub pids_limit_hits: u64,
    /// Bytes read and written on block devices.
    pub io_bytes: u64,
    /// Pressure while it was there, where the kernel tells.
    pub pressure: Option<Stalls>,
}

/// Pressure stall totals in microseconds: `some` = at least one task waited, `full` = all did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Whether these are the whole host's, not the sandbox's own.
    pub of_host: bool,
    /// CPU: some.
    pub cpu_some_us: u64,
    /// CPU: full; 0 for the host, where the kernel does not define it.
    pub cpu_full_us: u64,
    /// Memory: some.
    pub memory_some_us: u64,
    /// Memory: full.
    pub memory_full_us: u64,
    /// Block devices: some.
    pub io_some_us: u64,
    /// Block devices: full.
    pub io_full_us: u64,
}

/// api -> init.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ToInit {
    /// Write files. Beside it: a sealed memfd with an [`Archive`].
    Stage,
    /// Run a command. Beside it: spec memfd ([`SpawnSpec`]), stdin, stdout, stderr, then extra
    /// descriptors that become 3, 4, ... in the command.
    Spawn {
        /// Name for all later frames.
        command: CommandToken,
        /// End the sandbox by itself when this command is over (kill the rest, report, exit).
        last: bool,
    },
    /// Send a signal to a command's process group.
    Signal {
        /// Which.
        command: CommandToken,
        /// Signal number, 1..=64.
        signal: i32,
    },
    /// Read files. Beside it: spec memfd ([`CollectSpec`]), write end of a pipe that gets
    /// one length-prefixed (u32 LE) postcard [`CollectedFile`] after another, then EOF.
    Collect {
        /// Kill and reap all commands first, so that nothing changes a file any more.
        alone: bool,
    },
    /// Kill all commands, reap them, report [`FromInit::Finished`], exit.
    Finish,
}

/// init -> api. Init runs our code, but shares a machine with the payload: an allegation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FromInit {
    /// The session part of the sequence is done; commands can be spawned.
    Entered {
        /// One row per step.
        steps: Vec<StepReport>,
        /// What the kernel says of pid 1 to pid 1 alone, asked after the steps and not by them.
        state: Vec<Fact>,
    },
    /// A session step failed; init exits.
    EnterFailed {
        /// Name of the step.
        step: String,
        /// errno of the failing call, 0 if none.
        errno: i32,
        /// What was being done.
        reason: String,
    },
    /// All files of a `Stage` are written.
    Staged {
        /// Number of files.
        files: u32,
        /// Sum of their sizes in bytes.
        bytes: u64,
    },
    /// A file could not be written; the ones before it are there.
    StageFailed {
        /// Path as given.
        path: String,
        /// errno.
        errno: i32,
    },
    /// The program was exec'd (the exec succeeded).
    Spawned {
        /// Which.
        command: CommandToken,
        /// Pid inside the sandbox.
        pid: i32,
        /// Late steps of the sequence, one row each.
        steps: Vec<StepReport>,
        /// Microseconds from the receipt of `Spawn` to the successful exec.
        spawn_us: u64,
    },
    /// The program never started because a late step failed.
    SpawnFailed {
        /// Which.
        command: CommandToken,
        /// Name of the step.
        step: String,
        /// errno.
        errno: i32,
        /// What was being done.
        reason: String,
    },
    /// The program could not be exec'd: found but not executable, or not found.
    NotStarted {
        /// Which.
        command: CommandToken,
        /// 126 or 127, as in a shell.
        code: u8,
        /// errno of the exec.
        errno: i32,
        /// Path tried last.
        path: String,
    },
    /// The command's first process ended.
    Exited {
        /// Which.
        command: CommandToken,
        /// Exit code, when it exited.
        code: Option<i32>,
        /// Signal, when it was killed by one.
        signal: Option<i32>,
        /// Whether a core was dumped.
        core_dumped: bool,
    },
    /// Denied system calls since the last such frame.
    Denied {
        /// Number, count pairs.
        calls: Vec<DeniedCall>,
        /// Denials beyond what is counted per number.
        suppressed: u64,
    },
    /// A `Collect` is done.
    Collected {
        /// Files written to the pipe.
        files: u32,
        /// Patterns that matched nothing, or files that were refused, with the reason.
        problems: Vec<CollectProblem>,
    },
    /// Everything but init is dead; last frame.
    Finished {
        /// Use of the workspace tmpfs at the end.
        disk: DiskUse,
        /// What pid 1 measured itself where no cgroup could be made.
        polled: Option<Polled>,
    },
}

/// One denied system call number and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedCall {
    /// System call number.
    pub number: u32,
    /// First argument of the first denial (family of a socket, and so on).
    pub first_arg: u64,
    /// errno given.
    pub errno: i32,
    /// How often.
    pub count: u64,
}

/// A file that could not be collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectProblem {
    /// Path or pattern.
    pub path: String,
    /// Why, in words.
    pub reason: String,
}

/// Use of the sandbox's one writable file system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUse {
    /// Bytes used.
    pub bytes: u64,
    /// Bytes there are.
    pub bytes_max: u64,
    /// Inodes used.
    pub inodes: u64,
    /// Inodes there are.
    pub inodes_max: u64,
}

/// Use as seen by polling: soft limits, since between two polls anything can happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polled {
    /// Highest sum of private memory seen, in bytes.
    pub memory_peak_bytes: u64,
    /// CPU time of all processes, in milliseconds.
    pub cpu_ms: u64,
    /// The limit for which all was killed.
    pub over: Option<PolledLimit>,
}

/// A limit that pid 1 watches itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolledLimit {
    /// Memory.
    Memory,
    /// CPU time.
    Cpu,
}

/// Contents of a stage memfd.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Archive {
    /// Files in order; parents are made as needed.
    pub files: Vec<ArchiveFile>,
}

/// One file to write below `/workspace`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArchiveFile {
    /// Relative path, no `..`, no empty component (checked again by init).
    pub path: String,
    /// Permission bits, 0o777 at most.
    pub mode: u32,
    /// Contents.
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
}

/// Contents of a spawn memfd.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpawnSpec {
    /// Program and arguments, without NUL bytes; the first is searched in `PATH` of `env`.
    pub argv: Vec<Vec<u8>>,
    /// Environment as name, value.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Working directory inside the sandbox, absolute.
    pub cwd: String,
}

/// Contents of a collect memfd.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollectSpec {
    /// Relative paths below `/workspace`; `*` and `?` match within one component, `**` across.
    pub patterns: Vec<String>,
    /// Most bytes in all.
    pub bytes_max: u64,
    /// Most files.
    pub files_max: u32,
}

/// One collected file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollectedFile {
    /// Relative path below `/workspace` (bytes as the payload named it).
    #[serde(with = "serde_bytes")]
    pub path: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
    /// Contents.
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
}
