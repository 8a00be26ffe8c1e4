//! The frames between the audit process and the two processes that report to it: four bytes of
//! length (big endian), then JSON. The same bytes go over a stream (api) and, one frame a packet,
//! over a sequenced-packet socket (launcher). Does no I/O.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::record::{Draft, Source};

/// Longest frame, in bytes, its four length bytes not counted.
pub const FRAME_BYTES_MAX: usize = 256 << 10;

/// From the api to the audit process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Record this; answered by `Ack` or `Nack`.
    Append {
        /// Chosen by the client, returned in the answer.
        id: u64,
        /// The record. Source `api` or `init`.
        draft: Box<Draft>,
    },
    /// Sign the log as it is now; the `Ack` names the checkpoint's own line.
    Checkpoint {
        /// Chosen by the client, returned in the answer.
        id: u64,
    },
}

/// From the launcher to the audit process; not answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// 1 for the launcher's first attestation, then one more for each, also for one that could
    /// not be sent: the audit process records every gap.
    pub number: u64,
    /// The record. Source `launcher`.
    pub draft: Draft,
}

/// From the audit process to the api.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// First frame: the log is open.
    Ready {
        /// Last line at that moment.
        seq: u64,
        /// Its hash.
        sha256: Digest,
        /// The signing key's id.
        key_id: String,
        /// The signing key's public half, PEM.
        public_key_pem: String,
    },
    /// First and last frame: the log could not be opened.
    Failed {
        /// Why, with every cause.
        reason: String,
    },
    /// The record is durable.
    Ack {
        /// The request's.
        id: u64,
        /// The record's place.
        seq: u64,
        /// The record's hash.
        sha256: Digest,
    },
    /// The record is not in the log.
    Nack {
        /// The request's.
        id: u64,
        /// Whether the fault is the record's (`true`: another record may pass) or the log's.
        refused: bool,
        /// Why, with every cause.
        reason: String,
    },
    /// The log grew; sent after each durable batch.
    Head {
        /// Last durable line.
        seq: u64,
    },
}

/// Which connection a draft came over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// The daemon's.
    Api,
    /// The launcher's.
    Launcher,
}

impl Connection {
    /// Whether a record of `source` may come over this connection.
    #[must_use]
    pub fn may_carry(self, source: Source) -> bool {
        match self {
            Self::Api => matches!(source, Source::Api | Source::Init),
            Self::Launcher => source == Source::Launcher,
        }
    }
}

/// Why bytes are no frame, or a message fits in none.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Longer than `FRAME_BYTES_MAX`.
    #[error("a frame of {bytes} bytes: at most {FRAME_BYTES_MAX} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not the JSON expected.
    #[error("a frame of another form")]
    Json(#[source] serde_json::Error),
}

/// The bytes of `message` as one frame.
///
/// # Errors
/// See [`FrameError`].
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message).map_err(FrameError::Json)?;
    let length = bytes.len() - 4;
    match u32::try_from(length) {
        Ok(prefix) if length <= FRAME_BYTES_MAX => {
            bytes[..4].copy_from_slice(&prefix.to_be_bytes());
        }
        _ => return Err(FrameError::TooLong { bytes: length }),
    }
    Ok(bytes)
}

/// Cuts a stream of bytes into frames.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    start: usize,
}

impl Decoder {
    /// Adds bytes as they were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that wait for the rest of their frame or for `next_frame`.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The next whole frame, or `None` until more bytes are pushed.
    ///
    /// # Errors
    /// See [`FrameError`]. After `TooLong` the stream has no next frame; after `Json` it has.
    pub fn next_frame<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let waiting = &self.buffer[self.start..];
        let Some((prefix, rest)) = waiting.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong { bytes: length });
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(body).map_err(FrameError::Json);
        self.start += 4 + length;
        parsed.map(Some)
    }
}

#[cfg(test)]
mod tests;
