//! A caller under another user: this test binary once more, which gives up root, calls every rpc
//! and prints what came back. A process of its own, because ids belong to whole processes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use nix::unistd::{Gid, Group, Uid, setgroups, setresgid, setresuid};
use prost::Message;
use sandbox_client::pb;
use serde_json::{Value, json};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Uri};
use tonic::{Request, Status};

use crate::world::{World, message, speak};

/// A group that every Debian has, given the socket by the tests' configuration.
pub(super) const GROUP: &str = "daemon";

/// Tells the binary to be a caller: `uid:socket:run id`.
const ROLE: &str = "ROLLCAGE_TEST_CALLER";

/// What stands before the caller's answers among what a test runner prints.
const MARK: &str = "ANSWERS ";

/// A stream that says nothing for this long was let in.
const SILENCE: Duration = Duration::from_millis(300);
/// A call that is not answered at all.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Every rpc that a caller calls.
pub(super) const ALL_CALLS: [&str; 20] = [
    "Runs/Run",
    "Runs/RunBatch",
    "Runs/Stream",
    "Runs/Submit",
    "Runs/Fetch",
    "Runs/Cancel",
    "Runs/Get",
    "Runs/List",
    "Policies/List",
    "Policies/Get",
    "Policies/Lint",
    "Policies/Explain",
    "Policies/Diff",
    "Audit/Query",
    "Audit/Tail",
    "Audit/Verify",
    "Audit/Checkpoint",
    "Node/Capabilities",
    "Node/Status",
    "Node/SelfTest",
];

/// What a caller was told.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// gRPC code by rpc, in the words of the contract.
    pub(super) codes: BTreeMap<String, String>,
    /// The message that came with it.
    pub(super) messages: BTreeMap<String, String>,
    /// Runs it made.
    pub(super) ran: Vec<String>,
    /// Runs it was shown.
    pub(super) listed: Vec<String>,
    /// Policies it was shown.
    pub(super) policies: BTreeSet<String>,
    /// Tenants of the records it was shown.
    pub(super) tenants: BTreeSet<String>,
}

/// Calls every rpc as `uid`, in a process of its own.
#[track_caller]
pub(super) fn call_as(test: &str, world: &World, uid: u32, run_id: &str) -> Answers {
    let own = std::env::current_exe().expect("own path");
    let socket = world.socket();
    let mut command = Command::new(own);
    command
        .args([test, "--exact", "--nocapture"])
        .env(ROLE, format!("{uid}:{}:{run_id}", socket.display()))
        .stdin(Stdio::null());
    let spoken = speak(&mut command, b"");
    let (stdout, stderr) = (spoken.stdout(), spoken.stderr());
    let line = stdout
        .lines()
        .find_map(|line| Some(line.split_once(MARK)?.1));
    let line = line.unwrap_or_else(|| panic!("uid {uid}: no answers\n{stdout}\n{stderr}"));
    let answers: Value = serde_json::from_str(line).expect("answers are JSON");
    let texts = |value: &Value| -> Vec<String> {
        serde_json::from_value(value.clone()).expect("a list of text")
    };
    let map = |value: &Value| serde_json::from_value(value.clone()).expect("a map of text");
    Answers {
        codes: map(&answers["codes"]),
        messages: map(&answers["messages"]),
        ran: texts(&answers["ran"]),
        listed: texts(&answers["listed"]),
        policies: texts(&answers["policies"]).into_iter().collect(),
        tenants: texts(&answers["tenants"]).into_iter().collect(),
    }
}

/// If this process was started as a caller: does it, and says so.
pub(super) fn as_caller() -> bool {
    let Ok(role) = std::env::var(ROLE) else {
        return false;
    };
    let mut parts = role.splitn(3, ':');
    let mut part = || parts.next().expect("uid:socket:run id").to_owned();
    let (uid, socket, run_id) = (part(), part(), part());
    give_up_root(uid.parse().expect("a uid"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let answers = runtime.expect("a runtime").block_on(async {
        let mut caller = Caller {
            channel: connect(socket).await,
            answers: Answers::default(),
        };
        caller.call_all(&run_id).await;
        caller.answers
    });
    let answers = json!({
        "codes": answers.codes, "messages": answers.messages, "ran": answers.ran,
        "listed": answers.listed, "policies": answers.policies, "tenants": answers.tenants,
    });
    println!("\n{MARK}{answers}");
    true
}

fn give_up_root(uid: u32) {
    let group = Group::from_name(GROUP)
        .expect("read the groups")
        .expect("the group");
    setgroups(&[]).expect("drop the groups");
    setresgid(group.gid, group.gid, group.gid).expect("become the group");
    let uid = Uid::from_raw(uid);
    setresuid(uid, uid, uid).expect("become the user");
    assert!(setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_err());
    assert_ne!(Gid::effective().as_raw(), 0);
}

async fn connect(socket: String) -> Channel {
    let socket = Arc::new(socket);
    let connector = tower::service_fn(move |_: Uri| {
        let socket = Arc::clone(&socket);
        async move {
            let stream = tokio::net::UnixStream::connect(socket.as_str()).await?;
            Ok::<_, std::io::Error>(TokioIo::new(stream))
        }
    });
    let endpoint = tonic::transport::Endpoint::from_static("http://rollcage");
    endpoint
        .connect_with_connector(connector)
        .await
        .expect("the group may connect")
}

struct Caller {
    channel: Channel,
    answers: Answers,
}

impl Caller {
    async fn call_all(&mut self, run_id: &str) {
        self.call_runs(run_id).await;
        let base = || {
            Some(pb::PolicyRef {
                policy: Some(pb::policy_ref::Policy::Name("shell".to_owned())),
            })
        };
        let list: Option<pb::ListPoliciesReply> =
            self.call("Policies/List", pb::ListPoliciesRequest {}).await;
        let names = list
            .unwrap_or_default()
            .policies
            .into_iter()
            .map(|policy| policy.name);
        self.answers.policies.extend(names);
        let get = pb::GetPolicyRequest {
            name: "shell".to_owned(),
        };
        self.call::<_, pb::PolicyDocument>("Policies/Get", get)
            .await;
        let lint = pb::LintPolicyRequest { policy: base() };
        self.call::<_, pb::LintPolicyReply>("Policies/Lint", lint)
            .await;
        let explain = pb::ExplainPolicyRequest { policy: base() };
        self.call::<_, pb::ExplainPolicyReply>("Policies/Explain", explain)
            .await;
        let diff = pb::DiffPoliciesRequest {
            before: base(),
            after: base(),
        };
        self.call::<_, pb::DiffPoliciesReply>("Policies/Diff", diff)
            .await;
        self.call_audit().await;
        let ask = pb::CapabilitiesRequest {};
        self.call::<_, pb::CapabilitiesReply>("Node/Capabilities", ask)
            .await;
        self.call::<_, pb::StatusReply>("Node/Status", pb::StatusRequest {})
            .await;
        let ask = pb::SelfTestRequest::default();
        self.call::<_, pb::SelfTestReply>("Node/SelfTest", ask)
            .await;
    }

    async fn call_runs(&mut self, run_id: &str) {
        let run = |key: &str| {
            message(&json!({ "policy": "shell", "argv": ["true"], "idempotency_key": key }))
        };
        let result: Option<pb::RunResult> = self.call("Runs/Run", run("one-key")).await;
        self.answers.ran.extend(result.map(|result| result.run_id));
        let result: Option<pb::RunResult> = self.call("Runs/RunBatch", run("")).await;
        self.answers.ran.extend(result.map(|result| result.run_id));
        self.call::<_, pb::RunEvent>("Runs/Stream", run("")).await;
        let submitted: Option<pb::SubmitReply> = self.call("Runs/Submit", run("")).await;
        self.answers.ran.extend(submitted.map(|reply| reply.run_id));
        let run_id = run_id.to_owned();
        let fetch = pb::FetchRequest {
            run_id: run_id.clone(),
            wait_ms: 0,
        };
        self.call::<_, pb::FetchReply>("Runs/Fetch", fetch).await;
        let cancel = pb::CancelRequest {
            run_id: run_id.clone(),
        };
        self.call::<_, pb::CancelReply>("Runs/Cancel", cancel).await;
        self.call::<_, pb::RunRecord>("Runs/Get", pb::GetRunRequest { run_id })
            .await;
        let list = pb::ListRunsRequest {
            page_size: 1_000,
            ..Default::default()
        };
        let list: Option<pb::ListRunsReply> = self.call("Runs/List", list).await;
        let listed = list
            .unwrap_or_default()
            .runs
            .into_iter()
            .map(|run| run.run_id);
        self.answers.listed.extend(listed);
    }

    async fn call_audit(&mut self) {
        let query = pb::AuditQueryRequest::default();
        for record in self
            .call_all_of::<_, pb::AuditRecord>("Audit/Query", query)
            .await
        {
            let line: Value = serde_json::from_str(&record.line).expect("a record is JSON");
            self.answers
                .tenants
                .extend(line["tenant"].as_str().map(str::to_owned));
        }
        let tail = pb::AuditTailRequest { from_seq: None };
        self.call::<_, pb::AuditRecord>("Audit/Tail", tail).await;
        let verify = pb::AuditVerifyRequest {};
        self.call::<_, pb::AuditVerifyReply>("Audit/Verify", verify)
            .await;
        let checkpoint = pb::AuditCheckpointRequest {};
        self.call::<_, pb::AuditCheckpointReply>("Audit/Checkpoint", checkpoint)
            .await;
    }

    /// Calls an rpc and gives its first answer.
    async fn call<Q, R>(&mut self, rpc: &str, request: Q) -> Option<R>
    where
        Q: Message + Default + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        self.call_all_of(rpc, request).await.into_iter().next()
    }

    /// Calls an rpc and gives its answers until it ends or falls silent. On the wire every kind of
    /// call is a stream of messages either way.
    async fn call_all_of<Q, R>(&mut self, rpc: &str, request: Q) -> Vec<R>
    where
        Q: Message + Default + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        let mut answers = Vec::new();
        let called =
            tokio::time::timeout(ANSWER_MAX, self.stream(rpc, request, &mut answers)).await;
        let status = match called.unwrap_or_else(|_late| panic!("{rpc} is not answered")) {
            Ok(()) => Status::ok(""),
            Err(status) => status,
        };
        let code = sandbox_client::error::code_name(status.code()).to_owned();
        self.answers.codes.insert(rpc.to_owned(), code);
        self.answers
            .messages
            .insert(rpc.to_owned(), status.message().to_owned());
        answers
    }

    async fn stream<Q, R>(&self, rpc: &str, request: Q, answers: &mut Vec<R>) -> Result<(), Status>
    where
        Q: Message + Default + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        let mut grpc = tonic::client::Grpc::new(self.channel.clone());
        grpc.ready().await.expect("the connection is ready");
        let path: PathAndQuery = format!("/rollcage.v1.{rpc}").parse().expect("a path");
        let codec = tonic_prost::ProstCodec::<Q, R>::default();
        let request = Request::new(futures::stream::iter([request]));
        let mut stream = grpc.streaming(request, path, codec).await?.into_inner();
        // A live stream: it was let in, and there is nothing to say.
        let is_live = rpc == "Audit/Tail";
        loop {
            let next = stream.message();
            let next = if is_live {
                match tokio::time::timeout(SILENCE, next).await {
                    Ok(next) => next,
                    Err(_silent) => return Ok(()),
                }
            } else {
                next.await
            };
            match next? {
                Some(answer) => answers.push(answer),
                None => return Ok(()),
            }
        }
    }
}
