//! Our end of a sandbox's init channel.
//!
//! Init runs our code but shares a machine with the payload: everything that comes from it is
//! an allegation. Frames are bounded in length and number, and descriptors from it are never
//! taken. What a frame means is for [`super::watch`] to judge.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use confine::packet::PacketError;
use confine::wire::{FRAME_BYTES_MAX, FromInit, ToInit};

use super::packet::PacketSocket;

/// Most frames of one sandbox. A well-behaved init sends a handful, and a batch of denials
/// now and then; more is an attempt to keep us busy.
const FRAMES_MAX: u32 = 16_384;

/// What came from init is not what init says.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The channel failed, or what came is no frame.
    #[error("a frame of sandbox-init could not be received: {0}")]
    Receive(PacketError),
    /// Too many frames.
    #[error("sandbox-init sent more than {FRAMES_MAX} frames")]
    TooMany,
}

/// Our end.
#[derive(Debug)]
pub(crate) struct InitChannel {
    socket: PacketSocket,
    buffer: Vec<u8>,
    frames: u32,
}

impl InitChannel {
    /// A new channel and the end for init.
    ///
    /// # Errors
    /// If no more sockets can be made.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (socket, guest) = PacketSocket::pair()?;
        let buffer = vec![0; FRAME_BYTES_MAX];
        Ok((
            Self {
                socket,
                buffer,
                frames: 0,
            },
            guest,
        ))
    }

    /// Sends one frame with copies of `fds`.
    ///
    /// # Errors
    /// If init is gone.
    pub(crate) async fn send(
        &self,
        frame: &ToInit,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(), PacketError> {
        self.socket.send(frame, fds).await
    }

    /// The next frame; `None` = init has closed its end. Safe to drop and call again.
    ///
    /// # Errors
    /// If what came is not a frame, or one too many.
    pub(crate) async fn recv(&mut self) -> Result<Option<FromInit>, ChannelError> {
        let received = self.socket.receive(&mut self.buffer).await;
        let frame = received.map_err(ChannelError::Receive)?;
        self.frames += 1;
        if self.frames > FRAMES_MAX {
            return Err(ChannelError::TooMany);
        }
        Ok(frame)
    }
}
