//! Sockets: which there are, and what they reach.

use nix::errno::Errno;

use super::Act;
use crate::sys::{Arg, call};
use crate::told::{Told, Word, worked};

const UNIX: u64 = 1;
const INET: u64 = 2;
const INET6: u64 = 10;
const NETLINK: u64 = 16;
const PACKET: u64 = 17;
const BLUETOOTH: u64 = 31;
const CAN: u64 = 29;
const ALG: u64 = 38;
const VSOCK: u64 = 40;

const STREAM: u64 = 1;
const DATAGRAM: u64 = 2;
const RAW: u64 = 3;
const SEQPACKET: u64 = 5;
const NONBLOCK: u64 = 0o4000;

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("vsock", |_| worked(socket(VSOCK, STREAM, 0))),
    ("packet", |_| worked(socket(PACKET, RAW, 0))),
    ("alg", |_| worked(socket(ALG, SEQPACKET, 0))),
    ("netlink_netfilter", |_| worked(socket(NETLINK, RAW, 12))),
    ("netlink_audit", |_| worked(socket(NETLINK, RAW, 9))),
    ("netlink_route", |_| worked(socket(NETLINK, RAW, 0))),
    ("raw_ip", |_| worked(socket(INET, RAW, 1))),
    ("ping", |_| worked(socket(INET, DATAGRAM, 1))),
    ("mptcp", |_| worked(socket(INET, STREAM, 262))),
    ("sctp", |_| worked(socket(INET, STREAM, 132))),
    ("bluetooth", |_| worked(socket(BLUETOOTH, RAW, 0))),
    ("can", |_| worked(socket(CAN, RAW, 1))),
    ("tcp", |_| worked(socket(INET, STREAM, 0))),
    ("udp6", |_| worked(socket(INET6, DATAGRAM, 0))),
    ("unix_pair", |_| unix_pair()),
    ("send_out", |_| send_out()),
    ("connect_out", |_| connect_out()),
    ("low_port", |_| low_port()),
    ("own_loopback", |_| own_loopback()),
    ("change_interface", |_| change_interface()),
    ("other_interfaces", |_| other_interfaces()),
    ("attach_filter", |_| attach_filter()),
];

fn socket(family: u64, kind: u64, protocol: u64) -> Result<u64, Errno> {
    call(
        libc::SYS_socket,
        &mut [Arg::N(family), Arg::N(kind), Arg::N(protocol)],
    )
}

fn unix_pair() -> Told {
    let mut pair = [0u8; 8];
    let mut arguments = [Arg::N(UNIX), Arg::N(STREAM), Arg::N(0), Arg::O(&mut pair)];
    worked(call(libc::SYS_socketpair, &mut arguments))
}

/// A `sockaddr_in`.
fn address(ip: [u8; 4], port: u16) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    bytes[..2].copy_from_slice(&2u16.to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[4..8].copy_from_slice(&ip);
    bytes
}

/// An address that is set aside for documents: nobody is there.
const NOBODY: [u8; 4] = [192, 0, 2, 1];
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

fn send_out() -> Told {
    let own = socket(INET, DATAGRAM, 0)?;
    let to = address(NOBODY, 9);
    let mut arguments = [
        Arg::N(own),
        Arg::B(b"x"),
        Arg::N(1),
        Arg::N(0),
        Arg::B(&to),
        Arg::N(16),
    ];
    worked(call(libc::SYS_sendto, &mut arguments))
}

fn connect_out() -> Told {
    let own = socket(INET, STREAM | NONBLOCK, 0)?;
    match connect(own, &address(NOBODY, 9)) {
        Err(Errno::EINPROGRESS) => Ok(Word::ok()),
        other => worked(other),
    }
}

fn connect(own: u64, to: &[u8; 16]) -> Result<u64, Errno> {
    call(
        libc::SYS_connect,
        &mut [Arg::N(own), Arg::B(to), Arg::N(16)],
    )
}

fn bind(own: u64, to: &[u8; 16]) -> Result<u64, Errno> {
    call(libc::SYS_bind, &mut [Arg::N(own), Arg::B(to), Arg::N(16)])
}

fn low_port() -> Told {
    worked(bind(socket(INET, STREAM, 0)?, &address(LOOPBACK, 81)))
}

fn own_loopback() -> Told {
    let (server, client) = (socket(INET, STREAM, 0)?, socket(INET, STREAM, 0)?);
    bind(server, &address(LOOPBACK, 0))?;
    call(libc::SYS_listen, &mut [Arg::N(server), Arg::N(1)])?;
    let mut bound = [0u8; 16];
    let mut length = 16u32.to_ne_bytes();
    let mut arguments = [Arg::N(server), Arg::O(&mut bound), Arg::O(&mut length)];
    call(libc::SYS_getsockname, &mut arguments)?;
    worked(connect(client, &bound))
}

/// Sets the flags of `lo` to what they are.
fn change_interface() -> Told {
    const GET: u64 = 0x8913;
    const SET: u64 = 0x8914;
    let own = socket(INET, DATAGRAM, 0)?;
    let mut request = [0u8; 40];
    request[..2].copy_from_slice(b"lo");
    call(
        libc::SYS_ioctl,
        &mut [Arg::N(own), Arg::N(GET), Arg::O(&mut request)],
    )?;
    worked(call(
        libc::SYS_ioctl,
        &mut [Arg::N(own), Arg::N(SET), Arg::O(&mut request)],
    ))
}

/// Asks for the names of the first interfaces by number; `lo` is one of them.
fn other_interfaces() -> Told {
    const NAME: u64 = 0x8910;
    const NUMBERS_MAX: i32 = 64;
    let own = socket(INET, DATAGRAM, 0)?;
    let mut found = 0;
    for number in 1..=NUMBERS_MAX {
        let mut request = [0u8; 40];
        request[16..20].copy_from_slice(&number.to_ne_bytes());
        let mut arguments = [Arg::N(own), Arg::N(NAME), Arg::O(&mut request)];
        match call(libc::SYS_ioctl, &mut arguments) {
            Ok(_) if !request.starts_with(b"lo\0") => found += 1,
            Ok(_) | Err(Errno::ENODEV) => {}
            Err(errno) => return Err(errno),
        }
    }
    if found > 0 {
        Ok(Word::ok())
    } else {
        Err(Errno::ENODEV)
    }
}

fn attach_filter() -> Told {
    const SOL_SOCKET: u64 = 1;
    const SO_ATTACH_FILTER: u64 = 26;
    let mut pair = [0u8; 8];
    let mut arguments = [Arg::N(UNIX), Arg::N(STREAM), Arg::N(0), Arg::O(&mut pair)];
    call(libc::SYS_socketpair, &mut arguments)?;
    let [a, b, c, d, ..] = pair;
    let own = u64::from(u32::from_ne_bytes([a, b, c, d]));
    let mut arguments = [
        Arg::N(own),
        Arg::N(SOL_SOCKET),
        Arg::N(SO_ATTACH_FILTER),
        Arg::S(c""),
        Arg::N(0),
    ];
    worked(call(libc::SYS_setsockopt, &mut arguments))
}
