//! Whose runs they are, what a key gives, and what a caller's going away does.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use policies::Catalog;
use proto::v1;
use tokio::sync::{mpsc, watch};
use tonic::Code;
use verdict::{Ending, Usage, Verdict};

use super::{Arrival, Desk, DeskParts, Runner};
use crate::config::{Names, Role};
use crate::grpc::auth::Session;
use crate::metrics::Metrics;
use crate::policy_set::PolicySet;
use crate::run::cancel::Cancel;
use crate::run::request::{Caller, Captured, Event, Receipt, Request, RunError, RunResult};
use crate::store::{Listing, Retention, Store};

const RUN: Arrival = Arrival {
    rpc: "Run",
    detached: false,
    quota_wait: Duration::ZERO,
};
const SUBMIT: Arrival = Arrival {
    rpc: "Submit",
    detached: true,
    quota_wait: Duration::ZERO,
};

/// A runner whose runs end when told, or when cancelled; `argv[0]` "busy" is refused.
#[derive(Debug)]
struct Puppet {
    go: watch::Receiver<bool>,
}

impl Runner for Puppet {
    fn run(
        &self,
        request: Request,
        _events: Option<mpsc::Sender<Event>>,
        cancel: Cancel,
    ) -> BoxFuture<'_, Result<RunResult, RunError>> {
        let mut go = self.go.clone();
        Box::pin(async move {
            if request.argv[0] == b"busy" {
                return Err(RunError::Busy {
                    message: "full".into(),
                    retry_after_ms: 5,
                });
            }
            let ending = tokio::select! {
                _ = go.wait_for(|go| *go) => Ending::Exited { code: 0 },
                by = cancel.cancelled() => Ending::Cancelled { by },
            };
            Ok(RunResult {
                id: request.id,
                run_id: request.run_id,
                ending,
                verdict: Verdict::unjudged(),
                stdout: Captured {
                    kept: b"out".to_vec(),
                    ..Captured::default()
                },
                stderr: Captured::default(),
                usage: Usage::default(),
                denials: vec![],
                manifest: vec![],
                files: vec![],
                files_missing: vec![],
                audit: Receipt::default(),
                sandbox_id: "sb".into(),
                witnessed: vec![],
                earlier: vec![],
            })
        })
    }
}

pub(in crate::grpc) struct House {
    pub(in crate::grpc) desk: Desk,
    pub(in crate::grpc) go: watch::Sender<bool>,
    pub(in crate::grpc) _folder: tempfile::TempDir,
}

pub(in crate::grpc) fn house() -> House {
    let folder = tempfile::tempdir().expect("folder");
    let retention = Retention {
        keep_ms: 1 << 40,
        entries_max: 100,
        bytes_max: 1 << 30,
    };
    let store = Store::open(&folder.path().join("r.redb"), retention, 0).expect("store");
    let (go, puppet) = watch::channel(false);
    let desk = Desk::new(DeskParts {
        runner: Arc::new(Puppet { go: puppet }),
        store,
        policies: PolicySet::new(Catalog::builtin().expect("catalog")),
        metrics: Arc::new(Metrics::new()),
        node: "n".into(),
    });
    House {
        desk,
        go,
        _folder: folder,
    }
}

pub(in crate::grpc) fn session(tenant: &str) -> Session {
    Session {
        caller: Caller {
            principal: format!("{tenant}-user"),
            tenant: tenant.into(),
        },
        roles: vec![Role::Run],
        policies: Names::All,
        images: Names::All,
        runs_max: Some(2),
    }
}

pub(in crate::grpc) fn request(key: &str) -> v1::RunRequest {
    v1::RunRequest {
        policy: "python".into(),
        argv: vec!["python3".into()],
        idempotency_key: key.into(),
        ..v1::RunRequest::default()
    }
}

fn kind(result: &v1::RunResult) -> v1::EndingKind {
    result.ending.as_ref().expect("ending").kind()
}

async fn end_of(desk: &Desk, tenant: &str, run_id: &str) -> v1::RunResult {
    let wait = Duration::from_secs(10);
    let reply = desk.fetch(tenant, run_id, wait).await.expect("fetch");
    reply.result.expect("it has ended")
}

#[tokio::test]
async fn a_foreign_run_is_not_there() {
    let House { desk, go, _folder } = house();
    let (red, blue) = (session("red"), session("blue"));
    let ticket = desk
        .accept(request(""), &red, SUBMIT, None)
        .await
        .expect("accept");
    let run_id = ticket.run_id.clone();
    for finished in [false, true] {
        if finished {
            go.send_replace(true);
            end_of(&desk, "red", &run_id).await;
            desk.finished().await;
        }
        assert!(desk.get("red", &run_id).await.is_ok());
        let probes = [
            desk.get("blue", &run_id).await.map(drop),
            desk.fetch("blue", &run_id, Duration::ZERO).await.map(drop),
            desk.cancel(&blue, &run_id).await.map(drop),
        ];
        for probe in probes {
            let error = probe.expect_err("foreign");
            let absent = desk.get("blue", "no-such-run").await.expect_err("absent");
            assert_eq!((error.code, error.reason), (Code::NotFound, absent.reason));
        }
        let listing = Listing {
            tenant: "blue".into(),
            page_size: 9,
            ..Listing::default()
        };
        assert_eq!(desk.list(listing).await.expect("list").runs, []);
    }
}

#[tokio::test]
async fn a_caller_who_goes_away_cancels_its_run_but_no_detached_one() {
    let House {
        desk,
        _folder,
        go: _go,
    } = house();
    let red = session("red");
    let ticket = desk
        .accept(request(""), &red, RUN, None)
        .await
        .expect("accept");
    let attached = ticket.run_id.clone();
    let detached = desk
        .accept(request(""), &red, SUBMIT, None)
        .await
        .expect("accept")
        .run_id
        .clone();
    drop(ticket);
    let result = end_of(&desk, "red", &attached).await;
    assert_eq!(kind(&result), v1::EndingKind::Cancelled);
    let reply = desk
        .fetch("red", &detached, Duration::ZERO)
        .await
        .expect("fetch");
    assert_eq!((reply.state(), reply.result), (v1::RunState::Active, None));
    assert_eq!(
        desk.cancel(&red, &detached).await.expect("cancel"),
        v1::RunState::Active
    );
    let result = end_of(&desk, "red", &detached).await;
    assert_eq!(
        result.ending.expect("ending").by.as_deref(),
        Some("red-user")
    );
}

#[tokio::test]
async fn a_key_joins_the_run_it_was_used_for_while_it_goes_on_and_afterwards() {
    let House { desk, go, _folder } = house();
    let red = session("red");
    let first = desk
        .accept(request("k"), &red, RUN, None)
        .await
        .expect("first");
    let second = desk
        .accept(request("k"), &red, RUN, None)
        .await
        .expect("second");
    assert_eq!(first.run_id, second.run_id);
    let other = v1::RunRequest {
        priority: 1,
        ..request("k")
    };
    let error = desk
        .accept(other, &red, RUN, None)
        .await
        .expect_err("other payload");
    assert_eq!(
        (error.code, error.reason),
        (Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED")
    );
    // Losing the call does not lose the run: its caller will ask again.
    drop(second);
    go.send_replace(true);
    let result = first.result().await.expect("result");
    assert_eq!(kind(&result), v1::EndingKind::Exited);
    desk.finished().await;
    let third = desk
        .accept(request("k"), &red, RUN, None)
        .await
        .expect("third");
    assert_eq!(third.result().await.expect("result"), result);
}

#[tokio::test]
async fn a_run_that_did_not_take_place_frees_its_key() {
    let House { desk, go, _folder } = house();
    go.send_replace(true);
    let red = session("red");
    let busy = v1::RunRequest {
        argv: vec!["busy".into()],
        ..request("k")
    };
    for _ in 0..2 {
        let ticket = desk
            .accept(busy.clone(), &red, RUN, None)
            .await
            .expect("accept");
        let error = ticket.result().await.expect_err("busy");
        assert_eq!(
            (error.code, error.retry_after_ms),
            (Code::ResourceExhausted, Some(5))
        );
    }
    let ticket = desk
        .accept(request("k"), &red, RUN, None)
        .await
        .expect("the key is free");
    assert_eq!(
        kind(&ticket.result().await.expect("result")),
        v1::EndingKind::Exited
    );
    // Whoever is detached finds the refusal where the result would be.
    let detached = desk
        .accept(busy, &red, SUBMIT, None)
        .await
        .expect("accept")
        .run_id
        .clone();
    let result = end_of(&desk, "red", &detached).await;
    assert_eq!(result.error.expect("error").code, "resource_exhausted");
}

#[tokio::test]
async fn a_principal_has_at_most_its_quota_at_once() {
    let House { desk, go, _folder } = house();
    let (red, blue) = (session("red"), session("blue"));
    let one = desk
        .accept(request(""), &red, RUN, None)
        .await
        .expect("one");
    let two = desk
        .accept(request(""), &red, RUN, None)
        .await
        .expect("two");
    let error = desk
        .accept(request(""), &red, RUN, None)
        .await
        .expect_err("three");
    assert_eq!(
        (error.code, error.reason),
        (Code::ResourceExhausted, "QUOTA_RUNS")
    );
    assert!(error.retry_after_ms.is_some());
    let other = desk
        .accept(request(""), &blue, RUN, None)
        .await
        .expect("another principal");
    go.send_replace(true);
    for ticket in [one, two, other] {
        ticket.result().await.expect("result");
    }
    while desk.active_len() > 0 {
        tokio::task::yield_now().await;
    }
    desk.accept(request(""), &red, RUN, None)
        .await
        .expect("room again");
}

#[tokio::test]
async fn active_and_stored_runs_are_listed_together_latest_first() {
    let House { desk, go, _folder } = house();
    let red = Session {
        runs_max: None,
        ..session("red")
    };
    go.send_replace(true);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let ticket = desk
            .accept(request(""), &red, RUN, None)
            .await
            .expect("accept");
        ids.push(ticket.run_id.clone());
        ticket.result().await.expect("result");
    }
    while desk.active_len() > 0 {
        tokio::task::yield_now().await;
    }
    go.send_replace(false);
    let active = desk
        .accept(request(""), &red, RUN, None)
        .await
        .expect("accept");
    ids.push(active.run_id.clone());
    ids.sort();
    let listing = Listing {
        tenant: "red".into(),
        page_size: 3,
        ..Listing::default()
    };
    let page = desk.list(listing.clone()).await.expect("page");
    let mut seen: Vec<String> = page.runs.iter().map(|run| run.run_id.clone()).collect();
    assert_eq!(seen.len(), 3);
    let rest = Listing {
        page_token: page.next_page_token,
        ..listing
    };
    let rest = desk.list(rest).await.expect("rest");
    assert_eq!(rest.next_page_token, "");
    seen.extend(rest.runs.iter().map(|run| run.run_id.clone()));
    seen.reverse();
    assert_eq!(seen, ids);
}
