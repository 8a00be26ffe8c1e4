//! One non-blocking connection of the audit process: bytes in, frames out, replies that wait
//! while the peer does not read. Never waits itself: `serve.rs` polls.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use audit::frame::{Decoder, FRAME_BYTES_MAX, FrameError, Reply, encode};
use serde::de::DeserializeOwned;

/// Bytes read ahead at most, beside one frame.
const READ_AHEAD_BYTES: usize = 2 * FRAME_BYTES_MAX;
/// Replies a peer may leave unread before nothing more is read from it.
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// A peer and what is in flight.
#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    decoder: Decoder,
    out: Vec<u8>,
    buffer: Vec<u8>,
    ended: bool,
    /// Whole frames may be waiting in the decoder.
    ready: bool,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // A packet larger than the buffer would be cut: room for the largest frame.
        let buffer = vec![0; FRAME_BYTES_MAX + 4];
        let decoder = Decoder::default();
        Ok(Self {
            stream,
            decoder,
            out: Vec::new(),
            buffer,
            ended: false,
            ready: false,
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether the peer is gone (or broke the protocol) and every frame it sent was taken.
    pub(super) fn is_over(&self) -> bool {
        self.ended && !self.ready
    }

    pub(super) fn wants_read(&self) -> bool {
        !self.ended
            && self.out.len() < UNREAD_BYTES_MAX
            && self.decoder.pending_bytes() < READ_AHEAD_BYTES
    }

    pub(super) fn wants_write(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether frames may wait without the peer sending more.
    pub(super) fn is_ready(&self) -> bool {
        self.ready && self.out.len() < UNREAD_BYTES_MAX
    }

    /// Reads what is there.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        while self.wants_read() {
            match self.stream.read(&mut self.buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.decoder.push(&self.buffer[..count]);
                    self.ready = true;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => break,
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::ConnectionReset => self.ended = true,
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// The next frame that is whole.
    ///
    /// # Errors
    /// A frame of another form; after one that is too long the connection is over.
    pub(super) fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let frame = self.decoder.next_frame();
        match &frame {
            Ok(Some(_)) | Err(FrameError::Json(_)) => {}
            Ok(None) => self.ready = false,
            Err(FrameError::TooLong { .. }) => self.end(),
        }
        frame
    }

    /// Takes nothing more from this peer.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.ready = false;
    }

    pub(super) fn send(&mut self, reply: &Reply) -> Result<(), FrameError> {
        self.out.extend_from_slice(&encode(reply)?);
        Ok(())
    }

    /// Writes what the peer takes now. A peer that is gone takes nothing, which is no error.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.out.len() {
            match self.stream.write(&self.out[written..]) {
                Ok(count) => written += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => break,
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                        self.ended = true;
                        written = self.out.len();
                    }
                    _ => return Err(error),
                },
            }
        }
        self.out.drain(..written);
        Ok(())
    }
}
