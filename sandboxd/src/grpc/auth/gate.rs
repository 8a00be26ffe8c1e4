//! From the credentials of a connection to a session: the interceptor before every service.
//!
//! Unix socket: the peer's uid, from the kernel. TCP: a client certificate that the authority
//! signed, else a bearer token. A connection has no other way to say who it is.

use std::sync::Arc;

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use sha2::{Digest, Sha256};
use tonic::service::Interceptor;
use tonic::transport::server::{TcpConnectInfo, TlsConnectInfo, UdsConnectInfo};
use tonic::{Code, Request, Status};

use super::Session;
use crate::config::{Names, PrincipalConfig, Role};
use crate::grpc::status::ApiError;
use crate::run::request::Caller;

/// Tenant of those that need no entry in the configuration.
const DEFAULT_TENANT: &str = "default";

/// Credentials as they came in.
#[derive(Debug, Clone, Default)]
pub struct Peer {
    /// Uid on a unix socket.
    pub uid: Option<u32>,
    /// Client certificate (DER), already verified against the authority.
    pub certificate: Option<Vec<u8>>,
    /// Bearer token.
    pub token: Option<String>,
}

/// Lets known principals in.
#[derive(Debug, Clone)]
pub struct Gate {
    principals: Arc<Vec<(PrincipalConfig, Arc<Session>)>>,
    /// Uids that are admins without an entry: root and whoever started the daemon.
    own_uids: Arc<Vec<u32>>,
}

impl Gate {
    /// A gate for these principals. `started_by` is the uid that started the daemon.
    #[must_use]
    pub fn new(principals: &[PrincipalConfig], started_by: u32) -> Self {
        let principals = principals
            .iter()
            .map(|config| (config.clone(), Arc::new(session(config))))
            .collect();
        Self {
            principals: Arc::new(principals),
            own_uids: Arc::new(vec![0, started_by]),
        }
    }

    /// Who that is.
    ///
    /// # Errors
    /// UNAUTHENTICATED, saying which credential was not known and what to configure.
    pub fn identify(&self, peer: &Peer) -> Result<Arc<Session>, ApiError> {
        let known = |matches: &dyn Fn(&PrincipalConfig) -> bool| {
            self.principals
                .iter()
                .find(|(config, _)| matches(config))
                .map(|(_, session)| Arc::clone(session))
        };
        if let Some(uid) = peer.uid {
            return known(&|config| config.uid == Some(uid))
                .or_else(|| {
                    self.own_uids
                        .contains(&uid)
                        .then(|| Arc::new(own_session(uid)))
                })
                .ok_or_else(|| {
                    unknown(
                        &format!("uid {uid}"),
                        &format!("add a [[principal]] with uid = {uid}"),
                    )
                });
        }
        if let Some(certificate) = &peer.certificate {
            let digest = hex::encode(Sha256::digest(certificate));
            return known(&|config| config.certificate_sha256.as_deref() == Some(&digest))
                .or_else(|| {
                    known(&|config| {
                        config
                            .certificate_name
                            .as_ref()
                            .is_some_and(|name| has_name(certificate, name))
                    })
                })
                .ok_or_else(|| {
                    let fix = format!("add a [[principal]] with certificate_sha256 = \"{digest}\"");
                    unknown("this client certificate", &fix)
                });
        }
        if let Some(token) = &peer.token {
            // Only digests are compared, so that the time it takes tells nothing of a token.
            let digest = hex::encode(Sha256::digest(token));
            return known(&|config| config.token_sha256.as_deref() == Some(&digest)).ok_or_else(
                || {
                    unknown(
                        "this bearer token",
                        "add a [[principal]] with its token_sha256",
                    )
                },
            );
        }
        let fix = "send a client certificate, or `authorization: Bearer TOKEN`";
        Err(unknown("a caller without credentials", fix))
    }
}

impl Interceptor for Gate {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let session = self.identify(&peer(&request))?;
        request.extensions_mut().insert(session);
        Ok(request)
    }
}

fn peer(request: &Request<()>) -> Peer {
    let extensions = request.extensions();
    if let Some(local) = extensions.get::<UdsConnectInfo>() {
        return Peer {
            uid: local.peer_cred.map(|credentials| credentials.uid()),
            ..Peer::default()
        };
    }
    let certificate = extensions
        .get::<TlsConnectInfo<TcpConnectInfo>>()
        .and_then(TlsConnectInfo::peer_certs)
        .and_then(|chain| chain.first().map(|first| first.as_ref().to_vec()));
    let token = request
        .metadata()
        .get("authorization")
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .map(str::to_owned);
    Peer {
        uid: None,
        certificate,
        token,
    }
}

fn has_name(certificate: &[u8], name: &str) -> bool {
    let Ok(name) = ServerName::try_from(name.to_owned()) else {
        return false;
    };
    let der = CertificateDer::from(certificate);
    ParsedCertificate::try_from(&der).is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok())
}

fn session(config: &PrincipalConfig) -> Session {
    let names = |names: &Option<_>| names.clone().map_or(Names::All, Names::Only);
    Session {
        caller: Caller {
            principal: config.name.clone(),
            tenant: config.tenant.clone(),
        },
        roles: config.roles.iter().copied().collect(),
        policies: names(&config.policies),
        images: names(&config.images),
        runs_max: config.runs_max,
    }
}

fn own_session(uid: u32) -> Session {
    Session {
        caller: Caller {
            principal: format!("uid:{uid}"),
            tenant: DEFAULT_TENANT.to_owned(),
        },
        roles: Role::ALL.to_vec(),
        policies: Names::All,
        images: Names::All,
        runs_max: None,
    }
}

fn unknown(who: &str, fix: &str) -> ApiError {
    let message =
        format!("{who} is not a known principal; an operator can {fix} to the configuration");
    ApiError::new(Code::Unauthenticated, "UNKNOWN_PRINCIPAL", message)
}
