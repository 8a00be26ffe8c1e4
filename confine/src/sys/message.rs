//! Receiving one message and the descriptors beside it. The safe wrapper gives none of them when the
//! kernel could not hand over all, and so leaves open those that it did. It knows no frames.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::MsgFlags;

use super::{SysResult, check};
use crate::wire::FRAME_FDS_MAX;

#[expect(
    clippy::cast_possible_truncation,
    reason = "a constant of a few hundred"
)]
const RIGHTS_BYTES: u32 = (FRAME_FDS_MAX * size_of::<RawFd>()) as u32;
// SAFETY: computes a number.
const CONTROL_BYTES: usize = unsafe { libc::CMSG_LEN(RIGHTS_BYTES) } as usize;
/// In words, so that it is aligned as its headers are.
const CONTROL_WORDS: usize = CONTROL_BYTES.div_ceil(size_of::<u64>());

/// What came.
#[derive(Debug)]
pub(crate) struct Message {
    /// Bytes put in the buffer; 0 at the end of the stream.
    pub(crate) bytes: usize,
    /// `MSG_TRUNC`: longer than the buffer; `MSG_CTRUNC`: more descriptors were sent.
    pub(crate) flags: MsgFlags,
    /// Descriptors, in the order in which they were sent; at most [`FRAME_FDS_MAX`].
    pub(crate) fds: Vec<OwnedFd>,
}

/// Receives one message. recvmsg(2).
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: MsgFlags,
) -> SysResult<Message> {
    let mut control = [0u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: numbers and pointers, of which zero is one.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_BYTES;
    // SAFETY: the header points to both buffers with their lengths; they outlive the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags.bits()) };
    let bytes =
        usize::try_from(check(received as libc::c_long)?).map_err(|_negative| Errno::EPROTO)?;
    Ok(Message {
        bytes,
        flags: MsgFlags::from_bits_truncate(header.msg_flags),
        fds: rights(&header),
    })
}

/// The descriptors of a header that the kernel has just filled.
fn rights(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut fds = Vec::new();
    // SAFETY: the header points to control bytes as long as it says.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: null, or within those bytes and aligned.
    while let Some(part) = unsafe { control.as_ref() } {
        if (part.cmsg_level, part.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: computes a number.
            let head_bytes = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = part.cmsg_len.saturating_sub(head_bytes) / size_of::<RawFd>();
            // SAFETY: the header is followed by its data.
            let data = unsafe { libc::CMSG_DATA(control) }.cast::<RawFd>();
            for at in 0..count {
                // SAFETY: as many numbers follow as the kernel's length says.
                let raw = unsafe { data.wrapping_add(at).read_unaligned() };
                // SAFETY: the kernel has just opened it for us; nobody else owns it.
                fds.push(unsafe { OwnedFd::from_raw_fd(raw) });
            }
        }
        // SAFETY: as above, behind the part that was just read.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    fds
}
