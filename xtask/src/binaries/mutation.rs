//! The programs in which a test can switch one step off: built apart from all others, into folders
//! that nothing else reads, so that none of them can be taken for a program to use.

use super::{Profile, host_triple, place, static_build, target_folder};
use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable by which the tests find these programs.
pub(crate) const FOLDER_VARIABLE: &str = "ROLLCAGE_MUTATION_BIN_DIR";

/// Packages and programs that have steps and locks.
const PROGRAMS: [(&str, &str); 2] = [
    ("confine", "sandbox-init"),
    ("launcher", "sandbox-launcher"),
];

/// What stands in these programs and in no other: `confine/src/mutation.rs`.
const MARKER: &[u8] = b"ROLLCAGE_STEP_OFF=";

/// Builds `sandbox-init` and `sandbox-launcher` with the marker and gives the folder they lie in.
///
/// # Errors
/// When a build fails.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    let own = target_folder(root)?.join("rollcage").join("mutation");
    let host = host_triple()?;
    let built = own.join("build");
    // Both static, though the launcher need not be: so they are built at once, with one set of
    // dependencies.
    let mut cargo = static_build(root, Profile::Debug, &host, &PROGRAMS);
    cargo
        .args(["--features", "confine/mutation,launcher/mutation"])
        .arg("--target-dir")
        .arg(&built)
        // A test copies them dozens of times.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_STRIP", "symbols");
    shell::must(&mut cargo)?;
    let folder = own.join("bin");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    for (_, program) in PROGRAMS {
        let program = built.join(&host).join("debug").join(program);
        if !is_marked(&program)? {
            bail!("{} has no marker", program.display());
        }
        place(&program, &folder)?;
    }
    Ok(folder)
}

/// Refuses a folder of programs to use in which one could have a step switched off.
///
/// # Errors
/// When one has the marker.
pub(super) fn refuse(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let program = entry.context("list programs")?.path();
        if is_marked(&program)? {
            bail!(
                "{} was built with the feature `mutation`",
                program.display()
            );
        }
    }
    Ok(())
}

fn is_marked(program: &Path) -> Result<bool> {
    let bytes = fs::read(program).with_context(|| format!("read {}", program.display()))?;
    Ok(contains(&bytes, MARKER))
}

/// Whether `part` is in `bytes`. Programs are large and this is an unoptimized build: it looks at
/// every `part.len()`-th byte only, and closer where that byte is one of `part`.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let mut end = part.len();
    while end <= bytes.len() {
        let window = &bytes[end - part.len()..end];
        if window == part {
            return true;
        }
        // As far as the window's last byte is from the end of `part`, where it stands in there.
        let last = window.last();
        let known = part
            .iter()
            .rev()
            .skip(1)
            .position(|byte| Some(byte) == last);
        end += known.map_or(part.len(), |before| before + 1);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{MARKER, contains};

    #[test]
    fn the_marker_is_found_wherever_it_is() {
        for before in 0..64 {
            let mut bytes = b"ROLLCAGE=_STEP_OFF".repeat(4)[..before].to_vec();
            assert!(!contains(&bytes, MARKER), "{before}");
            bytes.extend(MARKER);
            assert!(contains(&bytes, MARKER), "{before}");
            bytes.extend(b"session_keyring\0");
            assert!(contains(&bytes, MARKER), "{before}");
            assert!(!contains(&bytes[before + 1..], MARKER), "{before}");
        }
    }
}
