//! One frame = one `SOCK_SEQPACKET` message, with descriptors beside it where allowed.
//!
//! Synchronous; used by the launcher, the forkers and `sandbox-init`. The api side has its own
//! asynchronous form over the same bytes.

use std::io::{IoSlice, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, UnixAddr, recv, sendmsg,
    socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sys;
use crate::wire::{FRAME_BYTES_MAX, FRAME_FDS_MAX};

/// Largest sealed payload in bytes: the 64 MiB message limit of the API plus its framing.
pub const SEALED_BYTES_MAX: u64 = 72 * 1024 * 1024;

/// Why a frame could not be sent or received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The system call failed.
    #[error("{doing} failed")]
    Os {
        /// What was being done.
        doing: &'static str,
        /// The kernel's answer.
        #[source]
        errno: Errno,
    },
    /// The frame does not decode, is too long, or carries the wrong descriptors.
    #[error("malformed frame: {what}")]
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
}

impl PacketError {
    /// The errno behind it, `EPROTO` for malformed frames.
    pub fn errno(&self) -> Errno {
        match self {
            Self::Os { errno, .. } => *errno,
            Self::Malformed { .. } => Errno::EPROTO,
        }
    }
}

fn os(doing: &'static str) -> impl Fn(Errno) -> PacketError {
    move |errno| PacketError::Os { doing, errno }
}

/// Makes a connected pair, both ends close-on-exec.
pub fn pair() -> Result<(OwnedFd, OwnedFd), PacketError> {
    socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .map_err(os("make a socket pair"))
}

/// Sends one frame with the given descriptors.
pub fn send<T: Serialize>(
    socket: BorrowedFd<'_>,
    frame: &T,
    fds: &[BorrowedFd<'_>],
) -> Result<(), PacketError> {
    let bytes = postcard::to_stdvec(frame).map_err(|_error| PacketError::Malformed {
        what: "cannot be encoded",
    })?;
    if bytes.len() > FRAME_BYTES_MAX {
        return Err(PacketError::Malformed {
            what: "longer than the frame maximum",
        });
    }
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let control: &[ControlMessage<'_>] = if raw.is_empty() { &[] } else { &rights };
    loop {
        let iov = [IoSlice::new(&bytes)];
        match sendmsg::<UnixAddr>(
            socket.as_raw_fd(),
            &iov,
            control,
            MsgFlags::MSG_NOSIGNAL,
            None,
        ) {
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(errno) => {
                return Err(PacketError::Os {
                    doing: "send a frame",
                    errno,
                });
            }
        }
    }
}

/// A buffer as long as the next frame; `None` when the peer has closed. Frames are short: a buffer
/// of the maximum for each would cost more than reading it.
fn buffer_for_next(
    socket: BorrowedFd<'_>,
    nonblocking: bool,
) -> Result<Option<Vec<u8>>, PacketError> {
    let mut flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_TRUNC;
    if nonblocking {
        flags |= MsgFlags::MSG_DONTWAIT;
    }
    let mut was_reset = false;
    loop {
        match recv(socket.as_raw_fd(), &mut [], flags) {
            Ok(0) => return Ok(None),
            Ok(length) => return Ok(Some(vec![0; length.min(FRAME_BYTES_MAX)])),
            Err(Errno::EINTR) => {}
            // Told once by a peer that ended with frames of ours unread; its own last ones follow.
            Err(Errno::ECONNRESET) if !was_reset => was_reset = true,
            Err(Errno::ECONNRESET) => return Ok(None),
            Err(errno) => {
                return Err(PacketError::Os {
                    doing: "receive a frame",
                    errno,
                });
            }
        }
    }
}

/// Receives one frame and the descriptors beside it; `None` when the peer has closed.
///
/// With `nonblocking`, `Err(EAGAIN)` means there is none yet. A process that has no descriptors
/// left gets the frame with fewer than were sent: every receiver knows how many it needs.
pub fn receive<T: DeserializeOwned>(
    socket: BorrowedFd<'_>,
    nonblocking: bool,
) -> Result<Option<(T, Vec<OwnedFd>)>, PacketError> {
    let Some(mut buffer) = buffer_for_next(socket, nonblocking)? else {
        return Ok(None);
    };
    let mut flags = MsgFlags::MSG_CMSG_CLOEXEC;
    if nonblocking {
        flags |= MsgFlags::MSG_DONTWAIT;
    }
    let message = loop {
        match sys::message::receive(socket, &mut buffer, flags) {
            Ok(message) => break message,
            Err(Errno::EINTR) => {}
            Err(errno) => {
                return Err(PacketError::Os {
                    doing: "receive a frame",
                    errno,
                });
            }
        }
    };
    let (length, fds) = (message.bytes, message.fds);
    let too_many = message.flags.contains(MsgFlags::MSG_CTRUNC) && fds.len() >= FRAME_FDS_MAX;
    let truncated = message.flags.contains(MsgFlags::MSG_TRUNC) || too_many;
    if length == 0 {
        return Ok(None);
    }
    if truncated {
        return Err(PacketError::Malformed {
            what: "longer than the frame maximum",
        });
    }
    let frame = buffer
        .get(..length)
        .and_then(|bytes| postcard::from_bytes(bytes).ok())
        .ok_or(PacketError::Malformed {
            what: "does not decode",
        })?;
    Ok(Some((frame, fds)))
}

/// Puts a value into a sealed memfd, which nobody can change or resize any more.
pub fn seal<T: Serialize>(value: &T) -> Result<OwnedFd, PacketError> {
    let bytes = postcard::to_stdvec(value).map_err(|_error| PacketError::Malformed {
        what: "cannot be encoded",
    })?;
    seal_bytes(&bytes, MFdFlags::empty())
}

/// Puts bytes into a sealed memfd.
pub fn seal_bytes(bytes: &[u8], extra: MFdFlags) -> Result<OwnedFd, PacketError> {
    use nix::fcntl::{FcntlArg, SealFlag, fcntl};
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING | extra;
    let fd = memfd_create(c"rollcage", flags).map_err(os("make a memfd"))?;
    let mut file = std::fs::File::from(fd);
    file.write_all(bytes).map_err(|error| PacketError::Os {
        doing: "fill a memfd",
        errno: Errno::from_raw(error.raw_os_error().unwrap_or(0)),
    })?;
    let seals = SealFlag::F_SEAL_SHRINK
        | SealFlag::F_SEAL_GROW
        | SealFlag::F_SEAL_WRITE
        | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals)).map_err(os("seal a memfd"))?;
    Ok(file.into())
}

/// Reads a value back from a sealed memfd.
pub fn unseal<T: DeserializeOwned>(fd: OwnedFd) -> Result<T, PacketError> {
    let mut file = std::fs::File::from(fd);
    let io = |doing| {
        move |error: std::io::Error| PacketError::Os {
            doing,
            errno: Errno::from_raw(error.raw_os_error().unwrap_or(0)),
        }
    };
    file.rewind().map_err(io("rewind a memfd"))?;
    let mut bytes = Vec::new();
    file.take(SEALED_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(io("read a memfd"))?;
    postcard::from_bytes(&bytes).map_err(|_error| PacketError::Malformed {
        what: "sealed value does not decode",
    })
}

/// Waits until a descriptor is readable or has hung up, at most `timeout_ms`.
pub fn wait_readable(fd: BorrowedFd<'_>, timeout_ms: u16) -> Result<bool, PacketError> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut set = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut set, PollTimeout::from(timeout_ms)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::EINTR) => {}
            Err(errno) => {
                return Err(PacketError::Os {
                    doing: "wait for a frame",
                    errno,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
