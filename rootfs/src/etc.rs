//! The `/etc` of the host image: a few files of ours, and a listed subset of the host's that
//! programs cannot do without. Built once per daemon start into a directory that plans bind.
//!
//! It knows no sandbox. What is not listed in [`copy::SUBSET`] is never read, and nothing that
//! others could not read on the host is ever copied.

mod copy;
mod generated;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::claim::{ClaimError, claim};
use copy::{Copier, Limits};

/// What was built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EtcReport {
    /// Files and links of our own.
    pub generated: u64,
    /// Files copied from the host.
    pub files: u64,
    /// Links copied from the host.
    pub links: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Entries of the subset that were left out.
    pub skipped: u64,
    /// The first of those, by path.
    pub skipped_first: Vec<Skipped>,
    /// SHA-256 over paths, modes, contents and link targets, in hex.
    pub sha256: String,
}

/// An entry that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path below `/etc`.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why an entry was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its name is one of those that are never copied.
    ClosedName,
    /// Others cannot read it on the host.
    NotForAll,
    /// A device, socket or FIFO, or a file that changed its kind while we looked.
    NotAFile,
    /// A link that leads to nothing a sandbox has.
    LeadsOut,
    /// A single file beyond the limit.
    TooLarge,
    /// A directory nested too deep.
    TooDeep,
    /// A name that is not UTF-8.
    BadName,
}

/// Why `/etc` could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EtcError {
    /// The directory cannot be used.
    #[error("take the directory for /etc")]
    Claim {
        /// Why.
        #[source]
        source: ClaimError,
    },
    /// Something could not be read or written.
    #[error("{act} {path}")]
    Io {
        /// What was being done.
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The subset of the host's `/etc` is larger than any real one.
    #[error("the host's listed /etc files exceed {what}; look for what fills them")]
    TooMuch {
        /// Which limit, with its value.
        what: String,
    },
}

/// Builds `/etc` in `dir`, which has to be new or empty. Links may lead to `/usr`, into what is
/// copied, and to `extra_read_paths`, which the sandbox has to be shown too.
///
/// # Errors
/// The directory is not ours or not empty, the disk fails, or the subset is beyond its limits.
pub fn prepare_etc(dir: &Path, extra_read_paths: &[String]) -> Result<EtcReport, EtcError> {
    prepare_from(Path::new("/"), dir, extra_read_paths, Limits::DEFAULT)
}

fn prepare_from(
    host_root: &Path,
    dir: &Path,
    extra_read_paths: &[String],
    limits: Limits,
) -> Result<EtcReport, EtcError> {
    claim(dir).map_err(|source| EtcError::Claim { source })?;
    let mut copier = Copier::new(&host_root.join("etc"), dir, limits);
    generated::write_all(host_root, &mut copier)?;
    copier.copy_subset()?;
    copier.copy_links(extra_read_paths)?;
    Ok(copier.finish())
}

fn io_error(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EtcError {
    let path = path.to_path_buf();
    move |source| EtcError::Io { act, path, source }
}

#[cfg(test)]
mod tests;
