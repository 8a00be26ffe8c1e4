//! What arbitrary bytes may do to whatever reads bytes: nothing but be read or refused, and what is
//! read keeps its promises. Each target is a plain function over bytes that panics when a promise is
//! broken; the tests feed it seeds and a few thousand mutations of them, `./x fuzz` feeds it for as
//! long as one likes, led by coverage.
//!
//! It knows the readers of the other crates and deliberately starts no process and opens no file.

pub mod memory;
pub mod mutate;
mod targets;
#[cfg(test)]
mod tests;

pub use targets::{TARGETS, Target, target};

/// Counts what the running thread allocates, so that a target can tell what a decoder takes.
#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
