//! Where callers come in: the unix socket, TCP with TLS if configured, and the metrics listener.
//! All are bound, and keys read, with the privileges of the start.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::unistd::Group;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use crate::config::{Config, TcpConfig};

/// Why a listener cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The unix socket cannot be bound.
    #[error("{act} {}", path.display())]
    Unix {
        /// What was tried.
        act: &'static str,
        /// The socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another daemon answers there.
    #[error(
        "{} is the socket of a running daemon; connect to that one, or give this one another --socket",
        path.display()
    )]
    InUse {
        /// The socket.
        path: PathBuf,
    },
    /// A TCP address cannot be bound.
    #[error("bind {address}")]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A certificate or key cannot be read.
    #[error("read {}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Everything that is listened on.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) unix: UnixListener,
    pub(super) tcp: Option<(TcpListener, ServerTlsConfig)>,
    pub(super) metrics: Option<MetricsListener>,
}

/// Where metrics are scraped.
#[derive(Debug)]
pub(super) enum MetricsListener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

pub(super) fn bind(config: &Config) -> Result<Listeners, ListenError> {
    let unix = bind_unix(&config.socket, &config.socket_group, 0o660)?;
    let tcp = config.tcp.as_ref().map(bind_tls).transpose()?;
    let metrics = match &config.metrics {
        None => None,
        Some(metrics) => match metrics.listen.strip_prefix("unix:") {
            Some(path) => {
                let listener = bind_unix(Path::new(path), &config.socket_group, 0o660)?;
                Some(MetricsListener::Unix(listener))
            }
            // The configuration was checked: what is no unix socket is an address.
            None => metrics
                .listen
                .parse()
                .ok()
                .map(|address| bind_tcp(address).map(MetricsListener::Tcp))
                .transpose()?,
        },
    };
    Ok(Listeners { unix, tcp, metrics })
}

fn bind_unix(path: &Path, group: &str, mode: u32) -> Result<UnixListener, ListenError> {
    let failed = |act| {
        let path = path.to_owned();
        move |source| ListenError::Unix { act, path, source }
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed("make the folder of"))?;
    }
    if path.exists() {
        // A socket nobody listens on was left by a daemon that was killed.
        if UnixStream::connect(path).is_ok() {
            return Err(ListenError::InUse {
                path: path.to_owned(),
            });
        }
        std::fs::remove_file(path).map_err(failed("remove the stale socket"))?;
    }
    let listener = UnixListener::bind(path).map_err(failed("bind"))?;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(failed("set the mode of"))?;
    let found =
        Group::from_name(group).map_err(|errno| failed("look up the group of")(errno.into()))?;
    if let Some(group) = found
        && nix::unistd::geteuid().is_root()
    {
        chown(path, None, Some(group.gid.as_raw())).map_err(failed("set the group of"))?;
    }
    listener.set_nonblocking(true).map_err(failed("prepare"))?;
    Ok(listener)
}

fn bind_tcp(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let failed = |source| ListenError::Tcp { address, source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn bind_tls(config: &TcpConfig) -> Result<(TcpListener, ServerTlsConfig), ListenError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|source| ListenError::Pem {
            path: path.to_owned(),
            source,
        })
    };
    let identity = Identity::from_pem(read(&config.cert)?, read(&config.key)?);
    let mut tls = ServerTlsConfig::new().identity(identity);
    if let Some(authority) = &config.client_ca {
        // Optional for the handshake, so that callers with a token can come too; who has neither
        // is turned away by the gate.
        tls = tls
            .client_ca_root(Certificate::from_pem(read(authority)?))
            .client_auth_optional(true);
    }
    Ok((bind_tcp(config.listen)?, tls))
}
