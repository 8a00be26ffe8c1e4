//! The audit process (`sandboxd audit-writer`): it alone holds the signing key and writes the log.
//! Its standard input is the api's connection, its standard output the launcher's; it ends when
//! the api's connection ends. Single thread. It knows no policy and no run: whether a daemon goes
//! on after a refused record is the daemon's decision.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use audit::frame::{Reply, encode};

mod clock;
mod connection;
mod folder;
mod identity;
mod log;
mod serve;

pub use folder::FolderError;
pub(crate) use folder::segment_name;
pub use identity::IdentityError;
pub use log::LogError;

/// Name of the log's folder below the state folder.
pub const FOLDER: &str = "audit";

/// How the audit process is to work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The daemon's state folder; the log is in `audit/` below it. Must belong to root (or, in a
    /// rootless daemon, to its user), not to the api.
    pub state_dir: PathBuf,
    /// Name of this machine in the records.
    pub node: String,
    /// User and group to become, when started as root; `None`: stay who one is.
    pub run_as: Option<RunAs>,
    /// Group that may read the log: the api's. `None`: the process's own.
    pub reader_gid: Option<u32>,
    /// When to sign and when to begin a new segment.
    pub limits: Limits,
}

/// The user the audit process becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAs {
    /// User id; not the api's.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// When to sign and when to begin a new segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A segment ends after the batch that reaches this size, in bytes.
    pub segment_bytes_max: u64,
    /// Records without signature before a checkpoint is written.
    pub checkpoint_records_max: u64,
    /// Milliseconds a record waits for its checkpoint at most.
    pub checkpoint_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            segment_bytes_max: 64 << 20,
            checkpoint_records_max: 1024,
            checkpoint_ms_max: 5_000,
        }
    }
}

/// The two connections of the audit process.
#[derive(Debug)]
pub struct Connections {
    /// Stream socket to the api.
    pub api: UnixStream,
    /// Sequenced-packet (or stream) socket to the launcher.
    pub launcher: UnixStream,
}

impl Connections {
    /// The connections this process was started with: standard input and standard output.
    ///
    /// # Errors
    /// If they cannot be duplicated.
    pub fn from_stdio() -> io::Result<Self> {
        let api: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
        let launcher: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self {
            api: UnixStream::from(api),
            launcher: UnixStream::from(launcher),
        })
    }
}

/// Why the audit process ended early.
#[derive(Debug, thiserror::Error)]
pub enum AuditWriterError {
    /// It could not become its user, or read or make its key.
    #[error("the audit process has no identity")]
    Identity(#[source] IdentityError),
    /// Its folder cannot be used.
    #[error("the audit folder cannot be used")]
    Folder(#[source] FolderError),
    /// The log cannot be continued.
    #[error("the audit log cannot be continued")]
    Log(#[source] LogError),
    /// A connection or the poll failed.
    #[error("a connection of the audit process failed")]
    Connection(#[source] io::Error),
}

/// Runs the audit process until the api's connection ends, then signs the log a last time.
///
/// A failed start is also told to the api, so that it can say why it does not serve.
///
/// # Errors
/// See [`AuditWriterError`].
pub fn run(settings: &Settings, connections: Connections) -> Result<(), AuditWriterError> {
    match start(settings, &connections.api) {
        Ok(log) => serve::serve(log, connections, settings.limits),
        Err(error) => {
            tell_failure(&connections.api, &error)?;
            Err(error)
        }
    }
}

fn start(
    settings: &Settings,
    api: &UnixStream,
) -> Result<log::Log<folder::Folder>, AuditWriterError> {
    let folder =
        folder::Folder::prepare(settings, api.as_fd()).map_err(AuditWriterError::Folder)?;
    let clock = clock::Clock::new(&settings.node).map_err(AuditWriterError::Connection)?;
    identity::settle(settings.run_as, &settings.state_dir.join(FOLDER))
        .map_err(AuditWriterError::Identity)?;
    let signer = identity::signer(&folder).map_err(AuditWriterError::Identity)?;
    log::Log::open(folder, signer, clock, settings.limits.segment_bytes_max)
        .map_err(AuditWriterError::Log)
}

fn tell_failure(api: &UnixStream, error: &AuditWriterError) -> Result<(), AuditWriterError> {
    use std::io::Write as _;
    let Ok(frame) = encode(&Reply::Failed {
        reason: causes(error),
    }) else {
        return Ok(());
    };
    match (&*api).write_all(&frame) {
        // The api is gone: nobody to tell, and the error is returned all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(AuditWriterError::Connection),
    }
}

/// An error with its causes on one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
pub(crate) mod tests;
