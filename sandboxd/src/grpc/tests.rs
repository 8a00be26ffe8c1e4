//! The services over a real socket: who may call what, batches, and callers that go away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures::future::BoxFuture;
use hyper_util::rt::TokioIo;
use proto::v1;
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use super::auth::{RULES, Session};
use super::desk::tests::{House, house, request, session};
use super::node::{Fullness, NodeFacts, NodeService};
use super::{AuditService, PoliciesService, Prover, RunsService, stubs};
use crate::audit_client::AuditClient;
use crate::audit_client::log_reader::LogReader;
use crate::audit_writer;
use crate::config::Role;
use crate::metrics::Metrics;
use crate::run::admission::Load;
use crate::self_test::ProveError;

const IN_FLIGHT_MAX: usize = 3;

#[derive(Debug)]
struct Idle;

impl Fullness for Idle {
    fn load(&self) -> Load {
        Load::default()
    }
}

/// Finds nothing.
#[derive(Debug)]
struct NothingToProve;

impl Prover for NothingToProve {
    fn prove_again(
        &self,
        _names: BTreeSet<String>,
        _principal: String,
    ) -> BoxFuture<'_, Result<(), ProveError>> {
        Box::pin(async { Ok(()) })
    }

    fn boot_id(&self) -> &str {
        "boot"
    }

    fn at_start(&self) -> bool {
        false
    }
}

/// An audit process in a thread, without the locks that would close the test's own process, and
/// the service over it.
async fn audit_service(state_dir: &std::path::Path) -> AuditService {
    let running = audit_writer::tests::start(audit_writer::tests::settings(state_dir));
    let client = AuditClient::connect(running.api)
        .await
        .expect("audit process");
    AuditService::new(client, LogReader::new(state_dir))
}

/// All services, told that every caller is `session`; without one, nobody is known.
async fn serve(house: &House, session: Option<Session>) -> Channel {
    let folder = house._folder.path();
    // Each has a log of its own: two audit processes never write one.
    let socket = folder.join(format!("{}.sock", crate::run_id::new(0).expect("id")));
    let state_dir = socket.with_extension("state");
    std::fs::create_dir(&state_dir).expect("state folder");
    let audit = audit_service(&state_dir).await;
    let facts = NodeFacts {
        host: confine::host::inspect(),
        image_sha256: String::new(),
        started_unix_ms: 0,
    };
    let node = NodeService::new(
        house.desk.clone(),
        Arc::new(facts),
        Arc::new(Idle),
        Arc::new(Metrics::new()),
        Arc::new(AtomicBool::new(false)),
        Arc::new(NothingToProve),
    );
    let session = session.map(Arc::new);
    let identify = move |mut request: Request<()>| {
        if let Some(session) = &session {
            request.extensions_mut().insert(Arc::clone(session));
        }
        Ok::<_, Status>(request)
    };
    let runs = RunsService::new(house.desk.clone(), IN_FLIGHT_MAX);
    let policies = PoliciesService::new(house.desk.clone());
    let router = Server::builder()
        .add_service(InterceptedService::new(
            stubs::runs_server::RunsServer::new(runs),
            identify.clone(),
        ))
        .add_service(InterceptedService::new(
            stubs::policies_server::PoliciesServer::new(policies),
            identify.clone(),
        ))
        .add_service(InterceptedService::new(
            stubs::audit_server::AuditServer::new(audit),
            identify.clone(),
        ))
        .add_service(InterceptedService::new(
            stubs::node_server::NodeServer::new(node),
            identify,
        ));
    let listener = tokio::net::UnixListener::bind(&socket).expect("bind");
    tokio::spawn(router.serve_with_incoming(UnixListenerStream::new(listener)));
    let connect = tower::service_fn(move |_uri| {
        let socket = socket.clone();
        async move {
            tokio::net::UnixStream::connect(socket)
                .await
                .map(TokioIo::new)
        }
    });
    let endpoint = Endpoint::from_static("http://socket");
    endpoint
        .connect_with_connector(connect)
        .await
        .expect("connect")
}

/// Calls an rpc with a stream of requests; every kind of rpc looks like that on the wire.
async fn call<Q, A>(
    channel: Channel,
    rpc: &str,
    requests: impl futures::Stream<Item = Q> + Send + 'static,
) -> Result<Response<Streaming<A>>, Status>
where
    Q: prost::Message + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    let mut client = Grpc::new(channel);
    client.ready().await.expect("ready");
    let path: PathAndQuery = format!("/rollcage.v1.{rpc}").parse().expect("path");
    client
        .streaming(Request::new(requests), path, ProstCodec::<Q, A>::default())
        .await
}

/// The code of an rpc's answer to an empty message.
async fn code_of(channel: &Channel, rpc: &str) -> Code {
    let answer = call::<(), ()>(channel.clone(), rpc, tokio_stream::once(())).await;
    answer.map_or_else(|status| status.code(), |_opened| Code::Ok)
}

#[tokio::test]
async fn every_handler_asks_for_the_role_that_its_rule_names() {
    let house = house();
    house.go.send_replace(true);
    for role in Role::ALL {
        let caller = Session {
            roles: vec![role],
            ..session("red")
        };
        let channel = serve(&house, Some(caller)).await;
        for rule in RULES {
            let rpc = format!("{}/{}", rule.service, rule.name);
            let allowed = role == Role::Admin || rule.roles.contains(&role);
            let code = code_of(&channel, &rpc).await;
            assert_eq!(
                code != Code::PermissionDenied,
                allowed,
                "{rpc} as {role:?}: {code:?}"
            );
            assert_ne!(code, Code::Unimplemented, "{rpc}");
        }
    }
    let channel = serve(&house, None).await;
    for rule in RULES {
        let rpc = format!("{}/{}", rule.service, rule.name);
        assert_eq!(
            code_of(&channel, &rpc).await,
            Code::Unauthenticated,
            "{rpc}"
        );
    }
}

#[tokio::test]
async fn a_fresh_self_test_takes_admin() {
    let house = house();
    let fresh = |policies: &[&str]| v1::SelfTestRequest {
        fresh: true,
        policies: policies.iter().map(|name| (*name).to_owned()).collect(),
    };
    for role in Role::ALL {
        let caller = Session {
            roles: vec![role],
            ..session("red")
        };
        let channel = serve(&house, Some(caller)).await;
        let asked = |request| {
            let channel = channel.clone();
            async move {
                let rpc = "Node/SelfTest";
                let answer =
                    call::<_, v1::SelfTestReply>(channel, rpc, tokio_stream::once(request));
                match answer.await?.into_inner().message().await? {
                    Some(reply) => Ok(reply),
                    None => Err(Status::internal("no answer")),
                }
            }
        };
        let read = asked(v1::SelfTestRequest::default()).await;
        let read = read.expect("every role may read");
        assert!(read.policies.iter().all(|one| one.rows.is_empty()));
        let may = role == Role::Admin;
        match asked(fresh(&["python"])).await {
            Ok(reply) => assert!(may && reply.policies.len() == 1, "{role:?}: {reply:?}"),
            Err(status) => {
                assert!(!may, "{role:?}: {status:?}");
                assert_eq!(status.code(), Code::PermissionDenied);
            }
        }
        let unknown = asked(fresh(&["no-such-policy"])).await;
        assert!(unknown.is_err(), "{role:?}");
    }
}

async fn batch(channel: Channel, requests: Vec<v1::RunRequest>) -> Streaming<v1::RunResult> {
    let answer = call(channel, "Runs/RunBatch", tokio_stream::iter(requests)).await;
    answer.expect("a batch").into_inner()
}

fn item(id: &str) -> v1::RunRequest {
    v1::RunRequest {
        id: id.to_owned(),
        ..request("")
    }
}

fn unlimited() -> Option<Session> {
    Some(Session {
        runs_max: None,
        ..session("red")
    })
}

#[tokio::test]
async fn a_refused_item_of_a_batch_is_answered_and_the_rest_goes_on() {
    let house = house();
    house.go.send_replace(true);
    let channel = serve(&house, unlimited()).await;
    let wrong = v1::RunRequest {
        policy: "nope".into(),
        ..item("wrong")
    };
    let items = vec![item("a"), wrong, item("a"), item("b"), item("c"), item("d")];
    let mut results = batch(channel, items).await;
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    while let Some(result) = results.message().await.expect("the stream goes on") {
        let how = match (&result.error, &result.ending) {
            (Some(error), None) => error.reason.clone(),
            (None, Some(ending)) => ending.kind().as_str_name().to_owned(),
            other => panic!("{other:?}"),
        };
        seen.entry(result.id).or_default().push(how);
    }
    seen.values_mut().for_each(|how| how.sort());
    assert_eq!(seen["a"], ["ENDING_KIND_EXITED", "ID_TWICE"]);
    assert_eq!(seen["wrong"], ["POLICY_UNKNOWN"]);
    for id in ["b", "c", "d"] {
        assert_eq!(seen[id], ["ENDING_KIND_EXITED"]);
    }
}

async fn until(what: &str, is: impl Fn() -> bool) {
    let wait = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait)
        .await
        .expect(what);
}

#[tokio::test]
async fn a_batch_has_a_bounded_number_of_items_in_flight() {
    let house = house();
    let channel = serve(&house, unlimited()).await;
    let items: Vec<v1::RunRequest> = (0..20).map(|number| item(&format!("i{number}"))).collect();
    let mut results = batch(channel, items).await;
    until("as many as may run", || {
        house.desk.active_len() == IN_FLIGHT_MAX
    })
    .await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
        assert!(house.desk.active_len() <= IN_FLIGHT_MAX);
    }
    house.go.send_replace(true);
    let mut count = 0;
    while results.message().await.expect("result").is_some() {
        count += 1;
    }
    assert_eq!(count, 20);
}

#[tokio::test]
async fn an_item_over_quota_waits_for_a_place() {
    let house = house();
    // Two runs at once, as in `session`; three calls that each want more.
    let channel = serve(&house, Some(session("red"))).await;
    let mut calls = Vec::new();
    for call in ["x", "y", "z"] {
        let items = (0..4).map(|number| item(&format!("{call}{number}")));
        calls.push(batch(channel.clone(), items.collect()).await);
    }
    until("as many as may run", || house.desk.active_len() == 2).await;
    house.go.send_replace(true);
    for results in &mut calls {
        let mut count = 0;
        while let Some(result) = results.message().await.expect("result") {
            assert!(result.error.is_none(), "{:?}", result.error);
            count += 1;
        }
        assert_eq!(count, 4);
    }
}

#[tokio::test]
async fn a_caller_that_hangs_up_ends_what_it_started() {
    let house = house();
    let channel = serve(&house, unlimited()).await;
    let (sender, requests) = tokio::sync::mpsc::channel(4);
    sender.send(item("a")).await.expect("send");
    sender.send(item("b")).await.expect("send");
    let answer = call::<_, v1::RunResult>(channel, "Runs/RunBatch", ReceiverStream::new(requests));
    let results = answer.await.expect("batch");
    until("both run", || house.desk.active_len() == 2).await;
    drop((results, sender));
    until("a batch's runs end", || house.desk.active_len() == 0).await;

    let channel = serve(&house, unlimited()).await;
    let events = call::<_, v1::RunEvent>(channel, "Runs/Stream", tokio_stream::once(item("c")));
    let mut events = events.await.expect("stream").into_inner();
    let first = events.message().await.expect("event").expect("event").event;
    assert!(
        matches!(first, Some(v1::run_event::Event::Queued(_))),
        "{first:?}"
    );
    until("it runs", || house.desk.active_len() == 1).await;
    drop(events);
    until("a stream's run ends", || house.desk.active_len() == 0).await;

    let channel = serve(&house, unlimited()).await;
    let running = tokio::spawn(async move {
        call::<_, v1::RunResult>(channel, "Runs/Run", tokio_stream::once(item("d"))).await
    });
    until("it runs", || house.desk.active_len() == 1).await;
    running.abort();
    until("a call's run ends", || house.desk.active_len() == 0).await;
}
