//! The static check: does a source file parse, and is there what it imports?
//!
//! Its parsers are error tolerant and written in C, and what they read is untrusted: so this crate
//! is linked by one program alone, `sandbox-check`, which runs in a sandbox of its own. What it says
//! is advice of the same worth as a compiler's; it cannot make anything pass.

mod image;
mod imports;
mod language;
mod tree;

pub use image::Image;
pub use language::Language;
pub use tree::{Source, check_imports, check_syntax};

/// Bytes of a file that is looked at; a longer one is left to its compiler.
pub const FILE_BYTES_MAX: u64 = 4 << 20;

/// Diagnostics of one file; the first errors are the ones that help.
pub const FILE_DIAGNOSTICS_MAX: usize = 50;

/// The name of this check in diagnostics.
pub const TOOL: &str = "static-check";
