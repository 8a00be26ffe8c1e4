//! The daemon's life: start-up as root, the drop of privileges, serving, the orderly end.
//!
//! Order: lock the state folder, make folders, start the audit writer and the launcher, bind
//! sockets and read TLS keys, then drop to the api's own user for good, and only then start
//! threads. Nothing after the drop can have them back.

mod connections;
mod folders;
mod listeners;
mod metrics_listener;
mod privileges;
mod processes;
mod proving;
mod servers;
mod serving;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use confine::host::grade::{Obstacle, root_obstacle};

use crate::config::Config;

pub use folders::FolderError;
pub use listeners::ListenError;
pub use privileges::PrivilegeError;
pub use processes::ProcessError;
pub use serving::ServeError;

/// How this daemon is started, beyond its configuration.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// It ends when its standard input closes.
    pub embedded: bool,
    /// Descriptor that gets one line, `ready SOCKET`, once it serves; closed afterwards.
    pub ready_fd: Option<i32>,
    /// It is to show what is wrong with this host: where the self-test fails it serves all the
    /// same, but takes no runs.
    pub diagnose: bool,
}

/// Why the daemon does not start, or ended otherwise than asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// It runs as root, but in surroundings that leave root too little.
    #[error("run as root")]
    Root(#[source] Obstacle),
    /// A folder cannot be used, or another daemon uses it.
    #[error("prepare folders")]
    Folders(#[source] FolderError),
    /// The audit writer or the launcher cannot be started.
    #[error("start the daemon's processes")]
    Processes(#[source] ProcessError),
    /// A socket cannot be bound.
    #[error("listen")]
    Listen(#[source] ListenError),
    /// Privileges cannot be dropped.
    #[error("drop privileges")]
    Privileges(#[source] PrivilegeError),
    /// Inherited descriptors cannot be closed, or not enough be had.
    #[error("set up the table of open files")]
    Inherited(#[source] std::io::Error),
    /// The descriptor for the ready line cannot be used.
    #[error("open --ready-fd {fd}")]
    ReadyFd {
        /// Its number.
        fd: i32,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The asynchronous runtime cannot be started.
    #[error("start threads")]
    Runtime(#[source] std::io::Error),
    /// Serving failed.
    #[error("serve")]
    Serve(#[source] ServeError),
}

/// Everything that is made with the privileges of the start.
#[derive(Debug)]
struct Prepared {
    config: Config,
    options: ServeOptions,
    node: String,
    /// Uid that started the daemon: an admin.
    started_by: u32,
    processes: processes::Processes,
    listeners: listeners::Listeners,
    ready: Option<std::fs::File>,
    results_path: PathBuf,
    proof_path: Option<PathBuf>,
    /// Held until the end.
    _lock: std::fs::File,
}

/// Serves until told to stop.
///
/// # Errors
/// See [`DaemonError`].
pub fn serve(config: Config, options: ServeOptions) -> Result<(), DaemonError> {
    close_inherited(options.ready_fd).map_err(DaemonError::Inherited)?;
    raise_open_files().map_err(DaemonError::Inherited)?;
    let prepared = prepare(config, options)?;
    let threads = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("api")
        .build()
        .map_err(DaemonError::Runtime)?;
    let served = threads
        .block_on(serving::serve(prepared))
        .map_err(DaemonError::Serve);
    // A thread may still wait for the end of standard input.
    threads.shutdown_background();
    served
}

fn prepare(config: Config, options: ServeOptions) -> Result<Prepared, DaemonError> {
    let started_by = nix::unistd::getuid();
    let root = nix::unistd::geteuid().is_root();
    if root && let Some(obstacle) = root_obstacle() {
        return Err(DaemonError::Root(obstacle));
    }
    let ready = options.ready_fd.map(take_ready_fd).transpose()?;
    let lock = folders::lock(&config.state_dir, &config.socket).map_err(DaemonError::Folders)?;
    let owner = root.then_some(config.api_ids);
    let results_path = folders::prepare(&config, owner).map_err(DaemonError::Folders)?;
    let proof_path = folders::prepare_proof(&config, owner);
    let node = config.node.clone().unwrap_or_else(host_name);
    let processes = processes::start(&config, &node, root).map_err(DaemonError::Processes)?;
    let listeners = listeners::bind(&config).map_err(DaemonError::Listen)?;
    if let Some((uid, gid)) = owner {
        privileges::drop_to(uid, gid).map_err(DaemonError::Privileges)?;
    }
    privileges::settle(&config, proof_path.as_deref()).map_err(DaemonError::Privileges)?;
    Ok(Prepared {
        config,
        options,
        node,
        started_by: started_by.as_raw(),
        processes,
        listeners,
        ready,
        results_path,
        proof_path,
        _lock: lock,
    })
}

/// Takes as many open files as we may have: each live sandbox holds a dozen in us and in the
/// launcher, and the usual soft limit of 1,024 is there for programs that use select(2).
fn raise_open_files() -> std::io::Result<()> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(())
}

/// Closes every descriptor that came from whoever started us, but the standard ones and `keep`:
/// none may live on in the launcher, which stays root.
fn close_inherited(keep: Option<i32>) -> std::io::Result<()> {
    let mut open: Vec<i32> = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        open.extend(
            entry?
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<i32>().ok()),
        );
    }
    for fd in open.into_iter().filter(|fd| *fd > 2 && Some(*fd) != keep) {
        match nix::unistd::close(fd) {
            // The descriptor that the list was read through is closed already.
            Ok(()) | Err(nix::errno::Errno::EBADF) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// A descriptor of our own for the pipe behind an inherited one, which is closed so that no child
/// has it.
fn take_ready_fd(fd: i32) -> Result<std::fs::File, DaemonError> {
    let failed = |source| DaemonError::ReadyFd { fd, source };
    let own = std::fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/fd/{fd}"))
        .map_err(failed)?;
    if fd > 2 {
        nix::unistd::close(fd).map_err(|errno| failed(errno.into()))?;
    }
    Ok(own)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "localhost".to_owned()
    } else {
        name.to_owned()
    }
}
