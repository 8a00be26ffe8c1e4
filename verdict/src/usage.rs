//! What a run used, in integers. Numbers come from kernel counters and host clocks only.

use serde::{Deserialize, Serialize};

/// Whose pressure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PressureSource {
    /// The sandbox's own, from its control group.
    #[default]
    Sandbox,
    /// The whole host's while the sandbox was there: all others are in it.
    Host,
}

/// Pressure stall totals during the run, in microseconds (`some` = at least one task waited).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    /// Whose it is.
    pub source: PressureSource,
    /// Processor: some.
    pub cpu_some_us: u64,
    /// Processor: full.
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

/// What a run used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Wall time from exec to the end, in milliseconds.
    pub wall_ms: u64,
    /// Processor time in user mode of all processes, in milliseconds.
    pub cpu_user_ms: u64,
    /// Processor time in the kernel of all processes, in milliseconds.
    pub cpu_system_ms: u64,
    /// Time the processor quota held it back, in milliseconds.
    pub cpu_throttled_ms: u64,
    /// Time in which it was ready to run and others kept it from its CPUs, in milliseconds; none where
    /// this host does not tell. See [`crate::contention::cpu_waited_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_waited_ms: Option<u64>,
    /// Highest memory of the control group, in bytes.
    pub memory_peak_bytes: u64,
    /// Processes of the sandbox that the kernel killed for lack of memory.
    pub oom_kills: u64,
    /// Highest number of tasks at once.
    pub pids_peak: u64,
    /// Bytes in the writable file system at the end.
    pub disk_bytes: u64,
    /// Inodes in the writable file system at the end.
    pub inodes: u64,
    /// Bytes read from and written to block devices.
    pub io_bytes: u64,
    /// Bytes that came in over the network.
    pub net_bytes_in: u64,
    /// Bytes that went out over the network.
    pub net_bytes_out: u64,
    /// Time on the GPU, in milliseconds.
    pub gpu_ms: u64,
    /// Time in the queue before the sandbox was begun, in milliseconds.
    pub queue_ms: u64,
    /// From sandbox ready to exec, in microseconds.
    pub start_us: u64,
    /// Pressure during the run, where the kernel gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
}
