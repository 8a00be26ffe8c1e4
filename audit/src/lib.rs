//! The tamper-evident audit log: the shape of a line, its canonical bytes, the hash chain, signed
//! checkpoints, offline verification and the frames between the daemon and the audit process.
//!
//! Pure: no file, clock, thread or environment. Time and bytes come from the caller; `FORMAT.md`
//! describes the bytes for readers that do not use this crate.

pub mod chain;
pub mod checkpoint;
pub mod digest;
pub mod encode;
pub mod filter;
pub mod frame;
pub mod key;
pub mod record;
pub mod text;
pub mod verify;

pub use chain::{Chain, Receipt, Stamp};
pub use digest::Digest;
pub use key::{PublicKey, Signer};
pub use record::{Draft, Event, PolicyRef, Record, Source};
pub use verify::{Report, Tail, VerifyOptions, verify_segments};
