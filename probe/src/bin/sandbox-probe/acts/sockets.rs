//! Sockets: which there are, and what they reach.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use nix::errno::Errno;

use super::Act;
use crate::sys::{Arg, call};
use crate::told::{Told, Word, word, worked};

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
    ("unix_pair", |_| worked(pair(UNIX, STREAM))),
    ("send_out", |_| send_to(NOBODY)),
    ("connect_out", |_| connect_to(NOBODY, 9)),
    ("low_port", |_| low_port()),
    ("own_loopback", |_| own_loopback()),
    ("change_interface", |_| change_interface()),
    ("other_interfaces", |_| other_interfaces()),
    ("attach_filter", |_| option(pair(UNIX, STREAM)?, 1, 26, &[])),
    ("key_socket", |_| worked(socket(15, 3, 2))),
    ("rxrpc", |_| worked(socket(33, 2, 2))),
    ("xdp", |_| worked(socket(44, 3, 0))),
    ("tipc", |_| worked(socket(30, 5, 0))),
    ("rds", |_| worked(socket(21, 5, 0))),
    ("smc", |_| worked(socket(43, 1, 0))),
    ("kcm", |_| worked(socket(41, 2, 0))),
    ("qipcrtr", |_| worked(socket(42, 2, 0))),
    ("pppox", |_| worked(socket(24, 1, 0))),
    ("caif", |_| worked(socket(37, 1, 0))),
    ("nfc", |_| worked(socket(39, 5, 1))),
    ("llc", |_| worked(socket(26, 1, 0))),
    ("ieee802154", |_| worked(socket(36, 2, 0))),
    ("appletalk", |_| worked(socket(5, 2, 0))),
    ("x25", |_| worked(socket(9, 5, 0))),
    ("phonet", |_| worked(socket(35, 2, 0))),
    ("mctp", |_| worked(socket(45, 2, 0))),
    ("vsock_high_bits", |_| worked(socket(1 << 32 | VSOCK, STREAM, 0))),
    ("vsock_pair", |_| worked(pair(VSOCK, STREAM))),
    ("netlink_xfrm", |_| worked(socket(NETLINK, RAW, 6))),
    ("netlink_generic", |_| worked(socket(NETLINK, RAW, 16))),
    ("netlink_uevent", |_| worked(socket(NETLINK, RAW, 15))),
    ("netlink_connector", |_| worked(socket(NETLINK, RAW, 11))),
    ("netlink_diag", |_| worked(socket(NETLINK, RAW, 4))),
    ("raw_ip6", |_| worked(socket(INET6, RAW, 58))),
    ("packet_by_inet", |_| worked(socket(INET, 10, 0x300))),
    ("inet_seqpacket", |_| worked(socket(INET, SEQPACKET, 0))),
    ("dccp", |_| worked(socket(INET, 6, 33))),
    ("udp_lite", |_| worked(socket(INET, DATAGRAM, 136))),
    ("unix_socket", |_| worked(socket(UNIX, STREAM, 0))),
    ("unix_datagram_pair", |_| worked(pair(UNIX, DATAGRAM))),
    ("kernel_tls", |_| option(socket(INET, STREAM, 0)?, 6, 31, b"tls\0")),
    ("tcp_repair", |_| option(socket(INET, STREAM, 0)?, 6, 19, &1u32.to_ne_bytes())),
    ("udp_encapsulation", |_| option(socket(INET, DATAGRAM, 0)?, 17, 100, &2u32.to_ne_bytes())),
    ("ip_policy", |_| option(socket(INET, DATAGRAM, 0)?, 0, 17, &[0; 168])),
    ("ip_tables", |_| option(socket(INET, DATAGRAM, 0)?, 0, 64, &[0; 96])),
    ("attach_bpf", |_| option(pair(UNIX, STREAM)?, 1, 50, &[0xff; 4])),
    ("attach_reuseport", |_| option(pair(UNIX, STREAM)?, 1, 51, &[0; 16])),
    ("other_level", |_| option(pair(UNIX, STREAM)?, 279, 1, &[0; 4])),
    ("metadata_service", |_| connect_to([169, 254, 169, 254], 80)),
    ("broadcast", |_| send_to([255, 255, 255, 255])),
    ("connect_out_6", |_| connect_out_6()),
    ("add_route", |_| add_route()),
    ("socket_files", |_| socket_files()),
];

fn socket(family: u64, kind: u64, protocol: u64) -> Result<u64, Errno> {
    call(
        libc::SYS_socket,
        &mut [Arg::N(family), Arg::N(kind), Arg::N(protocol)],
    )
}

/// A pair, of which the first is given.
fn pair(family: u64, kind: u64) -> Result<u64, Errno> {
    let mut pair = [0u8; 8];
    let mut arguments = [Arg::N(family), Arg::N(kind), Arg::N(0), Arg::O(&mut pair)];
    call(libc::SYS_socketpair, &mut arguments)?;
    let [a, b, c, d, ..] = pair;
    Ok(u64::from(u32::from_ne_bytes([a, b, c, d])))
}

fn option(own: u64, level: u64, name: u64, value: &[u8]) -> Told {
    let mut arguments = [
        Arg::N(own),
        Arg::N(level),
        Arg::N(name),
        Arg::B(value),
        Arg::N(value.len() as u64),
    ];
    worked(call(libc::SYS_setsockopt, &mut arguments))
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

fn send_to(ip: [u8; 4]) -> Told {
    let own = socket(INET, DATAGRAM, 0)?;
    let to = address(ip, 9);
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

/// Without waiting for an answer: that it is on its way is enough.
fn connect_to(ip: [u8; 4], port: u16) -> Told {
    let own = socket(INET, STREAM | NONBLOCK, 0)?;
    match connect(own, &address(ip, port)) {
        Err(Errno::EINPROGRESS) => Ok(Word::ok()),
        other => worked(other),
    }
}

/// To an address that is set aside for documents.
fn connect_out_6() -> Told {
    let own = socket(INET6, STREAM | NONBLOCK, 0)?;
    let mut to = [0u8; 28];
    to[..2].copy_from_slice(&10u16.to_ne_bytes());
    to[2..4].copy_from_slice(&9u16.to_be_bytes());
    to[8..12].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    to[23] = 1;
    match call(
        libc::SYS_connect,
        &mut [Arg::N(own), Arg::B(&to), Arg::N(28)],
    ) {
        Err(Errno::EINPROGRESS) => Ok(Word::ok()),
        other => worked(other),
    }
}

/// A `struct rtentry` of zeros, which no kernel adds.
fn add_route() -> Told {
    const SIOCADDRT: u64 = 0x890b;
    let own = socket(INET, DATAGRAM, 0)?;
    let mut arguments = [Arg::N(own), Arg::N(SIOCADDRT), Arg::B(&[0; 120])];
    worked(call(libc::SYS_ioctl, &mut arguments))
}

/// The first socket in the places where services put theirs.
fn socket_files() -> Told {
    for folder in [
        "/run",
        "/var/run",
        "/tmp",
        "/dev",
        "/dev/shm",
        "/workspace",
        "/",
    ] {
        // What is not there or not open to us has nothing for us.
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        let is_socket = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_socket());
        if let Some(entry) = entries.flatten().find(is_socket) {
            return word(&entry.path().to_string_lossy());
        }
    }
    word("none")
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
