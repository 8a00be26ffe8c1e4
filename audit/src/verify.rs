//! Streaming verification of a whole log: every byte, every link, every signature, the head file
//! and receipts. Reads through `BufRead`; opens nothing. `report.rs` has what it can find.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read as _};

use crate::chain::{FORMAT, LINE_BYTES_MAX, LineError, Receipt, parse_line};
use crate::checkpoint::{HeadError, read_checkpoint, read_head};
use crate::digest::Digest;
use crate::key::PublicKey;
use crate::record::{Event, Record, Source};

mod report;

pub use report::{FINDINGS_MAX, Finding, Problem, Report, Severity, Tail};

/// What to verify against.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Keys whose signatures count. Take them from outside the log's folder where you can: who
    /// can replace the log can replace the key beside it.
    pub keys: Vec<PublicKey>,
    /// The bytes of `head.json`, if there is one.
    pub head: Option<Vec<u8>>,
    /// Receipts from replies, each to be found in the log.
    pub receipts: Vec<Receipt>,
}

/// Why verification could not go to the end.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The next segment could not be opened.
    #[error("segment number {position} cannot be opened")]
    Open {
        /// Its place in the given order, from 1.
        position: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A segment could not be read.
    #[error("segment {segment} cannot be read")]
    Read {
        /// Its name.
        segment: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Verifies segments given in order of their numbers; one line is in memory at a time.
///
/// # Errors
/// Only if reading fails. What is wrong with the log is in the report.
pub fn verify_segments<R: BufRead>(
    segments: impl IntoIterator<Item = io::Result<(String, R)>>,
    options: &VerifyOptions,
) -> Result<Report, VerifyError> {
    let mut verifier = Verifier::new(options);
    for (position, segment) in (1..).zip(segments) {
        let (name, mut reader) =
            segment.map_err(|source| VerifyError::Open { position, source })?;
        verifier.open_segment(&name);
        let mut line = Vec::new();
        loop {
            let more = read_line(&mut reader, &mut line).map_err(|source| VerifyError::Read {
                segment: name.clone(),
                source,
            })?;
            match more {
                Read::Line => verifier.line(&line),
                Read::Oversized => verifier.oversized(),
                Read::Torn => verifier.torn(line.len()),
                Read::End => break,
            }
        }
    }
    Ok(verifier.finish())
}

enum Read {
    Line,
    Oversized,
    Torn,
    End,
}

/// Reads up to the next line feed, which is not left in `line`.
fn read_line<R: BufRead>(reader: &mut R, line: &mut Vec<u8>) -> io::Result<Read> {
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    line.clear();
    let mut oversized = false;
    loop {
        let count = reader.by_ref().take(limit).read_until(b'\n', line)?;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(if oversized {
                Read::Oversized
            } else {
                Read::Line
            });
        }
        if count < LINE_BYTES_MAX {
            return Ok(match (oversized, line.is_empty()) {
                (true, _) => Read::Oversized,
                (false, true) => Read::End,
                (false, false) => Read::Torn,
            });
        }
        oversized = true;
        line.clear();
    }
}

struct Verifier<'a> {
    options: &'a VerifyOptions,
    report: Report,
    /// The line before; `None` after a line that could not be read.
    link: Option<Receipt>,
    segment_number: Option<u64>,
    segment_lines: u64,
    /// Bytes after the last line feed of the segment being read.
    torn_bytes: usize,
    head: Option<Receipt>,
    head_seen: bool,
    receipts: HashMap<u64, Vec<Digest>>,
    claimed: HashSet<Digest>,
    attested: HashMap<String, (u64, String)>,
}

impl<'a> Verifier<'a> {
    fn new(options: &'a VerifyOptions) -> Self {
        let mut receipts: HashMap<u64, Vec<Digest>> = HashMap::new();
        for receipt in &options.receipts {
            receipts
                .entry(receipt.seq)
                .or_default()
                .push(receipt.sha256);
        }
        let mut verifier = Self {
            options,
            report: Report::default(),
            link: Some(Receipt {
                seq: 0,
                sha256: Digest::ZERO,
            }),
            segment_number: Some(0),
            segment_lines: 0,
            torn_bytes: 0,
            head: None,
            head_seen: false,
            receipts,
            claimed: HashSet::new(),
            attested: HashMap::new(),
        };
        verifier.read_head();
        verifier
    }

    fn read_head(&mut self) {
        if self.options.keys.is_empty() {
            self.report.add(None, Problem::NoKey);
        }
        let Some(bytes) = &self.options.head else {
            self.report.add(None, Problem::HeadMissing);
            return;
        };
        match read_head(bytes, &self.options.keys) {
            Ok(statement) => self.head = Some(statement.head),
            Err(HeadError::UnknownKey { .. }) if self.options.keys.is_empty() => {}
            Err(error) => {
                self.report.add(
                    None,
                    Problem::HeadInvalid {
                        reason: error.to_string(),
                    },
                );
            }
        }
    }

    fn open_segment(&mut self, name: &str) {
        if self.torn_bytes > 0 {
            self.report.add(
                None,
                Problem::TornInside {
                    bytes: self.torn_bytes,
                },
            );
        }
        if self.report.segments > 0 && self.segment_lines == 0 && self.torn_bytes == 0 {
            self.report.add(None, Problem::SegmentEmpty);
        }
        self.report.open_segment(name);
        self.segment_lines = 0;
        self.torn_bytes = 0;
    }

    fn oversized(&mut self) {
        self.report.next_line();
        self.segment_lines += 1;
        self.report.add(None, Problem::Oversized);
        self.link = None;
    }

    fn torn(&mut self, bytes: usize) {
        self.torn_bytes = bytes;
    }

    fn line(&mut self, line: &[u8]) {
        self.report.next_line();
        self.segment_lines += 1;
        let (record, sha256) = match parse_line(line) {
            Ok(parsed) => parsed,
            Err(error @ LineError::Hash { .. }) => {
                self.report.add(
                    None,
                    Problem::Altered {
                        reason: error.to_string(),
                    },
                );
                self.link = None;
                return;
            }
            Err(error) => {
                self.report.add(
                    None,
                    Problem::NotARecord {
                        reason: reason(&error),
                    },
                );
                self.link = None;
                return;
            }
        };
        self.report.records += 1;
        let first = self.segment_lines == 1;
        match (first, record.draft.event == Event::SegmentOpened) {
            (true, true) => self.header(&record),
            (true, false) => self.report.add(Some(record.seq), Problem::HeaderMissing),
            (false, true) => self.report.add(Some(record.seq), Problem::HeaderInside),
            (false, false) => {}
        }
        self.check_link(&record);
        let here = Receipt {
            seq: record.seq,
            sha256,
        };
        if record.draft.event == Event::Checkpoint {
            self.checkpoint(&record);
        }
        self.look_for(here);
        self.pair(&record);
        self.link = Some(here);
        self.report.last = here;
    }

    fn header(&mut self, record: &Record) {
        let data = &record.draft.data;
        let text = |key: &str| data.get(key).and_then(|value| value.as_str());
        let number = |key: &str| data.get(key).and_then(serde_json::Value::as_u64);
        if text("format") != Some(FORMAT) || number("prev_seq") != record.seq.checked_sub(1) {
            self.report.add(Some(record.seq), Problem::HeaderInvalid);
        }
        let found = number("segment").unwrap_or(0);
        if let Some(before) = self.segment_number
            && found != before + 1
        {
            self.report.add(
                Some(record.seq),
                Problem::SegmentMissing {
                    expected: before + 1,
                    found,
                },
            );
            // The gap is reported; the links inside this segment are still worth checking.
            self.link = None;
        }
        self.segment_number = Some(found);
        let key_id = text("key_id").unwrap_or_default();
        self.check_key(record.seq, key_id);
    }

    /// The key of that id, or a finding unless no keys were given at all.
    fn check_key(&mut self, seq: u64, key_id: &str) -> Option<&'a PublicKey> {
        let key = self.options.keys.iter().find(|key| key.key_id() == key_id);
        if key.is_none() && !self.options.keys.is_empty() {
            self.report.add(
                Some(seq),
                Problem::UnknownKey {
                    key_id: key_id.to_owned(),
                },
            );
        }
        key
    }

    fn check_link(&mut self, record: &Record) {
        let Some(link) = self.link else {
            return;
        };
        let expected = link.seq + 1;
        if record.seq > expected {
            let problem = Problem::Missing {
                from_seq: expected,
                to_seq: record.seq - 1,
            };
            self.report.add(Some(record.seq), problem);
        } else if record.seq < expected {
            self.report
                .add(Some(record.seq), Problem::OutOfOrder { expected });
        } else if record.prev_sha256 != link.sha256 {
            self.report.add(Some(record.seq), Problem::BrokenLink);
        }
    }

    fn checkpoint(&mut self, record: &Record) {
        self.report.checkpoints += 1;
        let Some((statement, signature)) = read_checkpoint(record) else {
            self.report
                .add(Some(record.seq), Problem::CheckpointInvalid);
            return;
        };
        let before = Receipt {
            seq: record.seq.saturating_sub(1),
            sha256: record.prev_sha256,
        };
        if statement.head != before {
            self.report
                .add(Some(record.seq), Problem::CheckpointInvalid);
            return;
        }
        let Some(key) = self.check_key(record.seq, &statement.key_id) else {
            return;
        };
        if !statement.verifies(key, &signature) {
            self.report.add(Some(record.seq), Problem::WrongSignature);
            return;
        }
        self.report.prove(record.seq);
    }

    /// Compares this line with the head file and the receipts.
    fn look_for(&mut self, here: Receipt) {
        if let Some(head) = self.head
            && head.seq == here.seq
            && !self.head_seen
        {
            self.head_seen = true;
            if head.sha256 == here.sha256 {
                self.report.prove(here.seq);
            } else {
                self.report.add(Some(here.seq), Problem::HeadMismatch);
            }
        }
        for wanted in self.receipts.remove(&here.seq).unwrap_or_default() {
            if wanted == here.sha256 {
                self.report.receipts_found += 1;
            } else {
                self.report
                    .add(Some(here.seq), Problem::ReceiptMismatch { wanted });
            }
        }
    }

    /// Pairs the launcher's attestations with the daemon's own records.
    fn pair(&mut self, record: &Record) {
        let Some(sandbox_id) = &record.draft.sandbox_id else {
            return;
        };
        let key = Digest::of(sandbox_id.as_bytes());
        match record.draft.source {
            Source::Api | Source::Init => {
                self.claimed.insert(key);
                self.attested.remove(sandbox_id);
            }
            Source::Launcher if !self.claimed.contains(&key) => {
                let place = (record.seq, self.report.segment_name().to_owned());
                self.attested.entry(sandbox_id.clone()).or_insert(place);
            }
            Source::Launcher | Source::Audit => {}
        }
    }

    fn finish(mut self) -> Report {
        if self.report.segments == 0 {
            self.report.add(None, Problem::NoSegments);
        } else if self.torn_bytes > 0 {
            self.report.add(
                None,
                Problem::TornTail {
                    bytes: self.torn_bytes,
                },
            );
        } else if self.segment_lines == 0 {
            self.report.add(None, Problem::SegmentEmptyLast);
        }
        if let Some(head) = self.head
            && !self.head_seen
        {
            let problem = Problem::TailCut {
                head_seq: head.seq,
                last_seq: self.report.last.seq,
            };
            self.report.add(None, problem);
        }
        let mut missing: Vec<_> = self.receipts.drain().collect();
        missing.sort_unstable();
        for (seq, wanted) in missing {
            for wanted in wanted {
                self.report
                    .add(Some(seq), Problem::ReceiptNotFound { wanted });
            }
        }
        let mut unclaimed: Vec<_> = self.attested.drain().collect();
        unclaimed.sort_unstable_by(|left, right| left.1.cmp(&right.1));
        for (sandbox_id, (seq, segment)) in unclaimed {
            self.report
                .add_at(&segment, 0, Some(seq), Problem::Unclaimed { sandbox_id });
        }
        self.report.close(self.torn_bytes > 0);
        self.report
    }
}

/// An error with its causes on one line.
fn reason(error: &LineError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
