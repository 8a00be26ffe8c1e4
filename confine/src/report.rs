//! What each control came to: the rows that become the manifest of a run.

use serde::{Deserialize, Serialize};

/// What became of one control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// In force as asked.
    Enforced,
    /// Not or not wholly in force; the policy allows that; why.
    Degraded(String),
    /// The policy did not ask for it.
    NotAsked,
}

/// Layers of defence, in the sense of "what can be reached at all" against "what of the kernel can be touched".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    /// What can be reached at all: namespaces, mounts, Landlock.
    Semantics,
    /// What of the kernel can be touched: seccomp, capabilities.
    AttackSurface,
    /// How much may be used: cgroups, rlimits, tmpfs sizes.
    Resource,
}

/// One step of the sequence, as taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// Name of the step, as in the sequence table.
    pub step: String,
    /// Layer it belongs to.
    pub layer: Layer,
    /// What became of it.
    pub status: Status,
    /// Value asked and applied, in words (`64`, `strict, 312 calls`), empty if none.
    pub applied: String,
}

/// One control applied from outside the sandbox.
pub type ControlReport = StepReport;
