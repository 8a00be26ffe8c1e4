//! The `rollcage` program as a whole against a daemon that does as it is told.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod batch;
mod bench;
mod fake;
mod run;
