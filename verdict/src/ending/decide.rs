//! The decision itself: kernel counters, our own ledger of kills and init's report in, ending out.

use super::{Ending, MemorySource};

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
const SIGSYS: i32 = 31;
const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
/// A file system with less than one block left cannot take another write.
const BLOCK_BYTES: u64 = 4096;

/// What init reported about the main process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It exited.
    Exited {
        /// Exit code.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// Signal number.
        signal: i32,
        /// The core flag of the wait status.
        core_dumped: bool,
    },
    /// `execve` failed, so that nothing of the program ran.
    ExecFailed {
        /// Error number of `execve`.
        errno: i32,
        /// The path tried.
        path: String,
        /// The error in words.
        reason: String,
    },
    /// The filter killed it for a system call.
    SyscallKilled {
        /// Name of the system call.
        syscall: String,
        /// Rule of the policy.
        rule: String,
    },
    /// Init said nothing, because it died or was killed with the sandbox.
    NotReported,
}

/// Why we killed the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KillCause {
    /// Wall time.
    WallTime,
    /// Processor time.
    CpuTime,
    /// Total output.
    Output {
        /// Bytes written but not kept.
        dropped_bytes: u64,
    },
    /// Polled memory (rootless mode without control groups).
    MemoryPolled {
        /// Resident bytes seen.
        rss_bytes: u64,
    },
    /// Somebody asked.
    Cancel {
        /// Who.
        by: String,
    },
    /// A fault of ours or the host's made us give up.
    Fault(SandboxFault),
}

/// One kill in our ledger, written before the signal is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    /// Why.
    pub cause: KillCause,
    /// When, in milliseconds since the program started, on the host's clock.
    pub at_ms: u64,
}

/// A step of ours, or the host, that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFault {
    /// Which step.
    pub step: String,
    /// Why.
    pub reason: String,
}

/// A signal that was delivered by us on somebody's behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalSent {
    /// Signal number.
    pub signal: i32,
    /// On whose behalf.
    pub by: String,
}

/// The limits in force; `None` = no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Wall time in milliseconds.
    pub wall_ms: Option<u64>,
    /// Processor time in milliseconds.
    pub cpu_ms: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Tasks.
    pub pids: Option<u64>,
    /// Writable file system in bytes.
    pub disk_bytes: Option<u64>,
    /// Total output in bytes.
    pub output_bytes_total: Option<u64>,
}

/// Counters of the kernel and the host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Wall time used, in milliseconds.
    pub wall_ms: u64,
    /// Processor time used, in milliseconds.
    pub cpu_ms: u64,
    /// Time throttled, in milliseconds.
    pub throttled_ms: u64,
    /// Kernel's out-of-memory kills in this control group.
    pub oom_kills: u64,
    /// How often this group's own memory limit was hit (v1 `failcnt`, v2 `memory.events` `max`/`oom`).
    pub memory_limit_hits: u64,
    /// Highest memory in bytes.
    pub memory_peak_bytes: u64,
    /// How often a fork was refused (`pids.events` `max`).
    pub pids_limit_hits: u64,
}

/// `statfs` of the writable file system after the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskAtEnd {
    /// Free bytes.
    pub free_bytes: u64,
    /// Free inodes.
    pub free_inodes: u64,
}

/// All that is known from outside about how a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelEvidence {
    /// What init reported of the main process.
    pub program: ProgramEnd,
    /// When the main process ended, in milliseconds since it started, on the host's clock;
    /// `None` = not known.
    pub ended_at_ms: Option<u64>,
    /// Our kills, in the order in which they were decided.
    pub kills: Vec<Kill>,
    /// Signals sent on somebody's behalf.
    pub signals_sent: Vec<SignalSent>,
    /// Limits in force.
    pub limits: Limits,
    /// Counters at the end.
    pub counters: Counters,
    /// The writable file system at the end; `None` = could not be read.
    pub disk: Option<DiskAtEnd>,
    /// A fault of ours or the host's that stopped the run before or while it ran.
    pub fault: Option<SandboxFault>,
}

/// Decides how the run ended. First match wins: a fault of ours, a program that never started,
/// our own kill (over whatever the program did after it), the filter's kill, a machine-wide OOM,
/// the memory limit, the processor limit, a full disk, the task limit, else what init reported.
#[must_use]
pub fn decide_ending(evidence: &KernelEvidence) -> Ending {
    if let Some(fault) = &evidence.fault {
        return failed(fault);
    }
    if let ProgramEnd::ExecFailed {
        errno,
        path,
        reason,
    } = &evidence.program
    {
        let code = if matches!(*errno, ENOENT | ENOTDIR) {
            127
        } else {
            126
        };
        return Ending::NotStarted {
            code,
            path: path.clone(),
            reason: reason.clone(),
        };
    }
    if let Some(ending) = by_our_kill(evidence) {
        return ending;
    }
    if let ProgramEnd::SyscallKilled { syscall, rule } = &evidence.program {
        return Ending::SyscallDenied {
            syscall: syscall.clone(),
            rule: rule.clone(),
        };
    }
    by_memory(evidence)
        .or_else(|| by_cpu_rlimit(evidence))
        .or_else(|| by_refusal(evidence))
        .unwrap_or_else(|| as_reported(evidence))
}

fn failed(fault: &SandboxFault) -> Ending {
    Ending::SandboxFailed {
        step: fault.step.clone(),
        reason: fault.reason.clone(),
    }
}

/// The first kill that was decided before the main process had ended. A kill after that only
/// cleaned up what was left.
fn by_our_kill(evidence: &KernelEvidence) -> Option<Ending> {
    let ended_before = |kill: &Kill| evidence.ended_at_ms.is_some_and(|ended| ended < kill.at_ms);
    let kill = evidence
        .kills
        .iter()
        .filter(|kill| !ended_before(kill))
        .min_by_key(|k| k.at_ms)?;
    let (limits, counters) = (&evidence.limits, &evidence.counters);
    Some(match &kill.cause {
        KillCause::WallTime => Ending::WallTimeUp {
            limit_ms: limits.wall_ms.unwrap_or(kill.at_ms),
            used_ms: counters.wall_ms.max(kill.at_ms),
            throttled_ms: counters.throttled_ms,
        },
        KillCause::CpuTime => cpu_time_up(evidence),
        KillCause::Output { dropped_bytes } => Ending::OutputUp {
            cap_bytes: limits.output_bytes_total.unwrap_or(0),
            dropped_bytes: *dropped_bytes,
        },
        KillCause::MemoryPolled { rss_bytes } => Ending::MemoryUp {
            limit_bytes: limits.memory_bytes.unwrap_or(0),
            peak_bytes: counters.memory_peak_bytes.max(*rss_bytes),
            source: MemorySource::RssPoll,
        },
        KillCause::Cancel { by } => Ending::Cancelled { by: by.clone() },
        KillCause::Fault(fault) => failed(fault),
    })
}

fn cpu_time_up(evidence: &KernelEvidence) -> Ending {
    let used_ms = evidence.counters.cpu_ms;
    Ending::CpuTimeUp {
        limit_ms: evidence.limits.cpu_ms.unwrap_or(used_ms),
        used_ms,
        throttled_ms: evidence.counters.throttled_ms,
    }
}

fn by_memory(evidence: &KernelEvidence) -> Option<Ending> {
    let counters = &evidence.counters;
    if counters.oom_kills == 0 {
        return None;
    }
    if counters.memory_limit_hits == 0 {
        // The machine ran out, not this sandbox: whatever the program shows is not its own doing.
        let reason = "host_oom".to_owned();
        return Some(Ending::SandboxFailed {
            step: "run".to_owned(),
            reason,
        });
    }
    let main_killed = matches!(
        evidence.program,
        ProgramEnd::Signalled {
            signal: SIGKILL,
            ..
        } | ProgramEnd::NotReported
    );
    main_killed.then(|| Ending::MemoryUp {
        limit_bytes: evidence
            .limits
            .memory_bytes
            .unwrap_or(counters.memory_peak_bytes),
        peak_bytes: counters.memory_peak_bytes,
        source: MemorySource::Cgroup,
    })
}

fn by_cpu_rlimit(evidence: &KernelEvidence) -> Option<Ending> {
    let limit_ms = evidence.limits.cpu_ms?;
    let killed = matches!(
        evidence.program,
        ProgramEnd::Signalled {
            signal: SIGXCPU,
            ..
        }
    );
    (killed && evidence.counters.cpu_ms >= limit_ms).then(|| cpu_time_up(evidence))
}

/// A refused write or fork ended the run: it failed, and the refusal is on record.
fn by_refusal(evidence: &KernelEvidence) -> Option<Ending> {
    let ended_badly = match evidence.program {
        ProgramEnd::Exited { code } => code != 0,
        // A call that the filter answers by killing is no answer to a full disk.
        ProgramEnd::Signalled { signal, .. } => signal != SIGSYS,
        _ => false,
    };
    if !ended_badly {
        return None;
    }
    if let (Some(limit_bytes), Some(disk)) = (evidence.limits.disk_bytes, evidence.disk) {
        let refusal = if disk.free_bytes < BLOCK_BYTES {
            Some("a write: no space left")
        } else if disk.free_inodes == 0 {
            Some("a new file: no inodes left")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return Some(Ending::DiskUp {
                limit_bytes,
                first_refusal: refusal.to_owned(),
            });
        }
    }
    if let (Some(limit), 1..) = (evidence.limits.pids, evidence.counters.pids_limit_hits) {
        let hits = evidence.counters.pids_limit_hits;
        let first_refusal = format!("fork refused {hits} times");
        return Some(Ending::PidsUp {
            limit,
            first_refusal,
        });
    }
    None
}

fn as_reported(evidence: &KernelEvidence) -> Ending {
    match &evidence.program {
        ProgramEnd::Exited { code } => Ending::Exited { code: *code },
        ProgramEnd::Signalled {
            signal,
            core_dumped,
        } => Ending::Signalled {
            signal: *signal,
            core_dumped: *core_dumped,
            sent_by: (evidence.signals_sent.iter())
                .find(|sent| sent.signal == *signal)
                .map(|sent| sent.by.clone()),
        },
        _ => Ending::SandboxFailed {
            step: "report".to_owned(),
            reason: "pid 1 of the sandbox ended without reporting the program's end".to_owned(),
        },
    }
}
