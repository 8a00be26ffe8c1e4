//! Gates: the checks that either hold or do not. Each is a row of the report; a gate whose tool is
//! not to be had is a skip, never a silent pass.

use crate::setup;
use crate::shell;
use crate::skips::Skip;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// How a gate ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It held.
    Held,
    /// It did not; what it printed says why.
    Broken,
    /// Its tool is not to be had here.
    Skipped(Skip),
}

impl From<bool> for Outcome {
    fn from(held: bool) -> Self {
        if held { Self::Held } else { Self::Broken }
    }
}

/// `cargo fmt --check` over the workspace.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn fmt(root: &Path) -> Result<Outcome> {
    if let Some(skip) = setup::subcommand("fmt", &mut component("rustfmt"))? {
        return Ok(Outcome::Skipped(skip));
    }
    cargo(root, &["fmt", "--all", "--check"])
}

/// `cargo clippy` over every target, warnings as errors.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn clippy(root: &Path) -> Result<Outcome> {
    if let Some(skip) = setup::subcommand("clippy", &mut component("clippy"))? {
        return Ok(Outcome::Skipped(skip));
    }
    cargo(
        root,
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    )
}

/// `cargo deny`: bans, licences and sources. Advisories are another matter: see `deny.toml`.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn deny(root: &Path) -> Result<Outcome> {
    let mut install = Command::new("cargo");
    install.args(["install", "--quiet", "--locked", "cargo-deny"]);
    if let Some(skip) = setup::subcommand("deny", &mut install)? {
        return Ok(Outcome::Skipped(skip));
    }
    cargo(
        root,
        &[
            "deny",
            "--log-level",
            "warn",
            "check",
            "bans",
            "licenses",
            "sources",
        ],
    )
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<Outcome> {
    let mut cargo = Command::new("cargo");
    Ok(shell::run(cargo.current_dir(root).args(arguments))?.into())
}

fn component(name: &str) -> Command {
    let mut rustup = Command::new("rustup");
    rustup.args(["component", "add", name]);
    rustup
}
