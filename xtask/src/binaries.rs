//! The six programs of a release, built and laid side by side: they find one another by the folder
//! they lie in. `sandbox-init`, `sandbox-probe` and `sandbox-check` are linked statically: the one
//! wakes up in a root without a loader, the others are to need nothing of an image.

use crate::shell;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable by which tests and the demo find the programs.
pub(crate) const FOLDER_VARIABLE: &str = "ROLLCAGE_BIN_DIR";

/// Packages of the dynamically linked programs, and the programs they bring.
const DYNAMIC: [(&str, &str); 3] = [
    ("sandboxd", "sandboxd"),
    ("sandbox-client", "rollcage"),
    ("launcher", "sandbox-launcher"),
];

/// Packages of the static programs, and the programs they bring.
const STATIC: [(&str, &str); 3] = [
    ("confine", "sandbox-init"),
    ("probe", "sandbox-probe"),
    ("syntax", "sandbox-check"),
];

/// How a build is optimized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// With checks, for tests.
    Debug,
    /// For use and for measuring.
    Release,
    /// For use elsewhere: as quick, and small.
    Dist,
}

impl Profile {
    /// The name of the folder that cargo and we put its products into.
    fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
}

/// The folder of the root manifest, whatever the caller's working folder is.
///
/// # Errors
/// When this crate's folder has none above it.
pub(crate) fn workspace_root() -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(own
        .parent()
        .context("find the workspace above xtask")?
        .to_path_buf())
}

/// Where cargo puts what it builds; honours `CARGO_TARGET_DIR` and configuration.
///
/// # Errors
/// When cargo cannot say.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Metadata =
        serde_json::from_str(&shell::capture(&mut cargo)?).context("read cargo's metadata")?;
    Ok(metadata.target_directory)
}

/// Builds the programs and gives the folder they lie in.
///
/// # Errors
/// When a build fails, or a static program did not come out static.
pub(crate) fn build(root: &Path, profile: Profile) -> Result<PathBuf> {
    let target = target_folder(root)?;
    let host = host_triple()?;
    shell::must(&mut static_build(root, profile, &host, &STATIC))?;
    shell::must(&mut dynamic_build(root, profile))?;

    let folder = target.join("rollcage").join(profile.folder()).join("bin");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    for (_, program) in STATIC {
        let built = target.join(&host).join(profile.folder()).join(program);
        refuse_interpreter(&built)?;
        place(&built, &folder)?;
    }
    for (_, program) in DYNAMIC {
        place(&target.join(profile.folder()).join(program), &folder)?;
    }
    mutation::refuse(&folder)?;
    Ok(folder)
}

/// An explicit target keeps the flags away from build scripts, macros and the other programs, so
/// that nothing is built twice because of them.
fn static_build(root: &Path, profile: Profile, host: &str, programs: &[(&str, &str)]) -> Command {
    let flags = match std::env::var("RUSTFLAGS") {
        Ok(flags) => format!("{flags} -C target-feature=+crt-static"),
        Err(_unset) => "-C target-feature=+crt-static".to_owned(),
    };
    let mut cargo = cargo_build(root, profile);
    for (package, program) in programs {
        cargo.args(["--package", package, "--bin", program]);
    }
    cargo.args(["--target", host]);
    cargo
        .env("RUSTFLAGS", flags)
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo
}

fn dynamic_build(root: &Path, profile: Profile) -> Command {
    let mut cargo = cargo_build(root, profile);
    for (package, program) in DYNAMIC {
        cargo.args(["--package", package, "--bin", program]);
    }
    cargo
}

fn cargo_build(root: &Path, profile: Profile) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).arg("build");
    match profile {
        Profile::Debug => {}
        Profile::Release => {
            cargo.arg("--release");
        }
        Profile::Dist => {
            cargo.args(["--profile", "dist"]);
        }
    }
    cargo
}

/// The triple of this machine, as rustc names it.
///
/// # Errors
/// When rustc cannot say.
pub(crate) fn host_triple() -> Result<String> {
    let version = shell::capture(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("find the host triple in `rustc -vV`")?
        .to_owned())
}

/// Puts `program` into `folder`: linked where the file system can, so that it costs no space.
fn place(program: &Path, folder: &Path) -> Result<()> {
    let name = program.file_name().context("name a program")?;
    let placed = folder.join(name);
    if placed.exists() {
        fs::remove_file(&placed).with_context(|| format!("replace {}", placed.display()))?;
    }
    if fs::hard_link(program, &placed).is_err() {
        fs::copy(program, &placed)
            .with_context(|| format!("copy {} to {}", program.display(), placed.display()))?;
    }
    Ok(())
}

fn refuse_interpreter(program: &Path) -> Result<()> {
    let bytes = fs::read(program).with_context(|| format!("read {}", program.display()))?;
    match asks_for_interpreter(&bytes) {
        Some(false) => Ok(()),
        Some(true) => bail!(
            "{} is linked dynamically; it must be static",
            program.display()
        ),
        None => bail!(
            "{} is no 64-bit little-endian ELF program",
            program.display()
        ),
    }
}

/// Whether an ELF program has a `PT_INTERP` header, that is, needs a dynamic loader. `None` when it
/// is no 64-bit little-endian ELF program.
pub(crate) fn asks_for_interpreter(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let word = |at: usize| Some(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?));
    let table = usize::try_from(u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?)).ok()?;
    let (size, count) = (usize::from(word(54)?), usize::from(word(56)?));
    for row in 0..count {
        let at = table.checked_add(row * size)?;
        let kind = u32::from_le_bytes(elf.get(at..at.checked_add(4)?)?.try_into().ok()?);
        if kind == INTERPRETER {
            return Some(true);
        }
    }
    Some(false)
}

pub(crate) mod mutation;
#[cfg(test)]
mod tests;
