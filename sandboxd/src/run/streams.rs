//! Draining standard output and error, and feeding standard input.
//!
//! Byte-exact from the first byte: every byte is counted and hashed, head and tail are kept, and
//! live events carry all of it in order. A slow consumer of live events holds the drain, and so
//! in the end the program (whose wall time goes on); once the program is over it gets a grace
//! time, after which the rest is kept but not told.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::stat::{Mode, fchmod};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::request::{Captured, Event, OutputStream};

/// Bytes taken from a pipe at once: all that a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes over both streams, shared by their drains.
#[derive(Debug)]
pub(crate) struct OutputTotal {
    bytes: AtomicU64,
    bytes_max: u64,
    exceeded: CancellationToken,
}

impl OutputTotal {
    /// Nothing yet, and the most there may be.
    pub(crate) fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            bytes_max,
            exceeded: CancellationToken::new(),
        })
    }

    /// Waits until there is too much.
    pub(crate) async fn exceeded(&self) {
        self.exceeded.cancelled().await;
    }

    fn add(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.bytes_max {
            self.exceeded.cancel();
        }
    }
}

/// Head and tail of a stream, with the count and digest of all of it. Pure.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_bytes_max: usize,
    tail_bytes_max: usize,
    total_bytes: u64,
    sha256: Sha256,
}

impl Capture {
    /// Keeps at most `kept_bytes_max` bytes: the first half as head, the rest as tail.
    pub(crate) fn new(kept_bytes_max: u64) -> Self {
        let kept = usize::try_from(kept_bytes_max).unwrap_or(usize::MAX);
        let head_bytes_max = kept.div_ceil(2);
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_bytes_max,
            tail_bytes_max: kept - head_bytes_max,
            total_bytes: 0,
            sha256: Sha256::new(),
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total_bytes = self.total_bytes.saturating_add(bytes.len() as u64);
        self.sha256.update(bytes);
        let room = self.head_bytes_max - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of what comes now only the last `tail_bytes_max` bytes can stay.
        let skip = rest.len().saturating_sub(self.tail_bytes_max);
        let rest = rest.get(skip..).unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_bytes_max);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// What is kept of it.
    pub(crate) fn finish(self) -> Captured {
        let kept_bytes = (self.head.len() + self.tail.len()) as u64;
        let dropped_bytes = self.total_bytes - kept_bytes;
        let mut kept = self.head;
        let head_bytes = if dropped_bytes == 0 {
            kept_bytes
        } else {
            kept.len() as u64
        };
        kept.extend(self.tail);
        Captured {
            kept,
            head_bytes,
            total_bytes: self.total_bytes,
            dropped_bytes,
            sha256: hex::encode(self.sha256.finalize()),
        }
    }
}

/// Where the live events of one stream go.
#[derive(Debug, Clone)]
pub(crate) struct Tell {
    /// Which stream.
    pub stream: OutputStream,
    /// The consumer, if there is one.
    pub events: Option<mpsc::Sender<Event>>,
    /// Cancelled when the consumer has had its time.
    pub hurry: CancellationToken,
}

impl Tell {
    /// Tells one piece, waiting for the consumer unless it is late.
    async fn tell(&mut self, seq: u64, bytes: &[u8]) {
        let Some(events) = &self.events else { return };
        let event = Event::Output {
            stream: self.stream,
            seq,
            bytes: bytes.to_vec(),
        };
        tokio::select! {
            biased;
            sent = events.send(event) => if sent.is_err() { self.events = None },
            () = self.hurry.cancelled() => self.events = None,
        }
    }
}

/// A pipe for what a program writes: our end, and the blocking end for the program. It belongs to
/// us, so nobody in a sandbox can open it by a path; see [`openable`].
///
/// # Errors
/// If no more pipes can be made.
pub(crate) fn output_pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (sender, receiver) = pipe::pipe()?;
    Ok((receiver, sender.into_blocking_fd()?))
}

/// A pipe for what a program reads: our end, and the blocking end for the program, likewise.
///
/// # Errors
/// If no more pipes can be made.
pub(crate) fn input_pipe() -> io::Result<(pipe::Sender, OwnedFd)> {
    let (sender, receiver) = pipe::pipe()?;
    Ok((sender, receiver.into_blocking_fd()?))
}

/// Which way a program's end of a pipe goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The program reads.
    In,
    /// The program writes.
    Out,
}

/// Lets whoever has a program's end also open it by its path (`/dev/stdout`, `/dev/fd/4`), in its
/// own direction only: what was written cannot be read back.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn openable(end: OwnedFd, way: Way) -> io::Result<OwnedFd> {
    let mode = match way {
        Way::In => Mode::S_IRUSR | Mode::S_IRGRP | Mode::S_IROTH,
        Way::Out => Mode::S_IWUSR | Mode::S_IWGRP | Mode::S_IWOTH,
    };
    fchmod(&end, mode)?;
    Ok(end)
}

/// Reads a stream to its end, or until `cut`. What came before an error is kept beside it.
pub(crate) async fn drain(
    mut pipe: pipe::Receiver,
    mut capture: Capture,
    total: Arc<OutputTotal>,
    mut tell: Tell,
    cut: CancellationToken,
) -> (Captured, io::Result<()>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut seq = 0;
    let ended = loop {
        let read = tokio::select! {
            biased;
            read = pipe.read(&mut chunk) => read,
            () = cut.cancelled() => Err(io::ErrorKind::TimedOut.into()),
        };
        let length = match read {
            Ok(0) => break Ok(()),
            Ok(length) => length,
            Err(error) => break Err(error),
        };
        let bytes = chunk.get(..length).unwrap_or_default();
        capture.push(bytes);
        total.add(length as u64);
        tell.tell(seq, bytes).await;
        seq += 1;
    };
    (capture.finish(), ended)
}

/// Writes standard input and closes it. A program that does not read all of it is none of our business.
pub(crate) async fn feed(mut pipe: pipe::Sender, bytes: Vec<u8>) {
    match pipe.write_all(&bytes).await {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error,
            "stdin not written"
        ),
    }
}

#[cfg(test)]
mod tests;
