//! The second host: Debian's own 6.1 cloud kernel (control groups v2 with all controllers, Landlock
//! ABI 2, nothing newer) under qemu's software emulation, in which the tests named in
//! `tests/emulated.txt` run as they do on the first. Their results come back over a serial line.
//!
//! Always emulated, also where there is `/dev/kvm`: a nested one is not to be relied on.
//! It knows how to build and boot such a host; it does not know what the tests do.

mod archive;
mod guest;
mod image;
mod kernel;

use self::kernel::Fetched;
use crate::binaries;
use crate::closing::Counts;
use crate::setup;
use crate::shell;
use crate::skips::Skip;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tests of the integration suite that run there, one name a line.
const LIST: &str = "tests/emulated.txt";
/// The name under which a host that cannot be had is skipped.
const NAME: &str = "emulated-host";

/// How it went.
#[derive(Debug)]
pub(crate) enum Ran {
    /// It booted; these tests held there.
    Counted { counts: Counts, held: Vec<String> },
    /// It cannot be had here.
    Skipped(Skip),
}

/// Boots the host and runs the listed tests there, or those whose names contain one of `filters`.
///
/// # Errors
/// When the image cannot be built or the emulator cannot be started.
pub(crate) fn run(root: &Path, programs: &Path, filters: &[&str]) -> Result<Ran> {
    let target = binaries::target_folder(root)?;
    let work = target.join("rollcage/emulated");
    fs::create_dir_all(&work).with_context(|| format!("create {}", work.display()))?;
    if let Some(reason) = lacking()? {
        return Ok(skipped(reason));
    }
    let kernel = match kernel::fetch(&work)? {
        Fetched::Kernel(kernel) => kernel,
        Fetched::Missing { reason } => return Ok(skipped(reason)),
    };
    let names = wanted(root, filters)?;
    let image = image::build(&work, programs, &test_program(root)?, &names)?;
    guest::run(&work, &kernel, &image, &names)
}

fn skipped(reason: String) -> Ran {
    Ran::Skipped(Skip {
        name: NAME.to_owned(),
        reason,
    })
}

/// Why no image can be built or booted, if so.
fn lacking() -> Result<Option<String>> {
    if !setup::is_root()? {
        return Ok(Some("only root can build its file system".to_owned()));
    }
    for (program, package) in [
        (guest::EMULATOR, "qemu-system-x86"),
        (image::BUSYBOX, "busybox-static"),
        (image::MAKE_FS, "e2fsprogs"),
        (image::STRIP, "binutils"),
        (image::PYTHON, "python3"),
    ] {
        if !Path::new(program).exists() {
            return Ok(Some(format!("{program} (package {package}) is missing")));
        }
    }
    let busybox = fs::read(image::BUSYBOX).context("read busybox")?;
    Ok(
        (binaries::asks_for_interpreter(&busybox) != Some(false)).then(|| {
            "busybox here is not the static one (package busybox-static), which boots alone"
                .to_owned()
        }),
    )
}

fn wanted(root: &Path, filters: &[&str]) -> Result<Vec<String>> {
    let path = root.join(LIST);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let names = names(&text);
    let kept = |name: &String| filters.is_empty() || filters.iter().any(|part| name.contains(part));
    Ok(names.into_iter().filter(kept).collect())
}

/// Names in a list whose other lines are empty or begin with `#`.
fn names(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
}

/// The program of integration tests, which cargo knows the name of.
fn test_program(root: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args([
        "test",
        "--package",
        "tests",
        "--test",
        "it",
        "--no-run",
        "--message-format",
        "json",
        "--quiet",
    ]);
    let told = shell::capture(&mut cargo)?;
    let built = told
        .lines()
        .filter_map(|line| serde_json::from_str::<Built>(line).ok());
    built
        .filter_map(|built| built.executable)
        .next_back()
        .context("find the program of integration tests in what cargo told")
}

#[cfg(test)]
mod tests;
