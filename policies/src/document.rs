//! A policy document as *written*: every field optional, nothing checked but types.
//!
//! What an unset field means is settled in `resolve`; what each field is for stands in `fields`.
//! Unknown fields are errors everywhere. Invariant: each leaf here has a row in `fields::FIELDS`
//! and in `enforce::CONTROLS` (tests walk a full document).

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::policy::{
    AuditFailure, CodeMode, DenyAction, Enforcement, NetworkMode, RunAs, SyscallProfile,
};
use crate::size::{SIZE_BYTES_MAX, parse_size_bytes};

/// A whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// See `fields`: `name`.
    pub name: Option<String>,
    /// See `fields`: `description`.
    pub description: Option<String>,
    /// See `fields`: `extends`.
    pub extends: Option<String>,
    /// `[defaults]`.
    pub defaults: Option<DefaultsDocument>,
    /// `[limits]`.
    pub limits: Option<LimitsDocument>,
    /// `[files]`.
    pub files: Option<FilesDocument>,
    /// `[syscalls]`.
    pub syscalls: Option<SyscallsDocument>,
    /// `[network]`.
    pub network: Option<NetworkDocument>,
    /// `[code]`.
    pub code: Option<CodeDocument>,
    /// `[process]`.
    pub process: Option<ProcessDocument>,
    /// `[[grant]]`.
    pub grant: Option<Vec<GrantDocument>>,
    /// `[gpu]`.
    pub gpu: Option<GpuDocument>,
    /// `[enforcement]`.
    pub enforcement: Option<EnforcementDocument>,
    /// `[audit]`.
    pub audit: Option<AuditDocument>,
    /// `[verify]`.
    pub verify: Option<VerifyDocument>,
}

/// `[defaults]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultsDocument {
    /// Milliseconds.
    pub wall_ms: Option<u64>,
    /// Milliseconds.
    pub cpu_ms: Option<u64>,
    /// Bytes.
    pub memory_bytes: Option<Size>,
}

/// `[limits]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsDocument {
    /// Milliseconds.
    pub wall_ms_max: Option<u64>,
    /// Milliseconds.
    pub cpu_ms_max: Option<u64>,
    /// Thousandths of a core.
    pub cpu_millicores_max: Option<u64>,
    /// Bytes.
    pub memory_bytes_max: Option<Size>,
    /// Processes and threads.
    pub pids_max: Option<u64>,
    /// Bytes.
    pub disk_bytes_max: Option<Size>,
    /// Files and folders.
    pub files_max: Option<u64>,
    /// Bytes of each stream.
    pub output_bytes_max: Option<Size>,
    /// Bytes.
    pub output_bytes_total_max: Option<Size>,
    /// Descriptors.
    pub open_files_max: Option<u64>,
    /// Bytes.
    pub net_bytes_max: Option<Size>,
    /// Bytes a second.
    pub net_bytes_per_second_max: Option<Size>,
    /// Connections.
    pub connections_max: Option<u64>,
    /// Bytes a second.
    pub io_bytes_per_second_max: Option<Size>,
}

/// `[files]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesDocument {
    /// Absolute paths.
    pub read: Option<Vec<String>>,
    /// Absolute paths.
    pub write: Option<Vec<String>>,
    /// Absolute paths.
    pub execute: Option<Vec<String>>,
    /// Whether writable paths are not executable.
    pub writable_noexec: Option<bool>,
}

/// `[syscalls]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyscallsDocument {
    /// Built-in list.
    pub profile: Option<SyscallProfile>,
    /// Names beyond it.
    pub allow: Option<Vec<String>>,
    /// What a denied call does.
    pub deny_action: Option<DenyAction>,
}

/// `[network]`, also inside `[[grant]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkDocument {
    /// Kind of network.
    pub mode: Option<NetworkMode>,
    /// Destinations.
    pub allow: Option<Vec<NetworkRuleDocument>>,
}

/// One entry of `network.allow`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRuleDocument {
    /// Host name.
    pub host: Option<String>,
    /// TCP ports.
    pub ports: Option<Vec<u16>>,
    /// HTTP methods.
    pub methods: Option<Vec<String>>,
    /// Path prefix.
    pub path_prefix: Option<String>,
}

/// `[code]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeDocument {
    /// Whether code is checked.
    pub mode: Option<CodeMode>,
    /// Digests of code.
    pub allow_sha256: Option<Vec<String>>,
    /// Public keys.
    pub allow_signers: Option<Vec<String>>,
    /// Module names.
    pub imports_deny: Option<Vec<String>>,
    /// Digests of programs.
    pub exec_allow_sha256: Option<Vec<String>>,
}

/// `[process]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessDocument {
    /// The user inside.
    pub run_as: Option<RunAs>,
}

/// One `[[grant]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantDocument {
    /// Condition.
    pub when: Option<GrantConditionDocument>,
    /// Network instead of the policy's.
    pub network: Option<NetworkDocument>,
    /// Names of secrets.
    pub secrets: Option<Vec<String>>,
    /// GPU use.
    pub gpu: Option<bool>,
}

/// `grant.when`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantConditionDocument {
    /// Name of a key.
    pub signed_by: Option<String>,
}

/// `[gpu]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuDocument {
    /// Whether the bridge is there.
    pub enabled: Option<bool>,
}

/// `[enforcement]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnforcementDocument {
    /// Stance towards missing controls.
    pub default: Option<Enforcement>,
    /// Names of controls.
    pub degradable: Option<Vec<String>>,
}

/// `[audit]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditDocument {
    /// Reaction to a log that cannot be written.
    pub on_failure: Option<AuditFailure>,
}

/// `[verify]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyDocument {
    /// Whether a shared verdict may earn reward.
    pub shared_reward: Option<bool>,
}

/// A size in bytes, written as an integer or as text such as `"512 MiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a size in bytes, for instance 536870912 or \"512 MiB\"")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Size, E> {
        u64::try_from(value)
            .map(Size)
            .map_err(|_negative| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Size, E> {
        if value > SIZE_BYTES_MAX {
            return Err(E::invalid_value(Unexpected::Unsigned(value), &self));
        }
        Ok(Size(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
        parse_size_bytes(text).map(Size).map_err(E::custom)
    }
}
