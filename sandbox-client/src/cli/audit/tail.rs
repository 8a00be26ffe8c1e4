//! Records of the log through a daemon, as the canonical lines that they are.

use std::collections::VecDeque;

use futures::{Stream, StreamExt};

use super::super::Context;
use super::super::connection::with_daemon;
use super::super::failure::Failure;
use crate::client::Client;
use crate::error::ClientError;
use crate::pb;

/// More records than this are not kept back to show the last of them.
const COUNT_MAX: u64 = 100_000;

/// The last `count` records, then what comes.
pub(super) async fn tail(context: &Context, count: u64, follow: bool) -> Result<u8, Failure> {
    if count > COUNT_MAX {
        return Err(Failure::Usage {
            message: format!("-n {count} is too many; at most {COUNT_MAX}, or use audit query"),
        });
    }
    with_daemon(context, async |client| {
        let last = last_records(client, count).await?;
        let mut next_seq = 0;
        for record in &last {
            context.terminal.json_text(&record.line)?;
            next_seq = record.seq + 1;
        }
        if !follow {
            return Ok(0);
        }
        // From the next one on, so that nothing written meanwhile is missed.
        let from = (next_seq > 0).then_some(next_seq);
        print(context, client.tail_audit(from).await?).await
    })
    .await
}

async fn last_records(client: &Client, count: u64) -> Result<VecDeque<pb::AuditRecord>, Failure> {
    if count == 0 {
        return Ok(VecDeque::new());
    }
    // The log may be long: its end is found by the checkpoint that closes it now.
    let end = match client.checkpoint_audit().await {
        Ok(head) => head.seq,
        // Who may read but not sign reads from the start.
        Err(ClientError::Refused(_)) => 0,
        Err(error) => return Err(error.into()),
    };
    let mut window = count;
    loop {
        let from_seq = end.saturating_sub(window);
        let last = last_since(client, from_seq, count).await?;
        let enough = u64::try_from(last.len()).unwrap_or(u64::MAX) >= count;
        if enough || from_seq == 0 {
            return Ok(last);
        }
        // Others' records stand between those that we may see.
        window = window.saturating_mul(16);
    }
}

async fn last_since(
    client: &Client,
    from_seq: u64,
    count: u64,
) -> Result<VecDeque<pb::AuditRecord>, Failure> {
    let request = pb::AuditQueryRequest {
        from_seq,
        records_max: u64::MAX,
        ..pb::AuditQueryRequest::default()
    };
    let mut last = VecDeque::new();
    let mut records = Box::pin(client.query_audit(request).await?);
    while let Some(record) = records.next().await {
        last.push_back(record?);
        if u64::try_from(last.len()).unwrap_or(u64::MAX) > count {
            last.pop_front();
        }
    }
    Ok(last)
}

/// Records that fit.
pub(super) async fn query(
    context: &Context,
    request: pb::AuditQueryRequest,
) -> Result<u8, Failure> {
    with_daemon(context, async |client| {
        print(context, client.query_audit(request).await?).await
    })
    .await
}

async fn print(
    context: &Context,
    records: impl Stream<Item = Result<pb::AuditRecord, ClientError>>,
) -> Result<u8, Failure> {
    let mut records = Box::pin(records);
    while let Some(record) = records.next().await {
        context.terminal.json_text(&record?.line)?;
    }
    Ok(0)
}
