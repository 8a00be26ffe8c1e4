//! `sandbox-check [--imports] [--] FILE...`: checks files below the working folder and writes one JSON
//! object a diagnostic to standard output, then one that says how many files were looked at. It
//! ends with 0 whatever it found; a file that it cannot check is counted, never guessed at.

mod files;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let imports = words.first().is_some_and(|word| word == "--imports");
    if imports {
        words.remove(0);
    }
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    match files::check_all(&words, imports) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_cannot_write) => ExitCode::FAILURE,
    }
}
