//! One run on its way from the desk to its result: run, measured, stored, told.

use std::sync::Arc;
use std::time::Duration;

use proto::v1;
use tokio::sync::{mpsc, watch};

use super::active::ActiveRun;
use super::{Inner, Outcome};
use crate::grpc::convert;
use crate::grpc::status::ApiError;
use crate::run::request::{Event, Request, RunError, RunResult};
use crate::store::{lost_record, unix_ms};

/// One run on its way to a result.
pub(super) struct RunTask {
    pub(super) inner: Arc<Inner>,
    pub(super) run: ActiveRun,
    /// Whether the store knew of it before it began.
    pub(super) durable: bool,
    /// Whether its caller comes back for its result.
    pub(super) detached: bool,
}

impl RunTask {
    pub(super) async fn run(
        self,
        request: Request,
        events: Option<mpsc::Sender<Event>>,
        result: watch::Sender<Option<Outcome>>,
    ) {
        let inner = Arc::clone(&self.inner);
        let ended = inner
            .runner
            .run(request, events, self.run.cancel.clone())
            .await;
        let unrecorded = match &ended {
            Err(error @ RunError::Unrecorded { .. }) => Some(error.to_string()),
            _ => None,
        };
        let record = self.finished_record(ended);
        // Who has a key, or comes back later, is told only what is on disk by then.
        if self.durable {
            let stored = match unrecorded {
                // The caller gets the error, since there is no result without its record; whoever
                // asks again by the key learns that it may have run, and it does not run again.
                Some(reason) => {
                    let lost = lost_record(self.run.record.clone(), "audit", &reason, unix_ms());
                    self.keep(&Ok(lost)).await
                }
                None => self.keep(&record).await,
            };
            result.send_replace(Some(stored.and(outcome(record))));
        } else {
            result.send_replace(Some(outcome(record.clone())));
            if let Err(error) = self.keep(&record).await {
                tracing::error!(run_id = self.run.record.run_id, %error, "the result is not kept");
            }
        }
        inner.active.remove(&self.run.record.run_id);
    }

    /// The run's record with its result, or with the error that took its place.
    fn finished_record(
        &self,
        ended: Result<RunResult, RunError>,
    ) -> Result<v1::RunRecord, ApiError> {
        let (ending_kind, outcome, result) = match ended {
            Ok(result) => {
                let ending_kind = convert::ending_kind(&result.ending);
                let outcome = convert::outcome(result.verdict.outcome());
                self.measure(&result, ending_kind, outcome);
                let result = convert::run_result(result, &self.inner.node);
                (Some(ending_kind.into()), Some(outcome.into()), result)
            }
            Err(error) => {
                // A key whose run may have run must not run again: it keeps the error.
                let error = ApiError::from(error);
                self.inner.metrics.run_refused(error.reason);
                if !self.detached {
                    return Err(error);
                }
                // Its caller is gone: the refusal is kept as its result.
                let result = v1::RunResult {
                    id: self.run.record.id.clone(),
                    run_id: self.run.record.run_id.clone(),
                    node: self.inner.node.clone(),
                    error: Some(error.to_run_fault()),
                    ..v1::RunResult::default()
                };
                (None, None, result)
            }
        };
        Ok(v1::RunRecord {
            state: v1::RunState::Finished.into(),
            finished_unix_ms: Some(unix_ms()),
            ending_kind,
            outcome,
            result: Some(result),
            ..self.run.record.clone()
        })
    }

    fn measure(&self, result: &RunResult, ending: v1::EndingKind, outcome: v1::Outcome) {
        let metrics = &self.inner.metrics;
        let infra = outcome == v1::Outcome::InfraError || ending == v1::EndingKind::SandboxFailed;
        let outcome = outcome
            .as_str_name()
            .trim_start_matches("OUTCOME_")
            .to_ascii_lowercase();
        metrics.run_finished(result.ending.kind(), &outcome, infra);
        metrics.queue_waited(Duration::from_millis(result.usage.queue_ms));
        if result.usage.start_us > 0 {
            metrics.program_started(Duration::from_micros(result.usage.start_us));
        }
        tracing::info!(
            run_id = result.run_id,
            id = result.id,
            tenant = self.run.tenant,
            ending = result.ending.kind(),
            outcome,
            wall_ms = result.usage.wall_ms,
            "finished",
        );
    }

    /// Stores the result; of a run that did not take place nothing is left.
    async fn keep(&self, record: &Result<v1::RunRecord, ApiError>) -> Result<(), ApiError> {
        let (tenant, run_id) = (self.run.tenant.as_str(), self.run.record.run_id.as_str());
        let kept = match record {
            Ok(record) => {
                let store = &self.inner.store;
                store.finish(tenant, record.clone(), self.durable).await
            }
            Err(_refused) if self.durable => self.inner.store.forget(tenant, run_id).await,
            Err(_refused) => Ok(()),
        };
        kept.map_err(|error| ApiError::fault("store the result", &error))
    }
}

fn outcome(record: Result<v1::RunRecord, ApiError>) -> Outcome {
    record.map(|record| Arc::new(record.result.unwrap_or_default()))
}
