//! A daemon as crate `compat` wants it: live output gathered, refusals told apart from trouble.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use compat::{Ceilings, Daemon, Ran, Trouble};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde::Deserialize;

use super::super::failure::chain;
use crate::client::Client;
use crate::error::ClientError;
use crate::pb;

/// An operator may change policies while we run; after this time they are read again.
const CEILINGS_AGE_MAX: Duration = Duration::from_secs(10);

/// A daemon behind a connection, which comes back by itself when the daemon does.
#[derive(Debug)]
pub(in crate::cli) struct GrpcDaemon {
    client: Client,
    ceilings: Mutex<HashMap<String, (Instant, Ceilings)>>,
}

/// What is read of a policy in canonical form.
#[derive(Deserialize)]
struct Canonical {
    limits: CanonicalLimits,
}

#[derive(Deserialize)]
struct CanonicalLimits {
    wall_ms_max: u64,
    cpu_ms_max: u64,
    cpu_millicores_max: u64,
    memory_bytes_max: u64,
    output_bytes_total_max: u64,
}

impl GrpcDaemon {
    pub(in crate::cli) fn new(client: Client) -> Self {
        Self {
            client,
            ceilings: Mutex::default(),
        }
    }

    fn known(&self, policy: &str) -> Option<Ceilings> {
        let known = self.ceilings.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, ceilings) = known.get(policy)?;
        (at.elapsed() < CEILINGS_AGE_MAX).then_some(*ceilings)
    }

    async fn read_ceilings(&self, policy: &str) -> Result<Ceilings, Trouble> {
        if let Some(ceilings) = self.known(policy) {
            return Ok(ceilings);
        }
        let document = self.client.get_policy(policy).await.map_err(trouble)?;
        let limits = serde_json::from_str::<Canonical>(&document.canonical)
            .map_err(|error| Trouble::fault(format!("read policy {policy}: {error}")))?
            .limits;
        let ceilings = Ceilings {
            wall_ms_max: limits.wall_ms_max,
            cpu_ms_max: limits.cpu_ms_max,
            cpu_millicores_max: limits.cpu_millicores_max,
            memory_bytes_max: limits.memory_bytes_max,
            output_bytes_total_max: limits.output_bytes_total_max,
        };
        let mut known = self.ceilings.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(policy.to_owned(), (Instant::now(), ceilings));
        Ok(ceilings)
    }

    async fn stream(&self, request: pb::RunRequest) -> Result<Ran, Trouble> {
        let mut events = Box::pin(self.client.stream(request).await.map_err(trouble)?);
        let mut ran = Ran::default();
        while let Some(event) = events.next().await {
            match event.map_err(trouble)?.event {
                Some(pb::run_event::Event::Output(output)) => match output.stream() {
                    pb::OutputStream::Stderr => ran.stderr.extend(output.data),
                    _ => ran.stdout.extend(output.data),
                },
                Some(pb::run_event::Event::Result(result)) => return complete(ran, *result),
                _ => {}
            }
        }
        Err(trouble(ClientError::NoResult))
    }
}

impl Daemon for GrpcDaemon {
    fn run(&self, request: pb::RunRequest) -> BoxFuture<'_, Result<Ran, Trouble>> {
        Box::pin(self.stream(request))
    }

    fn ceilings<'a>(&'a self, policy: &'a str) -> BoxFuture<'a, Result<Ceilings, Trouble>> {
        Box::pin(self.read_ceilings(policy))
    }
}

/// The result with all of its output: its own where it has all of it, else what came live.
fn complete(live: Ran, mut result: pb::RunResult) -> Result<Ran, Trouble> {
    let dropped = result.dropped_bytes.unwrap_or_default();
    let stdout = std::mem::take(&mut result.stdout);
    let stderr = std::mem::take(&mut result.stderr);
    let is_up = result
        .ending
        .as_ref()
        .is_some_and(|ending| ending.kind() == pb::EndingKind::OutputUp);
    let whole =
        |kept: Vec<u8>, dropped: u64, live: Vec<u8>, summary: Option<&pb::StreamSummary>| {
            // Of a program that wrote too much nobody needs all.
            if dropped == 0 || is_up {
                return Ok(kept);
            }
            let total = summary.map_or(0, |summary| summary.total_bytes);
            // What came live is that of the first attempt, and may have been cut for slowness.
            if u64::try_from(live.len()).ok() == Some(total) && result.earlier_attempts.is_empty() {
                return Ok(live);
            }
            Err(Trouble::fault("a part of the output was lost on its way"))
        };
    let stdout = whole(
        stdout,
        dropped.stdout,
        live.stdout,
        result.stdout_summary.as_ref(),
    )?;
    let stderr = whole(
        stderr,
        dropped.stderr,
        live.stderr,
        result.stderr_summary.as_ref(),
    )?;
    Ok(Ran {
        result,
        stdout,
        stderr,
    })
}

fn trouble(error: ClientError) -> Trouble {
    match error {
        // Whoever may not ask, and whatever is not there, is for the operator to put right.
        ClientError::Refused(answer) if answer.code == "cancelled" => {
            Trouble::fault(answer.message)
        }
        ClientError::Refused(answer) => Trouble::Refused {
            field: answer.field,
            message: answer.message,
        },
        ClientError::Busy(answer) => Trouble::Busy {
            retry_after_ms: answer
                .retry_after
                .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
            message: answer.message,
        },
        other => Trouble::fault(chain(&other)),
    }
}
