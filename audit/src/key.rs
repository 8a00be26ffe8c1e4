//! The Ed25519 signing key and its public half, in the PEM forms that `openssl` reads.
//! Knows no file and makes no randomness: the seed comes from the caller.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::digest::Digest;

/// DER in front of the 32-byte seed in a PKCS#8 private key (RFC 8410).
const PRIVATE_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// DER in front of the 32-byte point in a SubjectPublicKeyInfo (RFC 8410).
const PUBLIC_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// Why a key could not be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Not PEM with the wanted label around base64.
    #[error("no PEM block `{label}` with base64 inside")]
    Pem {
        /// The label looked for.
        label: &'static str,
    },
    /// The DER inside is not an Ed25519 key in RFC 8410 form.
    #[error("the PEM block `{label}` holds no Ed25519 key")]
    NotEd25519 {
        /// The label of the block.
        label: &'static str,
    },
}

/// The signing key. Its secret is wiped on drop and never printed.
pub struct Signer {
    key: SigningKey,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.public().key_id())
            .finish_non_exhaustive()
    }
}

impl Signer {
    /// The key of a 32-byte random seed.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self {
            key: SigningKey::from_bytes(seed),
        }
    }

    /// Reads a `PRIVATE KEY` PEM block.
    ///
    /// # Errors
    /// If it is no Ed25519 PKCS#8 key.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Ok(Self::from_seed(&read_pem(
            pem,
            "PRIVATE KEY",
            &PRIVATE_PREFIX,
        )?))
    }

    /// The key as a `PRIVATE KEY` PEM block: a secret.
    #[must_use]
    pub fn to_pem(&self) -> String {
        write_pem("PRIVATE KEY", &PRIVATE_PREFIX, self.key.as_bytes())
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey {
            key: self.key.verifying_key(),
        }
    }

    /// The 64-byte signature of `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}

/// A key that checks checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
}

impl PublicKey {
    /// Reads a `PUBLIC KEY` PEM block.
    ///
    /// # Errors
    /// If it is no Ed25519 key.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        const LABEL: &str = "PUBLIC KEY";
        let bytes = read_pem(pem, LABEL, &PUBLIC_PREFIX)?;
        match VerifyingKey::from_bytes(&bytes) {
            Ok(key) => Ok(Self { key }),
            Err(_) => Err(KeyError::NotEd25519 { label: LABEL }),
        }
    }

    /// The key as a `PUBLIC KEY` PEM block.
    #[must_use]
    pub fn to_pem(&self) -> String {
        write_pem("PUBLIC KEY", &PUBLIC_PREFIX, self.key.as_bytes())
    }

    /// The first 32 hexadecimal characters of the SHA-256 of the 32 key bytes.
    #[must_use]
    pub fn key_id(&self) -> String {
        let mut id = Digest::of(self.key.as_bytes()).to_string();
        id.truncate(32);
        id
    }

    /// The 32 key bytes in hexadecimal.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex::encode(self.key.as_bytes())
    }

    /// Whether `signature` is this key's for `message`. Strict: one message, one signature.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.key
            .verify_strict(message, &Signature::from_bytes(signature))
            .is_ok()
    }
}

fn write_pem(label: &str, prefix: &[u8], secret: &[u8; 32]) -> String {
    let body = STANDARD.encode([prefix, secret.as_slice()].concat());
    // Both forms are shorter than one 64-character PEM line.
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

fn read_pem(pem: &str, label: &'static str, prefix: &[u8]) -> Result<[u8; 32], KeyError> {
    let body = pem
        .split_once(&format!("-----BEGIN {label}-----"))
        .and_then(|(_, rest)| rest.split_once(&format!("-----END {label}-----")))
        .map(|(body, _)| body.split_ascii_whitespace().collect::<String>());
    let Some(Ok(der)) = body.map(|body| STANDARD.decode(body)) else {
        return Err(KeyError::Pem { label });
    };
    match der.strip_prefix(prefix).map(<[u8; 32]>::try_from) {
        Some(Ok(bytes)) => Ok(bytes),
        _ => Err(KeyError::NotEd25519 { label }),
    }
}

#[cfg(test)]
mod tests;
