//! Takes checked requests in, has each run by a task of its own, and knows where every run stands.
//!
//! A run outlives the call that brought it: a caller who goes away cancels it (or leaves it, if it
//! is detached or has an idempotency key), but never leaves it half done. What is finished is the
//! store's. A run of another tenant is not there.

mod active;
mod task;
#[cfg(test)]
pub(in crate::grpc) mod tests;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use proto::v1;
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;
use tonic::Code;

use super::auth::{Rpc, Session};
use super::convert::{self, Offer};
use super::status::ApiError;
use crate::metrics::Metrics;
use crate::policy_set::PolicySet;
use crate::run::Engine;
use crate::run::cancel::Cancel;
use crate::run::request::{Event, Request, RunError, RunResult};
use crate::store::{Begin, Begun, Key, Listing, Page, Store, unix_ms};

use active::{Active, ActiveRun};
use task::RunTask;

/// Images of this build.
pub const IMAGES: [&str; 1] = ["host"];

/// How long a caller over its quota should wait before it tries again, in milliseconds.
const QUOTA_RETRY_MS: u64 = 200;

/// Whatever runs requests: the engine, or a stand-in in tests.
pub trait Runner: fmt::Debug + Send + Sync + 'static {
    /// Runs one request to its end.
    fn run(
        &self,
        request: Request,
        events: Option<mpsc::Sender<Event>>,
        cancel: Cancel,
    ) -> BoxFuture<'_, Result<RunResult, RunError>>;
}

impl Runner for Engine {
    fn run(
        &self,
        request: Request,
        events: Option<mpsc::Sender<Event>>,
        cancel: Cancel,
    ) -> BoxFuture<'_, Result<RunResult, RunError>> {
        Box::pin(Self::run(self, request, events, cancel))
    }
}

/// How a run came out, for everybody who waits for it.
pub(super) type Outcome = Result<Arc<v1::RunResult>, ApiError>;

/// How a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Name of its rpc: the scope of its idempotency key.
    pub rpc: &'static str,
    /// Whether it goes on without its caller.
    pub detached: bool,
    /// How long it waits while its principal has as many runs as it may; then it is refused.
    pub quota_wait: Duration,
}

/// What a desk is made of.
#[derive(Debug)]
pub struct DeskParts {
    /// Runs requests.
    pub runner: Arc<dyn Runner>,
    /// Keeps results.
    pub store: Store,
    /// Policies in force.
    pub policies: PolicySet,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// Name of this node.
    pub node: String,
}

#[derive(Debug)]
struct Inner {
    runner: Arc<dyn Runner>,
    store: Store,
    policies: RwLock<Arc<PolicySet>>,
    metrics: Arc<Metrics>,
    node: String,
    active: Active,
    tasks: TaskTracker,
}

/// The desk. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Desk {
    inner: Arc<Inner>,
}

/// A run that was taken in. Dropping it cancels the run, if it is this caller's to cancel.
#[derive(Debug)]
pub struct Ticket {
    /// Our id.
    pub run_id: String,
    waiting: Waiting,
    cancel_on_drop: Option<Cancel>,
}

#[derive(Debug)]
enum Waiting {
    For(watch::Receiver<Option<Outcome>>),
    Over(Box<Outcome>),
}

impl Ticket {
    /// Waits for the result.
    ///
    /// # Errors
    /// No run took place.
    pub async fn result(mut self) -> Result<v1::RunResult, ApiError> {
        let outcome = match &mut self.waiting {
            Waiting::For(receiver) => outcome_of(receiver).await,
            Waiting::Over(outcome) => outcome.as_ref().clone(),
        };
        self.cancel_on_drop = None;
        outcome.map(Arc::unwrap_or_clone)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel_on_drop.take() {
            cancel.cancel("caller gone");
        }
    }
}

async fn outcome_of(receiver: &mut watch::Receiver<Option<Outcome>>) -> Outcome {
    let gone = || ApiError::new(Code::Unavailable, "UNAVAILABLE", "the daemon is stopping");
    match receiver.wait_for(Option::is_some).await {
        Ok(outcome) => outcome.clone().unwrap_or_else(|| Err(gone())),
        Err(_closed) => Err(gone()),
    }
}

impl Desk {
    /// A desk without runs.
    #[must_use]
    pub fn new(parts: DeskParts) -> Self {
        Self {
            inner: Arc::new(Inner {
                runner: parts.runner,
                store: parts.store,
                policies: RwLock::new(Arc::new(parts.policies)),
                metrics: parts.metrics,
                node: parts.node,
                active: Active::default(),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// The policies in force.
    #[must_use]
    pub fn policies(&self) -> Arc<PolicySet> {
        Arc::clone(
            &self
                .inner
                .policies
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Puts other policies in force, for requests from now on.
    pub fn set_policies(&self, policies: PolicySet) {
        *self
            .inner
            .policies
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(policies);
    }

    /// Name of this node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.inner.node
    }

    /// Runs that are not finished.
    #[must_use]
    pub fn active_len(&self) -> usize {
        self.inner.active.len()
    }

    /// Checks a request and has it run.
    ///
    /// # Errors
    /// It is refused; nothing ran and nothing is left of it.
    pub async fn accept(
        &self,
        message: v1::RunRequest,
        session: &Session,
        arrival: Arrival,
        events: Option<mpsc::Sender<Event>>,
    ) -> Result<Ticket, ApiError> {
        let accepted = self
            .accept_unmeasured(message, session, arrival, events)
            .await;
        if let Err(error) = &accepted {
            self.inner.metrics.run_refused(error.reason);
            let principal = session.caller.principal.as_str();
            tracing::info!(
                principal,
                reason = error.reason,
                why = error.message,
                "refused"
            );
        }
        accepted
    }

    async fn accept_unmeasured(
        &self,
        message: v1::RunRequest,
        session: &Session,
        arrival: Arrival,
        events: Option<mpsc::Sender<Event>>,
    ) -> Result<Ticket, ApiError> {
        let now = unix_ms();
        let run_id =
            crate::run_id::new(now).map_err(|error| ApiError::fault("make a run id", &error))?;
        let key = (!message.idempotency_key.is_empty()).then(|| Key {
            rpc: arrival.rpc,
            key: message.idempotency_key.clone(),
            payload_sha256: convert::payload_sha256(&message),
        });
        let policies = self.policies();
        let offer = Offer {
            policies: &policies,
            images: &IMAGES,
        };
        let retries_infra = message.retry_infra;
        let mut request = convert::run_request(message, session, offer, run_id.clone())?;
        // Who waits for one run alone may ask again; a batch has nobody who would.
        let is_batch = arrival.rpc == Rpc::RunsRunBatch.rule().name;
        request.retries_infra = retries_infra.unwrap_or(is_batch);
        let (sender, receiver) = watch::channel(None);
        let cancel = Cancel::new();
        let run = ActiveRun {
            tenant: session.caller.tenant.clone(),
            record: record(&request, now),
            cancel: cancel.clone(),
            result: receiver.clone(),
        };
        let active = &self.inner.active;
        if !active
            .insert_in_time(&run, session.runs_max, arrival.quota_wait)
            .await
        {
            return Err(over_quota(session));
        }
        let durable = key.is_some() || arrival.detached;
        let keyed = key.is_some();
        if durable {
            let begin = Begin {
                tenant: run.tenant.clone(),
                record: run.record.clone(),
                key,
            };
            match self.inner.store.begin(begin).await {
                Ok(Begun::New) => {}
                Ok(Begun::Before { run_id: before }) => {
                    self.inner.active.remove(&run_id);
                    return self.attach(&before, session).await;
                }
                Ok(Begun::OtherPayload { run_id: before }) => {
                    self.inner.active.remove(&run_id);
                    return Err(other_payload(&before));
                }
                Err(error) => {
                    self.inner.active.remove(&run_id);
                    return Err(ApiError::fault("store the run", &error));
                }
            }
        }
        let task = RunTask {
            inner: Arc::clone(&self.inner),
            run,
            durable,
            detached: arrival.detached,
        };
        self.inner.tasks.spawn(task.run(request, events, sender));
        Ok(Ticket {
            run_id,
            waiting: Waiting::For(receiver),
            cancel_on_drop: (!arrival.detached && !keyed).then_some(cancel),
        })
    }

    /// A ticket for a run that another call brought.
    async fn attach(&self, run_id: &str, session: &Session) -> Result<Ticket, ApiError> {
        let tenant = session.caller.tenant.as_str();
        let waiting = match self.inner.active.get(tenant, run_id) {
            Some(run) => Waiting::For(run.result),
            None => {
                let record = self.stored(tenant, run_id).await?;
                let result = record
                    .result
                    .ok_or_else(|| ApiError::not_found("run", run_id))?;
                Waiting::Over(Box::new(Ok(Arc::new(result))))
            }
        };
        Ok(Ticket {
            run_id: run_id.to_owned(),
            waiting,
            cancel_on_drop: None,
        })
    }

    async fn stored(&self, tenant: &str, run_id: &str) -> Result<v1::RunRecord, ApiError> {
        self.inner
            .store
            .get(tenant, run_id)
            .await
            .map_err(|error| ApiError::fault("read the run", &error))?
            .ok_or_else(|| ApiError::not_found("run", run_id))
    }

    /// One run, with its result if it has finished.
    ///
    /// # Errors
    /// NOT_FOUND, also for another tenant's.
    pub async fn get(&self, tenant: &str, run_id: &str) -> Result<v1::RunRecord, ApiError> {
        match self.inner.active.get(tenant, run_id) {
            Some(run) => Ok(run.told()),
            None => self.stored(tenant, run_id).await,
        }
    }

    /// One run, after waiting for its end for at most `wait`.
    ///
    /// # Errors
    /// NOT_FOUND, also for another tenant's; or why it did not take place.
    pub async fn fetch(
        &self,
        tenant: &str,
        run_id: &str,
        wait: Duration,
    ) -> Result<v1::FetchReply, ApiError> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let Some(mut run) = self.inner.active.get(tenant, run_id) else {
            let record = self.stored(tenant, run_id).await?;
            return Ok(v1::FetchReply {
                state: record.state,
                result: record.result,
                wait_ms,
            });
        };
        match tokio::time::timeout(wait, outcome_of(&mut run.result)).await {
            Ok(outcome) => Ok(v1::FetchReply {
                state: v1::RunState::Finished.into(),
                result: Some(outcome.map(Arc::unwrap_or_clone)?),
                wait_ms,
            }),
            Err(_elapsed) => Ok(v1::FetchReply {
                state: v1::RunState::Active.into(),
                result: None,
                wait_ms,
            }),
        }
    }

    /// Ends a run; tells the state that it was in.
    ///
    /// # Errors
    /// NOT_FOUND, also for another tenant's.
    pub async fn cancel(&self, session: &Session, run_id: &str) -> Result<v1::RunState, ApiError> {
        let tenant = session.caller.tenant.as_str();
        if let Some(run) = self.inner.active.get(tenant, run_id) {
            let state = run.listed().state();
            if state == v1::RunState::Active {
                run.cancel.cancel(session.caller.principal.as_str());
            }
            return Ok(state);
        }
        self.stored(tenant, run_id)
            .await
            .map(|record| record.state())
    }

    /// A page of a tenant's runs, latest first: those that are active and those that are stored.
    ///
    /// # Errors
    /// A page token that is not ours, or the store cannot be read.
    pub async fn list(&self, listing: Listing) -> Result<Page, ApiError> {
        let mut runs = self.inner.active.list(&listing);
        let size = listing.page_size;
        let stored = self
            .inner
            .store
            .list(listing)
            .await
            .map_err(|error| match error {
                crate::store::StoreError::PageToken { .. } => {
                    ApiError::invalid("PAGE_TOKEN_INVALID", "page_token", error)
                }
                other => ApiError::fault("list runs", &other),
            })?;
        let more = !stored.next_page_token.is_empty();
        runs.extend(stored.runs);
        // Latest first; of a run that is in both, the active one, which is earlier in the list.
        runs.sort_by(|left, right| right.run_id.cmp(&left.run_id));
        runs.dedup_by(|later, earlier| later.run_id == earlier.run_id);
        let more = more || runs.len() > size;
        runs.truncate(size);
        let last = runs.last().filter(|_run| more);
        let next_page_token = last.map(|run| run.run_id.clone()).unwrap_or_default();
        Ok(Page {
            runs,
            next_page_token,
        })
    }

    /// Waits until every run is finished and stored. Nothing is cancelled here.
    pub async fn finished(&self) {
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

fn record(request: &Request, now: u64) -> v1::RunRecord {
    v1::RunRecord {
        run_id: request.run_id.clone(),
        id: request.id.clone(),
        principal: request.caller.principal.clone(),
        state: v1::RunState::Active.into(),
        policy: request.policy.name.clone(),
        group: request.group.clone(),
        labels: request.labels.clone(),
        submitted_unix_ms: now,
        ..v1::RunRecord::default()
    }
}

fn over_quota(session: &Session) -> ApiError {
    let most = session.runs_max.unwrap_or(0);
    let message = format!(
        "{} has {most} runs at once already, which is the most it may have (runs_max)",
        session.caller.principal
    );
    ApiError {
        retry_after_ms: Some(QUOTA_RETRY_MS),
        ..ApiError::new(Code::ResourceExhausted, "QUOTA_RUNS", message)
    }
}

fn other_payload(run_id: &str) -> ApiError {
    let message = format!(
        "idempotency_key: it was used for another payload (run {run_id}); use a new key for a new request"
    );
    ApiError {
        field: Some("idempotency_key".to_owned()),
        ..ApiError::new(Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", message)
    }
}
