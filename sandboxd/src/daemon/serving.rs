//! The daemon once it has no privileges: it puts the API together, serves, and ends in order.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use audit::{Draft, Event, Source};
use policies::{Catalog, RequestedLimits};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use super::connections::Connections;
use super::metrics_listener::Scrape;
use super::proving::{Grounds, Proving};
use super::servers::{self, listener};
use super::{Prepared, processes::Processes};
use crate::audit_client::log_reader::LogReader;
use crate::audit_client::{AuditClient, AuditError};
use crate::config::Config;
use crate::grpc::auth::Gate;
use crate::grpc::desk::{Desk, DeskParts};
use crate::grpc::node::{NodeFacts, NodeService};
use crate::grpc::{Api, AuditService, PoliciesService, ReflectionError, RunsService};
use crate::metrics::Metrics;
use crate::policy_set::{PolicySet, PolicySetError, Ready};
use crate::run::admission::AdmissionLimits;
use crate::run::launcher_link::{LauncherLink, LinkError};
use crate::run::{BUILDER_POLICY, Engine, EngineParts, JudgeSandbox, RetryLimits};
use crate::self_test::ProveError;
use crate::store::{Retention, Store, StoreError, unix_ms};
use crate::telemetry::chain;

/// How long the last results may take to be kept once their runs are over.
const RESULTS_END_MAX: Duration = Duration::from_secs(5);
/// How long open calls may take to end once every run is over.
const CALLS_END_MAX: Duration = Duration::from_secs(2);
/// How long the launcher may take to clean up and end.
const LAUNCHER_END_MAX: Duration = Duration::from_secs(10);
/// The built-in policy that the judge of test code runs under.
const JUDGE_POLICY: &str = "python";

/// Why the daemon does not serve, or stopped by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The audit process does not take records.
    #[error("the audit writer")]
    Audit(#[source] AuditError),
    /// The launcher does not greet.
    #[error("the launcher")]
    Launcher(#[source] LinkError),
    /// The policies are wrong.
    #[error("the policies")]
    Policies(#[source] PolicySetError),
    /// The judge has no policy.
    #[error("a built-in policy cannot be used for the judge: {reason}")]
    Judge {
        /// Why.
        reason: String,
    },
    /// Results cannot be kept.
    #[error("the result store")]
    Store(#[source] StoreError),
    /// Reflection cannot be had.
    #[error("the services")]
    Reflection(#[source] ReflectionError),
    /// A listener failed.
    #[error("{what}")]
    Listener {
        /// Which.
        what: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The transport failed.
    #[error("the transport")]
    Transport(#[source] tonic::transport::Error),
    /// Confinement does not hold here.
    #[error(
        "the self-test of this host failed: {trouble}; nothing is served. `rollcage doctor \
         --self-test` shows every probe; put the host right, or install the programs anew"
    )]
    Unproven {
        /// What is wrong.
        trouble: String,
    },
    /// There is no self-test, or its outcome is not recorded.
    #[error("test before serving")]
    Unproved(#[source] ProveError),
    /// A process of this daemon is gone; it cannot go on without.
    #[error("the {process} is gone")]
    Gone {
        /// Which.
        process: &'static str,
    },
}

/// Why the daemon stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It was told to, by a signal.
    Told,
    /// Who started it, and whoever came meanwhile, has no more work.
    Unused,
    /// A process of its own is gone.
    Gone(&'static str),
    /// Confinement does not hold here.
    Unproven,
}

/// What serves.
struct House {
    config: Config,
    audit: AuditClient,
    link: LauncherLink,
    engine: Engine,
    desk: Desk,
    proving: Proving,
    draining: Arc<AtomicBool>,
}

/// What tells the servers to end, they themselves, and what says whether they serve.
type Servers = (
    CancellationToken,
    JoinSet<Result<(), ServeError>>,
    HealthReporter,
);

/// Serves until told to stop, then ends in order.
pub(super) async fn serve(prepared: Prepared) -> Result<(), ServeError> {
    let Prepared {
        config,
        options,
        node,
        started_by,
        processes,
        listeners,
        ready,
        results_path,
        proof_path,
        _lock,
    } = prepared;
    let Processes {
        audit_writer,
        audit,
        launcher,
        launcher_link,
        programs_sha256,
        inherited,
    } = processes;
    let audit = AuditClient::connect(audit)
        .await
        .map_err(ServeError::Audit)?;
    let link = LauncherLink::connect(launcher_link)
        .await
        .map_err(ServeError::Launcher)?;
    let judge = judge_policy(JUDGE_POLICY)?;
    let parts = (link.clone(), audit.clone(), &judge);
    let engine = engine(&config, parts)?;
    let metrics = Arc::new(Metrics::new());
    let desk = desk(&config, &engine, &metrics, node, &results_path)?;
    let grounds = Grounds::new(&config, (programs_sha256, inherited), proof_path);
    let proving = Proving::new(grounds, &engine, &audit, judge, &desk);
    let house = House {
        config,
        audit,
        link,
        engine,
        desk,
        proving,
        draining: Arc::new(AtomicBool::new(false)),
    };
    let api = house.api(started_by, &metrics);
    let (routes, health) = api.routes().await.map_err(ServeError::Reflection)?;
    let scrape = Scrape {
        metrics,
        engine: house.engine.clone(),
        desk: house.desk.clone(),
    };
    let mut signals = Signals::new()?;
    let first = house.record(started(&house)).await;
    first.map_err(ServeError::Audit)?;
    let stopping = CancellationToken::new();
    if let Some((stop, told)) = house.prove(&mut signals, options.diagnose).await? {
        let servers = (stopping, JoinSet::new(), health);
        let ended = house.end(stop, servers, (launcher, audit_writer));
        return ended.await.and(told);
    }
    let connections = Connections::new();
    let mut servers = servers::start(listeners, routes, scrape, &stopping, &connections)?;
    tell_ready(ready, &house.config)?;
    let unused = connections.unused(options.embedded);
    let stop = house.wait(signals, unused, &mut servers).await?;
    let servers = (stopping, servers, health);
    house.end(stop, servers, (launcher, audit_writer)).await
}

fn facts(link: &LauncherLink) -> NodeFacts {
    NodeFacts {
        host: link.host().clone(),
        image_sha256: link.image_sha256().to_owned(),
        started_unix_ms: unix_ms(),
    }
}

fn desk(
    config: &Config,
    engine: &Engine,
    metrics: &Arc<Metrics>,
    node: String,
    results_path: &Path,
) -> Result<Desk, ServeError> {
    let policies = PolicySet::load(&config.policies_dir).map_err(ServeError::Policies)?;
    let retention = Retention {
        keep_ms: config.results.keep_ms,
        entries_max: config.results.entries_max,
        bytes_max: config.results.bytes_max,
    };
    let store = Store::open(results_path, retention, unix_ms()).map_err(ServeError::Store)?;
    Ok(Desk::new(DeskParts {
        runner: Arc::new(engine.clone()),
        store,
        policies,
        metrics: Arc::clone(metrics),
        node,
    }))
}

/// The built-in policy, also where the site has another of that name: the judge is ours.
fn judge_policy(name: &str) -> Result<Ready, ServeError> {
    let unusable = |reason: String| ServeError::Judge {
        reason: format!("{name}: {reason}"),
    };
    let catalog = Catalog::builtin().map_err(|error| unusable(error.to_string()))?;
    let entry = catalog
        .get(name)
        .ok_or_else(|| unusable("it is missing".to_owned()))?;
    Ok(Ready::new(entry.policy.clone()))
}

fn engine(
    config: &Config,
    (link, audit, judge): (LauncherLink, AuditClient, &Ready),
) -> Result<Engine, ServeError> {
    let mut admission = AdmissionLimits::for_cpus(link.host().cpus);
    if config.runs.sandboxes_max > 0 {
        admission.live_max = u32::from(config.runs.sandboxes_max);
    }
    admission.queued_max = usize::try_from(config.runs.queue_len_max).unwrap_or(usize::MAX);
    Ok(Engine::new(EngineParts {
        link,
        audit: Arc::new(audit),
        admission,
        retries: RetryLimits {
            infra_max: config.runs.infra_retries_max,
            alone_max: config.runs.alone_reruns_max,
        },
        judge: judge_sandbox(judge)?,
        builder: judge_sandbox(&judge_policy(BUILDER_POLICY)?)?,
        unpinned_images: config.host_image.accept_unpinned,
    }))
}

fn judge_sandbox(of: &Ready) -> Result<JudgeSandbox, ServeError> {
    let limits = of
        .policy
        .effective_limits(&RequestedLimits::default())
        .map_err(|error| ServeError::Judge {
            reason: error.to_string(),
        })?;
    Ok(JudgeSandbox {
        policy: Arc::clone(&of.policy),
        limits,
    })
}

fn started(house: &House) -> Draft {
    let host = house.link.host();
    let policies = house.desk.policies();
    let digests: serde_json::Map<String, serde_json::Value> = policies
        .catalog()
        .names()
        .filter_map(|name| policies.get(name).map(|ready| (name, ready)))
        .map(|(name, ready)| (name.to_owned(), ready.sha256.as_str().into()))
        .collect();
    Draft::new(Event::DaemonStarted, Source::Api)
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("kernel", host.kernel_release.as_str())
        .with("mode", format!("{:?}", host.mode).to_lowercase())
        .with("host_image_sha256", house.link.image_sha256())
        .with("policies_sha256", digests)
        .with("self_test_at_start", house.config.self_test.at_start)
}

fn tell_ready(ready: Option<std::fs::File>, config: &Config) -> Result<(), ServeError> {
    let socket = config.socket.display();
    tracing::info!(%socket, "serving");
    if let Some(mut ready) = ready {
        writeln!(ready, "ready {socket}").map_err(listener("tell that we are ready"))?;
    }
    Ok(())
}

struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
}

impl Signals {
    fn new() -> Result<Self, ServeError> {
        let on = |kind| signal(kind).map_err(listener("listen for signals"));
        Ok(Self {
            term: on(SignalKind::terminate())?,
            int: on(SignalKind::interrupt())?,
            hup: on(SignalKind::hangup())?,
        })
    }
}

impl House {
    fn api(&self, started_by: u32, metrics: &Arc<Metrics>) -> Api {
        let (config, desk) = (&self.config, &self.desk);
        let in_flight = usize::try_from(config.runs.batch_in_flight_max).unwrap_or(usize::MAX);
        let log = LogReader::new(&config.state_dir);
        Api {
            gate: Gate::new(&config.principals, started_by),
            runs: RunsService::new(desk.clone(), in_flight),
            policies: PoliciesService::new(desk.clone()),
            audit: AuditService::new(self.audit.clone(), log),
            node: NodeService::new(
                desk.clone(),
                Arc::new(facts(&self.link)),
                Arc::new(self.engine.clone()),
                Arc::clone(metrics),
                Arc::clone(&self.draining),
                Arc::new(self.proving.clone()),
            ),
        }
    }

    async fn record(&self, draft: Draft) -> Result<(), AuditError> {
        self.audit.append(draft).await.map(drop)
    }

    /// Shows that confinement holds here, before anything is served. Gives why and how to end if
    /// it does not, or if somebody says so meanwhile.
    async fn prove(
        &self,
        signals: &mut Signals,
        diagnose: bool,
    ) -> Result<Option<(Stop, Result<(), ServeError>)>, ServeError> {
        if !self.config.self_test.at_start {
            tracing::warn!(
                "self_test.at_start is false: nothing shows that confinement holds on this host, \
                 and manifests carry no proof"
            );
            return Ok(None);
        }
        let trouble = tokio::select! {
            proved = self.proving.before_serving() => proved.map_err(ServeError::Unproved)?,
            _ = signals.term.recv() => return Ok(Some((Stop::Told, Ok(())))),
            _ = signals.int.recv() => return Ok(Some((Stop::Told, Ok(())))),
        };
        match trouble {
            None => Ok(None),
            Some(trouble) if diagnose => {
                self.engine.refuse_all(trouble);
                Ok(None)
            }
            Some(trouble) => Ok(Some((
                Stop::Unproven,
                Err(ServeError::Unproven { trouble }),
            ))),
        }
    }

    /// Waits for a reason to stop.
    async fn wait(
        &self,
        mut signals: Signals,
        unused: impl Future<Output = ()>,
        servers: &mut JoinSet<Result<(), ServeError>>,
    ) -> Result<Stop, ServeError> {
        tokio::pin!(unused);
        loop {
            tokio::select! {
                _ = signals.term.recv() => return Ok(Stop::Told),
                _ = signals.int.recv() => return Ok(Stop::Told),
                _ = signals.hup.recv() => tokio::select! {
                    () = self.reload_policies() => {}
                    _ = signals.term.recv() => return Ok(Stop::Told),
                    _ = signals.int.recv() => return Ok(Stop::Told),
                },
                () = &mut unused => return Ok(Stop::Unused),
                () = self.link.gone() => return Ok(Stop::Gone("launcher")),
                () = audit_gone(&self.audit) => return Ok(Stop::Gone("audit writer")),
                Some(Ok(Err(error))) = servers.join_next() => return Err(error),
            }
        }
    }

    /// Puts the policies of the folder in force, if all of them are right.
    async fn reload_policies(&self) {
        let draft = Draft::new(Event::PolicyReloaded, Source::Api);
        let put_in_force = self.proving.reload(&self.config.policies_dir).await;
        let draft = match put_in_force {
            Ok(names) => {
                tracing::info!(policies = names.join(", "), "policies reloaded");
                draft.with("loaded", true).with("policies", names)
            }
            Err(error) => {
                let reason = chain(&error);
                tracing::error!(
                    reason,
                    "policies not reloaded; the ones before stay in force"
                );
                let reason = audit::text::untrusted(reason.as_bytes(), 1024);
                draft.with("loaded", false).with("reason", reason)
            }
        };
        if let Err(error) = self.record(draft).await {
            tracing::error!(%error, "the reload of policies is not in the audit log");
        }
    }

    /// Lets runs end, closes the API, ends the other processes, signs the log.
    async fn end(
        self,
        stop: Stop,
        (stopping, mut servers, health): Servers,
        (launcher, audit_writer): (Child, Child),
    ) -> Result<(), ServeError> {
        tracing::info!(?stop, "stopping");
        self.draining.store(true, Ordering::Relaxed);
        health
            .set_service_status("", ServingStatus::NotServing)
            .await;
        let grace = match stop {
            Stop::Told => Duration::from_millis(self.config.drain_ms),
            Stop::Unused | Stop::Gone(_) | Stop::Unproven => Duration::ZERO,
        };
        if !self.engine.drain(grace).await {
            tracing::error!("some runs did not end in time and are given up on");
        }
        let finished = tokio::time::timeout(RESULTS_END_MAX, self.desk.finished());
        if finished.await.is_err() {
            tracing::error!("some results are not kept");
        }
        stopping.cancel();
        let closed = async { while servers.join_next().await.is_some() {} };
        if tokio::time::timeout(CALLS_END_MAX, closed).await.is_err() {
            tracing::debug!("some calls were still open");
        }
        servers.abort_all();
        if let Err(error) = self.link.stop().await
            && stop != Stop::Gone("launcher")
        {
            tracing::error!(%error, "the launcher cannot be told to stop");
        }
        wait_for("launcher", launcher).await;
        let stopped =
            Draft::new(Event::DaemonStopped, Source::Api).with("why", format!("{stop:?}"));
        if let Err(error) = self.record(stopped).await {
            tracing::error!(%error, "the end of the daemon is not in the audit log");
        }
        self.audit.close().await;
        wait_for("audit writer", audit_writer).await;
        match stop {
            Stop::Told | Stop::Unused | Stop::Unproven => Ok(()),
            Stop::Gone(process) => Err(ServeError::Gone { process }),
        }
    }
}

async fn audit_gone(audit: &AuditClient) {
    let mut head = audit.head();
    while head.changed().await.is_ok() {}
}

async fn wait_for(process: &'static str, mut child: Child) {
    let waiting = tokio::task::spawn_blocking(move || child.wait());
    match tokio::time::timeout(LAUNCHER_END_MAX, waiting).await {
        Ok(Ok(Ok(status))) if ExitStatus::success(&status) => {}
        Ok(Ok(Ok(status))) => tracing::error!(process, %status, "ended with an error"),
        Ok(Ok(Err(error))) => tracing::error!(process, %error, "cannot be waited for"),
        Ok(Err(error)) => tracing::error!(process, %error, "cannot be waited for"),
        Err(_elapsed) => tracing::error!(process, "does not end; it is left alone"),
    }
}
