//! The manifest: one row per control that was asked or applied, so that nothing is silently missing.

use serde::{Deserialize, Serialize};

/// What a control is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlLayer {
    /// What the program can see and do at all.
    Semantics,
    /// How much of the kernel it can reach.
    AttackSurface,
    /// How much it may use.
    Resource,
}

/// Whether a control holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlStatus {
    /// Applied as asked.
    Enforced,
    /// Weaker than asked or missing; `reason` says why.
    Degraded,
    /// The policy did not ask for it.
    NotAsked,
}

/// One control of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestRow {
    /// The control's name, as in `policy explain`.
    pub name: String,
    /// What it is for.
    pub layer: ControlLayer,
    /// What the policy asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// What was applied.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub applied: String,
    /// Whether it holds.
    pub status: ControlStatus,
    /// Why it is degraded; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Names of the probes that showed that it holds, and when; empty where none has.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub proof: String,
}
