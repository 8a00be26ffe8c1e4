//! The `Audit` service: the log's own lines, read from the log itself.
//!
//! A caller sees its own tenant's records; an admin sees all, also those without a tenant.

use std::sync::Arc;

use audit::Event;
use audit::filter::Filter;
use audit::verify::{Finding, Report, Severity, Tail};
use proto::v1;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status};

use super::auth::{Rpc, Session, authorize};
use super::runs::Replies;
use super::status::{ApiError, shorten};
use super::stubs::audit_server::Audit;
use crate::audit_client::AuditClient;
use crate::audit_client::log_reader::{Cursor, Line, LogReader, Page, Wanted};
use crate::config::Role;

/// Records of a `Query` that names no number.
const RECORDS_DEFAULT: u64 = 100_000;
/// Records read at once.
const PAGE_LINES: usize = 256;

/// The service.
#[derive(Debug, Clone)]
pub struct AuditService {
    client: AuditClient,
    reader: Arc<LogReader>,
}

impl AuditService {
    /// The service over the audit process and its log.
    #[must_use]
    pub fn new(client: AuditClient, reader: LogReader) -> Self {
        Self {
            client,
            reader: Arc::new(reader),
        }
    }

    fn read(&self, reading: Reading) -> Replies<v1::AuditRecord> {
        let (lines, replies) = mpsc::channel(PAGE_LINES);
        tokio::spawn(reading.send(Arc::clone(&self.reader), lines));
        Box::pin(ReceiverStream::new(replies))
    }
}

#[tonic::async_trait]
impl Audit for AuditService {
    type QueryStream = Replies<v1::AuditRecord>;

    async fn query(
        &self,
        request: Request<v1::AuditQueryRequest>,
    ) -> Result<Response<Self::QueryStream>, Status> {
        let session = authorize(request.extensions(), Rpc::AuditQuery)?;
        let message = request.into_inner();
        let head = *self.client.head().borrow();
        let filter = Filter {
            events: events(&message.kind)?,
            run_id: Some(message.run_id).filter(|run_id| !run_id.is_empty()),
            ..visible(&session)
        };
        let left = if message.records_max == 0 {
            RECORDS_DEFAULT
        } else {
            message.records_max
        };
        let reading = Reading {
            cursor: Cursor::at(message.from_seq.max(1)),
            filter,
            to_seq: message.to_seq.unwrap_or(head).min(head),
            left,
            follow: None,
        };
        Ok(Response::new(self.read(reading)))
    }

    type TailStream = Replies<v1::AuditRecord>;

    async fn tail(
        &self,
        request: Request<v1::AuditTailRequest>,
    ) -> Result<Response<Self::TailStream>, Status> {
        let session = authorize(request.extensions(), Rpc::AuditTail)?;
        let head = self.client.head();
        let now = *head.borrow();
        let from_seq = request.get_ref().from_seq.unwrap_or(now.saturating_add(1));
        let reading = Reading {
            cursor: Cursor::at(from_seq.max(1)),
            filter: visible(&session),
            to_seq: now,
            left: u64::MAX,
            follow: Some(head),
        };
        Ok(Response::new(self.read(reading)))
    }

    async fn verify(
        &self,
        request: Request<v1::AuditVerifyRequest>,
    ) -> Result<Response<v1::AuditVerifyReply>, Status> {
        authorize(request.extensions(), Rpc::AuditVerify)?;
        let reader = Arc::clone(&self.reader);
        let report = tokio::task::spawn_blocking(move || reader.verify(Vec::new()))
            .await
            .map_err(|error| ApiError::fault("verify the log", &error))?
            .map_err(|error| ApiError::fault("verify the log", &error))?;
        Ok(Response::new(verified(&report)))
    }

    async fn checkpoint(
        &self,
        request: Request<v1::AuditCheckpointRequest>,
    ) -> Result<Response<v1::AuditCheckpointReply>, Status> {
        authorize(request.extensions(), Rpc::AuditCheckpoint)?;
        let receipt = self
            .client
            .checkpoint()
            .await
            .map_err(|error| ApiError::fault("sign the log", &error))?;
        let reader = Arc::clone(&self.reader);
        let head = tokio::task::spawn_blocking(move || reader.head_file())
            .await
            .map_err(|error| ApiError::fault("read the signed head", &error))?
            .map_err(|error| ApiError::fault("read the signed head", &error))?;
        Ok(Response::new(v1::AuditCheckpointReply {
            seq: receipt.seq,
            sha256: receipt.sha256.to_string(),
            signed_head: String::from_utf8_lossy(&head.unwrap_or_default()).into_owned(),
            public_key_pem: self.client.key().public_key_pem.clone(),
        }))
    }
}

/// What a caller may see at all.
fn visible(session: &Session) -> Filter {
    let all = session.roles.contains(&Role::Admin);
    Filter {
        tenant: (!all).then(|| session.caller.tenant.clone()),
        ..Filter::default()
    }
}

fn events(name: &str) -> Result<Vec<Event>, ApiError> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let named = |event: &Event| {
        serde_json::to_value(event)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
    };
    if let Some(event) = Event::ALL
        .into_iter()
        .find(|event| named(event).as_deref() == Some(name))
    {
        return Ok(vec![event]);
    }
    let known: Vec<String> = Event::ALL.iter().filter_map(named).collect();
    let problem = format!(
        "{:?} is no event; known: {}",
        shorten(name),
        known.join(", ")
    );
    Err(ApiError::invalid("EVENT_UNKNOWN", "kind", problem))
}

/// One stream of records.
struct Reading {
    cursor: Cursor,
    filter: Filter,
    to_seq: u64,
    /// Records still to be sent.
    left: u64,
    /// The growing end of the log, if the stream goes on with it.
    follow: Option<watch::Receiver<u64>>,
}

impl Reading {
    async fn send(
        mut self,
        reader: Arc<LogReader>,
        lines: mpsc::Sender<Result<v1::AuditRecord, Status>>,
    ) {
        loop {
            let page = match self.page(&reader).await {
                Ok(page) => page,
                Err(error) => {
                    if lines.send(Err(error.into())).await.is_err() {
                        tracing::debug!("the reader of the audit log left");
                    }
                    return;
                }
            };
            let (at_end, left) = (page.at_end, self.left);
            self.cursor = page.next;
            for line in page.lines {
                if self.left == 0 || lines.send(Ok(record(line))).await.is_err() {
                    return;
                }
                self.left -= 1;
            }
            if self.left == 0 && left != 0 {
                return;
            }
            if at_end && !self.wait_for_more(&lines).await {
                return;
            }
        }
    }

    async fn page(&self, reader: &Arc<LogReader>) -> Result<Page, ApiError> {
        let reader = Arc::clone(reader);
        let (cursor, to_seq, filter) = (self.cursor, self.to_seq, self.filter.clone());
        let wanted = Wanted {
            to_seq,
            filter,
            lines_max: PAGE_LINES,
        };
        tokio::task::spawn_blocking(move || reader.page(cursor, &wanted))
            .await
            .map_err(|error| ApiError::fault("read the audit log", &error))?
            .map_err(|error| ApiError::fault("read the audit log", &error))
    }

    /// Waits until the log has grown beyond what was sent; false if this stream is over.
    async fn wait_for_more(
        &mut self,
        lines: &mpsc::Sender<Result<v1::AuditRecord, Status>>,
    ) -> bool {
        let Some(head) = &mut self.follow else {
            return false;
        };
        let before = self.to_seq;
        let grown = tokio::select! {
            grown = head.wait_for(|head| *head > before) => grown.ok().map(|head| *head),
            () = lines.closed() => None,
        };
        if let Some(to_seq) = grown {
            self.to_seq = to_seq;
            return true;
        }
        if !lines.is_closed() {
            let message = "the audit process is gone";
            let gone = ApiError::new(Code::Unavailable, "AUDIT_GONE", message);
            if lines.send(Err(gone.into())).await.is_err() {
                tracing::debug!("the reader of the audit log left");
            }
        }
        false
    }
}

fn record(line: Line) -> v1::AuditRecord {
    v1::AuditRecord {
        seq: line.record.seq,
        line: line.text,
        sha256: line.sha256.to_string(),
    }
}

fn verified(report: &Report) -> v1::AuditVerifyReply {
    let mut findings: Vec<v1::AuditFinding> = report.findings.iter().map(finding).collect();
    findings.sort_by_key(|finding| finding.severity);
    v1::AuditVerifyReply {
        ok: report.holds(),
        records: report.records,
        complete_to_seq: report.complete_to_seq,
        last_seq: report.last.seq,
        tail_proven: report.tail == Tail::Proven,
        problem: findings
            .first()
            .filter(|_finding| !report.holds())
            .map(|finding| finding.message.clone())
            .unwrap_or_default(),
        findings,
    }
}

fn finding(finding: &Finding) -> v1::AuditFinding {
    let severity = match finding.severity {
        Severity::Error => v1::AuditSeverity::Error,
        Severity::Warning => v1::AuditSeverity::Warning,
    };
    v1::AuditFinding {
        severity: severity.into(),
        segment: finding.segment.clone(),
        line: finding.line,
        seq: finding.seq,
        message: finding.message.clone(),
    }
}
