//! The project's task runner: `cargo xtask <task>` (or `./x <task>`, which first sees to a C linker).
//! It knows cargo, Debian's package names and the house rules; it knows nothing of sandboxes.
//! Called by people, by `.ci/run`, and by nothing else.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line talks to a terminal"
)]

mod binaries;
mod closing;
mod emulated;
mod gates;
mod long;
mod runs;
mod setup;
mod shell;
mod skips;
mod source;
mod tidy;
mod wheel;

use anyhow::{Result, bail};
use std::process::ExitCode;

const USAGE: &str = include_str!("usage.txt");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = binaries::workspace_root()?;
    match words.as_slice() {
        ["demo", rest @ ..] => runs::demo(&root, rest),
        ["test"] => runs::test(&root),
        ["it", rest @ ..] => runs::integration(&root, rest),
        ["emulated", rest @ ..] => runs::emulated(&root, rest),
        ["check"] => runs::check(&root),
        ["build"] => runs::build(&root, binaries::Profile::Debug),
        ["build", "--release"] => runs::build(&root, binaries::Profile::Release),
        [word, ..] if long::NAMES.contains(word) => long::run(&root, &words),
        ["wheel" | "stubs", ..] => wheel::run(&root, &words),
        ["tidy"] => tidy::report(&root),
        ["set-up"] => runs::set_up(&root),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("unknown task `{}`\n\n{USAGE}", other.join(" ")),
    }
}
