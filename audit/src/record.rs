//! What a line of the log says: who reported which event about which run. The fields map onto
//! OCSF classes (see `FORMAT.md`); the bytes are `encode.rs`'s, the chain is `chain.rs`'s.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::digest::Digest;

/// Longest `node`, `boot_id`, `principal`, `tenant`, `run_id`, `sandbox_id`, policy name: bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Longest `image`, in bytes.
pub const IMAGE_BYTES_MAX: usize = 1024;

/// What happened. Closed: a reader that meets another name has a newer or a forged log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// First line of a segment: its number, the key, the end of the segment before.
    SegmentOpened,
    /// A signature over everything before it.
    Checkpoint,
    /// A torn last line was cut off after a crash; `data` tells its length and hash.
    Recovered,
    /// The launcher could not deliver some attestations; `data.missing` counts them.
    AttestationsLost,
    /// The daemon's connection ended without `daemon_stopped`.
    DaemonLost,
    /// The daemon serves requests.
    DaemonStarted,
    /// The daemon ends in good order.
    DaemonStopped,
    /// The policy catalog was read again.
    PolicyReloaded,
    /// The probe battery was run, or an outcome of it from before was taken; `data` has both.
    SelfTested,
    /// A run passed policy, quota and admission.
    RunAdmitted,
    /// A run was refused; `data` has the reason.
    RunRefused,
    /// The daemon asks the launcher for a sandbox (a run may have several, such as a judge's).
    SandboxRequested,
    /// The launcher made a sandbox.
    SandboxSpawned,
    /// The launcher saw a sandbox's last process end; `data` has the kernel's counters.
    SandboxReaped,
    /// A program was started in a sandbox.
    ProgramStarted,
    /// A program in a sandbox ended.
    ProgramExited,
    /// A sandbox was refused something.
    Denied,
    /// A run was graded.
    Verdict,
    /// A run is over; `data` has its ending and usage.
    RunEnded,
}

/// Which process vouches for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The daemon that serves the API.
    Api,
    /// The root launcher, over its own connection.
    Launcher,
    /// Pid 1 of the sandbox, relayed by the daemon: a report, not an attestation.
    Init,
    /// The audit process itself.
    Audit,
}

impl Event {
    /// Every event, in the order of the enum.
    pub const ALL: [Self; 19] = [
        Self::SegmentOpened,
        Self::Checkpoint,
        Self::Recovered,
        Self::AttestationsLost,
        Self::DaemonLost,
        Self::DaemonStarted,
        Self::DaemonStopped,
        Self::PolicyReloaded,
        Self::SelfTested,
        Self::RunAdmitted,
        Self::RunRefused,
        Self::SandboxRequested,
        Self::SandboxSpawned,
        Self::SandboxReaped,
        Self::ProgramStarted,
        Self::ProgramExited,
        Self::Denied,
        Self::Verdict,
        Self::RunEnded,
    ];

    /// Whether `source` is one that reports this event.
    #[must_use]
    pub fn may_come_from(self, source: Source) -> bool {
        match self {
            Self::SegmentOpened
            | Self::Checkpoint
            | Self::Recovered
            | Self::AttestationsLost
            | Self::DaemonLost => source == Source::Audit,
            Self::SandboxSpawned | Self::SandboxReaped => source == Source::Launcher,
            Self::ProgramStarted | Self::ProgramExited => source == Source::Init,
            Self::Denied => matches!(source, Source::Api | Source::Init),
            Self::DaemonStarted
            | Self::DaemonStopped
            | Self::PolicyReloaded
            | Self::SelfTested
            | Self::RunAdmitted
            | Self::RunRefused
            | Self::SandboxRequested
            | Self::Verdict
            | Self::RunEnded => source == Source::Api,
        }
    }
}

/// The policy a run was under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRef {
    /// Its name in the catalog, or the name the request gave its inline document.
    pub name: String,
    /// Digest of the resolved policy.
    pub sha256: Digest,
}

/// A record as its reporter writes it, before it has a place in the chain.
///
/// Fields that do not apply stay `None` and are absent from the line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// What happened.
    pub event: Event,
    /// Who vouches for it.
    pub source: Source,
    /// Who asked, as authenticated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The tenant of the principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The sandbox; ties the launcher's attestations to the daemon's records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_id: Option<String>,
    /// The policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyRef>,
    /// The image, with its digest where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Digest over everything the run was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_sha256: Option<Digest>,
    /// What else this event has to tell. Integers only; sandbox text through `text::untrusted`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
}

/// Why a draft cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The event belongs to another source.
    #[error("event {event:?} may not come from source {source_given:?}")]
    Source {
        /// The event.
        event: Event,
        /// The source in the draft.
        source_given: Source,
    },
    /// A name is empty or too long.
    #[error("{field} has {bytes} bytes: 1 to {bytes_max} are allowed")]
    Length {
        /// Which field.
        field: &'static str,
        /// Its length.
        bytes: usize,
        /// The most allowed.
        bytes_max: usize,
    },
}

impl Draft {
    /// A draft with nothing but its event and source.
    #[must_use]
    pub fn new(event: Event, source: Source) -> Self {
        Self {
            event,
            source,
            principal: None,
            tenant: None,
            run_id: None,
            sandbox_id: None,
            policy: None,
            image: None,
            inputs_sha256: None,
            data: Map::new(),
        }
    }

    /// The draft with `data[key] = value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// Checks event against source, and lengths.
    ///
    /// # Errors
    /// See [`DraftError`].
    pub fn check(&self) -> Result<(), DraftError> {
        if !self.event.may_come_from(self.source) {
            return Err(DraftError::Source {
                event: self.event,
                source_given: self.source,
            });
        }
        check_length("principal", self.principal.as_deref(), NAME_BYTES_MAX)?;
        check_length("tenant", self.tenant.as_deref(), NAME_BYTES_MAX)?;
        check_length("run_id", self.run_id.as_deref(), NAME_BYTES_MAX)?;
        check_length("sandbox_id", self.sandbox_id.as_deref(), NAME_BYTES_MAX)?;
        check_length(
            "policy.name",
            self.policy.as_ref().map(|p| p.name.as_str()),
            NAME_BYTES_MAX,
        )?;
        check_length("image", self.image.as_deref(), IMAGE_BYTES_MAX)
    }
}

pub(crate) fn check_length(
    field: &'static str,
    text: Option<&str>,
    bytes_max: usize,
) -> Result<(), DraftError> {
    match text {
        Some(text) if text.is_empty() || text.len() > bytes_max => Err(DraftError::Length {
            field,
            bytes: text.len(),
            bytes_max,
        }),
        _ => Ok(()),
    }
}

/// A line of the log, without its own hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Place in the log: 1 for the first line ever, no gaps, across segments.
    pub seq: u64,
    /// When the audit process recorded it: nanoseconds since 1970 by its wall clock.
    pub time_unix_ns: u64,
    /// The kernel's boot id on that node.
    pub boot_id: String,
    /// The machine.
    pub node: String,
    /// Hash of the line before; zeros for the first line ever.
    pub prev_sha256: Digest,
    /// What its reporter wrote.
    #[serde(flatten)]
    pub draft: Draft,
}

#[cfg(test)]
mod tests;
