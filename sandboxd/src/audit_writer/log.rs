//! The log as it is written: batches that are durable as a whole or not there at all, recovery of
//! a torn end, checkpoints, rotation. Files are behind `Store`, so that tests can break them.

use std::io::{self, BufRead};

use audit::chain::{SealError, parse_line};
use audit::checkpoint::{HeadError, checkpoint, head_file, read_head};
use audit::{Chain, Digest, Draft, Event, PublicKey, Receipt, Signer, Source, Stamp};

use super::clock::Clock;

mod recover;

/// Where segments and the head file are.
pub(super) trait Store {
    /// Segment `number` from its beginning; `None` if there is none.
    fn reader(&self, number: u64) -> io::Result<Option<Box<dyn BufRead>>>;
    /// The head file; `None` if there is none.
    fn read_head(&self) -> io::Result<Option<Vec<u8>>>;
    /// Bytes of segment `number` from offset `from`.
    fn tail(&self, number: u64, from: u64) -> io::Result<Vec<u8>>;
    /// Makes segment `number`, which must not exist, the one being written.
    fn create(&mut self, number: u64) -> io::Result<()>;
    /// Makes the existing segment `number` the one being written.
    fn reopen(&mut self, number: u64) -> io::Result<()>;
    /// Adds bytes to the segment being written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was added durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the segment being written to `bytes`, durably.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Replaces the head file, durably.
    fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Why the log cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Reading or writing failed.
    #[error("cannot {act}")]
    Io {
        /// What was tried.
        act: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A complete line of the last segments does not verify.
    #[error(
        "line {line} of segment {segment} does not verify ({reason}): run `rollcage audit verify`, \
         and move the audit folder aside to begin a new log"
    )]
    Damaged {
        /// Segment number.
        segment: u64,
        /// Line in it, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The head file does not read.
    #[error("head.json does not verify: move the audit folder aside to begin a new log")]
    Head(#[source] HeadError),
    /// The head file signs what is not there.
    #[error(
        "head.json signs record {head_seq}, the log ends at {last_seq} or differs there: records \
         were removed; move the audit folder aside to begin a new log"
    )]
    TailCut {
        /// What it signs.
        head_seq: u64,
        /// Where the log ends.
        last_seq: u64,
    },
    /// Our own record was refused: a node name that is too long, for instance.
    #[error("the log's own record was refused")]
    Own(#[source] SealError),
    /// An earlier failure left the end of the file unknown.
    #[error("the log failed before and takes no records until a restart: {reason}")]
    Failed {
        /// The earlier failure.
        reason: String,
    },
}

/// The open log.
#[derive(Debug)]
pub(super) struct Log<S> {
    store: S,
    signer: Signer,
    clock: Clock,
    segment_bytes_max: u64,
    segment: u64,
    /// Bytes of the segment that are durable.
    segment_bytes: u64,
    /// The segment has no first line yet.
    header_due: bool,
    /// End of the durable log.
    durable: Chain,
    /// End of the log with the batch.
    staged: Chain,
    batch: Vec<u8>,
    /// Durable records that no signature covers.
    unsigned: u64,
    failed: Option<String>,
}

impl<S: Store> Log<S> {
    /// Opens the log where it ended, or begins it.
    pub(super) fn open(
        mut store: S,
        signer: Signer,
        clock: Clock,
        segment_bytes_max: u64,
    ) -> Result<Self, LogError> {
        let end = recover::find_end(&mut store, &signer.public())?;
        let chain = Chain::resume(end.last);
        let mut log = Self {
            store,
            signer,
            clock,
            segment_bytes_max,
            segment: end.segment,
            segment_bytes: end.segment_bytes,
            header_due: end.segment_bytes == 0,
            durable: chain,
            staged: chain,
            batch: Vec::new(),
            unsigned: 0,
            failed: None,
        };
        if let Some(draft) = end.recovered {
            log.stage(&draft).map_err(LogError::Own)?;
        }
        log.sign()?;
        Ok(log)
    }

    /// Last durable line.
    pub(super) fn end(&self) -> Receipt {
        self.durable.last()
    }

    /// The key that signs.
    pub(super) fn public_key(&self) -> PublicKey {
        self.signer.public()
    }

    /// Bytes waiting for `commit`.
    pub(super) fn batch_bytes(&self) -> usize {
        self.batch.len()
    }

    /// Durable records that no signature covers.
    pub(super) fn unsigned(&self) -> u64 {
        self.unsigned
    }

    /// Adds a record to the batch. It is in the log once `commit` succeeds.
    pub(super) fn stage(&mut self, draft: &Draft) -> Result<Receipt, SealError> {
        let stamp = self.clock.stamp();
        self.stage_at(draft, &stamp)
    }

    fn stage_at(&mut self, draft: &Draft, stamp: &Stamp) -> Result<Receipt, SealError> {
        self.stage_header(stamp)?;
        let sealed = self.staged.seal(draft, stamp)?;
        self.batch.extend_from_slice(&sealed.line);
        Ok(sealed.receipt)
    }

    fn stage_header(&mut self, stamp: &Stamp) -> Result<(), SealError> {
        if self.header_due && self.batch.is_empty() {
            let header = self
                .staged
                .segment_header(self.segment, &self.signer.public());
            let sealed = self.staged.seal(&header, stamp)?;
            self.batch.extend_from_slice(&sealed.line);
        }
        Ok(())
    }

    /// Writes the batch and makes it durable. On an error none of it is in the log.
    pub(super) fn commit(&mut self) -> Result<(), LogError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let staged = std::mem::replace(&mut self.staged, self.durable);
        if let Some(reason) = &self.failed {
            return Err(LogError::Failed {
                reason: reason.clone(),
            });
        }
        if let Err(source) = self.store.append(&batch) {
            self.cut_back();
            return Err(LogError::Io {
                act: "write the audit log",
                source,
            });
        }
        if let Err(source) = self.store.sync() {
            // What the kernel kept of the pages is unknown, and a second sync may claim success.
            self.cut_back();
            self.failed = Some(format!("sync: {source}"));
            return Err(LogError::Io {
                act: "make the audit log durable",
                source,
            });
        }
        let bytes = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        self.unsigned += staged.last().seq - self.durable.last().seq;
        self.segment_bytes += bytes;
        self.header_due = false;
        self.durable = staged;
        self.staged = staged;
        Ok(())
    }

    /// Removes a half-written batch, so that the next one begins on its own line.
    fn cut_back(&mut self) {
        if let Err(error) = self.store.truncate(self.segment_bytes) {
            self.failed = Some(format!("cut a half-written batch: {error}"));
        }
    }

    /// Commits the batch with a checkpoint as its last line, replaces the head file, and begins a
    /// new segment if this one is full. The receipt is the checkpoint's.
    pub(super) fn sign(&mut self) -> Result<Receipt, LogError> {
        let stamp = self.clock.stamp();
        self.stage_header(&stamp).map_err(LogError::Own)?;
        let draft = checkpoint(self.staged.last(), &stamp, &self.signer);
        let receipt = self.stage_at(&draft, &stamp).map_err(LogError::Own)?;
        self.commit()?;
        let head = head_file(receipt, &stamp, &self.signer);
        self.store
            .replace_head(&head)
            .map_err(|source| LogError::Io {
                act: "replace head.json",
                source,
            })?;
        self.unsigned = 0;
        if self.is_full() {
            self.rotate()?;
        }
        Ok(receipt)
    }

    /// Whether the segment should end.
    pub(super) fn is_full(&self) -> bool {
        self.segment_bytes >= self.segment_bytes_max
    }

    fn rotate(&mut self) -> Result<(), LogError> {
        self.store
            .create(self.segment + 1)
            .map_err(|source| LogError::Io {
                act: "begin a segment",
                source,
            })?;
        self.segment += 1;
        self.segment_bytes = 0;
        self.header_due = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
