//! The hash chain: a draft gets its sequence number, its predecessor's hash and its own, and
//! becomes a line. Knows no segment file and no signature.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::encode::{EncodeError, canonical};
use crate::key::PublicKey;
use crate::record::{Draft, DraftError, Event, NAME_BYTES_MAX, Record, Source, check_length};

/// Longest line, in bytes, its line feed included.
pub const LINE_BYTES_MAX: usize = 640 << 10;
/// What `data.format` of a segment's first line says.
pub const FORMAT: &str = "rollcage-audit/1";

/// In front of the hash at the end of each line.
const HASH_KEY: &[u8] = b",\"sha256\":\"";
/// `,"sha256":"` + 64 + `"}`.
const SUFFIX_BYTES: usize = HASH_KEY.len() + 64 + 2;

/// Proof of a record's place: what a reply carries, and what `verify` can look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Sequence number of the record.
    pub seq: u64,
    /// Hash of the record.
    pub sha256: Digest,
}

/// What the recording process knows and the reporter does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970.
    pub time_unix_ns: u64,
    /// The kernel's boot id.
    pub boot_id: String,
    /// The machine.
    pub node: String,
}

/// Where the log ends. Cheap to copy, so that a failed write can go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    last: Receipt,
}

/// A record in its final bytes.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// Its place and hash.
    pub receipt: Receipt,
    /// The line, line feed included.
    pub line: Vec<u8>,
}

/// Why a draft did not become a line.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The draft itself is not allowed.
    #[error("the record is not allowed")]
    Draft(#[source] DraftError),
    /// A value has no canonical form.
    #[error("the record has no canonical form")]
    Encode(#[source] EncodeError),
    /// The record is no JSON at all.
    #[error("the record cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// The line would be longer than a verifier reads.
    #[error(
        "the line would have {bytes} bytes: at most {LINE_BYTES_MAX} are allowed; shorten data"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// Why bytes are not a line of the log.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// No `,"sha256":"…"}` at the end.
    #[error("the line does not end in its sha256 field")]
    NoHash,
    /// The hash does not fit the line.
    #[error("the line was altered: its hash is {computed}, it says {written}")]
    Hash {
        /// What the bytes hash to.
        computed: Digest,
        /// What the line says.
        written: Digest,
    },
    /// The hash fits, but the content is no record.
    #[error("the line is no record")]
    Json(#[source] serde_json::Error),
    /// The hash fits, but the bytes are not those the writer makes.
    #[error("the line is not in canonical form or has unknown fields")]
    NotCanonical,
    /// The hash fits, but the record is not allowed.
    #[error("the record is not allowed")]
    Draft(#[source] DraftError),
}

impl Default for Chain {
    fn default() -> Self {
        Self::start()
    }
}

impl Chain {
    /// The chain of an empty log.
    #[must_use]
    pub fn start() -> Self {
        Self {
            last: Receipt {
                seq: 0,
                sha256: Digest::ZERO,
            },
        }
    }

    /// The chain after a known last line.
    #[must_use]
    pub fn resume(last: Receipt) -> Self {
        Self { last }
    }

    /// The last line: seq 0 and zeros for an empty log.
    #[must_use]
    pub fn last(&self) -> Receipt {
        self.last
    }

    /// Makes `draft` the next line.
    ///
    /// # Errors
    /// See [`SealError`]; the chain is unchanged then.
    pub fn seal(&mut self, draft: &Draft, stamp: &Stamp) -> Result<Sealed, SealError> {
        check_draft(draft, &stamp.node, &stamp.boot_id).map_err(SealError::Draft)?;
        let record = Record {
            seq: self.last.seq + 1,
            time_unix_ns: stamp.time_unix_ns,
            boot_id: stamp.boot_id.clone(),
            node: stamp.node.clone(),
            prev_sha256: self.last.sha256,
            draft: draft.clone(),
        };
        let value = serde_json::to_value(&record).map_err(SealError::Json)?;
        let mut line = canonical(&value).map_err(SealError::Encode)?;
        let receipt = Receipt {
            seq: record.seq,
            sha256: Digest::of(&line),
        };
        line.pop();
        line.extend_from_slice(HASH_KEY);
        line.extend_from_slice(receipt.sha256.to_string().as_bytes());
        line.extend_from_slice(b"\"}\n");
        if line.len() > LINE_BYTES_MAX {
            return Err(SealError::TooLong { bytes: line.len() });
        }
        self.last = receipt;
        Ok(Sealed { receipt, line })
    }

    /// The first line of segment `number` after this chain's last line.
    #[must_use]
    pub fn segment_header(&self, number: u64, key: &PublicKey) -> Draft {
        Draft::new(Event::SegmentOpened, Source::Audit)
            .with("format", FORMAT)
            .with("segment", number)
            .with("prev_seq", self.last.seq)
            .with("key_id", key.key_id())
            .with("public_key", key.to_hex())
    }
}

fn check_draft(draft: &Draft, node: &str, boot_id: &str) -> Result<(), DraftError> {
    check_length("node", Some(node), NAME_BYTES_MAX)?;
    check_length("boot_id", Some(boot_id), NAME_BYTES_MAX)?;
    draft.check()
}

/// Splits a line (without line feed) into the bytes that are hashed and the hash it claims.
///
/// # Errors
/// [`LineError::NoHash`].
pub fn split_line(line: &[u8]) -> Result<(Vec<u8>, Digest), LineError> {
    let cut = line
        .len()
        .checked_sub(SUFFIX_BYTES)
        .ok_or(LineError::NoHash)?;
    let (body, suffix) = line.split_at(cut);
    let written = suffix
        .strip_prefix(HASH_KEY)
        .and_then(|rest| rest.strip_suffix(b"\"}"))
        .and_then(|hash| std::str::from_utf8(hash).ok())
        .and_then(|hash| hash.parse::<Digest>().ok());
    match written {
        Some(written) => Ok(([body, b"}"].concat(), written)),
        None => Err(LineError::NoHash),
    }
}

/// Reads a line (without line feed): its hash fits, its bytes are canonical, its fields allowed.
///
/// # Errors
/// See [`LineError`].
pub fn parse_line(line: &[u8]) -> Result<(Record, Digest), LineError> {
    let (body, written) = split_line(line)?;
    let computed = Digest::of(&body);
    if computed != written {
        return Err(LineError::Hash { computed, written });
    }
    let record: Record = serde_json::from_slice(&body).map_err(LineError::Json)?;
    let value = serde_json::to_value(&record).map_err(LineError::Json)?;
    match canonical(&value) {
        Ok(bytes) if bytes == body => {}
        _ => return Err(LineError::NotCanonical),
    }
    check_draft(&record.draft, &record.node, &record.boot_id).map_err(LineError::Draft)?;
    Ok((record, written))
}

#[cfg(test)]
pub(crate) mod tests;
