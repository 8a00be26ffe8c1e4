//! Where a daemon listens: the written form (`unix:///path`, `https://host:port`) and the places
//! that are tried when nothing is written. Opens no connection.

use std::path::{Path, PathBuf};

/// The socket of a daemon that runs as a service.
pub const SERVICE_SOCKET: &str = "/run/rollcage/sandboxd.sock";

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A unix socket; the kernel tells the daemon who we are.
    Unix(PathBuf),
    /// TCP with TLS; a client certificate or a token tells the daemon who we are.
    Https {
        /// `https://host:port`.
        uri: String,
        /// Certificates and token.
        credentials: Credentials,
    },
}

/// What proves the two sides of a TCP connection to each other.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// PEM of the authority that signed the daemon's certificate.
    pub ca_pem: Option<Vec<u8>>,
    /// PEM of our certificate and of its key.
    pub identity_pem: Option<(Vec<u8>, Vec<u8>)>,
    /// Bearer token.
    pub token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("ca_pem", &self.ca_pem.is_some())
            .field("identity_pem", &self.identity_pem.is_some())
            .field("token", &self.token.is_some())
            .finish()
    }
}

/// A written endpoint that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// Neither form.
    #[error(
        "`{uri}` is no endpoint; write unix:///run/rollcage/sandboxd.sock or https://host:port"
    )]
    Form {
        /// What was written.
        uri: String,
    },
    /// Plain TCP would carry programs and tokens readable by others.
    #[error("`{uri}` has no TLS; write https://host:port and give --tls-ca, or use a unix socket")]
    PlainTcp {
        /// What was written.
        uri: String,
    },
    /// Nothing would tell us whether the daemon is the right one.
    #[error("`{uri}` needs --tls-ca, the certificate of the authority that signed the daemon's")]
    NoAuthority {
        /// What was written.
        uri: String,
    },
    /// Nothing would tell the daemon who we are.
    #[error("`{uri}` needs --tls-cert and --tls-key, or a token in --token-file")]
    NoIdentity {
        /// What was written.
        uri: String,
    },
}

impl Endpoint {
    /// Reads `unix:///path`, an absolute path, or `https://host:port`.
    ///
    /// # Errors
    /// Another form, TCP without TLS, or TCP without anything that says who the two sides are.
    pub fn parse(uri: &str, credentials: Credentials) -> Result<Self, EndpointError> {
        let path = uri.strip_prefix("unix://").unwrap_or(uri);
        if path.starts_with('/') {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        if uri.starts_with("http://") || uri.starts_with("tcp://") {
            return Err(EndpointError::PlainTcp {
                uri: uri.to_owned(),
            });
        }
        let Some(authority) = uri.strip_prefix("https://") else {
            return Err(EndpointError::Form {
                uri: uri.to_owned(),
            });
        };
        let authority = authority.trim_end_matches('/');
        let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if !has_port || authority.contains('/') {
            return Err(EndpointError::Form {
                uri: uri.to_owned(),
            });
        }
        if credentials.ca_pem.is_none() {
            return Err(EndpointError::NoAuthority {
                uri: uri.to_owned(),
            });
        }
        if credentials.identity_pem.is_none() && credentials.token.is_none() {
            return Err(EndpointError::NoIdentity {
                uri: uri.to_owned(),
            });
        }
        Ok(Self::Https {
            uri: format!("https://{authority}"),
            credentials,
        })
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Https { uri, .. } => f.write_str(uri),
        }
    }
}

/// The socket a daemon listens on when nothing is written: the service's for root, else the
/// user's own below `$XDG_RUNTIME_DIR` if that exists, else the service's.
#[must_use]
pub fn default_socket(is_root: bool, xdg_runtime_dir: Option<&Path>) -> PathBuf {
    match xdg_runtime_dir {
        Some(dir) if !is_root => {
            let own = dir.join("rollcage/sandboxd.sock");
            if own.exists() {
                own
            } else {
                PathBuf::from(SERVICE_SOCKET)
            }
        }
        _ => PathBuf::from(SERVICE_SOCKET),
    }
}

/// The state folder when nothing is written: `/var/lib/rollcage` for root, else the XDG one.
#[must_use]
pub fn default_state_dir(
    is_root: bool,
    xdg_state_home: Option<&Path>,
    home: Option<&Path>,
) -> PathBuf {
    if is_root {
        return PathBuf::from("/var/lib/rollcage");
    }
    match (xdg_state_home, home) {
        (Some(state), _) => state.join("rollcage"),
        (None, Some(home)) => home.join(".local/state/rollcage"),
        (None, None) => PathBuf::from("/var/lib/rollcage"),
    }
}

/// The socket that the holder of a state folder's lock wrote beside its pid, if any.
#[must_use]
pub fn socket_of_lock(lock_text: &str) -> Option<PathBuf> {
    let mut lines = lock_text.lines();
    let pid = lines.next()?.trim();
    let socket = lines.next()?.trim();
    (pid.parse::<u32>().is_ok() && socket.starts_with('/')).then(|| PathBuf::from(socket))
}

#[cfg(test)]
mod tests;
