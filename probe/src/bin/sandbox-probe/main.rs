//! Tries every way out that the battery names and tells what came of each, a line of JSON a row.
//! It knows nothing of what is expected.
//!
//! The language's own start of a program is left out: it changes signals and descriptors, which are
//! among the things to be told.
#![cfg_attr(not(test), no_main)]

mod acts;
mod calls;
mod command_line;
mod run;
mod sys;
mod told;

/// Where the C library starts us.
#[cfg(not(test))]
#[expect(unsafe_code, reason = "the C library's entry point has no safe form")]
// SAFETY: the only definition of this symbol, with the signature that the C library calls.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: i32, _argv: *const *const u8) -> i32 {
    let words: Vec<_> = std::env::args_os().collect();
    command_line::run(&words)
}
