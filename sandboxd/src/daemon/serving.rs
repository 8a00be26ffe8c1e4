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
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use super::connections::Connections;
use super::listeners::Listeners;
use super::metrics_listener::{self, Scrape};
use super::{Prepared, processes::Processes};
use crate::audit_client::log_reader::LogReader;
use crate::audit_client::{AuditClient, AuditError};
use crate::config::Config;
use crate::grpc::auth::Gate;
use crate::grpc::desk::{Desk, DeskParts};
use crate::grpc::node::{NodeFacts, NodeService};
use crate::grpc::{Api, AuditService, PoliciesService, ReflectionError, RunsService};
use crate::metrics::Metrics;
use crate::policy_set::{PolicySet, PolicySetError};
use crate::run::admission::AdmissionLimits;
use crate::run::launcher_link::{LauncherLink, LinkError};
use crate::run::{Engine, EngineParts, JudgeSandbox};
use crate::store::{Retention, Store, StoreError, unix_ms};

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
    #[error("the built-in policy {JUDGE_POLICY} cannot be used for the judge: {reason}")]
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
}

/// What serves.
struct House {
    config: Config,
    audit: AuditClient,
    link: LauncherLink,
    engine: Engine,
    desk: Desk,
    health: HealthReporter,
    draining: Arc<AtomicBool>,
}

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
        _lock,
    } = prepared;
    let Processes {
        audit_writer,
        audit,
        launcher,
        launcher_link,
    } = processes;
    let audit = AuditClient::connect(audit)
        .await
        .map_err(ServeError::Audit)?;
    let link = LauncherLink::connect(launcher_link)
        .await
        .map_err(ServeError::Launcher)?;
    let engine = engine(&config, link.clone(), audit.clone())?;
    let metrics = Arc::new(Metrics::new());
    let desk = desk(&config, &engine, &metrics, node, &results_path)?;
    let draining = Arc::new(AtomicBool::new(false));
    let in_flight = usize::try_from(config.runs.batch_in_flight_max).unwrap_or(usize::MAX);
    let api = Api {
        gate: Gate::new(&config.principals, started_by),
        runs: RunsService::new(desk.clone(), in_flight),
        policies: PoliciesService::new(desk.clone()),
        audit: AuditService::new(audit.clone(), LogReader::new(&config.state_dir)),
        node: NodeService::new(
            desk.clone(),
            Arc::new(facts(&link)),
            Arc::new(engine.clone()),
            Arc::clone(&metrics),
            Arc::clone(&draining),
        ),
    };
    let (routes, health) = api.routes().await.map_err(ServeError::Reflection)?;
    let scrape = Scrape {
        metrics,
        engine: engine.clone(),
        desk: desk.clone(),
    };
    let house = House {
        config,
        audit,
        link,
        engine,
        desk,
        health,
        draining,
    };
    let signals = Signals::new()?;
    let first = house.record(started(&house)).await;
    first.map_err(ServeError::Audit)?;
    let stopping = CancellationToken::new();
    let connections = Connections::new();
    let mut servers = start_servers(listeners, routes, scrape, &stopping, &connections)?;
    tell_ready(ready, &house.config)?;
    let unused = connections.unused(options.embedded);
    let stop = house.wait(signals, unused, &mut servers).await?;
    house
        .end(stop, stopping, servers, (launcher, audit_writer))
        .await
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

fn engine(config: &Config, link: LauncherLink, audit: AuditClient) -> Result<Engine, ServeError> {
    let mut admission = AdmissionLimits::for_cpus(link.host().cpus);
    if config.runs.sandboxes_max > 0 {
        admission.live_max = u32::from(config.runs.sandboxes_max);
    }
    admission.queued_max = usize::try_from(config.runs.queue_len_max).unwrap_or(usize::MAX);
    let unusable = |reason: String| ServeError::Judge { reason };
    // The built-in one also where the site has another of that name: the judge is ours.
    let catalog = Catalog::builtin().map_err(|error| unusable(error.to_string()))?;
    let entry = catalog
        .get(JUDGE_POLICY)
        .ok_or_else(|| unusable("it is missing".to_owned()))?;
    let limits = entry
        .policy
        .effective_limits(&RequestedLimits::default())
        .map_err(|error| unusable(error.to_string()))?;
    let judge = JudgeSandbox {
        policy: Arc::new(entry.policy.clone()),
        limits,
    };
    Ok(Engine::new(EngineParts {
        link,
        audit: Arc::new(audit),
        admission,
        judge,
        unpinned_images: config.host_image.accept_unpinned,
    }))
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
}

fn listener(what: &'static str) -> impl FnOnce(std::io::Error) -> ServeError {
    move |source| ServeError::Listener { what, source }
}

fn start_servers(
    listeners: Listeners,
    routes: Routes,
    scrape: Scrape,
    stopping: &CancellationToken,
    connections: &Connections,
) -> Result<JoinSet<Result<(), ServeError>>, ServeError> {
    let mut servers = JoinSet::new();
    let unix =
        tokio::net::UnixListener::from_std(listeners.unix).map_err(listener("the unix socket"))?;
    let connections = connections.clone();
    let incoming = UnixListenerStream::new(unix)
        .map(move |stream| stream.map(|stream| connections.count(stream)));
    let router = Server::builder().add_routes(routes.clone());
    let stopped = stopping.clone().cancelled_owned();
    servers.spawn(async move {
        router
            .serve_with_incoming_shutdown(incoming, stopped)
            .await
            .map_err(ServeError::Transport)
    });
    if let Some((tcp, tls)) = listeners.tcp {
        let tcp = tokio::net::TcpListener::from_std(tcp).map_err(listener("the TCP listener"))?;
        let mut server = Server::builder()
            .tls_config(tls)
            .map_err(ServeError::Transport)?;
        let router = server.add_routes(routes);
        let stopped = stopping.clone().cancelled_owned();
        servers.spawn(async move {
            router
                .serve_with_incoming_shutdown(TcpListenerStream::new(tcp), stopped)
                .await
                .map_err(ServeError::Transport)
        });
    }
    if let Some(metrics) = listeners.metrics {
        let stopped = stopping.clone();
        servers.spawn(async move {
            tokio::select! {
                served = metrics_listener::serve(metrics, scrape) => {
                    served.map_err(listener("the metrics listener"))
                }
                () = stopped.cancelled() => Ok(()),
            }
        });
    }
    Ok(servers)
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
    async fn record(&self, draft: Draft) -> Result<(), AuditError> {
        self.audit.append(draft).await.map(drop)
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
                _ = signals.hup.recv() => self.reload_policies().await,
                () = &mut unused => return Ok(Stop::Unused),
                () = self.link.gone() => return Ok(Stop::Gone("launcher")),
                () = audit_gone(&self.audit) => return Ok(Stop::Gone("audit writer")),
                Some(Ok(Err(error))) = servers.join_next() => return Err(error),
            }
        }
    }

    /// Puts the policies of the folder in force, if all of them are right.
    async fn reload_policies(&self) {
        let folder = self.config.policies_dir.clone();
        let loaded = tokio::task::spawn_blocking(move || PolicySet::load(&folder)).await;
        let draft = Draft::new(Event::PolicyReloaded, Source::Api);
        let draft = match loaded {
            Ok(Ok(set)) => {
                let names: Vec<&str> = set.catalog().names().collect();
                tracing::info!(policies = names.join(", "), "policies reloaded");
                let draft = draft.with("loaded", true).with("policies", names);
                self.desk.set_policies(set);
                draft
            }
            Ok(Err(error)) => {
                let reason = chain(&error);
                tracing::error!(
                    reason,
                    "policies not reloaded; the ones before stay in force"
                );
                let reason = audit::text::untrusted(reason.as_bytes(), 1024);
                draft.with("loaded", false).with("reason", reason)
            }
            Err(error) => {
                tracing::error!(%error, "policies not reloaded");
                return;
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
        stopping: CancellationToken,
        mut servers: JoinSet<Result<(), ServeError>>,
        (launcher, audit_writer): (Child, Child),
    ) -> Result<(), ServeError> {
        tracing::info!(?stop, "stopping");
        self.draining.store(true, Ordering::Relaxed);
        self.health
            .set_service_status("", ServingStatus::NotServing)
            .await;
        let grace = match stop {
            Stop::Told => Duration::from_millis(self.config.drain_ms),
            Stop::Unused | Stop::Gone(_) => Duration::ZERO,
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
            Stop::Told | Stop::Unused => Ok(()),
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

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    text
}
