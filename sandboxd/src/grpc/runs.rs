//! The `Runs` service: calls and streams around the [`Desk`].

mod batch;

use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use proto::v1;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::auth::{Rpc, authorize};
use super::convert;
use super::desk::{Arrival, Desk, Ticket};
use super::status::ApiError;
use super::stubs::runs_server::Runs;
use crate::run::request::Event;
use crate::store::Listing;

/// Longest wait of `Fetch`, in milliseconds.
const FETCH_WAIT_MS_MAX: u64 = 600_000;
/// Runs on a page of `List` at most, and when nothing is said.
const PAGE_SIZE_MAX: u32 = 1_000;
const PAGE_SIZE_DEFAULT: u32 = 100;
/// Events on their way to a caller before the program's output waits.
const EVENTS_MAX: usize = 64;

/// A stream of replies.
pub(super) type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The service.
#[derive(Debug, Clone)]
pub struct RunsService {
    desk: Desk,
    batch_in_flight_max: usize,
}

impl RunsService {
    /// The service of a desk. A batch has at most `batch_in_flight_max` items unanswered.
    #[must_use]
    pub fn new(desk: Desk, batch_in_flight_max: usize) -> Self {
        Self {
            desk,
            batch_in_flight_max,
        }
    }

    async fn accept(
        &self,
        request: Request<v1::RunRequest>,
        rpc: Rpc,
        events: Option<mpsc::Sender<Event>>,
    ) -> Result<Ticket, ApiError> {
        let session = authorize(request.extensions(), rpc)?;
        let trace = trace_of(request.metadata());
        let mut message = request.into_inner();
        if message.traceparent.is_empty() {
            message.traceparent = trace;
        }
        let arrival = Arrival {
            rpc: rpc.rule().name,
            detached: rpc == Rpc::RunsSubmit,
            quota_wait: Duration::ZERO,
        };
        self.desk.accept(message, &session, arrival, events).await
    }
}

/// The trace context of a call, where its message has none.
fn trace_of(metadata: &tonic::metadata::MetadataMap) -> String {
    let value = metadata
        .get("traceparent")
        .and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

#[tonic::async_trait]
impl Runs for RunsService {
    async fn run(
        &self,
        request: Request<v1::RunRequest>,
    ) -> Result<Response<v1::RunResult>, Status> {
        let ticket = self.accept(request, Rpc::RunsRun, None).await?;
        Ok(Response::new(ticket.result().await?))
    }

    type RunBatchStream = Replies<v1::RunResult>;

    async fn run_batch(
        &self,
        request: Request<Streaming<v1::RunRequest>>,
    ) -> Result<Response<Self::RunBatchStream>, Status> {
        let session = authorize(request.extensions(), Rpc::RunsRunBatch)?;
        let trace = trace_of(request.metadata());
        let batch = batch::Batch::new(self.desk.clone(), session, trace, self.batch_in_flight_max);
        Ok(Response::new(batch.answer(request.into_inner())))
    }

    type StreamStream = Replies<v1::RunEvent>;

    async fn stream(
        &self,
        request: Request<v1::RunRequest>,
    ) -> Result<Response<Self::StreamStream>, Status> {
        let (events, from_run) = mpsc::channel(EVENTS_MAX);
        let ticket = self.accept(request, Rpc::RunsStream, Some(events)).await?;
        let (to_caller, replies) = mpsc::channel(1);
        tokio::spawn(relay(ticket, from_run, to_caller));
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }

    async fn submit(
        &self,
        request: Request<v1::RunRequest>,
    ) -> Result<Response<v1::SubmitReply>, Status> {
        let ticket = self.accept(request, Rpc::RunsSubmit, None).await?;
        Ok(Response::new(v1::SubmitReply {
            run_id: ticket.run_id.clone(),
        }))
    }

    async fn fetch(
        &self,
        request: Request<v1::FetchRequest>,
    ) -> Result<Response<v1::FetchReply>, Status> {
        let session = authorize(request.extensions(), Rpc::RunsFetch)?;
        let message = request.into_inner();
        let problem = format!("{} is outside 0..={FETCH_WAIT_MS_MAX}", message.wait_ms);
        convert::require(message.wait_ms <= FETCH_WAIT_MS_MAX, "wait_ms", &problem)?;
        let wait = Duration::from_millis(message.wait_ms);
        let reply = self
            .desk
            .fetch(&session.caller.tenant, &message.run_id, wait)
            .await?;
        Ok(Response::new(reply))
    }

    async fn cancel(
        &self,
        request: Request<v1::CancelRequest>,
    ) -> Result<Response<v1::CancelReply>, Status> {
        let session = authorize(request.extensions(), Rpc::RunsCancel)?;
        let state = self
            .desk
            .cancel(&session, &request.get_ref().run_id)
            .await?;
        Ok(Response::new(v1::CancelReply {
            state: state.into(),
        }))
    }

    async fn get(
        &self,
        request: Request<v1::GetRunRequest>,
    ) -> Result<Response<v1::RunRecord>, Status> {
        let session = authorize(request.extensions(), Rpc::RunsGet)?;
        let record = self
            .desk
            .get(&session.caller.tenant, &request.get_ref().run_id)
            .await?;
        Ok(Response::new(record))
    }

    async fn list(
        &self,
        request: Request<v1::ListRunsRequest>,
    ) -> Result<Response<v1::ListRunsReply>, Status> {
        let session = authorize(request.extensions(), Rpc::RunsList)?;
        let message = request.into_inner();
        let problem = format!("{} is outside 0..={PAGE_SIZE_MAX}", message.page_size);
        convert::require(message.page_size <= PAGE_SIZE_MAX, "page_size", &problem)?;
        let size = if message.page_size == 0 {
            PAGE_SIZE_DEFAULT
        } else {
            message.page_size
        };
        let listing = Listing {
            tenant: session.caller.tenant.clone(),
            state: message.state(),
            group: message.group,
            page_size: usize::try_from(size).unwrap_or(usize::MAX),
            page_token: message.page_token,
        };
        let page = self.desk.list(listing).await?;
        let reply = v1::ListRunsReply {
            runs: page.runs,
            next_page_token: page.next_page_token,
        };
        Ok(Response::new(reply))
    }
}

/// Sends a run's events and then its result. The caller's going away ends it, and so the run.
async fn relay(
    ticket: Ticket,
    mut from_run: mpsc::Receiver<Event>,
    to_caller: mpsc::Sender<Result<v1::RunEvent, Status>>,
) {
    let run_id = ticket.run_id.clone();
    // First of all its id, with which the run can be cancelled.
    let mut next = Some(Event::Queued);
    while let Some(event) = next {
        if to_caller
            .send(Ok(convert::event(event, &run_id)))
            .await
            .is_err()
        {
            return;
        }
        next = tokio::select! {
            event = next_told(&mut from_run) => event,
            () = to_caller.closed() => return,
        };
    }
    let result = tokio::select! {
        result = ticket.result() => result,
        () = to_caller.closed() => return,
    };
    let last = result
        .map(|result| v1::RunEvent {
            event: Some(v1::run_event::Event::Result(Box::new(result))),
        })
        .map_err(Status::from);
    if to_caller.send(last).await.is_err() {
        tracing::debug!(run_id, "the caller left before its result");
    }
}

/// The next event but for `Queued`, which was told already.
async fn next_told(from_run: &mut mpsc::Receiver<Event>) -> Option<Event> {
    loop {
        match from_run.recv().await {
            Some(Event::Queued) => {}
            other => return other,
        }
    }
}
