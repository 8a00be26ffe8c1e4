//! What a policy *means*: validated, with every value present.
//!
//! A [`Policy`] only comes out of `resolve`; the written form is `document::Document`.
//! It knows nothing of hosts, plans or processes: `confine` turns it into a plan.
//! Invariant: list fields are sorted and free of duplicates, so that two documents
//! that mean the same have the same digest.

use serde::{Deserialize, Serialize};

/// A resolved policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Name, unique in its catalog.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Names from the root of the `extends` chain down to this policy itself (root first).
    pub lineage: Vec<String>,
    /// What a request gets when it says nothing.
    pub defaults: Defaults,
    /// What a request may ask for at most.
    pub limits: Limits,
    /// What the program may touch of the file system, by paths inside the sandbox.
    pub files: FilesPolicy,
    /// Which system calls the program may make.
    pub syscalls: SyscallsPolicy,
    /// Which network the program has.
    pub network: NetworkPolicy,
    /// Which code may be loaded and executed.
    pub code: CodePolicy,
    /// As whom the program runs inside the sandbox.
    pub process: ProcessPolicy,
    /// What verified code gets beyond the rest of this policy.
    pub grants: Vec<Grant>,
    /// Whether the program may use a GPU.
    pub gpu: GpuPolicy,
    /// What happens where the host lacks a control.
    pub enforcement: EnforcementPolicy,
    /// What happens when the audit log cannot be written.
    pub audit: AuditPolicy,
    /// What may earn reward.
    pub verify: VerifyPolicy,
}

/// What a request gets when it says nothing. Each is at most its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Defaults {
    /// Wall-clock time in milliseconds; at least [`WALL_PER_CPU_MIN`] times `cpu_ms`.
    pub wall_ms: u64,
    /// CPU time of all processes together, in milliseconds.
    pub cpu_ms: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// The default wall time is at least this many times the default CPU time, so that a busy
/// machine does not turn a slow start into a timeout.
pub const WALL_PER_CPU_MIN: u64 = 4;

/// Ceilings. Zero means that none of it is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Wall-clock time in milliseconds.
    pub wall_ms_max: u64,
    /// CPU time of all processes together, in milliseconds.
    pub cpu_ms_max: u64,
    /// CPU rate in thousandths of a core.
    pub cpu_millicores_max: u64,
    /// Memory in bytes, files of the sandbox included.
    pub memory_bytes_max: u64,
    /// Processes and threads at one time.
    pub pids_max: u64,
    /// Bytes written to `/workspace`, `/tmp` and `/dev/shm` together.
    pub disk_bytes_max: u64,
    /// Files and folders made.
    pub files_max: u64,
    /// Bytes kept of each output stream.
    pub output_bytes_max: u64,
    /// Bytes of output beyond which the run ends.
    pub output_bytes_total_max: u64,
    /// Open descriptors of one process.
    pub open_files_max: u64,
    /// Bytes over the network, both ways.
    pub net_bytes_max: u64,
    /// Network rate in bytes a second.
    pub net_bytes_per_second_max: u64,
    /// Network connections in one run.
    pub connections_max: u64,
    /// Disk rate in bytes a second; zero: no rate is asked for.
    pub io_bytes_per_second_max: u64,
}

/// Paths inside the sandbox: absolute, normal, each standing for all below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilesPolicy {
    /// May be read.
    pub read: Vec<String>,
    /// May be read and written.
    pub write: Vec<String>,
    /// May be executed.
    pub execute: Vec<String>,
    /// Nothing under `write` can be executed or mapped executable.
    pub writable_noexec: bool,
}

/// System calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyscallsPolicy {
    /// The built-in list.
    pub profile: SyscallProfile,
    /// Names allowed beyond the profile.
    pub allow: Vec<String>,
    /// What a denied call does to the program.
    pub deny_action: DenyAction,
}

/// A built-in list of system calls, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyscallProfile {
    /// Plain programs and interpreters; `/proc` shows processes only.
    Strict,
    /// Runtimes with threads and just-in-time compilers; a masked full `/proc`.
    Compat,
    /// `Compat` and tracing of own children.
    Debug,
}

/// What a denied system call does. Both deny the same calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenyAction {
    /// The process is killed and the run ends as `syscall_denied`.
    Kill,
    /// The call fails with an error number and the program goes on.
    Errno,
}

/// Network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NetworkPolicy {
    /// Kind of network.
    pub mode: NetworkMode,
    /// Destinations, only in mode `allowlist`.
    pub allow: Vec<NetworkRule>,
}

/// Kind of network, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkMode {
    /// No IP sockets at all.
    Sealed,
    /// The loopback device is up and there is no route.
    None,
    /// Listed destinations through the proxy.
    Allowlist,
}

/// One destination that may be reached through the proxy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NetworkRule {
    /// Host name, lower case, no wildcard.
    pub host: String,
    /// TCP ports; 443 when the document says nothing.
    pub ports: Vec<u16>,
    /// HTTP methods; GET and HEAD when the document says nothing.
    pub methods: Vec<String>,
    /// Path that requests are at or below; `/` when the document says nothing.
    pub path_prefix: String,
}

/// Code that may be loaded and executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CodePolicy {
    /// Whether code is checked.
    pub mode: CodeMode,
    /// Digests of code that may be loaded, in modes `audit` and `allowlist`.
    pub allow_sha256: Vec<String>,
    /// Ed25519 public keys (hex) whose signatures admit code, in the same modes.
    pub allow_signers: Vec<String>,
    /// Module names that must not be imported, in every mode.
    pub imports_deny: Vec<String>,
    /// Digests of programs that may be executed, in the same modes.
    pub exec_allow_sha256: Vec<String>,
}

/// Whether code is checked, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeMode {
    /// Only listed code runs.
    Allowlist,
    /// All code runs; what is not listed is recorded.
    Audit,
    /// All code runs.
    Open,
}

/// As whom the program runs inside the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessPolicy {
    /// The user inside.
    pub run_as: RunAs,
}

/// The user inside the sandbox, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunAs {
    /// An ordinary user without capabilities.
    User,
    /// Root inside, with a fixed capability set.
    Root,
}

/// What verified code gets beyond the rest of its policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Grant {
    /// When the grant applies.
    pub when: GrantCondition,
    /// Network instead of the policy's; `None` leaves the policy's.
    pub network: Option<NetworkPolicy>,
    /// Names of secrets that the daemon's providers hand over.
    pub secrets: Vec<String>,
    /// A GPU may be used.
    pub gpu: bool,
}

/// When a grant applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct GrantCondition {
    /// Name of the key that signed the code.
    pub signed_by: String,
}

/// GPU use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GpuPolicy {
    /// Whether the bridge to the GPU is there.
    pub enabled: bool,
}

/// What happens where the host lacks a control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnforcementPolicy {
    /// Stance towards every control.
    pub default: Enforcement,
    /// Controls that may be missing although the stance is strict.
    pub degradable: Vec<String>,
}

/// Stance towards a control that the host lacks, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// The run is refused.
    Strict,
    /// The run goes on and the manifest shows what is missing.
    Degradable,
}

/// What happens when the audit log cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditPolicy {
    /// Reaction.
    pub on_failure: AuditFailure,
}

/// Reaction to an audit log that cannot be written, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFailure {
    /// No result without its record.
    Deny,
    /// The result is given and says that its record is missing.
    Degrade,
}

/// What may earn reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VerifyPolicy {
    /// A verdict with `isolation: shared` may earn reward.
    pub shared_reward: bool,
}
