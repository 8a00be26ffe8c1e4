//! The api's end of the audit process: append and wait until it is durable, many at once. Reading
//! the log back is `log_reader`'s. Knows no policy: whether a run goes on after a refused record
//! is its caller's decision.

use std::collections::HashMap;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use audit::frame::{Decoder, FrameError, Reply, Request, encode};
use audit::{Draft, Receipt};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};

pub mod log_reader;

/// How long a record may take to be durable. A disk or an audit process that hangs is a fault that
/// callers are told of, not a reason to wait for ever.
const PATIENCE: Duration = Duration::from_secs(30);
/// Frames on their way to the audit process before `append` waits.
const QUEUE_FRAMES: usize = 1024;

/// Why a record is not known to be in the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AuditError {
    /// The audit process refused this record; another may pass.
    #[error("the audit process refused the record: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The log could not be written; the record is not in it.
    #[error("the audit log cannot be written: {reason}")]
    NotWritten {
        /// Why.
        reason: String,
    },
    /// The audit process could not open its log.
    #[error("the audit process did not start: {reason}")]
    NotStarted {
        /// Why.
        reason: String,
    },
    /// The audit process is gone; the record may or may not be in the log.
    #[error("the audit process is gone")]
    Gone,
    /// No answer for a long time; the record may or may not get into the log.
    #[error("the audit process gives no answer for {ms} ms: its disk or itself hangs")]
    Silent {
        /// How long was waited, in milliseconds.
        ms: u64,
    },
    /// The record does not fit into a frame.
    #[error("the record cannot be sent: {reason}")]
    Unsendable {
        /// Why.
        reason: String,
    },
}

/// The key that signs the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Its id in checkpoints.
    pub key_id: String,
    /// Its public half, PEM.
    pub public_key_pem: String,
}

type Answer = Result<Receipt, AuditError>;

#[derive(Debug, Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    gone: bool,
}

#[derive(Debug)]
enum Command {
    Send(Vec<u8>),
    Close,
}

/// A connection to the audit process. Clones share it.
#[derive(Debug, Clone)]
pub struct AuditClient {
    commands: mpsc::Sender<Command>,
    waiting: Arc<Mutex<Waiting>>,
    next_id: Arc<AtomicU64>,
    head: watch::Receiver<u64>,
    key: SigningKey,
    patience: Duration,
}

impl AuditClient {
    /// Waits until the audit process has opened its log.
    ///
    /// # Errors
    /// `NotStarted` with its reason, or `Gone`.
    pub async fn connect(stream: StdStream) -> Result<Self, AuditError> {
        let failed = |error: std::io::Error| AuditError::NotStarted {
            reason: error.to_string(),
        };
        stream.set_nonblocking(true).map_err(failed)?;
        let (mut read, write) = UnixStream::from_std(stream).map_err(failed)?.into_split();
        let mut decoder = Decoder::default();
        let (seq, key) = match next_reply(&mut read, &mut decoder).await? {
            Some(Reply::Ready {
                seq,
                key_id,
                public_key_pem,
                ..
            }) => (
                seq,
                SigningKey {
                    key_id,
                    public_key_pem,
                },
            ),
            Some(Reply::Failed { reason }) => return Err(AuditError::NotStarted { reason }),
            _ => return Err(AuditError::Gone),
        };
        let (commands, queue) = mpsc::channel(QUEUE_FRAMES);
        let (head_sender, head) = watch::channel(seq);
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        tokio::spawn(send(write, queue));
        tokio::spawn(receive(read, decoder, Arc::clone(&waiting), head_sender));
        Ok(Self {
            commands,
            waiting,
            next_id: Arc::new(AtomicU64::new(1)),
            head,
            key,
            patience: PATIENCE,
        })
    }

    /// Appends a record of source `api` or `init`; returns when it is durable. A dropped future
    /// does not take the record back.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub async fn append(&self, draft: Draft) -> Result<Receipt, AuditError> {
        let id = self.id();
        self.ask(
            id,
            &Request::Append {
                id,
                draft: Box::new(draft),
            },
        )
        .await
    }

    /// Signs the log as it is; the receipt is the checkpoint line's.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub async fn checkpoint(&self) -> Result<Receipt, AuditError> {
        let id = self.id();
        self.ask(id, &Request::Checkpoint { id }).await
    }

    /// The last durable sequence number, also of the launcher's records, as it grows. The sender
    /// is gone once the audit process is.
    #[must_use]
    pub fn head(&self) -> watch::Receiver<u64> {
        self.head.clone()
    }

    /// The key that signs the log.
    #[must_use]
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Ends the connection after everything appended so far, and waits until the audit process
    /// has signed the log a last time and is gone. Append `daemon_stopped` before.
    pub async fn close(&self) {
        if self.commands.send(Command::Close).await.is_err() {
            tracing::debug!("the audit connection was closed before");
        }
        let mut head = self.head.clone();
        while head.changed().await.is_ok() {}
    }

    fn id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    async fn ask(&self, id: u64, request: &Request) -> Answer {
        let frame = encode(request).map_err(|error| AuditError::Unsendable {
            reason: error.to_string(),
        })?;
        let (sender, receiver) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.gone {
                return Err(AuditError::Gone);
            }
            waiting.answers.insert(id, sender);
        }
        let answered = tokio::time::timeout(self.patience, async {
            if self.commands.send(Command::Send(frame)).await.is_err() {
                return Err(AuditError::Gone);
            }
            receiver.await.unwrap_or(Err(AuditError::Gone))
        });
        let ms = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
        let answered = answered.await.unwrap_or(Err(AuditError::Silent { ms }));
        if answered.is_err() {
            lock(&self.waiting).answers.remove(&id);
        }
        answered
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // Nothing is left half-done under this lock.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends queued frames, as many as are there with one write; then closes the sending side, which
/// the audit process takes as the end of the daemon.
async fn send(mut write: OwnedWriteHalf, mut queue: mpsc::Receiver<Command>) {
    let mut commands = Vec::new();
    let mut open = true;
    while open && queue.recv_many(&mut commands, 64).await > 0 {
        let mut bytes = Vec::new();
        for command in commands.drain(..) {
            match command {
                Command::Send(frame) if open => bytes.extend_from_slice(&frame),
                // Sent after `close`: answered as gone when the process ends.
                Command::Send(_) => {}
                Command::Close => open = false,
            }
        }
        if let Err(error) = write.write_all(&bytes).await {
            tracing::error!(%error, "the audit process takes no records");
            return;
        }
    }
    if let Err(error) = write.shutdown().await {
        tracing::debug!(%error, "the audit connection ended before it was closed");
    }
}

/// Hands answers to those who wait, until the audit process is gone.
async fn receive(
    mut read: OwnedReadHalf,
    mut decoder: Decoder,
    waiting: Arc<Mutex<Waiting>>,
    head: watch::Sender<u64>,
) {
    loop {
        match next_reply(&mut read, &mut decoder).await {
            Ok(Some(Reply::Ack { id, seq, sha256 })) => {
                answer(&waiting, id, Ok(Receipt { seq, sha256 }));
            }
            Ok(Some(Reply::Nack {
                id,
                refused: true,
                reason,
            })) => {
                answer(&waiting, id, Err(AuditError::Refused { reason }));
            }
            Ok(Some(Reply::Nack {
                id,
                refused: false,
                reason,
            })) => {
                answer(&waiting, id, Err(AuditError::NotWritten { reason }));
            }
            Ok(Some(Reply::Head { seq })) => {
                head.send_replace(seq);
            }
            Ok(Some(Reply::Ready { .. } | Reply::Failed { .. })) => {
                tracing::error!("the audit process started twice");
                break;
            }
            Ok(None) => break,
            Err(error) => {
                tracing::error!(%error, "the audit process cannot be understood");
                break;
            }
        }
    }
    let mut waiting = lock(&waiting);
    waiting.gone = true;
    // Dropping the senders answers `Gone`.
    waiting.answers.clear();
}

fn answer(waiting: &Mutex<Waiting>, id: u64, answer: Answer) {
    let sender = lock(waiting).answers.remove(&id);
    if sender.is_none_or(|sender| sender.send(answer).is_err()) {
        tracing::debug!(id, "nobody waits for this audit answer any more");
    }
}

/// The next reply; `None` at the end of the connection.
async fn next_reply(
    read: &mut OwnedReadHalf,
    decoder: &mut Decoder,
) -> Result<Option<Reply>, AuditError> {
    let mut buffer = [0; 8192];
    loop {
        let garbled = |error: FrameError| {
            tracing::error!(%error, "a frame of the audit process is garbled");
            AuditError::Gone
        };
        if let Some(reply) = decoder.next_frame().map_err(garbled)? {
            return Ok(Some(reply));
        }
        match read.read(&mut buffer).await {
            Ok(0) => return Ok(None),
            Ok(count) => decoder.push(&buffer[..count]),
            Err(error) => {
                tracing::debug!(%error, "the audit connection ended");
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
