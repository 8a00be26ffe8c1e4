//! What a policy can say, and what it means.
//!
//! Bytes are *parsed* to a `document::Document` (as written) and *resolved* against a catalog to
//! a `policy::Policy` (as meant). Pure: no I/O, no clock, no environment; hosts, plans and
//! processes are unknown here. Invariant: a policy can only narrow what it extends.

pub mod digest;
pub mod limits;
pub mod policy;
pub mod size;

pub use limits::{EffectiveLimits, LimitError, RequestedLimits};
pub use policy::Policy;
