//! One `SOCK_SEQPACKET` socket as an asynchronous stream of frames.
//!
//! It knows frames and descriptors, not what they mean; the framing itself is that of
//! [`confine::packet`]. Two ways of receiving exist on purpose: [`PacketSocket::receive`] never
//! takes descriptors (the kernel closes any that came along), and only
//! [`PacketSocket::receive_with_fds`], for peers that we trust, does.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use confine::packet::{self, PacketError};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixDatagram;

/// One end of a packet socket.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    /// A packet socket in the clothes of a datagram one: only its readiness is used.
    socket: UnixDatagram,
}

impl PacketSocket {
    /// Takes a connected packet socket and makes it non-blocking.
    ///
    /// # Errors
    /// If the descriptor cannot be made non-blocking or be watched by the runtime.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let socket = std::os::unix::net::UnixDatagram::from(fd);
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: UnixDatagram::from_std(socket)?,
        })
    }

    /// A connected pair: ours, and a blocking end for another process.
    ///
    /// # Errors
    /// If no more sockets can be made.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = packet::pair().map_err(|error| io::Error::from(error.errno()))?;
        Ok((Self::new(ours)?, theirs))
    }

    /// Sends one frame with copies of `fds`, waiting while the peer's queue is full.
    ///
    /// # Errors
    /// If the peer is gone, the frame is too long or the kernel refuses it.
    pub(crate) async fn send<T: Serialize>(
        &self,
        frame: &T,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(), PacketError> {
        let send = || packet::send(self.socket.as_fd(), frame, fds);
        self.when(Interest::WRITABLE, send).await
    }

    /// Receives one frame and drops any descriptors that came with it; `buffer` holds the
    /// longest frame that is taken. `None` = the peer has closed its end.
    ///
    /// # Errors
    /// If the socket fails, or what came is too long or no frame.
    pub(crate) async fn receive<T: DeserializeOwned>(
        &self,
        buffer: &mut [u8],
    ) -> Result<Option<T>, PacketError> {
        // Without a control buffer the kernel drops descriptors; TRUNC gives the true length.
        let mut receive_once = || recv(self.socket.as_raw_fd(), buffer, MsgFlags::MSG_TRUNC);
        // A peer that ends with frames of ours unread leaves one ECONNRESET, before its own last
        // frames, which are read all the same.
        let receive = || match receive_once().or_else(|errno| match errno {
            Errno::ECONNRESET => receive_once(),
            other => Err(other),
        }) {
            Ok(length) => Ok(length),
            Err(Errno::ECONNRESET) => Ok(0),
            Err(errno) => Err(PacketError::Os {
                doing: "receive a frame",
                errno,
            }),
        };
        let length = self.when(Interest::READABLE, receive).await?;
        if length == 0 {
            return Ok(None);
        }
        let malformed = |what| PacketError::Malformed { what };
        let too_long = || malformed("longer than the frame maximum");
        let frame = buffer.get(..length).ok_or_else(too_long)?;
        postcard::from_bytes(frame)
            .map(Some)
            .map_err(|_error| malformed("does not decode"))
    }

    /// Receives one frame and its descriptors. Only for peers that we trust.
    /// `None` = the peer has closed its end.
    ///
    /// # Errors
    /// If the socket fails, or what came is too long or no frame.
    pub(crate) async fn receive_with_fds<T: DeserializeOwned>(
        &self,
    ) -> Result<Option<(T, Vec<OwnedFd>)>, PacketError> {
        let receive = || packet::receive(self.socket.as_fd(), true);
        self.when(Interest::READABLE, receive).await
    }

    /// Does `operation` as soon as it does not have to wait.
    async fn when<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> Result<R, PacketError>,
    ) -> Result<R, PacketError> {
        loop {
            self.socket
                .ready(interest)
                .await
                .map_err(|error| watch_failed(&error))?;
            // The runtime wants to see a would-block as such; all else is ours.
            let tried = self.socket.try_io(interest, || match operation() {
                Err(error) if error.errno() == Errno::EAGAIN => Err(Errno::EAGAIN.into()),
                done => Ok(done),
            });
            match tried {
                Ok(Err(error)) if error.errno() == Errno::EINTR => {}
                Ok(done) => return done,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(watch_failed(&error)),
            }
        }
    }
}

fn watch_failed(error: &io::Error) -> PacketError {
    PacketError::Os {
        doing: "wait for the socket",
        errno: Errno::from_raw(error.raw_os_error().unwrap_or(0)),
    }
}
