//! `sandboxd`: what its command line asks for, and how it says that it could not.

mod command_line;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use command_line::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let kept = confine::sys::inherited::keep_ended_children()
        .context("take back the signal of ended children");
    match kept.and_then(|()| cli.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if standard error is closed.
            match writeln!(std::io::stderr(), "sandboxd: {error:#}") {
                Ok(()) | Err(_) => ExitCode::FAILURE,
            }
        }
    }
}
