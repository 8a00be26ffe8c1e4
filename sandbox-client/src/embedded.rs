//! A daemon for the duration of one command: found beside our executable, started, waited for,
//! ended. It knows the daemon's command line and its ready line.
//!
//! The daemon ends when its standard input closes and nobody else uses it, so that not even a
//! `kill -9` of this process leaves one behind, and nobody who came to it loses a run.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::env_vars;

/// A daemon must be ready within this time: the first one of a boot tests itself before.
const READY_DEADLINE: Duration = Duration::from_secs(180);
/// A start that takes longer is worth a word.
const SLOW_START: Duration = Duration::from_secs(2);
/// A daemon whose last run has ended must be gone within this time, then it is killed.
const END_DEADLINE: Duration = Duration::from_secs(20);
/// How often one that does not end is asked whether it still serves others.
const SHARED_PERIOD: Duration = Duration::from_secs(1);
/// What is kept of the daemon's error output, from its end.
const STDERR_BYTES_MAX: usize = 16 << 10;
/// A ready line is shorter than this.
const READY_LINE_BYTES_MAX: usize = 4 << 10;

/// Why no daemon could be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// No `sandboxd` in any of the places.
    #[error(
        "find sandboxd: it is neither beside rollcage in {} nor on PATH; put both programs in one \
         folder, or name its folder in ROLLCAGE_BIN_DIR",
        beside.display()
    )]
    NotFound {
        /// The folder of our own executable.
        beside: PathBuf,
    },
    /// A pipe or a private folder could not be made.
    #[error("prepare to start a daemon: {what}")]
    Prepare {
        /// What was being made.
        what: &'static str,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// It could not be executed.
    #[error("execute {}", path.display())]
    Spawn {
        /// The program.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// It ended before it was ready.
    #[error("start a daemon: it ended with {status} before it was ready{}", said(.stderr))]
    Ended {
        /// How it ended.
        status: String,
        /// The end of its error output.
        stderr: String,
    },
    /// It was not ready in time.
    #[error(
        "start a daemon: it was not ready within {} s{}",
        READY_DEADLINE.as_secs(),
        said(.stderr)
    )]
    Slow {
        /// The end of its error output.
        stderr: String,
    },
    /// It could not be waited for.
    #[error("wait for the daemon's end")]
    Wait {
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said:\n{text}"),
    }
}

/// A running daemon of our own. Dropping it closes its standard input, on which it ends by itself;
/// [`Embedded::end`] also waits for that.
#[derive(Debug)]
pub struct Embedded {
    child: Child,
    stdin: Option<ChildStdin>,
    stderr: Option<JoinHandle<Tail>>,
    socket: PathBuf,
    // Held for its removal on drop.
    _folder: tempfile::TempDir,
}

impl Embedded {
    /// Starts a daemon and waits until it says that it is ready; `slow` is called if that takes
    /// long. With `diagnose` it serves even where its self-test fails, to show what is wrong.
    ///
    /// # Errors
    /// If it cannot be found or executed, ends early, or is not ready within 180 s.
    pub async fn start(
        state_dir: &Path,
        diagnose: bool,
        slow: impl FnOnce(),
    ) -> Result<Self, EmbeddedError> {
        let program = find_sandboxd()?;
        keep_ended_children()?;
        let folder = private_folder()?;
        let socket = folder.path().join("s.sock");
        let (ready_read, ready_write) = ready_pipe()?;
        let shows_log = env_vars::read(env_vars::LOG).is_some();
        let mut child = Command::new(&program)
            .arg("serve")
            .arg("--embedded")
            .arg("--socket")
            .arg(&socket)
            .arg("--ready-fd")
            .arg(ready_write.as_raw_fd().to_string())
            .args(diagnose.then_some("--diagnose"))
            .env(env_vars::STATE_DIR, state_dir)
            // The socket of another daemon is not this one's business.
            .env_remove(env_vars::SOCKET)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(if shows_log {
                Stdio::inherit()
            } else {
                Stdio::piped()
            })
            // Ctrl-C is ours to handle: it cancels the run, then the daemon is ended in order.
            .process_group(0)
            .spawn()
            .map_err(|source| EmbeddedError::Spawn {
                path: program,
                source,
            })?;
        drop(ready_write);
        let stdin = child.stdin.take();
        let stderr = child
            .stderr
            .take()
            .map(|pipe| tokio::spawn(Tail::drain(pipe)));
        let mut daemon = Self {
            child,
            stdin,
            stderr,
            socket,
            _folder: folder,
        };
        let reading = read_line(ready_read);
        tokio::pin!(reading);
        let ready = match tokio::time::timeout(SLOW_START, &mut reading).await {
            Ok(read) => Ok(read),
            Err(_elapsed) => {
                slow();
                tokio::time::timeout(READY_DEADLINE, reading).await
            }
        };
        match ready {
            Ok(Ok(true)) => Ok(daemon),
            Ok(_) => Err(daemon.failed_early().await),
            Err(_elapsed) => {
                daemon.kill().await?;
                Err(EmbeddedError::Slow {
                    stderr: daemon.stderr_text().await,
                })
            }
        }
    }

    /// The socket it listens on.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Lets it end and waits for that: others that came to it meanwhile are served to their end,
    /// which is told once by `shared`. Kills it if it neither serves nor ends for too long.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub async fn end(mut self, shared: impl FnOnce()) -> Result<(), EmbeddedError> {
        drop(self.stdin.take());
        let mut shared = Some(shared);
        let mut kill_at = tokio::time::Instant::now() + END_DEADLINE;
        loop {
            let wait = tokio::time::timeout(SHARED_PERIOD, self.child.wait());
            if let Ok(ended) = wait.await {
                return ended
                    .map(drop)
                    .map_err(|source| EmbeddedError::Wait { source });
            }
            if self.is_serving().await {
                kill_at = tokio::time::Instant::now() + END_DEADLINE;
                if let Some(shared) = shared.take() {
                    shared();
                }
            } else if tokio::time::Instant::now() >= kill_at {
                return self.kill().await;
            }
        }
    }

    /// Whether it takes new calls.
    async fn is_serving(&self) -> bool {
        let endpoint = Endpoint::Unix(self.socket.clone());
        let Ok(client) = Client::connect(&endpoint).await else {
            return false;
        };
        client.status().await.is_ok_and(|status| !status.draining)
    }

    async fn failed_early(&mut self) -> EmbeddedError {
        drop(self.stdin.take());
        let status = match tokio::time::timeout(END_DEADLINE, self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(source)) => return EmbeddedError::Wait { source },
            Err(_elapsed) => match self.kill().await {
                Ok(()) => "no exit status".to_owned(),
                Err(error) => return error,
            },
        };
        EmbeddedError::Ended {
            status,
            stderr: self.stderr_text().await,
        }
    }

    async fn kill(&mut self) -> Result<(), EmbeddedError> {
        self.child
            .kill()
            .await
            .map_err(|source| EmbeddedError::Wait { source })
    }

    async fn stderr_text(&mut self) -> String {
        match self.stderr.take() {
            Some(task) => task.await.map(|tail| tail.text()).unwrap_or_default(),
            None => String::new(),
        }
    }
}

/// The end of a stream.
#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    async fn drain(mut pipe: tokio::process::ChildStderr) -> Self {
        let mut tail = Self::default();
        let mut buffer = vec![0; 4 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
            tail.bytes.extend(&buffer[..count]);
            let surplus = tail.bytes.len().saturating_sub(STDERR_BYTES_MAX);
            tail.bytes.drain(..surplus);
        }
        tail
    }

    fn text(mut self) -> String {
        String::from_utf8_lossy(self.bytes.make_contiguous()).into_owned()
    }
}

/// Whether a whole line came before the end of the pipe.
async fn read_line(pipe: OwnedFd) -> std::io::Result<bool> {
    let mut pipe = BufReader::new(tokio::net::unix::pipe::Receiver::from_owned_fd(pipe)?);
    for _ in 0..READY_LINE_BYTES_MAX {
        match pipe.read_u8().await {
            Ok(b'\n') => return Ok(true),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// A pipe whose write end, and nothing else of ours, is inherited by the daemon.
fn ready_pipe() -> Result<(OwnedFd, OwnedFd), EmbeddedError> {
    let prepare = |errno: nix::Error| EmbeddedError::Prepare {
        what: "the pipe of its ready line",
        source: errno.into(),
    };
    let (read, write) =
        nix::unistd::pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).map_err(prepare)?;
    fcntl(&write, FcntlArg::F_SETFL(OFlag::empty())).map_err(prepare)?;
    fcntl(&write, FcntlArg::F_SETFD(FdFlag::empty())).map_err(prepare)?;
    Ok((read, write))
}

/// Whoever started us may ignore SIGCHLD: of a child that ends the kernel would then keep nothing
/// to wait for. A handler, which stays for the life of this process, takes that back.
fn keep_ended_children() -> Result<(), EmbeddedError> {
    let kind = tokio::signal::unix::SignalKind::child();
    tokio::signal::unix::signal(kind)
        .map(drop)
        .map_err(|source| EmbeddedError::Prepare {
            what: "the signal of its end",
            source,
        })
}

fn private_folder() -> Result<tempfile::TempDir, EmbeddedError> {
    let named = env_vars::read_path("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir());
    let all = [named, Some(std::env::temp_dir()), Some("/tmp".into())];
    let all: Vec<PathBuf> = all.into_iter().flatten().collect();
    // Root may have been given the variables of somebody else, who could replace what is made there.
    let safe = all.iter().find(|folder| is_ours(folder));
    let parent = safe.or(all.first()).cloned().unwrap_or_default();
    tempfile::Builder::new()
        .prefix("rollcage-")
        .tempdir_in(parent)
        .map_err(|source| EmbeddedError::Prepare {
            what: "a private folder for its socket",
            source,
        })
}

/// Whether nobody but us and root can replace what we make in the folder.
fn is_ours(folder: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    let own = nix::unistd::geteuid().as_raw();
    let safe = |folder: &Path| {
        std::fs::metadata(folder).is_ok_and(|meta| {
            let mode = meta.mode();
            (meta.uid() == 0 || meta.uid() == own) && (mode & STICKY != 0 || mode & 0o022 == 0)
        })
    };
    std::fs::canonicalize(folder).is_ok_and(|whole| whole.ancestors().all(safe))
}

/// `sandboxd` in `ROLLCAGE_BIN_DIR`, else beside our own executable, else on `PATH`.
///
/// # Errors
/// If it is in none of them.
pub fn find_sandboxd() -> Result<PathBuf, EmbeddedError> {
    let named = env_vars::read_path(env_vars::BIN_DIR);
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.parent().map(Path::to_owned).unwrap_or_default();
    let path = env_vars::read("PATH").unwrap_or_default();
    let mut folders = named
        .into_iter()
        .chain([beside.clone()])
        .chain(std::env::split_paths(&path));
    folders
        .find_map(|folder| {
            let file = folder.join("sandboxd");
            (file.is_absolute() && file.is_file()).then_some(file)
        })
        .ok_or(EmbeddedError::NotFound { beside })
}

#[cfg(test)]
mod tests;
