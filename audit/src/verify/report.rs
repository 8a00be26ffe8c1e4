//! What verification can find, and the report it makes.

use serde::Serialize;

use crate::chain::Receipt;
use crate::digest::Digest;

/// Most findings listed; further ones are only counted.
pub const FINDINGS_MAX: usize = 1000;

/// What verification of a log found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Readable records, headers and checkpoints among them.
    pub records: u64,
    /// Segments read.
    pub segments: u64,
    /// Checkpoint lines.
    pub checkpoints: u64,
    /// Last readable line; seq 0 if there is none.
    pub last: Receipt,
    /// Every record up to here is present, unaltered, in order and under a valid signature.
    /// 0: nothing is.
    pub complete_to_seq: u64,
    /// Whether that reaches the end.
    pub tail: Tail,
    /// Receipts found as given.
    pub receipts_found: u64,
    /// Findings of severity `error`, also those not listed.
    pub errors: u64,
    /// Findings of severity `warning`, also those not listed.
    pub warnings: u64,
    /// At most `FINDINGS_MAX` findings, in order.
    pub findings: Vec<Finding>,
    #[serde(skip)]
    segment_name: String,
    #[serde(skip)]
    line: u64,
}

/// How far the proof goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Tail {
    /// To the last line.
    Proven,
    /// Lines from here on stand under no signature yet: they may be cut or replaced unseen,
    /// except by a receipt.
    Unproven {
        /// First line without proof.
        from_seq: u64,
    },
}

/// One thing found.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// Whether it speaks against the log.
    pub severity: Severity,
    /// Segment name, empty if it concerns the whole log.
    pub segment: String,
    /// Line in the segment, from 1; 0 if it concerns no single line.
    pub line: u64,
    /// Sequence number, where the line could be read.
    pub seq: Option<u64>,
    /// What.
    pub problem: Problem,
    /// The same as a sentence.
    pub message: String,
}

/// Weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The log was altered, or cannot be trusted.
    Error,
    /// Worth a look; happens without anybody's ill will.
    Warning,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant's sentence says it")]
pub enum Problem {
    #[error("{reason}")]
    Altered { reason: String },
    #[error("not a record of this log: {reason}")]
    NotARecord { reason: String },
    #[error("a line longer than any record")]
    Oversized,
    #[error("records {from_seq} to {to_seq} are missing")]
    Missing { from_seq: u64, to_seq: u64 },
    #[error("record {expected} should stand here: lines were swapped, repeated or inserted")]
    OutOfOrder { expected: u64 },
    #[error("the record does not continue the one before: a record was replaced")]
    BrokenLink,
    #[error("the segment does not begin with its header")]
    HeaderMissing,
    #[error("a segment header inside a segment")]
    HeaderInside,
    #[error("the segment header is of another format or contradicts its place")]
    HeaderInvalid,
    #[error("segment {expected} is missing: segment {found} stands in its place")]
    SegmentMissing { expected: u64, found: u64 },
    #[error("an empty segment that is not the last")]
    SegmentEmpty,
    #[error("the last segment is empty: the writer stopped before its first line")]
    SegmentEmptyLast,
    #[error("there are no segments")]
    NoSegments,
    #[error("{bytes} bytes without line feed at the end of a segment that is not the last")]
    TornInside { bytes: usize },
    #[error("{bytes} bytes without line feed at the end: a write in progress or cut by a crash")]
    TornTail { bytes: usize },
    #[error("the checkpoint does not sign the line before it, or has other fields")]
    CheckpointInvalid,
    #[error("the checkpoint's signature does not fit")]
    WrongSignature,
    #[error("signed with key {key_id}, which is none of those given")]
    UnknownKey { key_id: String },
    #[error("no key given: signatures were not checked, nothing is proven")]
    NoKey,
    #[error("no head file: a cut tail shows only in receipts")]
    HeadMissing,
    #[error("{reason}")]
    HeadInvalid { reason: String },
    #[error("the head file names another hash for this record: the log was rewritten")]
    HeadMismatch,
    #[error(
        "the log ends at record {last_seq}, the head file signs record {head_seq}: the tail was cut"
    )]
    TailCut { head_seq: u64, last_seq: u64 },
    #[error("the receipt says {wanted}: the record is another one")]
    ReceiptMismatch { wanted: Digest },
    #[error("the receipt {wanted} is not in the log")]
    ReceiptNotFound { wanted: Digest },
    #[error("the launcher attests sandbox {sandbox_id}, the daemon never mentions it")]
    Unclaimed { sandbox_id: String },
}

impl Problem {
    /// How much it weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::SegmentEmptyLast
            | Self::TornTail { .. }
            | Self::NoKey
            | Self::HeadMissing
            | Self::Unclaimed { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl Default for Report {
    fn default() -> Self {
        Self {
            records: 0,
            segments: 0,
            checkpoints: 0,
            last: Receipt {
                seq: 0,
                sha256: Digest::ZERO,
            },
            complete_to_seq: 0,
            tail: Tail::Unproven { from_seq: 1 },
            receipts_found: 0,
            errors: 0,
            warnings: 0,
            findings: Vec::new(),
            segment_name: String::new(),
            line: 0,
        }
    }
}

impl Report {
    /// Whether nothing speaks against the log. The tail may still be unproven.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.errors == 0
    }

    pub(super) fn open_segment(&mut self, name: &str) {
        self.segments += 1;
        name.clone_into(&mut self.segment_name);
        self.line = 0;
    }

    pub(super) fn segment_name(&self) -> &str {
        &self.segment_name
    }

    pub(super) fn next_line(&mut self) {
        self.line += 1;
    }

    /// A signature covers everything up to `seq`; worth nothing after a break in the chain.
    pub(super) fn prove(&mut self, seq: u64) {
        if self.errors == 0 {
            self.complete_to_seq = self.complete_to_seq.max(seq);
        }
    }

    pub(super) fn add(&mut self, seq: Option<u64>, problem: Problem) {
        let segment = self.segment_name.clone();
        self.add_at(&segment, self.line, seq, problem);
    }

    pub(super) fn add_at(&mut self, segment: &str, line: u64, seq: Option<u64>, problem: Problem) {
        let severity = problem.severity();
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        if self.findings.len() < FINDINGS_MAX {
            let message = problem.to_string();
            let segment = segment.to_owned();
            self.findings.push(Finding {
                severity,
                segment,
                line,
                seq,
                problem,
                message,
            });
        }
    }

    pub(super) fn close(&mut self, torn: bool) {
        self.tail = if self.complete_to_seq == self.last.seq && self.records > 0 && !torn {
            Tail::Proven
        } else {
            Tail::Unproven {
                from_seq: self.complete_to_seq + 1,
            }
        };
    }
}
