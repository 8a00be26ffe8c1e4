//! Reads the log's files for queries, tails and checks. Blocking: call it through
//! `spawn_blocking`. Never writes, and trusts no line that does not hash.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use audit::chain::{LINE_BYTES_MAX, LineError, parse_line};
use audit::filter::Filter;
use audit::key::KeyError;
use audit::verify::{VerifyError, VerifyOptions};
use audit::{Digest, PublicKey, Receipt, Record, Report, verify_segments};

use crate::audit_writer::{FOLDER, segment_name};

/// Bytes looked at for one page.
const PAGE_BYTES_MAX: u64 = 8 << 20;

/// Why the log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line is not what the audit process wrote.
    #[error("record {seq} in {path} does not verify")]
    Line {
        /// The file.
        path: PathBuf,
        /// The record that should be there.
        seq: u64,
        /// What is wrong.
        #[source]
        source: LineError,
    },
    /// The public key cannot be read.
    #[error("key.pub in the audit folder holds no key")]
    Key(#[source] KeyError),
    /// Verification could not go to the end.
    #[error("the audit log cannot be verified")]
    Verify(#[source] VerifyError),
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its hash.
    pub sha256: Digest,
    /// Its bytes as they stand in the log, without the line feed.
    pub text: String,
    /// What it says.
    pub record: Record,
}

/// Where reading goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    next_seq: u64,
    /// Segment and byte offset of that line, once found.
    place: Option<(u64, u64)>,
}

impl Cursor {
    /// To begin with record `seq`; 0 is taken as 1, the first.
    #[must_use]
    pub fn at(seq: u64) -> Self {
        Self {
            next_seq: seq.max(1),
            place: None,
        }
    }

    /// The record that comes next.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }
}

/// A piece of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The wanted lines in it, possibly none.
    pub lines: Vec<Line>,
    /// To go on with.
    pub next: Cursor,
    /// Whether `to_seq` or the end of the log was reached.
    pub at_end: bool,
}

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Last record to look at: for a live log the audit client's `head`, so that nothing is shown
    /// that is not durable yet.
    pub to_seq: u64,
    /// Which records.
    pub filter: Filter,
    /// Lines in a page at most.
    pub lines_max: usize,
}

/// The log of a state folder.
#[derive(Debug, Clone)]
pub struct LogReader {
    folder: PathBuf,
}

struct Open {
    path: PathBuf,
    reader: BufReader<File>,
}

impl LogReader {
    /// The log below `state_dir`.
    #[must_use]
    pub fn new(state_dir: &Path) -> Self {
        Self {
            folder: state_dir.join(FOLDER),
        }
    }

    /// The next piece of the log. At most 8 MiB are looked at, so a page may be empty before the
    /// end: go on with `next` until `at_end`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn page(&self, from: Cursor, wanted: &Wanted) -> Result<Page, ReadError> {
        let mut page = Page {
            lines: Vec::new(),
            next: from,
            at_end: false,
        };
        let Some((mut segment, mut offset)) = self.locate(&mut page.next)? else {
            page.at_end = true;
            return Ok(page);
        };
        let mut looked_at = 0;
        let mut open = self.open(segment, offset)?;
        while let Some(file) = &mut open {
            if page.next.next_seq > wanted.to_seq {
                page.at_end = true;
                break;
            }
            if page.lines.len() >= wanted.lines_max.max(1) || looked_at >= PAGE_BYTES_MAX {
                break;
            }
            let Some(bytes) = file.line()? else {
                (segment, offset, open) = (segment + 1, 0, self.open(segment + 1, 0)?);
                continue;
            };
            let seq = page.next.next_seq;
            let (record, sha256) = parse_line(&bytes).map_err(|source| ReadError::Line {
                path: file.path.clone(),
                seq,
                source,
            })?;
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX) + 1;
            (offset, looked_at) = (offset + length, looked_at + length);
            page.next = Cursor {
                next_seq: record.seq + 1,
                place: Some((segment, offset)),
            };
            if wanted.filter.matches(&record) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                page.lines.push(Line {
                    sha256,
                    text,
                    record,
                });
            }
        }
        // No further segment: the cursor stays behind the last whole line.
        page.at_end |= open.is_none();
        Ok(page)
    }

    /// Verifies the whole log against the key beside it, with receipts to look for.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn verify(&self, receipts: Vec<Receipt>) -> Result<Report, ReadError> {
        // Before the segments: a head read after them could sign what was written meanwhile.
        let head = self.head_file()?;
        let pem = self.small_file("key.pub")?.unwrap_or_default();
        let key = PublicKey::from_pem(&String::from_utf8_lossy(&pem)).map_err(ReadError::Key)?;
        let options = VerifyOptions {
            keys: vec![key],
            head,
            receipts,
        };
        let mut number = 0;
        let segments = std::iter::from_fn(|| {
            number += 1;
            let name = segment_name(number);
            match File::open(self.folder.join(&name)) {
                Ok(file) => Some(Ok((name, BufReader::new(file)))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => Some(Err(error)),
            }
        });
        verify_segments(segments, &options).map_err(ReadError::Verify)
    }

    /// The signed head file as it is; `None` before the first.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn head_file(&self) -> Result<Option<Vec<u8>>, ReadError> {
        self.small_file("head.json")
    }

    fn small_file(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let path = self.folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReadError::Io { path, source }),
        }
    }

    fn open(&self, segment: u64, offset: u64) -> Result<Option<Open>, ReadError> {
        let path = self.folder.join(segment_name(segment));
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ReadError::Io { path, source }),
        };
        if let Err(source) = file.seek(SeekFrom::Start(offset)) {
            return Err(ReadError::Io { path, source });
        }
        Ok(Some(Open {
            path,
            reader: BufReader::new(file),
        }))
    }

    /// Segment and offset of the cursor's record; `None` if the log has not come to it.
    fn locate(&self, cursor: &mut Cursor) -> Result<Option<(u64, u64)>, ReadError> {
        if cursor.place.is_some() {
            return Ok(cursor.place);
        }
        let mut found = None;
        for segment in 1.. {
            let Some(mut file) = self.open(segment, 0)? else {
                break;
            };
            match file.first_seq()? {
                Some(first) if first <= cursor.next_seq => found = Some((segment, first, file)),
                _ => break,
            }
        }
        let Some((segment, first, mut file)) = found else {
            return Ok(None);
        };
        // Lines are consecutive: the record is the line so many further on.
        let mut offset = 0;
        for _ in first..cursor.next_seq {
            let Some(line) = file.line()? else {
                return Ok(None);
            };
            offset += u64::try_from(line.len()).unwrap_or(u64::MAX) + 1;
        }
        cursor.place = Some((segment, offset));
        Ok(cursor.place)
    }
}

impl Open {
    /// The next whole line without its line feed.
    fn line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let mut line = Vec::new();
        let read = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut line);
        match read {
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Ok(Some(line))
            }
            Ok(_) => Ok(None),
            Err(source) => Err(ReadError::Io {
                path: self.path.clone(),
                source,
            }),
        }
    }

    /// Sequence number of the first line; leaves the reader at the beginning.
    fn first_seq(&mut self) -> Result<Option<u64>, ReadError> {
        let Some(line) = self.line()? else {
            return Ok(None);
        };
        let path = || self.path.clone();
        let (record, _) = parse_line(&line).map_err(|source| ReadError::Line {
            path: path(),
            seq: 0,
            source,
        })?;
        match self.reader.rewind() {
            Ok(()) => Ok(Some(record.seq)),
            Err(source) => Err(ReadError::Io {
                path: path(),
                source,
            }),
        }
    }
}
