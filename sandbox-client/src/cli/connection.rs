//! Which daemon a command talks to: a named one, a running one, or one of its own for its duration.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::Context;
use super::failure::Failure;
use super::signals::Signals;
use super::terminal::Terminal;
use crate::client::Client;
use crate::embedded::Embedded;
use crate::endpoint::{self, Credentials, Endpoint};
use crate::env_vars;

/// Whoever runs on a state folder locks this file in it, and writes its pid and socket there.
const LOCK_FILE: &str = "lock";
/// How long a daemon that holds the state folder and does not answer is waited for.
const LOCK_DEADLINE: Duration = Duration::from_secs(20);
/// How often it is asked.
const LOCK_PERIOD: Duration = Duration::from_millis(50);

/// Options that say which daemon, on every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Which daemon")]
pub(crate) struct ConnectionOptions {
    /// The daemon to use: unix:///path/to.sock or https://host:port. Without it a running daemon is
    /// used, and where there is none, one is started for the duration of the command.
    #[arg(long, global = true, value_name = "URI")]
    pub(crate) connect: Option<String>,
    /// Start a daemon for the duration of the command even if one is running elsewhere.
    #[arg(long, global = true, conflicts_with = "connect")]
    pub(crate) embedded: bool,
    /// State folder of an embedded daemon: audit log, results, keys [env: ROLLCAGE_STATE_DIR].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// PEM of the authority that signed the daemon's certificate, for https.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// PEM of our certificate, for https.
    #[arg(long, global = true, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM of our certificate's key, for https.
    #[arg(long, global = true, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// File that holds our token, for https [env: ROLLCAGE_TOKEN holds the token itself].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// A connection, and the daemon if it is ours.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Whether the daemon keeps its state in the folder our options name.
    pub(crate) has_our_state_dir: bool,
    embedded: Option<Embedded>,
}

impl ConnectionOptions {
    /// The state folder: written, from the environment, or the default.
    pub(crate) fn state_dir(&self) -> PathBuf {
        if let Some(written) = &self.state_dir {
            return std::path::absolute(written).unwrap_or_else(|_unknown_cwd| written.clone());
        }
        env_vars::read_path(env_vars::STATE_DIR).unwrap_or_else(|| {
            endpoint::default_state_dir(
                nix::unistd::Uid::effective().is_root(),
                env_vars::read_path("XDG_STATE_HOME").as_deref(),
                env_vars::read_path("HOME").as_deref(),
            )
        })
    }

    /// The daemon that the options name, if they name one.
    pub(crate) fn named_endpoint(&self) -> Result<Option<Endpoint>, Failure> {
        let Some(uri) = &self.connect else {
            return Ok(None);
        };
        let credentials = Credentials {
            ca_pem: self.tls_ca.as_deref().map(read).transpose()?,
            identity_pem: match (&self.tls_cert, &self.tls_key) {
                (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
                _ => None,
            },
            token: self.token()?,
        };
        Endpoint::parse(uri, credentials)
            .map(Some)
            .map_err(Failure::Endpoint)
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        let text = match &self.token_file {
            Some(path) => Some(String::from_utf8_lossy(&read(path)?).into_owned()),
            None => {
                env_vars::read(env_vars::TOKEN).map(|token| token.to_string_lossy().into_owned())
            }
        };
        Ok(text.map(|text| text.trim().to_owned()))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })
}

impl Session {
    /// Connects to the named daemon, else to a running one, else to one that is started.
    pub(crate) async fn open(context: &Context) -> Result<Self, Failure> {
        let options = &context.connection;
        if let Some(endpoint) = options.named_endpoint()? {
            return Ok(Self::elsewhere(Client::connect(&endpoint).await?));
        }
        if !options.embedded
            && let Some(client) = running(&context.terminal).await
        {
            return Ok(Self::elsewhere(client));
        }
        Self::of_state_dir(context, &options.state_dir()).await
    }

    /// One daemon a state folder: the one that holds it is used, else one is started. Another
    /// command's daemon may be about to come up or to end, which is waited for.
    async fn of_state_dir(context: &Context, state_dir: &Path) -> Result<Self, Failure> {
        let deadline = tokio::time::Instant::now() + LOCK_DEADLINE;
        let mut ticks = tokio::time::interval(LOCK_PERIOD);
        loop {
            ticks.tick().await;
            if let Some(client) = holder_of(state_dir).await {
                return Ok(Self::of_our_state_dir(client, None));
            }
            let waits = tokio::time::Instant::now() < deadline;
            if waits && is_locked(state_dir) {
                continue;
            }
            let slow = || {
                context.terminal.talk(
                    "testing the confinement of this host, once after each boot and each change of \
                     programs or policies",
                );
            };
            match Embedded::start(state_dir, context.diagnose, slow).await {
                Ok(daemon) => return Self::with_own(daemon).await,
                Err(_another_was_first) if waits && is_locked(state_dir) => {}
                Err(error) => return Err(Failure::Embedded(error)),
            }
        }
    }

    async fn with_own(daemon: Embedded) -> Result<Self, Failure> {
        let endpoint = Endpoint::Unix(daemon.socket().to_owned());
        match Client::connect(&endpoint).await {
            Ok(client) => Ok(Self::of_our_state_dir(client, Some(daemon))),
            Err(error) => {
                daemon.end(|| ()).await.map_err(Failure::Embedded)?;
                Err(error.into())
            }
        }
    }

    fn elsewhere(client: Client) -> Self {
        Self {
            client,
            has_our_state_dir: false,
            embedded: None,
        }
    }

    fn of_our_state_dir(client: Client, embedded: Option<Embedded>) -> Self {
        Self {
            client,
            has_our_state_dir: true,
            embedded,
        }
    }

    /// Ends the daemon if it is ours, and waits for that; other commands that use it meanwhile are
    /// waited for too. A signal ends the waiting, not the daemon.
    pub(crate) async fn end(self, terminal: &Terminal) -> Result<(), Failure> {
        drop(self.client);
        let Some(daemon) = self.embedded else {
            return Ok(());
        };
        let mut signals = Signals::take()?;
        let shared = || {
            terminal.talk(
                "other commands use the daemon that this one started; waiting for them (interrupt \
                 to leave)",
            );
        };
        tokio::select! {
            ended = daemon.end(shared) => ended.map_err(Failure::Embedded),
            () = signals.next() => Ok(()),
        }
    }
}

/// The daemon at the usual socket, if one answers there.
async fn running(terminal: &Terminal) -> Option<Client> {
    let named = env_vars::read_path(env_vars::SOCKET);
    let socket = named.clone().unwrap_or_else(|| {
        endpoint::default_socket(
            nix::unistd::Uid::effective().is_root(),
            env_vars::read_path("XDG_RUNTIME_DIR").as_deref(),
        )
    });
    let found = at_socket(&socket).await;
    if found.is_none() && is_forbidden(&socket) {
        terminal.talk(&format!(
            "the daemon at {} is not for this user: its group may use it (usermod -aG rollcage \
             USER); using one for this command only",
            socket.display()
        ));
    } else if found.is_none() && named.is_some() {
        terminal.talk(&format!(
            "no daemon answers at {} ({}); using one for this command only",
            socket.display(),
            env_vars::SOCKET
        ));
    }
    found
}

/// Whether somebody listens there whom we may not speak to.
fn is_forbidden(socket: &Path) -> bool {
    let outcome = std::os::unix::net::UnixStream::connect(socket);
    outcome.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Whether a daemon holds the state folder, answering or not.
fn is_locked(state_dir: &Path) -> bool {
    let Ok(file) = File::open(state_dir.join(LOCK_FILE)) else {
        return false;
    };
    // Shared and dropped at once: it keeps nobody out.
    let locked = Flock::lock(file, FlockArg::LockSharedNonblock);
    locked.is_err_and(|(_, errno)| errno == Errno::EWOULDBLOCK)
}

async fn holder_of(state_dir: &Path) -> Option<Client> {
    let text = std::fs::read_to_string(state_dir.join(LOCK_FILE)).ok()?;
    at_socket(&endpoint::socket_of_lock(&text)?).await
}

/// The daemon at this socket, if one answers there.
async fn at_socket(socket: &Path) -> Option<Client> {
    let endpoint = Endpoint::Unix(socket.to_owned());
    // Why nobody answers is not asked: then another one is taken.
    Client::connect(&endpoint).await.ok()
}

/// Does work with a client; see [`with_session`].
pub(crate) async fn with_daemon<T>(
    context: &Context,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_session(context, async |session| work(&session.client).await).await
}

/// Does work with a daemon and ends the daemon if it is ours, also when the work fails or is
/// interrupted.
pub(crate) async fn with_session<T>(
    context: &Context,
    work: impl AsyncFnOnce(&Session) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut signals = Signals::take()?;
    let session = tokio::select! {
        session = Session::open(context) => session?,
        () = signals.next() => return Err(Failure::Interrupted),
    };
    let outcome = tokio::select! {
        outcome = work(&session) => outcome,
        () = signals.next() => Err(Failure::Interrupted),
    };
    let ended = session.end(&context.terminal).await;
    let value = outcome?;
    ended?;
    Ok(value)
}
