//! The API: gRPC services, who may call them, and the conversion of their messages.
//!
//! [`Api`] puts the services together; a listener (unix socket, TCP) serves them. Every service but
//! `grpc.health.v1` stands behind the [`auth::Gate`].

mod audit;
pub mod auth;
pub mod convert;
pub mod desk;
pub mod node;
mod policies;
mod runs;
mod self_test;
pub mod status;
#[cfg(test)]
mod tests;

use tonic::service::Routes;
use tonic::service::interceptor::InterceptedService;
use tonic_health::server::HealthReporter;

pub use audit::AuditService;
pub use policies::PoliciesService;
pub use runs::RunsService;
pub use self_test::Prover;

use auth::Gate;
use node::NodeService;

/// Longest message in bytes. Files alone may have 64 MiB; their names and the rest come on top.
pub const MESSAGE_BYTES_MAX: usize = 72 << 20;

/// Server side of the services, generated.
#[expect(
    unused_qualifications,
    clippy::all,
    clippy::too_many_lines,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; documented in the .proto files"
)]
pub mod stubs {
    tonic::include_proto!("rollcage.v1");
}

/// All services.
#[derive(Debug, Clone)]
pub struct Api {
    /// Who may call.
    pub gate: Gate,
    /// `Runs`.
    pub runs: RunsService,
    /// `Policies`.
    pub policies: PoliciesService,
    /// `Audit`.
    pub audit: AuditService,
    /// `Node`.
    pub node: NodeService,
}

/// Why the API cannot be put together.
#[derive(Debug, thiserror::Error)]
#[error("describe the services for reflection")]
pub struct ReflectionError(#[source] tonic_reflection::server::Error);

impl Api {
    /// The services as routes, with health and reflection. All services are told as serving.
    ///
    /// # Errors
    /// The descriptors of the services are not valid.
    pub async fn routes(self) -> Result<(Routes, HealthReporter), ReflectionError> {
        let runs = stubs::runs_server::RunsServer::new(self.runs)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let policies = stubs::policies_server::PoliciesServer::new(self.policies);
        let audit = stubs::audit_server::AuditServer::new(self.audit);
        let node = stubs::node_server::NodeServer::new(self.node);
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()
            .map_err(ReflectionError)?;
        let (health, health_service) = tonic_health::server::health_reporter();
        health
            .set_serving::<stubs::runs_server::RunsServer<RunsService>>()
            .await;
        health
            .set_serving::<stubs::policies_server::PoliciesServer<PoliciesService>>()
            .await;
        health
            .set_serving::<stubs::audit_server::AuditServer<AuditService>>()
            .await;
        health
            .set_serving::<stubs::node_server::NodeServer<NodeService>>()
            .await;
        let gate = self.gate;
        let routes = Routes::new(health_service)
            .add_service(InterceptedService::new(runs, gate.clone()))
            .add_service(InterceptedService::new(policies, gate.clone()))
            .add_service(InterceptedService::new(audit, gate.clone()))
            .add_service(InterceptedService::new(node, gate.clone()))
            .add_service(InterceptedService::new(reflection, gate));
        Ok((routes, health))
    }
}
