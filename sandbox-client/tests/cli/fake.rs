//! A daemon that does what the first word of a request says, and a way to run `rollcage` on it.
//! It confines nothing and runs nothing.

use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{Stream, StreamExt};
use proto::v1 as pb;
use tokio::sync::Notify;
use tonic::{Request, Response, Status, Streaming};

#[expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes,
    clippy::excessive_nesting,
    clippy::too_many_lines,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]
mod stubs {
    include!(concat!(env!("OUT_DIR"), "/servers/rollcage.v1.rs"));
}

use stubs::runs_server::{Runs, RunsServer};

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// What the daemon saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Requests taken and not yet answered.
    in_flight: AtomicUsize,
    /// The most of those at one time.
    pub(crate) in_flight_peak: AtomicUsize,
    cancelled: Notify,
}

#[derive(Clone)]
struct Fake {
    seen: Arc<Seen>,
}

/// A result that exited with this code.
pub(crate) fn exited(id: &str, code: i32) -> pb::RunResult {
    let ending = pb::Ending {
        kind: pb::EndingKind::Exited.into(),
        code: Some(code),
        ..pb::Ending::default()
    };
    pb::RunResult {
        id: id.to_owned(),
        run_id: "r1".to_owned(),
        ending: Some(ending),
        ..pb::RunResult::default()
    }
}

fn number(request: &pb::RunRequest) -> u64 {
    request
        .argv
        .get(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

fn timed_out(id: &str) -> pb::RunResult {
    let mut result = exited(id, 0);
    result.ending = Some(pb::Ending {
        kind: pb::EndingKind::WallTimeUp.into(),
        limit_ms: Some(1_000),
        used_ms: Some(1_002),
        throttled_ms: Some(0),
        ..pb::Ending::default()
    });
    result
}

impl Fake {
    async fn answer(&self, request: pb::RunRequest) -> Result<pb::RunResult, Status> {
        let code = i32::try_from(number(&request)).unwrap();
        match request.argv.first().map(String::as_str) {
            Some("exit") => Ok(exited(&request.id, code)),
            Some("sleep-ms") => {
                tokio::time::sleep(Duration::from_millis(number(&request))).await;
                Ok(exited(&request.id, 0))
            }
            Some("time-up") => Ok(timed_out(&request.id)),
            Some("refuse") => Ok(pb::RunResult {
                id: request.id,
                error: Some(pb::RunFault {
                    code: "invalid_argument".to_owned(),
                    reason: "POLICY_UNKNOWN".to_owned(),
                    field: Some("policy".to_owned()),
                    message: "policy: there is no policy \"x\"".to_owned(),
                    retry_after_ms: None,
                }),
                ..pb::RunResult::default()
            }),
            Some("die") => Err(Status::internal("the daemon fell over")),
            _ => Ok(exited(&request.id, 0)),
        }
    }
}

fn output(stream: pb::OutputStream, data: &[u8]) -> pb::RunEvent {
    let output = pb::RunOutput {
        stream: stream.into(),
        data: data.to_vec(),
        ..pb::RunOutput::default()
    };
    pb::RunEvent {
        event: Some(pb::run_event::Event::Output(output)),
    }
}

#[tonic::async_trait]
impl Runs for Fake {
    async fn run(
        &self,
        request: Request<pb::RunRequest>,
    ) -> Result<Response<pb::RunResult>, Status> {
        self.answer(request.into_inner()).await.map(Response::new)
    }

    type RunBatchStream = Events<pb::RunResult>;

    async fn run_batch(
        &self,
        requests: Request<Streaming<pb::RunRequest>>,
    ) -> Result<Response<Self::RunBatchStream>, Status> {
        let fake = self.clone();
        let results = requests
            .into_inner()
            .map(move |request| {
                let fake = fake.clone();
                async move {
                    let now = fake.seen.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
                    fake.seen.in_flight_peak.fetch_max(now, Ordering::SeqCst);
                    let result = fake.answer(request?).await;
                    fake.seen.in_flight.fetch_sub(1, Ordering::SeqCst);
                    result
                }
            })
            .buffer_unordered(1_000);
        Ok(Response::new(Box::pin(results)))
    }

    type StreamStream = Events<pb::RunEvent>;

    async fn stream(
        &self,
        request: Request<pb::RunRequest>,
    ) -> Result<Response<Self::StreamStream>, Status> {
        let request = request.into_inner();
        if request.policy == "none" {
            let details =
                tonic_types::ErrorDetails::with_error_info("POLICY_UNKNOWN", "rollcage", []);
            return Err(<Status as tonic_types::StatusExt>::with_error_details(
                tonic::Code::InvalidArgument,
                "policy: there is no policy \"none\"",
                details,
            ));
        }
        let started = pb::RunStarted {
            run_id: "r1".to_owned(),
            sandbox_id: "s1".to_owned(),
        };
        let mut events = vec![pb::RunEvent {
            event: Some(pb::run_event::Event::Started(started)),
        }];
        let first = request.argv.first().map(String::as_str);
        if first == Some("bytes") {
            // A character cut in two, and a byte that is no text.
            events.push(output(pb::OutputStream::Stdout, b"\xc3"));
            events.push(output(pb::OutputStream::Stderr, b"err\xff"));
            events.push(output(pb::OutputStream::Stdout, b"\xa4\x00\n"));
        }
        if first == Some("wait") {
            events.push(output(pb::OutputStream::Stdout, b"begun\n"));
        }
        if first == Some("stdin") {
            events.push(output(
                pb::OutputStream::Stdout,
                request.stdin.as_deref().unwrap_or(b"none"),
            ));
        }
        let fake = self.clone();
        let last = async move {
            let mut result = if request.argv.first().is_some_and(|word| word == "wait") {
                fake.seen.cancelled.notified().await;
                let ending = pb::Ending {
                    kind: pb::EndingKind::Cancelled.into(),
                    by: Some("uid:0".to_owned()),
                    ..pb::Ending::default()
                };
                pb::RunResult {
                    ending: Some(ending),
                    ..exited("", 0)
                }
            } else {
                fake.answer(request.clone()).await?
            };
            if request.collect == ["out.txt"] {
                result.files = vec![pb::CollectedFile {
                    path: "out.txt".to_owned(),
                    content: b"collected".to_vec(),
                    mode: 0o644,
                }];
            }
            Ok(pb::RunEvent {
                event: Some(pb::run_event::Event::Result(Box::new(result))),
            })
        };
        let events = futures::stream::iter(events.into_iter().map(Ok));
        Ok(Response::new(Box::pin(
            events.chain(futures::stream::once(last)),
        )))
    }

    async fn cancel(
        &self,
        _request: Request<pb::CancelRequest>,
    ) -> Result<Response<pb::CancelReply>, Status> {
        self.seen.cancelled.notify_one();
        Ok(Response::new(pb::CancelReply {
            state: pb::RunState::Active.into(),
        }))
    }

    async fn submit(
        &self,
        _: Request<pb::RunRequest>,
    ) -> Result<Response<pb::SubmitReply>, Status> {
        Err(Status::unimplemented("not asked in these tests"))
    }

    async fn fetch(
        &self,
        _: Request<pb::FetchRequest>,
    ) -> Result<Response<pb::FetchReply>, Status> {
        Err(Status::unimplemented("not asked in these tests"))
    }

    async fn get(&self, _: Request<pb::GetRunRequest>) -> Result<Response<pb::RunRecord>, Status> {
        Err(Status::not_found("there is no run \"x\""))
    }

    async fn list(
        &self,
        _: Request<pb::ListRunsRequest>,
    ) -> Result<Response<pb::ListRunsReply>, Status> {
        Ok(Response::new(pb::ListRunsReply::default()))
    }
}

/// A fake daemon that listens while this lives.
pub(crate) struct Daemon {
    pub(crate) seen: Arc<Seen>,
    pub(crate) folder: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Daemon {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let seen = Arc::<Seen>::default();
        let fake = Fake {
            seen: Arc::clone(&seen),
        };
        let socket = folder.path().join("s.sock");
        let _guard = runtime.enter();
        let listener = tokio::net::UnixListener::bind(socket).unwrap();
        let connections = tokio_stream::wrappers::UnixListenerStream::new(listener);
        let server = tonic::transport::Server::builder().add_service(RunsServer::new(fake));
        runtime.spawn(server.serve_with_incoming(connections));
        Self {
            seen,
            folder,
            _runtime: runtime,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s.sock")
    }

    /// `rollcage --connect` to this daemon, with these words after it.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rollcage"));
        command
            .arg("--connect")
            .arg(format!("unix://{}", self.socket().display()))
            .args(words)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn rollcage(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs it to its end with a text on standard input.
    pub(crate) fn rollcage_with_stdin(&self, words: &[&str], stdin: &str) -> Output {
        let path = self.folder.path().join("stdin");
        std::fs::write(&path, stdin).unwrap();
        self.command(words)
            .stdin(std::fs::File::open(path).unwrap())
            .output()
            .unwrap()
    }
}

/// Error output as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
