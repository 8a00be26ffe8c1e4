//! The `Node` service: what this host can do and how busy it is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use confine::host::HostFacts;
use proto::v1;
use tonic::{Code, Request, Response, Status};

use super::auth::{Rpc, TEST_ANEW, authorize};
use super::desk::{Desk, IMAGES};
use super::self_test::{self, Prover};
use super::status::ApiError;
use super::stubs::node_server::Node;
use crate::metrics::Metrics;
use crate::self_test::{ProveError, mode_name};
use crate::telemetry::chain;

/// What is known of this node.
#[derive(Debug, Clone)]
pub struct NodeFacts {
    /// The host, as the launcher sees it.
    pub host: HostFacts,
    /// Digest of the host image.
    pub image_sha256: String,
    /// When the daemon started, milliseconds since 1970.
    pub started_unix_ms: u64,
}

/// Tells how full the engine is: sandboxes live, sandboxes at most, runs queued.
pub trait Fullness: fmt::Debug + Send + Sync {
    /// Now.
    fn load(&self) -> crate::run::admission::Load;
}

impl Fullness for crate::run::Engine {
    fn load(&self) -> crate::run::admission::Load {
        Self::load(self)
    }
}

/// The service.
#[derive(Debug, Clone)]
pub struct NodeService {
    desk: Desk,
    facts: Arc<NodeFacts>,
    fullness: Arc<dyn Fullness>,
    metrics: Arc<Metrics>,
    draining: Arc<AtomicBool>,
    prover: Arc<dyn Prover>,
}

impl NodeService {
    /// The service. `draining` is set when the daemon is about to stop.
    #[must_use]
    pub fn new(
        desk: Desk,
        facts: Arc<NodeFacts>,
        fullness: Arc<dyn Fullness>,
        metrics: Arc<Metrics>,
        draining: Arc<AtomicBool>,
        prover: Arc<dyn Prover>,
    ) -> Self {
        Self {
            desk,
            facts,
            fullness,
            metrics,
            draining,
            prover,
        }
    }
}

/// Why a fresh self-test has no outcome.
fn unproved(error: &ProveError) -> ApiError {
    let reason = match error {
        ProveError::Unrecorded(_) => "AUDIT_UNAVAILABLE",
        ProveError::NotAnswered { .. } | ProveError::Task(_) => "SELF_TEST_NOT_RUN",
    };
    ApiError::new(Code::Unavailable, reason, chain(error))
}

#[tonic::async_trait]
impl Node for NodeService {
    async fn capabilities(
        &self,
        request: Request<v1::CapabilitiesRequest>,
    ) -> Result<Response<v1::CapabilitiesReply>, Status> {
        let session = authorize(request.extensions(), Rpc::NodeCapabilities)?;
        let host = &self.facts.host;
        let set = self.desk.policies();
        let names = self_test::asked(&[], &session, &set)?;
        let features = host.features.iter().map(|feature| v1::HostFeature {
            name: feature.name.clone(),
            available: feature.present,
            value: feature.found.clone(),
            why: feature.why.clone(),
            fix: feature.fix.clone(),
        });
        Ok(Response::new(v1::CapabilitiesReply {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: mode_name(host.mode).to_owned(),
            mode_reason: host.mode_reason.clone(),
            kernel: host.kernel_release.clone(),
            features: features.collect(),
            verify_kinds: verdict::verify::supported_kinds()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            images: IMAGES.map(str::to_owned).to_vec(),
            host_image_sha256: self.facts.image_sha256.clone(),
            self_test: Some(self_test::summary(&set, &names)),
        }))
    }

    async fn self_test(
        &self,
        request: Request<v1::SelfTestRequest>,
    ) -> Result<Response<v1::SelfTestReply>, Status> {
        let session = authorize(request.extensions(), Rpc::NodeSelfTest)?;
        let asked = request.get_ref();
        let names = self_test::asked(&asked.policies, &session, &self.desk.policies())?;
        if asked.fresh {
            if !session.has_any(TEST_ANEW) {
                let message = format!(
                    "{} may read the outcome of the self-test; to make a fresh one takes role admin",
                    session.caller.principal
                );
                return Err(ApiError::new(Code::PermissionDenied, "ROLE_MISSING", message).into());
            }
            let principal = session.caller.principal.clone();
            let proved = self
                .prover
                .prove_again(names.iter().cloned().collect(), principal);
            proved.await.map_err(|error| unproved(&error))?;
        }
        let set = self.desk.policies();
        let policies = names
            .iter()
            .map(|name| self_test::policy(name, &set.proof(name)));
        let host = &self.facts.host;
        Ok(Response::new(v1::SelfTestReply {
            mode: mode_name(host.mode).to_owned(),
            tier: v1::Tier::Container.into(),
            kernel: host.kernel_release.clone(),
            boot_id: self.prover.boot_id().to_owned(),
            at_start: self.prover.at_start(),
            policies: policies.collect(),
        }))
    }

    async fn status(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusReply>, Status> {
        let session = authorize(request.extensions(), Rpc::NodeStatus)?;
        let load = self.fullness.load();
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let policies = self.desk.policies();
        let names = policies
            .catalog()
            .names()
            .filter(|name| session.policies.contains(name));
        Ok(Response::new(v1::StatusReply {
            node: self.desk.node().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ms: self.facts.started_unix_ms,
            draining: self.draining.load(Ordering::Relaxed),
            runs_active: count(self.desk.active_len()),
            runs_queued: count(load.queued),
            sandboxes_live: u64::from(load.live),
            sandboxes_max: u64::from(load.live_max),
            runs_finished: self.metrics.runs_finished(),
            policies: names.map(str::to_owned).collect(),
        }))
    }
}
