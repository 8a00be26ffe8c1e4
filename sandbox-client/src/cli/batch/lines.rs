//! Lines of standard input as requests, or as the reason why a line is none. Asks no daemon.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::super::failure::Failure;
use crate::client::MESSAGE_BYTES_MAX;
use crate::pb;

/// Longer lines get an error result and are skipped, never held.
const LINE_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// One line.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its length.
    pub(super) bytes: usize,
    /// What it says.
    pub(super) content: Result<pb::RunRequest, BadLine>,
}

/// A line that is no request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    id: Option<String>,
    line: u64,
    reason: &'static str,
    field: Option<String>,
    message: String,
}

impl BadLine {
    /// The result of such a line.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.id.clone().unwrap_or_else(|| id_of_line(self.line)),
            "line": self.line,
            "error": {
                "code": "invalid_argument",
                "reason": self.reason,
                "field": self.field,
                "message": self.message,
            },
        })
    }
}

fn id_of_line(number: u64) -> String {
    format!("line-{number}")
}

/// Reads lines one after the other; empty ones are skipped but counted.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    number: u64,
    bytes_read: Arc<AtomicU64>,
    seen: SeenIds,
}

impl<R: Read> LineReader<R> {
    /// Reads from `input` and keeps count in `bytes_read`.
    pub(super) fn new(input: R, bytes_read: Arc<AtomicU64>) -> Self {
        let input = BufReader::with_capacity(256 << 10, input);
        Self {
            input,
            number: 0,
            bytes_read,
            seen: SeenIds::default(),
        }
    }

    /// The next line without its line feed; `None` at the end. A line that is too long comes back
    /// as its length only.
    fn read(&mut self) -> std::io::Result<Option<Result<Vec<u8>, usize>>> {
        let mut line = Vec::new();
        let mut length = 0;
        let mut too_long = false;
        loop {
            let limit = u64::try_from(LINE_BYTES_MAX + 1).unwrap_or(u64::MAX);
            let count = self
                .input
                .by_ref()
                .take(limit)
                .read_until(b'\n', &mut line)?;
            length += count;
            self.bytes_read
                .fetch_add(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
            let ended = count == 0 || line.last() == Some(&b'\n');
            if ended && length == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if ended || count <= LINE_BYTES_MAX {
                let read = (!too_long).then_some(line).ok_or(length);
                return Ok(Some(read));
            }
            too_long = true;
            line.clear();
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<pb::RunRequest, BadLine> {
        let number = self.number;
        let bad = |id, reason, field, message| BadLine {
            id,
            line: number,
            reason,
            field,
            message,
        };
        let text = std::str::from_utf8(line).map_err(|error| {
            let message = format!("the line is not UTF-8 from byte {} on", error.valid_up_to());
            bad(None, "NOT_UTF8", None, message)
        })?;
        let mut request: pb::RunRequest = proto::json::from_json(text).map_err(|error| {
            // The error names the line of the file, not the only line of this text.
            let message = error.to_string();
            let message = message.trim_start_matches("line 1, ").to_owned();
            let reason = match error {
                proto::json::JsonError::Syntax { .. } => "NOT_JSON",
                _ => "FIELD_INVALID",
            };
            bad(
                id_in(text),
                reason,
                error.path().map(str::to_owned),
                message,
            )
        })?;
        if request.id.is_empty() {
            request.id = id_of_line(number);
        }
        if let Some(first) = self.seen.insert(&request.id, number) {
            let message = format!(
                "id: `{}` was given on line {first}; ids must differ",
                request.id
            );
            return Err(bad(
                Some(request.id),
                "DUPLICATE_ID",
                Some("id".to_owned()),
                message,
            ));
        }
        Ok(request)
    }
}

/// The id of a line that is JSON but no request, so that its error can be matched.
fn id_in(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value
        .get("id")?
        .as_str()
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}

impl<R: Read> Iterator for LineReader<R> {
    type Item = Result<Line, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let number = self.number;
            let line = match self.read() {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(source) => {
                    return Some(Err(Failure::Read {
                        path: PathBuf::from("standard input"),
                        source,
                    }));
                }
            };
            return Some(Ok(match line {
                Ok(line) if line.trim_ascii().is_empty() => continue,
                Ok(line) => Line {
                    number,
                    bytes: line.len(),
                    content: self.parse(&line),
                },
                Err(bytes) => Line {
                    number,
                    bytes: 0,
                    content: Err(too_long(number, bytes)),
                },
            }));
        }
    }
}

fn too_long(line: u64, bytes: usize) -> BadLine {
    BadLine {
        id: None,
        line,
        reason: "LINE_TOO_LONG",
        field: None,
        message: format!(
            "the line has {bytes} bytes; at most {} MiB are allowed",
            LINE_BYTES_MAX >> 20
        ),
    }
}

/// Ids so far, as 128-bit hashes with random keys: millions of them fit, and nobody can choose two
/// that collide.
#[derive(Default)]
struct SeenIds {
    hashers: (RandomState, RandomState),
    lines: HashMap<(u64, u64), u64>,
}

impl SeenIds {
    /// Remembers an id; gives the line it stood on before, if it did.
    fn insert(&mut self, id: &str, line: u64) -> Option<u64> {
        let hash = (self.hashers.0.hash_one(id), self.hashers.1.hash_one(id));
        match self.lines.entry(hash) {
            std::collections::hash_map::Entry::Occupied(found) => Some(*found.get()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(line);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
