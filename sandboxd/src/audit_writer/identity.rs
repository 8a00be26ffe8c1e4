//! Who the audit process is: its user and its signing key. The key is made once, by the kernel's
//! randomness, and never leaves the folder.

use std::io;
use std::path::Path;

use audit::Signer;
use audit::key::KeyError;
use confine::own::{OwnProcess, Reach};
use confine::steps::StepError;
use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use super::RunAs;
use super::folder::{Folder, PUBLIC_MODE, SECRET_MODE, segment_name};
use super::log::Store as _;

/// Why the process has no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A step of becoming the audit user failed.
    #[error("cannot {step}")]
    Become {
        /// The step.
        step: &'static str,
        /// What the kernel said.
        #[source]
        source: Errno,
    },
    /// A lock on the process cannot be put on.
    #[error("cannot lock the audit process up")]
    Lock(#[source] StepError),
    /// A key file could not be read or written.
    #[error("cannot {act} {name} in the audit folder")]
    File {
        /// What was tried.
        act: &'static str,
        /// Which file.
        name: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The key file holds no key.
    #[error("key.pem in the audit folder is damaged: restore it, or move the folder aside")]
    Key(#[source] KeyError),
    /// There is a log, but not the key that signed it.
    #[error("the audit folder has a log but no key.pem: restore it, or move the folder aside")]
    KeyMissing,
    /// The kernel gave no randomness.
    #[error("no randomness for a new key: {reason}")]
    Random {
        /// What it said.
        reason: String,
    },
}

/// Becomes the audit user for good, deaf to the terminal's and the service manager's signals: the
/// end of the api's connection is what ends the process, so that the last records are in. Then
/// locks itself up with nothing but its folder.
pub(super) fn settle(run_as: Option<RunAs>, folder: &Path) -> Result<(), IdentityError> {
    let writer = OwnProcess::AuditWriter;
    let failed = |step| move |source| IdentityError::Become { step, source };
    if let Some(RunAs { uid, gid }) = run_as {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        setgroups(&[]).map_err(failed("drop the supplementary groups"))?;
        setresgid(gid, gid, gid).map_err(failed("become the audit group"))?;
        writer.drop_bounding().map_err(IdentityError::Lock)?;
        setresuid(uid, uid, uid).map_err(failed("become the audit user"))?;
    }
    writer.reduce_capabilities().map_err(IdentityError::Lock)?;
    let mut deaf = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        deaf.add(signal);
    }
    deaf.thread_block().map_err(failed("block signals"))?;
    let reach = Reach {
        read: &[Path::new("/proc/self/status")],
        write: &[folder],
    };
    if let Some(missing) = writer.lock(reach).map_err(IdentityError::Lock)? {
        tracing::warn!("the audit process is locked up less than it could be: {missing}");
    }
    Ok(())
}

/// The signing key of the folder; made at the first start.
pub(super) fn signer(folder: &Folder) -> Result<Signer, IdentityError> {
    const PRIVATE: &str = "key.pem";
    const PUBLIC: &str = "key.pub";
    let failed = |act, name| move |source| IdentityError::File { act, name, source };
    let signer = match folder.read(PRIVATE).map_err(failed("read", PRIVATE))? {
        Some(pem) => {
            Signer::from_pem(&String::from_utf8_lossy(&pem)).map_err(IdentityError::Key)?
        }
        None => {
            let first = segment_name(1);
            if folder
                .reader(1)
                .map_err(failed("look for", "00000001.jsonl"))?
                .is_some()
            {
                tracing::error!(segment = first, "the log exists, its key does not");
                return Err(IdentityError::KeyMissing);
            }
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(|error| IdentityError::Random {
                reason: error.to_string(),
            })?;
            let signer = Signer::from_seed(&seed);
            folder
                .replace(PRIVATE, signer.to_pem().as_bytes(), SECRET_MODE)
                .map_err(failed("write", PRIVATE))?;
            signer
        }
    };
    let public = signer.public().to_pem().into_bytes();
    if folder
        .read(PUBLIC)
        .map_err(failed("read", PUBLIC))?
        .as_ref()
        != Some(&public)
    {
        folder
            .replace(PUBLIC, &public, PUBLIC_MODE)
            .map_err(failed("write", PUBLIC))?;
    }
    Ok(signer)
}
