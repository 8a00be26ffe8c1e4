//! `rollcage compat serve`: the endpoints of crate `compat` in front of a daemon.
//!
//! It is a client like any other: what it may do is what its user may do at the daemon.

pub(super) mod daemon;
mod journal;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use compat::sandboxfusion::{BusyTimeouts, Settings as RunSettings};
use compat::server::{Key, Listener, read_keys};
use compat::{Daemon, Server, Settings};
use serde_json::json;

use super::Context;
use super::connection::Session;
use super::failure::Failure;
use super::signals::Signals;
use super::units::parse_size_bytes;
use crate::client::{Client, MESSAGE_BYTES_MAX};
use daemon::GrpcDaemon;
use journal::Journal;

/// Requests in flight whose bodies may be as large as they can be.
const LARGE_BODIES: usize = 16;

/// Endpoints that other projects' clients know.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  rollcage compat serve                              SandboxFusion's /run_code on http://127.0.0.1:8080
  rollcage compat serve --listen 0.0.0.0:8080 --keys /etc/rollcage/keys.toml")]
pub(crate) enum CompatCommand {
    /// Serve SandboxFusion's `/run_code` over HTTP until told to end.
    Serve(Box<ServeArgs>),
}

/// Options of `compat serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage compat serve                              on http://127.0.0.1:8080
  rollcage compat serve --listen 0.0.0.0:8080 --keys /etc/rollcage/keys.toml

verl:            reward.sandbox_fusion.url=http://127.0.0.1:8080/run_code
sandbox-fusion:  set_sandbox_endpoint(\"http://127.0.0.1:8080\")

Trouble of the daemon or the host is answered with HTTP 504, never with a result.")]
pub(crate) struct ServeArgs {
    /// Where to listen. Other addresses than loopback need --keys. Port 0: any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// File of keys (TOML): who may ask, under which policy, as which tenant.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Policy of every run. Without it: python, node, shell or build, by the language.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// PATH of compilers and interpreters in the sandboxes. Without it: the daemon's.
    #[arg(long, value_name = "DIRS")]
    path: Option<String>,
    /// Requests in flight at most; more are told to come again.
    #[arg(long, value_name = "N", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
    in_flight: u32,
    /// Bytes of one request at most, up to 64 MiB.
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = parse_size_bytes)]
    body_max: u64,
    /// Bytes of output of a program at most; beyond, it is ended.
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size_bytes)]
    output_max: u64,
    /// What a time limit means that came while others kept the program from its CPUs.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Busy::Retry)]
    busy_timeouts: Busy,
    /// How long requests in flight may go on when told to end, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Busy {
    /// Answer 504: try again.
    Retry,
    /// Answer TimeLimitExceeded.
    Count,
}

/// Does it.
pub(crate) async fn compat(context: &Context, command: CompatCommand) -> Result<u8, Failure> {
    let CompatCommand::Serve(args) = command;
    let keys = args.keys.as_deref().map(read_key_file).transpose()?;
    let mut signals = Signals::take()?;
    let session = tokio::select! {
        session = Session::open(context) => session?,
        () = signals.next() => return Err(Failure::Interrupted),
    };
    let served = serve(context, &args, keys, &session, signals).await;
    let ended = session.end(&context.terminal).await;
    served?;
    ended?;
    Ok(0)
}

async fn serve(
    context: &Context,
    args: &ServeArgs,
    keys: Option<Vec<Key>>,
    session: &Session,
    mut signals: Signals,
) -> Result<(), Failure> {
    let daemon: Arc<dyn Daemon> = Arc::new(GrpcDaemon::new(session.client.clone()));
    let journal = Journal::new(context.terminal);
    let settings = args.settings(Listener::new(move |words| journal.tell(words)))?;
    let server = match keys {
        None => Server::for_loopback(settings, daemon).await,
        Some(keys) => {
            let mut held = Vec::new();
            for key in keys {
                let own = own_daemon(context, &key).await?;
                let daemon = own.unwrap_or_else(|| Arc::clone(&daemon));
                held.push((key, daemon));
            }
            Server::for_keys(settings, held).await
        }
    };
    let server = server.map_err(Failure::Serve)?;
    let url = format!("http://{}", server.address());
    context.terminal.talk(&format!("serving {url}/run_code"));
    if context.terminal.json {
        context.terminal.json_line(&json!({ "url": url }))?;
    }
    server.serve(signals.next()).await;
    Ok(())
}

/// The daemon that a key names, if it names one.
async fn own_daemon(context: &Context, key: &Key) -> Result<Option<Arc<dyn Daemon>>, Failure> {
    if key.connect.is_none() && key.token_file.is_none() {
        return Ok(None);
    }
    let mut options = context.connection.clone();
    if key.connect.is_some() {
        options.connect.clone_from(&key.connect);
    }
    if key.token_file.is_some() {
        options.token_file.clone_from(&key.token_file);
    }
    let Some(endpoint) = options.named_endpoint()? else {
        return Err(Failure::Usage {
            message: format!(
                "key {:?} has a token_file and nothing says for which daemon: give its connect, or \
                 --connect https://host:port",
                key.name
            ),
        });
    };
    let client = Client::connect(&endpoint).await?;
    Ok(Some(Arc::new(GrpcDaemon::new(client))))
}

fn read_key_file(path: &Path) -> Result<Vec<Key>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })?;
    read_keys(&text).map_err(|source| Failure::Keys {
        path: path.to_owned(),
        source,
    })
}

impl ServeArgs {
    fn settings(&self, listener: Listener) -> Result<Settings, Failure> {
        let body_bytes_max = match usize::try_from(self.body_max) {
            Ok(bytes) if bytes > 0 && bytes <= MESSAGE_BYTES_MAX => bytes,
            _ => {
                return Err(Failure::Usage {
                    message: format!(
                        "--body-max {}: from 1 byte to {} MiB",
                        self.body_max,
                        MESSAGE_BYTES_MAX >> 20
                    ),
                });
            }
        };
        Ok(Settings {
            listen: self.listen,
            in_flight_max: usize::try_from(self.in_flight).unwrap_or(usize::MAX),
            body_bytes_max,
            bodies_bytes_max: body_bytes_max.saturating_mul(LARGE_BODIES),
            drain: Duration::from_secs(self.drain),
            listener,
            run: RunSettings {
                policy: self.policy.clone(),
                search_path: self.path.clone(),
                output_bytes_max: self.output_max,
                busy_timeouts: match self.busy_timeouts {
                    Busy::Retry => BusyTimeouts::Retry,
                    Busy::Count => BusyTimeouts::Count,
                },
            },
        })
    }
}
