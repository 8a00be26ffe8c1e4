//! The records of our runners' report: how they are sealed, and what they say. Texts in them may
//! come from the solution; that they are records of ours may not.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::untrusted::Untrusted;
use crate::verdict::{TestResult, TestStatus};

/// Hexadecimal digits of a seal.
const SEAL_CHARS: usize = 64;
/// Most records that are read: tests, notes, and lists of ids.
const RECORDS_MAX: usize = 200_000;

/// A report, as far as it is ours.
pub(super) struct Report {
    pub(super) records: Vec<Record>,
    /// Whether something follows that is not ours.
    pub(super) broken: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Record {
    /// The framework is there; the solution has not been read yet.
    Start,
    /// It is not.
    Missing {
        what: String,
        message: String,
    },
    Note(Note),
    Collected(Collected),
    CollectionError(CollectionError),
    Internal {
        message: String,
    },
    #[serde(deserialize_with = "test")]
    Test(TestResult),
    Complete(Complete),
}

#[derive(Debug, Deserialize)]
pub(super) struct Note {
    pub(super) path: String,
    pub(super) what: String,
    pub(super) weight: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Collected {
    pub(super) ids: Vec<String>,
}

/// Something could not be loaded. What was raised may be the solution's own words.
#[derive(Debug, Deserialize)]
pub(super) struct CollectionError {
    pub(super) id: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) line: Option<u64>,
    #[serde(default)]
    pub(super) column: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Complete {
    pub(super) collected: u64,
    pub(super) canaries: u64,
    pub(super) code: i64,
}

#[derive(Deserialize)]
struct WrittenTest {
    id: String,
    status: TestStatus,
    message: String,
    duration_ms: u64,
    file: String,
    line: Option<u64>,
}

fn test<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<TestResult, D::Error> {
    let test = WrittenTest::deserialize(deserializer)?;
    Ok(TestResult {
        id: test.id,
        status: test.status,
        duration_ms: test.duration_ms,
        message: test.message,
        file: test.file,
        line: test.line,
    })
}

/// Reads records up to the first that is not sealed by the key that follows from `nonce` and the
/// records before it. Nothing may follow the last one.
pub(super) fn read(bytes: &Untrusted<Vec<u8>>, nonce: &str) -> Report {
    let mut key: [u8; 32] = Sha256::digest(nonce.as_bytes()).into();
    let mut records = Vec::new();
    let mut rest = bytes.inner().as_slice();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(end);
        let complete = matches!(records.last(), Some(Record::Complete(_)));
        let record = (!complete && records.len() < RECORDS_MAX)
            .then(|| unseal(line, &key))
            .flatten();
        let Some(record) = record else {
            return Report {
                records,
                broken: true,
            };
        };
        records.push(record);
        key = Sha256::new()
            .chain_update(key)
            .chain_update(b"next")
            .finalize()
            .into();
        rest = after.get(1..).unwrap_or_default();
    }
    let broken = !rest.is_empty();
    Report { records, broken }
}

fn unseal(line: &[u8], key: &[u8; 32]) -> Option<Record> {
    let (seal, rest) = line.split_at_checked(SEAL_CHARS)?;
    let body = rest.strip_prefix(b" ")?;
    let right = Sha256::new()
        .chain_update(key)
        .chain_update(body)
        .finalize();
    if seal != hex::encode(right).as_bytes() {
        return None;
    }
    serde_json::from_slice(body).ok()
}
