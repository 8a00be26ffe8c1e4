//! The HTTP side: connections, who may ask, how much at once, and answers with their HTTP status.
//!
//! Everything is bounded: connections, requests in flight, their bytes, and the time that a client
//! takes to send them.

mod connections;
mod keys;
mod routes;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::daemon::Daemon;
use crate::sandboxfusion::{Executor, Settings as RunSettings};

pub use keys::{Key, KeyFileError, read_keys};

/// Hears of every request that trouble left without an answer, for whoever operates the endpoint.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&str) + Send + Sync>);

impl Listener {
    /// One that does this with the words.
    #[must_use]
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn hear(&self, words: &str) {
        (self.0)(words);
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// How the endpoint serves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Requests in flight at most; more are told to come again.
    pub in_flight_max: usize,
    /// Bytes of one request at most.
    pub body_bytes_max: usize,
    /// Bytes of all requests in flight at most.
    pub bodies_bytes_max: usize,
    /// How long requests in flight may go on when the endpoint is told to end.
    pub drain: Duration,
    /// How requests are carried out.
    pub run: RunSettings,
    /// Who hears of trouble.
    pub listener: Listener,
}

/// Why the endpoint does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Whoever reaches the port could run programs.
    #[error(
        "listen on {listen}: without keys only loopback addresses are served; give a file of keys \
         (--keys), or listen on 127.0.0.1"
    )]
    OpenToAll {
        /// The address.
        listen: SocketAddr,
    },
    /// The port cannot be had.
    #[error("listen on {listen}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Who may ask, and what carries their requests out.
#[derive(Debug)]
pub(crate) enum Tenants {
    /// Everybody who reaches the port.
    Anybody(Arc<Executor>),
    /// The holders of keys.
    Keys(Vec<(Key, Arc<Executor>)>),
}

/// An endpoint whose port is taken and that does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
    tenants: Tenants,
}

impl Server {
    /// Takes the port, for everybody who reaches it: on loopback only.
    ///
    /// # Errors
    /// The port cannot be had, or is not on loopback.
    pub async fn for_loopback(
        settings: Settings,
        daemon: Arc<dyn Daemon>,
    ) -> Result<Self, ServeError> {
        let listen = settings.listen;
        if !listen.ip().is_loopback() {
            return Err(ServeError::OpenToAll { listen });
        }
        let executor = Executor::new(daemon, settings.run.clone(), None);
        Self::bind(settings, Tenants::Anybody(Arc::new(executor))).await
    }

    /// Takes the port, for the holders of keys, each with the daemon that runs its requests.
    ///
    /// # Errors
    /// The port cannot be had.
    pub async fn for_keys(
        settings: Settings,
        keys: Vec<(Key, Arc<dyn Daemon>)>,
    ) -> Result<Self, ServeError> {
        let tenant = |(key, daemon): (Key, Arc<dyn Daemon>)| {
            let run = RunSettings {
                policy: key.policy.clone().or_else(|| settings.run.policy.clone()),
                ..settings.run.clone()
            };
            let executor = Executor::new(daemon, run, Some(key.name.clone()));
            (key, Arc::new(executor))
        };
        let tenants = Tenants::Keys(keys.into_iter().map(tenant).collect());
        Self::bind(settings, tenants).await
    }

    async fn bind(settings: Settings, tenants: Tenants) -> Result<Self, ServeError> {
        let listen = settings.listen;
        let refused = |source| ServeError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self {
            listener,
            address,
            settings,
            tenants,
        })
    }

    /// Where it listens, with the port that was found if 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `end` comes; then requests in flight get their time to end.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let drain = self.settings.drain;
        let router = routes::router(self.tenants, &self.settings);
        connections::serve(self.listener, router, end, drain).await;
    }
}

/// Whether a name in a `Host` header means this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _port)| name),
        None => host.split_once(':').map_or(host, |(name, _port)| name),
    };
    let is_loopback = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}
