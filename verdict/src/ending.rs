//! How a process ended, and the one function that decides it from kernel evidence.
//! It knows nothing of tests or rewards, and never guesses a cause from an exit code.

mod decide;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use decide::{
    Counters, DiskAtEnd, KernelEvidence, Kill, KillCause, Limits, ProgramEnd, SandboxFault,
    SignalSent, decide_ending,
};

/// Where the proof of a memory limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    /// The kernel's out-of-memory count of the control group, with evidence that its limit was hit.
    Cgroup,
    /// Our own polling of resident sizes, in rootless mode without delegated control groups.
    RssPoll,
}

/// How the process ended: a closed set, each with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// It exited by itself.
    Exited {
        /// Its exit code, 0 to 255.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// Whether the kernel says that it dumped core.
        core_dumped: bool,
        /// Who sent it, if it was sent by us on somebody's behalf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent_by: Option<String>,
    },
    /// Its wall time was up and we killed it.
    WallTimeUp {
        /// The limit in milliseconds.
        limit_ms: u64,
        /// Wall time used, in milliseconds.
        used_ms: u64,
        /// Time the processor quota held it back, in milliseconds.
        throttled_ms: u64,
    },
    /// Its processor time was up and we, or the kernel's limit, killed it.
    CpuTimeUp {
        /// The limit in milliseconds.
        limit_ms: u64,
        /// Processor time used, in milliseconds.
        used_ms: u64,
        /// Time the processor quota held it back, in milliseconds.
        throttled_ms: u64,
    },
    /// The kernel killed its main process at its memory limit (or we did, polling).
    MemoryUp {
        /// The limit in bytes.
        limit_bytes: u64,
        /// The highest use in bytes.
        peak_bytes: u64,
        /// Where the proof comes from.
        source: MemorySource,
    },
    /// It wrote more than the total output allowed and we killed it.
    OutputUp {
        /// The cap in bytes.
        cap_bytes: u64,
        /// Bytes written but not kept.
        dropped_bytes: u64,
    },
    /// A full file system ended it.
    DiskUp {
        /// The limit in bytes.
        limit_bytes: u64,
        /// What was refused.
        first_refusal: String,
    },
    /// The limit on processes and threads ended it.
    PidsUp {
        /// The limit in tasks.
        limit: u64,
        /// What was refused.
        first_refusal: String,
    },
    /// It made a system call on which the policy kills.
    SyscallDenied {
        /// The system call's name.
        syscall: String,
        /// The rule of the policy.
        rule: String,
    },
    /// It was cancelled.
    Cancelled {
        /// By whom.
        by: String,
    },
    /// The program could not be started: nothing of it ran.
    NotStarted {
        /// 126 (found, not executable) or 127 (not found), as in a shell.
        code: i32,
        /// The path that was tried.
        path: String,
        /// Why.
        reason: String,
    },
    /// Our fault or the host's, never the program's.
    SandboxFailed {
        /// The step that failed.
        step: String,
        /// Why.
        reason: String,
    },
}

impl Ending {
    /// The name of the kind, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exited { .. } => "exited",
            Self::Signalled { .. } => "signalled",
            Self::WallTimeUp { .. } => "wall_time_up",
            Self::CpuTimeUp { .. } => "cpu_time_up",
            Self::MemoryUp { .. } => "memory_up",
            Self::OutputUp { .. } => "output_up",
            Self::DiskUp { .. } => "disk_up",
            Self::PidsUp { .. } => "pids_up",
            Self::SyscallDenied { .. } => "syscall_denied",
            Self::Cancelled { .. } => "cancelled",
            Self::NotStarted { .. } => "not_started",
            Self::SandboxFailed { .. } => "sandbox_failed",
        }
    }

    /// The exit code that `rollcage run` ends with: the program's own; 124 time; 125 the sandbox
    /// failed; 126 and 127 as in a shell; 128 + n for a signal; 130 cancelled; 137 another limit.
    #[must_use]
    pub fn shell_code(&self) -> i32 {
        match self {
            Self::Exited { code } | Self::NotStarted { code, .. } => *code,
            Self::Signalled { signal, .. } => 128 + *signal,
            Self::WallTimeUp { .. } | Self::CpuTimeUp { .. } => 124,
            Self::MemoryUp { .. }
            | Self::OutputUp { .. }
            | Self::DiskUp { .. }
            | Self::PidsUp { .. }
            | Self::SyscallDenied { .. } => 137,
            Self::Cancelled { .. } => 130,
            Self::SandboxFailed { .. } => 125,
        }
    }

    /// Whether this ending is the host's evidence that the run says nothing about the program.
    #[must_use]
    pub fn is_host_fault(&self) -> bool {
        matches!(self, Self::SandboxFailed { .. } | Self::Cancelled { .. })
    }
}
