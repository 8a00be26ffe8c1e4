//! What a policy can say, and what it means.
//!
//! Bytes are *parsed* to a [`Document`] (as written) and *resolved* against a [`Catalog`] to a
//! [`Policy`] (as meant). Pure: no I/O, no clock, no environment; hosts, plans and processes are
//! unknown here. Invariant: a policy can only narrow what it extends.

pub mod catalog;
mod check;
pub mod diff;
pub mod digest;
pub mod document;
pub mod enforce;
pub mod explain;
pub mod fields;
pub mod interpreter;
pub mod limits;
pub mod lint;
mod locate;
mod merge;
pub mod narrow;
pub mod parse;
mod path;
pub mod policy;
pub mod reference;
pub mod resolve;
pub mod size;
pub mod syscalls;
#[cfg(test)]
mod testing;

pub use catalog::{Catalog, CatalogEntry, CatalogError};
pub use diff::{Change, Direction, diff};
pub use document::Document;
pub use enforce::{Refusal, unenforceable};
pub use explain::explain;
pub use interpreter::{policy_for_extension, policy_for_program};
pub use limits::{EffectiveLimits, LimitError, RequestedLimits};
pub use lint::{Finding, Severity, lint};
pub use parse::{ParseError, parse};
pub use policy::{
    AuditFailure, CodeMode, DenyAction, Enforcement, Grant, Limits, NetworkMode, NetworkRule,
    Policy, RunAs, SyscallProfile,
};
pub use resolve::{InlineError, ResolveError, resolve, resolve_inline};
pub use size::parse_size_bytes;
