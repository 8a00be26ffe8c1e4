//! `rollcage batch`: a request a line in, a result a line out, as they finish.
//!
//! Memory is bounded: requests in flight are limited in number and in bytes, results are written
//! when they come. A line that is no request gets an error result; the rest goes on.

mod lines;
mod progress;

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::connection::with_daemon;
use super::failure::{Failure, SANDBOX};
use super::{Context, outcome};
use crate::client::Client;
use crate::error::ClientError;
use crate::pb;
use lines::{BadLine, Line, LineReader};
use progress::Progress;

/// Request bytes in flight, in KiB: four of the largest lines.
const IN_FLIGHT_KIB_MAX: u32 = 256 << 10;
/// Lines read ahead of the daemon.
const READ_AHEAD: usize = 4;
/// The most that `--concurrency` may be.
const CONCURRENCY_MAX: u32 = 10_000;

/// What `rollcage batch` makes of `input` before it asks a daemon: for each line that is not empty
/// its request, or the result that says why it is none.
pub fn read_batch(input: &[u8]) -> Vec<Result<pb::RunRequest, Value>> {
    LineReader::new(input, Arc::default())
        .map(|line| match line {
            Ok(line) => line.content.map_err(|bad| bad.to_json()),
            Err(failure) => Err(json!({ "error": { "message": failure.to_string() } })),
        })
        .collect()
}

/// Options of `batch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage batch < runs.jsonl > results.jsonl
  rollcage batch --concurrency 8 < runs.jsonl | jq -r '[.id, .verdict.outcome] | @tsv'

A line:  {\"id\":\"t1\",\"policy\":\"python\",\"argv\":[\"python3\",\"-c\",\"print(1)\"]}
Judged:  {\"id\":\"t2\",\"policy\":\"python\",\"files\":{\"solution.py\":\"def f(): return 1\"},
          \"verify\":{\"kind\":\"asserts\",\"file\":\"solution.py\",\"code\":\"assert f() == 1\"}}
          (each on one line)

Results come as they finish and are matched by `id`; a line without an id gets `line-N`. A line that
cannot be run gives {\"id\", \"line\", \"error\"}. Exit code 0 when every line has its result.")]
pub(crate) struct BatchArgs {
    /// Requests in flight at most; the daemon may run fewer at once.
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(CONCURRENCY_MAX)))]
    concurrency: u32,
}

/// Does it.
pub(crate) async fn batch(context: &Context, args: &BatchArgs) -> Result<u8, Failure> {
    with_daemon(context, async |client| {
        let stdin = std::io::stdin();
        let size = progress::size_of(&stdin);
        let work = Work {
            progress: Progress::new(&context.terminal, size),
            context,
        };
        work.process(client, args.concurrency, stdin).await
    })
    .await
}

/// What a request holds until its result is there.
struct Pending {
    line: u64,
    size: usize,
    _slot: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

type InFlight = Arc<Mutex<HashMap<String, Pending>>>;

struct Work<'a> {
    progress: Progress,
    context: &'a Context,
}

impl Work<'_> {
    async fn process(
        mut self,
        client: &Client,
        concurrency: u32,
        input: impl Read + Send + 'static,
    ) -> Result<u8, Failure> {
        let in_flight = InFlight::default();
        let (bad_lines, mut errors) = mpsc::channel(READ_AHEAD);
        let (requests, taken) = mpsc::channel(1);
        let lines = read_in_thread(input, self.progress.bytes_read())?;
        let feeder = tokio::spawn(feed(Feed {
            lines,
            requests,
            bad_lines,
            in_flight: Arc::clone(&in_flight),
            slots: Arc::new(Semaphore::new(usize::try_from(concurrency).unwrap_or(1))),
        }));
        let requests = tokio_stream::wrappers::ReceiverStream::new(taken);
        let mut results = Box::pin(client.run_batch(requests).await?);
        let mut lines_ended = false;
        let daemon_failure = loop {
            tokio::select! {
                bad = errors.recv(), if !lines_ended => match bad {
                    Some(bad) => self.bad_line(&bad)?,
                    None => lines_ended = true,
                },
                result = results.next() => match result {
                    Some(Ok(result)) => self.result(&in_flight, &result)?,
                    Some(Err(error)) => break Some(error),
                    None => break None,
                },
                () = self.progress.due() => self.progress.show(bytes_in(&in_flight)),
            }
        };
        // Lines that were bad after the last request.
        if daemon_failure.is_none() {
            while let Some(bad) = errors.recv().await {
                self.bad_line(&bad)?;
            }
        } else {
            feeder.abort();
        }
        let read_failure = match feeder.await {
            Ok(outcome) => outcome.err(),
            Err(_aborted) => None,
        };
        self.finish(&in_flight, daemon_failure, read_failure)
    }

    fn bad_line(&mut self, bad: &BadLine) -> Result<(), Failure> {
        self.progress.count("bad_line");
        self.context.terminal.json_line(&bad.to_json())
    }

    fn result(&mut self, in_flight: &InFlight, result: &pb::RunResult) -> Result<(), Failure> {
        let pending = lock(in_flight).remove(&result.id);
        self.progress.count(&outcome::label(result));
        let document = match (&result.error, pending) {
            (Some(fault), pending) => {
                error_result(&result.id, pending.map(|pending| pending.line), fault)?
            }
            (None, _) => outcome::to_json(result)?,
        };
        self.context.terminal.json_line(&document)
    }

    fn finish(
        self,
        in_flight: &InFlight,
        daemon_failure: Option<ClientError>,
        read_failure: Option<Failure>,
    ) -> Result<u8, Failure> {
        let lost = lock(in_flight).len();
        self.progress.finish();
        if lost > 0 || daemon_failure.is_some() {
            self.context.terminal.talk(&format!(
                "{lost} lines that the daemon had have no result; they were not run, or not to \
                 their end"
            ));
        }
        match (daemon_failure, read_failure) {
            (Some(error), _) => Err(error.into()),
            (None, Some(failure)) => Err(failure),
            (None, None) if lost > 0 => Ok(SANDBOX),
            (None, None) => Ok(0),
        }
    }
}

fn lock(in_flight: &InFlight) -> std::sync::MutexGuard<'_, HashMap<String, Pending>> {
    // The map is whole even if a holder panicked: each change is one call.
    in_flight.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of input whose results are not there yet.
fn bytes_in(in_flight: &InFlight) -> u64 {
    let sizes: usize = lock(in_flight).values().map(|pending| pending.size).sum();
    u64::try_from(sizes).unwrap_or(u64::MAX)
}

fn error_result(id: &str, line: Option<u64>, fault: &pb::RunFault) -> Result<Value, Failure> {
    Ok(json!({ "id": id, "line": line, "error": outcome::to_json(fault)? }))
}

/// Reads lines in a thread of its own: standard input cannot be awaited whatever it is.
fn read_in_thread(
    input: impl Read + Send + 'static,
    bytes_read: Arc<std::sync::atomic::AtomicU64>,
) -> Result<mpsc::Receiver<Result<Line, Failure>>, Failure> {
    let (sender, lines) = mpsc::channel(READ_AHEAD);
    let read = move || {
        for line in LineReader::new(input, bytes_read) {
            let failed = line.is_err();
            // The other side is gone when the command is over.
            if sender.blocking_send(line).is_err() || failed {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("read-lines".to_owned())
        .spawn(read)
        .map_err(|source| Failure::Local {
            what: "start a thread that reads standard input".to_owned(),
            source,
        })?;
    Ok(lines)
}

struct Feed {
    lines: mpsc::Receiver<Result<Line, Failure>>,
    requests: mpsc::Sender<pb::RunRequest>,
    bad_lines: mpsc::Sender<BadLine>,
    in_flight: InFlight,
    slots: Arc<Semaphore>,
}

/// Hands each line on when there is room for it, until the lines or the daemon end.
async fn feed(mut feed: Feed) -> Result<(), Failure> {
    let bytes = Arc::new(Semaphore::new(
        usize::try_from(IN_FLIGHT_KIB_MAX).unwrap_or(1),
    ));
    while let Some(line) = feed.lines.recv().await {
        let Line {
            number,
            bytes: size,
            content,
        } = line?;
        let request = match content {
            Ok(request) => request,
            Err(bad) => {
                if feed.bad_lines.send(bad).await.is_err() {
                    return Ok(());
                }
                continue;
            }
        };
        let kib = u32::try_from(size.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let kib = kib.clamp(1, IN_FLIGHT_KIB_MAX);
        let slot = Arc::clone(&feed.slots).acquire_owned().await;
        let room = Arc::clone(&bytes).acquire_many_owned(kib).await;
        let (Ok(_slot), Ok(_bytes)) = (slot, room) else {
            return Ok(());
        };
        let pending = Pending {
            line: number,
            size,
            _slot,
            _bytes,
        };
        lock(&feed.in_flight).insert(request.id.clone(), pending);
        if feed.requests.send(request).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs requests that are all in memory and gives results as they finish.
pub(crate) async fn run_all(
    client: &Client,
    requests: Vec<pb::RunRequest>,
) -> Result<impl Stream<Item = Result<pb::RunResult, ClientError>> + use<>, ClientError> {
    client.run_batch(futures::stream::iter(requests)).await
}
