//! Real packages of RL trainers against the endpoint and with the Python package's adapters: those that
//! install in seconds, which `./x test` runs as well, and a GRPO step of TRL, which needs torch.

use super::long_test;
use crate::binaries;
use crate::setup;
use crate::shell;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names the Python that has torch and TRL.
const PYTHON_VARIABLE: &str = "ROLLCAGE_TRAINERS_PYTHON";
const PACKAGES: [&str; 13] = [
    "torch==2.9.0",
    "trl==1.16.0",
    "transformers==5.24.0",
    "datasets==5.2.0",
    "requests==2.34.2",
    "skyrl-gym==0.4.0",
    // What the parts of the packages below need that are used here.
    "aiohttp==3.14.5",
    "codetiming==1.4.0",
    "hydra-core==1.3.8",
    "omegaconf==2.3.1",
    "orjson==3.13.0",
    "ray==2.60.0",
    "tensordict==0.10.0",
];
/// Packages of which a part is used, without what the whole needs.
const PARTS: [&str; 2] = ["openrlhf==0.11.2", "verl==0.9.1"];
const STAMP: &str = "made-from";

/// Installs what is missing, and runs all of it.
///
/// # Errors
/// When a package cannot be had, or a program that this needs cannot be built or started.
pub(super) fn run(root: &Path) -> Result<ExitCode> {
    for skip in setup::install()? {
        println!("{}: {}", skip.name, skip.reason);
    }
    let python = python(&binaries::target_folder(root)?.join("trainers"))?;
    let python = python
        .to_str()
        .context("the target folder's name is no text")?;
    long_test(
        root,
        &["compat::trainers::", "python_sdk::the_trainers_own"],
        (PYTHON_VARIABLE, python.to_owned()),
    )
}

/// The Python of an environment with the packages.
fn python(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    let wanted = [&PACKAGES[..], &PARTS].concat().join("\n");
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(python);
    }
    shell::must(
        Command::new("/usr/bin/python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )
    .context("make an environment of Python; Debian has it in python3-venv")?;
    shell::must(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--no-compile"])
            .args(PACKAGES),
    )?;
    shell::must(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-compile",
                "--no-deps",
            ])
            .args(PARTS),
    )?;
    fs::write(&stamp, wanted).with_context(|| format!("write {}", stamp.display()))?;
    Ok(python)
}
