//! The audit writer and the launcher: how they are started and how they are connected.
//!
//! Descriptors: the audit writer has the api on its standard input and the launcher on its
//! standard output; the launcher gets two by number. Neither has anything else of ours.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use crate::config::Config;
use crate::self_test::programs::{self, ProgramsError};

/// Why a process cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// Our own program cannot be found.
    #[error("find our own program")]
    OwnProgram(#[source] io::Error),
    /// A program is not where it should be.
    #[error(
        "{} is not there; build or install it beside sandboxd, or set `{key}` in the configuration",
        path.display()
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// Key that names another place.
        key: &'static str,
    },
    /// A socket pair cannot be made.
    #[error("make a socket pair")]
    Sockets(#[source] io::Error),
    /// It cannot be executed.
    #[error("execute {}", program.display())]
    Execute {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The other processes of this daemon and our ends to them.
#[derive(Debug)]
pub(super) struct Processes {
    pub(super) audit_writer: Child,
    pub(super) audit: UnixStream,
    pub(super) launcher: Child,
    pub(super) launcher_link: OwnedFd,
    /// Digest of the bytes of pid 1, launcher and probe, or why there is none.
    pub(super) programs_sha256: Result<String, ProgramsError>,
    /// What they inherit from whoever starts the daemon.
    pub(super) inherited: Result<String, ProgramsError>,
}

/// Starts both.
pub(super) fn start(config: &Config, node: &str, root: bool) -> Result<Processes, ProcessError> {
    let own = std::env::current_exe().map_err(ProcessError::OwnProgram)?;
    let launcher_path = beside(
        &own,
        config.launcher.as_deref(),
        "sandbox-launcher",
        "launcher",
    )?;
    let init_path = beside(&own, config.init.as_deref(), "sandbox-init", "init")?;
    // Without one nothing but its own task is missing, which says so itself.
    let optional = |configured: &Option<PathBuf>, name, key| {
        let path = beside(&own, configured.as_deref(), name, key);
        match configured {
            Some(_) => path.map(Some),
            None => Ok(path.ok()),
        }
    };
    let probe = optional(&config.probe, "sandbox-probe", "probe")?;
    let check = optional(&config.check, "sandbox-check", "check")?;
    let (audit, audit_api) = UnixStream::pair().map_err(ProcessError::Sockets)?;
    let (launcher_audit, audit_launcher) = packet_pair()?;
    let (launcher_link, launcher_api) = packet_pair()?;
    let ends = (OwnedFd::from(audit_api), audit_launcher);
    let audit_writer = start_audit_writer(&own, config, node, root, ends)?;
    let program = Launcher {
        path: launcher_path,
        init: init_path,
        probe,
        check,
    };
    let launcher = program.start(config, &launcher_api, &launcher_audit)?;
    // While the launcher prepares itself.
    let programs_sha256 = program.digest();
    Ok(Processes {
        audit_writer,
        audit,
        launcher,
        launcher_link,
        programs_sha256,
        inherited: programs::inherited(),
    })
}

/// A program of ours: where the configuration says, else in the folder of this one.
fn beside(
    own: &Path,
    configured: Option<&Path>,
    name: &str,
    key: &'static str,
) -> Result<PathBuf, ProcessError> {
    let path = configured.map_or_else(|| own.with_file_name(name), Path::to_owned);
    if path.is_file() {
        Ok(path)
    } else {
        Err(ProcessError::Missing { path, key })
    }
}

fn packet_pair() -> Result<(OwnedFd, OwnedFd), ProcessError> {
    socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .map_err(|errno| ProcessError::Sockets(errno.into()))
}

fn start_audit_writer(
    own: &Path,
    config: &Config,
    node: &str,
    root: bool,
    (api, launcher): (OwnedFd, OwnedFd),
) -> Result<Child, ProcessError> {
    let mut command = Command::new(own);
    command
        .arg("audit-writer")
        .arg("--state-dir")
        .arg(&config.state_dir)
        .arg("--node")
        .arg(node);
    command.arg("--log").arg(&config.log);
    if root {
        let (uid, gid) = config.audit_ids;
        command
            .arg("--uid")
            .arg(uid.to_string())
            .arg("--gid")
            .arg(gid.to_string());
        command
            .arg("--reader-gid")
            .arg(config.api_ids.1.to_string());
    }
    command
        .env_clear()
        .stdin(Stdio::from(api))
        .stdout(Stdio::from(launcher))
        .process_group(0)
        .spawn()
        .map_err(|source| ProcessError::Execute {
            program: own.to_owned(),
            source,
        })
}

struct Launcher {
    path: PathBuf,
    init: PathBuf,
    probe: Option<PathBuf>,
    check: Option<PathBuf>,
}

impl Launcher {
    /// Digest of what confines. Before privileges are dropped: the folder of the programs may be
    /// closed to the api's user.
    fn digest(&self) -> Result<String, ProgramsError> {
        let probe = self.probe.as_deref().ok_or(ProgramsError::NoProbe)?;
        programs::digest(&[&self.init, &self.path, probe])
    }

    fn start(
        &self,
        config: &Config,
        api: &OwnedFd,
        audit: &OwnedFd,
    ) -> Result<Child, ProcessError> {
        for fd in [api, audit] {
            fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))
                .map_err(|errno| ProcessError::Sockets(errno.into()))?;
        }
        let mut command = Command::new(&self.path);
        command.arg("serve");
        command.arg("--api-fd").arg(api.as_raw_fd().to_string());
        command.arg("--audit-fd").arg(audit.as_raw_fd().to_string());
        command.arg("--runtime-dir").arg(&config.runtime_dir);
        command.arg("--init").arg(&self.init);
        if let Some(probe) = &self.probe {
            command.arg("--probe").arg(probe);
        }
        if let Some(check) = &self.check {
            command.arg("--check").arg(check);
        }
        for path in &config.host_image.extra_read_paths {
            command.arg("--extra-read-path").arg(path);
        }
        if config.accept_landlock_mode {
            command.arg("--accept-landlock-mode");
        }
        // In a group of its own: a Ctrl-C at the terminal is for the daemon, which then stops the
        // launcher in order.
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| ProcessError::Execute {
                program: self.path.clone(),
                source,
            })
    }
}
