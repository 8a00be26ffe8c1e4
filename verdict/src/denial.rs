//! What a sandbox was refused, by which layer, and the smallest change that would allow it.
//! Collecting these is the work of the layers themselves; here is only their shape.

use serde::{Deserialize, Serialize};

/// The layer that refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialLayer {
    /// The system call filter.
    Seccomp,
    /// The Landlock ruleset.
    Landlock,
    /// A read-only or noexec mount, or a path that is not mounted at all.
    Mount,
    /// A resource limit: memory, pids, disk.
    Cgroup,
    /// The network namespace or the proxy.
    Network,
    /// The rules about which code may run.
    Code,
}

/// One refusal, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The layer that refused.
    pub layer: DenialLayer,
    /// What was tried, for example the name of the system call.
    pub act: String,
    /// On what: a path, a host, an argument; empty where the layer does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// The rule of the policy that refused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// How often.
    pub count: u64,
    /// The error number that the program saw; 0 where it saw none.
    #[serde(default)]
    pub errno: i32,
    /// The smallest policy change that would allow it; empty where no policy can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// Refusals of this kind that were not recorded one by one, because there were too many.
    #[serde(default)]
    pub suppressed: u64,
}
