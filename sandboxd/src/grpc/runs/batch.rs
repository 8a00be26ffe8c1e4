//! `RunBatch`: many requests in, their results out as they finish.
//!
//! An item holds one of a bounded number of places from the moment it is read until its result is
//! handed to the caller's stream: a caller that does not read makes us stop reading. A refused item is
//! answered with its error and the rest goes on; a caller that goes away cancels what runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use proto::v1;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::Replies;
use crate::grpc::auth::{Rpc, Session};
use crate::grpc::desk::{Arrival, Desk};
use crate::grpc::status::{ApiError, shorten};

/// How long an item waits for other calls of its principal to leave it a place: longer than the
/// longest run of a shipped policy. An item that was read cannot be offered again by its sender.
const QUOTA_WAIT_MAX: Duration = Duration::from_secs(600);

type Sender = mpsc::Sender<Result<v1::RunResult, Status>>;

/// One call of `RunBatch`.
#[derive(Debug)]
pub(super) struct Batch {
    desk: Desk,
    session: Arc<Session>,
    trace: String,
    places: Arc<Semaphore>,
    seen: HashSet<String>,
}

impl Batch {
    pub(super) fn new(
        desk: Desk,
        session: Arc<Session>,
        trace: String,
        in_flight_max: usize,
    ) -> Self {
        // More items than the principal may have runs would only wait here.
        let runs_max = session.runs_max.map_or(in_flight_max, |most| most as usize);
        let in_flight_max = in_flight_max.min(runs_max.max(1));
        Self {
            desk,
            session,
            trace,
            places: Arc::new(Semaphore::new(in_flight_max)),
            seen: HashSet::new(),
        }
    }

    /// The stream of results.
    pub(super) fn answer(self, requests: Streaming<v1::RunRequest>) -> Replies<v1::RunResult> {
        let (results, replies) = mpsc::channel(1);
        tokio::spawn(self.take_all(requests, results));
        Box::pin(ReceiverStream::new(replies))
    }

    async fn take_all(mut self, mut requests: Streaming<v1::RunRequest>, results: Sender) {
        loop {
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                return;
            };
            let next = tokio::select! {
                next = requests.message() => next,
                () = results.closed() => return,
            };
            match next {
                Ok(Some(message)) => self.take(message, place, results.clone()),
                Ok(None) => return,
                Err(status) => {
                    // What runs already is still answered; the error is the last word.
                    if results.send(Err(status)).await.is_err() {
                        tracing::debug!("the caller of a batch left");
                    }
                    return;
                }
            }
        }
    }

    /// Has one item run by a task of its own.
    fn take(&mut self, mut message: v1::RunRequest, place: OwnedSemaphorePermit, results: Sender) {
        if message.traceparent.is_empty() {
            message.traceparent.clone_from(&self.trace);
        }
        let twice = !message.id.is_empty() && !self.seen.insert(message.id.clone());
        let (desk, session) = (self.desk.clone(), Arc::clone(&self.session));
        tokio::spawn(async move {
            let id = message.id.clone();
            let result = tokio::select! {
                result = run_one(&desk, &session, message, twice) => result,
                () = results.closed() => return,
            };
            let result = result.unwrap_or_else(|error| v1::RunResult {
                id,
                node: desk.node().to_owned(),
                error: Some(error.to_run_fault()),
                ..v1::RunResult::default()
            });
            if results.send(Ok(result)).await.is_err() {
                tracing::debug!("the caller of a batch left");
            }
            drop(place);
        });
    }
}

async fn run_one(
    desk: &Desk,
    session: &Session,
    message: v1::RunRequest,
    twice: bool,
) -> Result<v1::RunResult, ApiError> {
    if twice {
        let problem = format!("{:?} was given before in this batch", shorten(&message.id));
        return Err(ApiError::invalid("ID_TWICE", "id", problem));
    }
    let arrival = Arrival {
        rpc: Rpc::RunsRunBatch.rule().name,
        detached: false,
        quota_wait: QUOTA_WAIT_MAX,
    };
    desk.accept(message, session, arrival, None)
        .await?
        .result()
        .await
}
