//! Signed statements about the end of the log: the checkpoint lines in it and the head file
//! beside it. Knows no file; the signature's bytes are in `FORMAT.md`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chain::{Receipt, Stamp};
use crate::digest::Digest;
use crate::encode::canonical;
use crate::key::{PublicKey, Signer};
use crate::record::{Draft, Event, Record, Source};

/// Which statement is signed: one kind's signature never passes for the other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A line in the log.
    Checkpoint,
    /// The head file.
    Head,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Checkpoint => "rollcage-audit-checkpoint",
            Self::Head => "rollcage-audit-head",
        }
    }
}

/// "At this time the log ended in this line."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it stands in.
    pub kind: Kind,
    /// The last line it vouches for, and by the chain everything before.
    pub head: Receipt,
    /// When, where and in which boot it was made.
    pub stamp: Stamp,
    /// The key it was signed with.
    pub key_id: String,
}

/// Why a head file is not one.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// Not the JSON of a head file.
    #[error("the head file cannot be read")]
    Json(#[source] serde_json::Error),
    /// Another kind or version, or a signature that is not 128 hexadecimal characters.
    #[error("the head file is of another kind or its signature is malformed")]
    Form,
    /// Signed with a key the verifier was not given.
    #[error("the head file is signed by the unknown key {key_id}")]
    UnknownKey {
        /// The key it names.
        key_id: String,
    },
    /// The signature does not fit.
    #[error("the head file's signature does not fit")]
    Signature,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadFile {
    boot_id: String,
    head_seq: u64,
    head_sha256: Digest,
    key_id: String,
    kind: String,
    node: String,
    signature: String,
    time_unix_ns: u64,
    v: u64,
}

impl Statement {
    /// The statement `signer` is about to sign.
    #[must_use]
    pub fn new(kind: Kind, head: Receipt, stamp: &Stamp, signer: &Signer) -> Self {
        Self {
            kind,
            head,
            stamp: stamp.clone(),
            key_id: signer.public().key_id(),
        }
    }

    /// The bytes that are signed.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Fixed keys, strings and integers only: a canonical form always exists. Should that
        // ever change, the empty message is refused by every verifier rather than signed twice.
        canonical(&self.value()).unwrap_or_default()
    }

    fn value(&self) -> Value {
        json!({
            "boot_id": self.stamp.boot_id,
            "head_seq": self.head.seq,
            "head_sha256": self.head.sha256.to_string(),
            "key_id": self.key_id,
            "kind": self.kind.name(),
            "node": self.stamp.node,
            "time_unix_ns": self.stamp.time_unix_ns,
            "v": 1,
        })
    }

    /// Whether `signature` (hexadecimal) is `key`'s for this statement.
    #[must_use]
    pub fn verifies(&self, key: &PublicKey, signature: &str) -> bool {
        let mut bytes = [0; 64];
        let message = self.bytes();
        !message.is_empty()
            && !signature.bytes().any(|byte| byte.is_ascii_uppercase())
            && hex::decode_to_slice(signature, &mut bytes).is_ok()
            && key.verifies(&message, &bytes)
    }
}

/// The record that signs `head`, to be sealed next with the same `stamp`.
#[must_use]
pub fn checkpoint(head: Receipt, stamp: &Stamp, signer: &Signer) -> Draft {
    let statement = Statement::new(Kind::Checkpoint, head, stamp, signer);
    Draft::new(Event::Checkpoint, Source::Audit)
        .with("head_seq", head.seq)
        .with("head_sha256", head.sha256.to_string())
        .with("key_id", statement.key_id.as_str())
        .with("signature", hex::encode(signer.sign(&statement.bytes())))
}

/// The statement and signature in a checkpoint record; `None` if it carries anything more or
/// less, so that no byte of a checkpoint line is outside its signature.
#[must_use]
pub fn read_checkpoint(record: &Record) -> Option<(Statement, String)> {
    let data = &record.draft.data;
    let statement = Statement {
        kind: Kind::Checkpoint,
        head: Receipt {
            seq: data.get("head_seq")?.as_u64()?,
            sha256: data.get("head_sha256")?.as_str()?.parse().ok()?,
        },
        stamp: Stamp {
            time_unix_ns: record.time_unix_ns,
            boot_id: record.boot_id.clone(),
            node: record.node.clone(),
        },
        key_id: data.get("key_id")?.as_str()?.to_owned(),
    };
    let signature = data.get("signature")?.as_str()?.to_owned();
    let mut bare = Draft::new(Event::Checkpoint, Source::Audit);
    bare.data.clone_from(data);
    (data.len() == 4 && bare == record.draft).then_some((statement, signature))
}

/// The bytes of the head file.
#[must_use]
pub fn head_file(head: Receipt, stamp: &Stamp, signer: &Signer) -> Vec<u8> {
    let statement = Statement::new(Kind::Head, head, stamp, signer);
    let mut value = statement.value();
    value["signature"] = Value::from(hex::encode(signer.sign(&statement.bytes())));
    let mut bytes = canonical(&value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads a head file and checks its signature against `keys`.
///
/// # Errors
/// See [`HeadError`].
pub fn read_head(bytes: &[u8], keys: &[PublicKey]) -> Result<Statement, HeadError> {
    let file: HeadFile = serde_json::from_slice(bytes).map_err(HeadError::Json)?;
    if file.kind != Kind::Head.name() || file.v != 1 || file.signature.len() != 128 {
        return Err(HeadError::Form);
    }
    let statement = Statement {
        kind: Kind::Head,
        head: Receipt {
            seq: file.head_seq,
            sha256: file.head_sha256,
        },
        stamp: Stamp {
            time_unix_ns: file.time_unix_ns,
            boot_id: file.boot_id,
            node: file.node,
        },
        key_id: file.key_id,
    };
    let Some(key) = keys.iter().find(|key| key.key_id() == statement.key_id) else {
        return Err(HeadError::UnknownKey {
            key_id: statement.key_id,
        });
    };
    if !statement.verifies(key, &file.signature) {
        return Err(HeadError::Signature);
    }
    Ok(statement)
}

#[cfg(test)]
mod tests;
