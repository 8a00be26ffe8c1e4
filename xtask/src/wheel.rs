//! The Python package: its wheel with the programs in it, and the messages generated for it. It calls
//! pip and protoc and knows nothing of what the package does.

use crate::binaries::{self, Profile};
use crate::setup::tools;
use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The package, from the root.
const PACKAGE: &str = "sandbox-client/python";
/// Debian's, with which the package is tested.
const PYTHON: &str = "/usr/bin/python3";

/// The task that the words name.
///
/// # Errors
/// When they name none, or it fails.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<ExitCode> {
    match words {
        ["wheel"] => wheel(root, Profile::Dist),
        ["wheel", "--debug"] => wheel(root, Profile::Debug),
        ["stubs"] => stubs(root),
        other => bail!("unknown words: {}", other.join(" ")),
    }
}

/// Builds the programs, then a wheel that carries them, and prints its path. It is made for use; with
/// `Profile::Debug` for tests.
///
/// # Errors
/// When a build fails, or pip cannot fetch the build's backend.
fn wheel(root: &Path, profile: Profile) -> Result<ExitCode> {
    let programs = binaries::build(root, profile)?;
    let folder = binaries::target_folder(root)?
        .join("rollcage")
        .join("wheel");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("empty {}", folder.display()))?;
    }
    let mut pip = Command::new(PYTHON);
    pip.args([
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-cache-dir",
    ])
    .arg("--wheel-dir")
    .arg(&folder)
    .env(binaries::FOLDER_VARIABLE, &programs);
    let tools = tools::folder().join(tools::PYTHON_SDK);
    if tools.join("hatchling").is_dir() {
        // The same version, without the network.
        pip.arg("--no-build-isolation").env("PYTHONPATH", &tools);
    }
    shell::must(pip.arg(root.join(PACKAGE)))?;
    println!("{}", only_file(&folder)?.display());
    Ok(ExitCode::SUCCESS)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let file = files.next().context("find the wheel")?;
    Ok(file.context("find the wheel")?.path())
}

/// Generates the messages of the package anew from `proto/`.
///
/// # Errors
/// When the generator is missing or fails.
fn stubs(root: &Path) -> Result<ExitCode> {
    let mut python = Command::new(PYTHON);
    python
        .arg(root.join(PACKAGE).join("generate.py"))
        .env("PYTHONPATH", tools::folder().join(tools::PYTHON_SDK));
    shell::must(&mut python)?;
    Ok(ExitCode::SUCCESS)
}
