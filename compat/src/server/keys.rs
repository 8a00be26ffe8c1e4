//! The file of keys: who may ask, under which policy, and as whom at the daemon. A key itself is
//! nowhere in it, only its digest.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// One key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its name: the label `endpoint.key` of its runs.
    pub name: String,
    /// SHA-256 of the key in lower-case hexadecimal.
    pub sha256: String,
    /// The policy of every run; none: those of the languages.
    #[serde(default)]
    pub policy: Option<String>,
    /// The daemon that runs its requests; none: that of the command line.
    #[serde(default)]
    pub connect: Option<String>,
    /// A file with the token that says to that daemon who it is, and so which tenant.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
}

/// A file of keys that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// No TOML, or other fields than there are.
    #[error("not a file of keys")]
    Document(#[source] toml::de::Error),
    /// Nobody could ask anything.
    #[error("no [[key]] in it")]
    Empty,
    /// Not a digest.
    #[error(
        "key.sha256 of {name:?}: write 64 hexadecimal digits in lower case (printf %s KEY | sha256sum)"
    )]
    Digest {
        /// Whose.
        name: String,
    },
    /// Two keys with one name, or one key under two names.
    #[error("key.{field} of {name:?}: another key has it too")]
    Twice {
        /// Which field.
        field: &'static str,
        /// Whose.
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    key: Vec<Key>,
}

/// Reads a file of keys.
///
/// # Errors
/// It cannot be used.
pub fn read_keys(text: &str) -> Result<Vec<Key>, KeyFileError> {
    let document: Document = toml::from_str(text).map_err(KeyFileError::Document)?;
    if document.key.is_empty() {
        return Err(KeyFileError::Empty);
    }
    let mut names = BTreeSet::new();
    let mut digests = BTreeSet::new();
    for key in &document.key {
        let name = key.name.clone();
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if key.sha256.len() != 64 || !key.sha256.bytes().all(is_digit) {
            return Err(KeyFileError::Digest { name });
        }
        if !names.insert(&key.name) {
            return Err(KeyFileError::Twice {
                field: "name",
                name,
            });
        }
        if !digests.insert(&key.sha256) {
            return Err(KeyFileError::Twice {
                field: "sha256",
                name,
            });
        }
    }
    Ok(document.key)
}

impl Key {
    /// Whether this is its secret. Only digests are compared, so that the time it takes tells
    /// nothing of the key.
    pub(super) fn is(&self, secret: &str) -> bool {
        self.sha256 == hex::encode(Sha256::digest(secret))
    }
}
