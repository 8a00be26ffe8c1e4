//! A run as the engine sees it: already authenticated, parsed and checked against its policy.
//!
//! Only `grpc::convert` makes these from wire messages and turns results back; nothing here
//! knows protobuf, tokio streams or sockets.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::self_test::Proof;
use confine::wire::Fact;
use policies::{EffectiveLimits, Policy};
use verdict::{Denial, Ending, ManifestRow, Outcome, StaticCheck, Usage, Verdict, VerifySpec};

/// Who asked, as authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Stable name of the principal, such as `uid:1000` or `cert:trainer`.
    pub principal: String,
    /// Tenant that owns what the principal makes.
    pub tenant: String,
}

/// One input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Path relative to `/workspace`, already checked.
    pub path: String,
    /// Contents.
    pub content: Vec<u8>,
    /// Permission bits, at most 0o777.
    pub mode: u32,
}

/// One program in one fresh sandbox.
#[derive(Debug, Clone)]
pub struct Request {
    /// The caller's own id, echoed in the result.
    pub id: String,
    /// Our id, unique on this node.
    pub run_id: String,
    /// Who.
    pub caller: Caller,
    /// Policy as resolved.
    pub policy: Arc<Policy>,
    /// Digest of its canonical form, hex.
    pub policy_sha256: String,
    /// Image name.
    pub image: String,
    /// Files put below `/workspace`.
    pub files: Vec<InputFile>,
    /// Program and arguments; empty with `verify` means verify only.
    pub argv: Vec<Vec<u8>>,
    /// Environment beyond the fixed defaults.
    pub env: BTreeMap<String, String>,
    /// Working directory, absolute; default `/workspace`.
    pub cwd: String,
    /// Standard input; `None` = open and at end of file.
    pub stdin: Option<Vec<u8>>,
    /// Limits in force.
    pub limits: EffectiveLimits,
    /// Patterns of files to return.
    pub collect: Vec<String>,
    /// How to judge, if asked.
    pub verify: Option<VerifySpec>,
    /// What is checked of the files before anything runs.
    pub static_check: StaticCheck,
    /// Rollouts of one prompt share a group.
    pub group: String,
    /// Larger runs first.
    pub priority: i32,
    /// Milliseconds from receipt to the reply at most, queue included; 0 = none beyond the wall limit.
    pub deadline_ms: u64,
    /// Free labels, echoed in the audit record.
    pub labels: BTreeMap<String, String>,
    /// W3C trace context, if any.
    pub traceparent: Option<String>,
    /// Whether it is done again on another fresh sandbox, once, after a fault of ours or the host's.
    pub retries_infra: bool,
    /// Whether the probe program is shown in its sandbox: a self-test's own run.
    pub probe: bool,
    /// What a self-test found about the confinement under its policy.
    pub proof: Proof,
}

/// Which stream a piece of output is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

/// What happens while a run goes on.
#[derive(Debug, Clone)]
pub enum Event {
    /// Waiting for a place.
    Queued,
    /// The program was started.
    Started {
        /// Sandbox it runs in.
        sandbox_id: String,
    },
    /// Output as it comes, byte-exact, in order per stream.
    Output {
        /// Which stream.
        stream: OutputStream,
        /// Number of this piece within its stream, from 0.
        seq: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// What is kept of one output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Head and tail, joined; the cut, if any, lies at `head_bytes`.
    pub kept: Vec<u8>,
    /// Bytes of `kept` that are the head.
    pub head_bytes: u64,
    /// Bytes of the whole stream.
    pub total_bytes: u64,
    /// Bytes dropped between head and tail.
    pub dropped_bytes: u64,
    /// SHA-256 of the whole stream, hex.
    pub sha256: String,
}

/// Where a result stands in the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Sequence number of its record.
    pub seq: u64,
    /// Hash of its record, hex.
    pub sha256: String,
}

/// Why an attempt was not the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It ended by a fault of ours or the host's.
    InfraError,
    /// A time limit ended it while others kept it from its CPUs; it was done again alone.
    HostBusy,
}

/// An attempt that was not the last.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Why it was not.
    pub why: Why,
    /// Sandbox the program ran in.
    pub sandbox_id: String,
    /// How the task was judged.
    pub outcome: Outcome,
    /// Why so.
    pub reason: String,
    /// Receipt of its own audit record.
    pub audit: Receipt,
}

/// How a run went.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// The caller's id.
    pub id: String,
    /// Our id.
    pub run_id: String,
    /// How the process ended.
    pub ending: Ending,
    /// How the task was judged.
    pub verdict: Verdict,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// What was used.
    pub usage: Usage,
    /// What was refused.
    pub denials: Vec<Denial>,
    /// What was enforced.
    pub manifest: Vec<ManifestRow>,
    /// Collected files.
    pub files: Vec<InputFile>,
    /// Files asked for but not returned, with the reason.
    pub files_missing: Vec<(String, String)>,
    /// Receipt of the audit record written before this reply.
    pub audit: Receipt,
    /// Sandbox the program ran in.
    pub sandbox_id: String,
    /// A self-test's: what the launcher and pid 1 saw of the sandbox from outside of the program.
    pub witnessed: Vec<Fact>,
    /// Attempts before the one that is told here.
    pub earlier: Vec<Attempt>,
}

/// Why no run took place. Never made of anything the program did.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The caller can fix it.
    #[error("refused: {message}")]
    Refused {
        /// Stable upper-case reason, such as `LIMIT_OUT_OF_RANGE`.
        reason: &'static str,
        /// Field path, if one is to blame.
        field: Option<String>,
        /// For the caller.
        message: String,
    },
    /// The queue is full; try again after the given time.
    #[error("busy: {message}")]
    Busy {
        /// For the caller.
        message: String,
        /// Milliseconds after which a place is likely.
        retry_after_ms: u64,
    },
    /// The program may have run, but its records could not be written and the policy says deny:
    /// there is no result, and trying again would run it again.
    #[error("not recorded: {message}")]
    Unrecorded {
        /// For the caller.
        message: String,
    },
    /// The daemon is draining, or what it runs on is gone; nothing ran.
    #[error("unavailable: {message}")]
    Unavailable {
        /// For the caller.
        message: String,
    },
}
