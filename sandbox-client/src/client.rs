//! A connection to a daemon, with one method per call the rest of this crate makes.
//! It knows gRPC and nothing of terminals, files or exit codes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity, Uri};
use tonic::{Request, Status};

use crate::endpoint::{Credentials, Endpoint};
use crate::error::ClientError;
use crate::pb;
use crate::stubs;

/// The largest message either way, as the contract says.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// A daemon that does not accept a connection within this time does not answer.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

type Transport = InterceptedService<Channel, Bearer>;

/// A connection to a daemon; cheap to clone, safe to use at once from many tasks.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
}

/// Adds the token to every call.
#[derive(Clone)]
struct Bearer(Option<Arc<tonic::metadata::AsciiMetadataValue>>);

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Bearer").field(&self.0.is_some()).finish()
    }
}

impl tonic::service::Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", value.as_ref().clone());
        }
        Ok(request)
    }
}

macro_rules! service {
    ($name:ident, $stub:ident, $module:ident) => {
        fn $name(&self) -> stubs::$module::$stub<Transport> {
            stubs::$module::$stub::new(self.transport.clone())
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        }
    };
}

impl Client {
    /// Connects, and fails where nothing listens.
    ///
    /// # Errors
    /// No daemon there, or credentials that cannot be used.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, ClientError> {
        match endpoint {
            Endpoint::Unix(path) => Self::connect_unix(path).await,
            Endpoint::Https { uri, credentials } => Self::connect_https(uri, credentials).await,
        }
    }

    async fn connect_unix(path: &Path) -> Result<Self, ClientError> {
        let socket = Arc::new(path.to_owned());
        let connector = tower::service_fn(move |_: Uri| {
            let socket = Arc::clone(&socket);
            async move {
                UnixStream::connect(socket.as_path())
                    .await
                    .map(TokioIo::new)
            }
        });
        // The authority is never looked up: the connector goes to the socket.
        let channel = tonic::transport::Endpoint::from_static("http://rollcage")
            .connect_timeout(CONNECT_DEADLINE)
            .connect_with_connector(connector)
            .await
            .map_err(|source| ClientError::Connect {
                endpoint: format!("unix://{}", path.display()),
                source,
            })?;
        Ok(Self {
            transport: InterceptedService::new(channel, Bearer(None)),
        })
    }

    async fn connect_https(uri: &str, credentials: &Credentials) -> Result<Self, ClientError> {
        let connect = |source| ClientError::Connect {
            endpoint: uri.to_owned(),
            source,
        };
        let mut tls = ClientTlsConfig::new();
        if let Some(pem) = &credentials.ca_pem {
            tls = tls.ca_certificate(Certificate::from_pem(pem));
        }
        if let Some((certificate, key)) = &credentials.identity_pem {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        let bearer = match &credentials.token {
            Some(token) => Some(format!("Bearer {token}").parse().map_err(
                |source: tonic::metadata::errors::InvalidMetadataValue| ClientError::Credentials {
                    what: "the token",
                    endpoint: uri.to_owned(),
                    source: source.into(),
                },
            )?),
            None => None,
        };
        let channel = tonic::transport::Endpoint::from_shared(uri.to_owned())
            .map_err(connect)?
            .tls_config(tls)
            .map_err(|source| ClientError::Credentials {
                what: "the TLS certificates",
                endpoint: uri.to_owned(),
                source: source.into(),
            })?
            .connect_timeout(CONNECT_DEADLINE)
            .connect()
            .await
            .map_err(connect)?;
        Ok(Self {
            transport: InterceptedService::new(channel, Bearer(bearer.map(Arc::new))),
        })
    }

    service!(runs, RunsClient, runs_client);
    service!(policies_service, PoliciesClient, policies_client);
    service!(audit_service, AuditClient, audit_client);
    service!(node_service, NodeClient, node_client);

    /// Runs one program and waits for its result.
    ///
    /// # Errors
    /// A refusal or a fault; what the program did is in the result.
    pub async fn run(&self, request: pb::RunRequest) -> Result<pb::RunResult, ClientError> {
        Ok(self.runs().run(request).await?.into_inner())
    }

    /// Runs one program with its output as it comes. Dropping the stream cancels the run.
    ///
    /// # Errors
    /// A refusal or a fault, at once or as an item.
    pub async fn stream(
        &self,
        request: pb::RunRequest,
    ) -> Result<impl Stream<Item = Result<pb::RunEvent, ClientError>> + use<>, ClientError> {
        let events = self.runs().stream(request).await?.into_inner();
        Ok(events.map(|event| event.map_err(ClientError::from)))
    }

    /// Runs many programs; results come as they finish, matched by `id`. An item that was refused
    /// comes as a result with `error`.
    ///
    /// # Errors
    /// A fault of the whole stream, at once or as an item.
    pub async fn run_batch<S>(
        &self,
        requests: S,
    ) -> Result<impl Stream<Item = Result<pb::RunResult, ClientError>> + use<S>, ClientError>
    where
        S: Stream<Item = pb::RunRequest> + Send + 'static,
    {
        let results = self.runs().run_batch(requests).await?.into_inner();
        Ok(results.map(|result| result.map_err(ClientError::from)))
    }

    /// Ends a run.
    ///
    /// # Errors
    /// No such run of ours, or a fault.
    pub async fn cancel(&self, run_id: &str) -> Result<pb::RunState, ClientError> {
        let request = pb::CancelRequest {
            run_id: run_id.to_owned(),
        };
        Ok(self.runs().cancel(request).await?.into_inner().state())
    }

    /// One run, with its result if it has finished.
    ///
    /// # Errors
    /// No such run of ours, or a fault.
    pub async fn get_run(&self, run_id: &str) -> Result<pb::RunRecord, ClientError> {
        let request = pb::GetRunRequest {
            run_id: run_id.to_owned(),
        };
        Ok(self.runs().get(request).await?.into_inner())
    }

    /// One page of our runs, latest first.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn list_runs(
        &self,
        request: pb::ListRunsRequest,
    ) -> Result<pb::ListRunsReply, ClientError> {
        Ok(self.runs().list(request).await?.into_inner())
    }

    /// The policies we may use.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn list_policies(&self) -> Result<Vec<pb::PolicySummary>, ClientError> {
        let request = pb::ListPoliciesRequest {};
        Ok(self
            .policies_service()
            .list(request)
            .await?
            .into_inner()
            .policies)
    }

    /// One policy's document.
    ///
    /// # Errors
    /// No such policy for us, or a fault.
    pub async fn get_policy(&self, name: &str) -> Result<pb::PolicyDocument, ClientError> {
        let request = pb::GetPolicyRequest {
            name: name.to_owned(),
        };
        Ok(self.policies_service().get(request).await?.into_inner())
    }

    /// What a policy means on the daemon's host.
    ///
    /// # Errors
    /// A policy that does not resolve, or a fault.
    pub async fn explain_policy(
        &self,
        policy: pb::PolicyRef,
    ) -> Result<pb::ExplainPolicyReply, ClientError> {
        let request = pb::ExplainPolicyRequest {
            policy: Some(policy),
        };
        Ok(self.policies_service().explain(request).await?.into_inner())
    }

    /// What differs between two policies.
    ///
    /// # Errors
    /// A policy that does not resolve, or a fault.
    pub async fn diff_policies(
        &self,
        before: pb::PolicyRef,
        after: pb::PolicyRef,
    ) -> Result<pb::DiffPoliciesReply, ClientError> {
        let request = pb::DiffPoliciesRequest {
            before: Some(before),
            after: Some(after),
        };
        Ok(self.policies_service().diff(request).await?.into_inner())
    }

    /// Records that are in the audit log.
    ///
    /// # Errors
    /// A refusal or a fault, at once or as an item.
    pub async fn query_audit(
        &self,
        request: pb::AuditQueryRequest,
    ) -> Result<impl Stream<Item = Result<pb::AuditRecord, ClientError>> + use<>, ClientError> {
        let records = self.audit_service().query(request).await?.into_inner();
        Ok(records.map(|record| record.map_err(ClientError::from)))
    }

    /// Records of the audit log as they are written.
    ///
    /// # Errors
    /// A refusal or a fault, at once or as an item.
    pub async fn tail_audit(
        &self,
        from_seq: Option<u64>,
    ) -> Result<impl Stream<Item = Result<pb::AuditRecord, ClientError>> + use<>, ClientError> {
        let request = pb::AuditTailRequest { from_seq };
        let records = self.audit_service().tail(request).await?.into_inner();
        Ok(records.map(|record| record.map_err(ClientError::from)))
    }

    /// Lets the daemon check its audit log. Whoever doubts the daemon checks the files.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn verify_audit(&self) -> Result<pb::AuditVerifyReply, ClientError> {
        Ok(self
            .audit_service()
            .verify(pb::AuditVerifyRequest {})
            .await?
            .into_inner())
    }

    /// Signs the audit log as it stands.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn checkpoint_audit(&self) -> Result<pb::AuditCheckpointReply, ClientError> {
        Ok(self
            .audit_service()
            .checkpoint(pb::AuditCheckpointRequest {})
            .await?
            .into_inner())
    }

    /// What the daemon's host can enforce.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn capabilities(&self) -> Result<pb::CapabilitiesReply, ClientError> {
        Ok(self
            .node_service()
            .capabilities(pb::CapabilitiesRequest {})
            .await?
            .into_inner())
    }

    /// What the self-test of the daemon's host found.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn self_test(
        &self,
        request: pb::SelfTestRequest,
    ) -> Result<pb::SelfTestReply, ClientError> {
        Ok(self.node_service().self_test(request).await?.into_inner())
    }

    /// Load and health of the node.
    ///
    /// # Errors
    /// A refusal or a fault.
    pub async fn status(&self) -> Result<pb::StatusReply, ClientError> {
        Ok(self
            .node_service()
            .status(pb::StatusRequest {})
            .await?
            .into_inner())
    }
}
