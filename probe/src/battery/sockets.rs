//! Sockets: which there are, and what they reach.

use super::{EACCES, EAFNOSUPPORT, ENETUNREACH, ENODEV, EPERM, EPROTONOSUPPORT, OK};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const FILTER: &[&str] = &["seccomp"];
const EMPTY_NET: &[&str] = &["ns_net"];

/// No sockets at all in landlock mode; of a family that the filter does not know, anywhere.
fn family(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[EAFNOSUPPORT]
    } else {
        &[EPERM]
    })
}

fn netlink(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[EPROTONOSUPPORT]
    } else {
        &[EPERM]
    })
}

/// IP with something special.
fn ip(setting: &Setting, answers: &[&'static str]) -> Expectation {
    match (setting.own_namespaces, setting.loopback) {
        (false, _) => Expectation::any(&[EPERM]),
        (true, false) => Expectation::any(&[EAFNOSUPPORT]),
        (true, true) => Expectation::any(answers),
    }
}

fn ip_works(setting: &Setting) -> Expectation {
    ip(setting, &[OK])
}

fn ip_protocol(setting: &Setting) -> Expectation {
    ip(setting, &[EPROTONOSUPPORT])
}

fn ip_raw(setting: &Setting) -> Expectation {
    ip(setting, &[EPERM])
}

fn no_route(setting: &Setting) -> Expectation {
    ip(setting, &[ENETUNREACH])
}

/// A host may have no IPv6 at all.
fn ip6_works(setting: &Setting) -> Expectation {
    ip(setting, &[OK, EAFNOSUPPORT])
}

fn no_route_6(setting: &Setting) -> Expectation {
    ip(setting, &[ENETUNREACH, "EADDRNOTAVAIL", EAFNOSUPPORT])
}

fn ip_kind(setting: &Setting) -> Expectation {
    ip(setting, &["ESOCKTNOSUPPORT"])
}

/// One of a pair of datagram sockets could be connected to another socket of the host.
fn datagram_pair(setting: &Setting) -> Expectation {
    Expectation::any(if setting.loopback && setting.own_namespaces {
        &[OK]
    } else {
        &["ESOCKTNOSUPPORT"]
    })
}

fn local(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[OK]
    } else {
        &[EPERM]
    })
}

fn routing(setting: &Setting) -> Expectation {
    Expectation::any(if setting.own_namespaces {
        &[OK]
    } else {
        &[EPERM]
    })
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("vsock", Class::Escape, "reach the hypervisor over a vsock", FILTER, Want::By(family)).varies(),
    row("packet", Class::Exfiltration, "open a packet socket", FILTER, Want::By(family)),
    row("alg", Class::Escape, "reach the kernel's ciphers (Copy Fail)", FILTER, Want::By(family)).varies(),
    row("netlink_netfilter", Class::InternalEscalation, "reach netfilter", FILTER, Want::By(netlink)),
    row("netlink_audit", Class::HostLeak, "reach the kernel's audit", FILTER, Want::By(netlink)).varies(),
    row("netlink_route", Class::Exfiltration, "ask for addresses and routes, as libraries do", &[], Want::By(routing)).works(),
    row("raw_ip", Class::Exfiltration, "open a raw IP socket", FILTER, Want::By(ip_raw)),
    row("ping", Class::Exfiltration, "open an echo socket", FILTER, Want::By(ip_protocol)).varies(),
    row("mptcp", Class::Exfiltration, "walk around port rules by multipath TCP", FILTER, Want::By(ip_protocol)).varies(),
    row("sctp", Class::Exfiltration, "open an SCTP socket", FILTER, Want::By(ip_protocol)).varies(),
    row("bluetooth", Class::Lateral, "open a Bluetooth socket", FILTER, Want::By(family)).varies(),
    row("can", Class::Lateral, "open a CAN socket", FILTER, Want::By(family)).varies(),
    row("tcp", Class::Exfiltration, "open a TCP socket, as programs do", &[], Want::By(ip_works)).works(),
    row("udp6", Class::Exfiltration, "open a UDP socket over IPv6, as programs do", &[], Want::By(ip6_works)).works(),
    row("unix_pair", Class::Lateral, "make a pair of sockets, as programs do", &[], Want::Always(&[OK])).works(),
    row("send_out", Class::Exfiltration, "send a datagram to an address outside", EMPTY_NET, Want::By(no_route)).varies(),
    row("connect_out", Class::Exfiltration, "connect to an address outside", EMPTY_NET, Want::By(no_route)).varies(),
    row("low_port", Class::InternalEscalation, "bind a port below 1024", &["capabilities"], Want::By(|setting| ip(setting, &[EACCES]))),
    row("own_loopback", Class::Lateral, "connect to oneself over lo, as programs do", &["loopback"], Want::By(ip_works)).works(),
    row("change_interface", Class::InternalEscalation, "change a network interface", &["capabilities"], Want::By(|setting| ip(setting, &[EPERM]))),
    row("other_interfaces", Class::Exfiltration, "find an interface other than lo", EMPTY_NET, Want::By(|setting| ip(setting, &[ENODEV]))).varies(),
    row("attach_filter", Class::InternalEscalation, "have the kernel compile a socket filter", FILTER, Want::Always(&[EPERM])),
    row("key_socket", Class::InternalEscalation, "reach IPsec's keys", FILTER, Want::By(family)).varies(),
    row("rxrpc", Class::Escape, "reach AFS's transport (Dirty Frag)", FILTER, Want::By(family)).varies(),
    row("xdp", Class::Escape, "open an XDP socket", FILTER, Want::By(family)).varies(),
    row("tipc", Class::Escape, "open a TIPC socket", FILTER, Want::By(family)).varies(),
    row("rds", Class::Escape, "open an RDS socket", FILTER, Want::By(family)).varies(),
    row("smc", Class::Escape, "open an SMC socket", FILTER, Want::By(family)).varies(),
    row("kcm", Class::Escape, "open a KCM socket", FILTER, Want::By(family)).varies(),
    row("qipcrtr", Class::Lateral, "open a Qualcomm router socket", FILTER, Want::By(family)).varies(),
    row("pppox", Class::Exfiltration, "open a PPP socket", FILTER, Want::By(family)).varies(),
    row("caif", Class::Lateral, "open a CAIF socket", FILTER, Want::By(family)).varies(),
    row("nfc", Class::Lateral, "open an NFC socket", FILTER, Want::By(family)).varies(),
    row("llc", Class::Exfiltration, "open a link layer socket", FILTER, Want::By(family)).varies(),
    row("ieee802154", Class::Exfiltration, "open a low-power radio socket", FILTER, Want::By(family)).varies(),
    row("appletalk", Class::Exfiltration, "open an AppleTalk socket", FILTER, Want::By(family)).varies(),
    row("x25", Class::Exfiltration, "open an X.25 socket", FILTER, Want::By(family)).varies(),
    row("phonet", Class::Exfiltration, "open a Phonet socket", FILTER, Want::By(family)).varies(),
    row("mctp", Class::Escape, "open an MCTP socket", FILTER, Want::By(family)).varies(),
    row("vsock_high_bits", Class::Escape, "hide the family behind bits above the 32nd", FILTER, Want::By(family)).varies(),
    row("vsock_pair", Class::Escape, "make a pair of another family", FILTER, Want::Always(&[EAFNOSUPPORT])).varies(),
    row("netlink_xfrm", Class::InternalEscalation, "reach IPsec's policies", FILTER, Want::By(netlink)).varies(),
    row("netlink_generic", Class::InternalEscalation, "reach generic netlink", FILTER, Want::By(netlink)),
    row("netlink_uevent", Class::HostLeak, "listen to the host's devices", FILTER, Want::By(netlink)),
    row("netlink_connector", Class::HostLeak, "listen to the host's processes", FILTER, Want::By(netlink)).varies(),
    row("netlink_diag", Class::HostLeak, "list the host's sockets", FILTER, Want::By(netlink)).varies(),
    row("raw_ip6", Class::Exfiltration, "open a raw IPv6 socket", FILTER, Want::By(ip_raw)).varies(),
    row("packet_by_inet", Class::Exfiltration, "open a packet socket by the old way", FILTER, Want::By(ip_raw)).varies(),
    row("inet_seqpacket", Class::Exfiltration, "open an IP socket of another kind", FILTER, Want::By(ip_kind)).varies(),
    row("dccp", Class::InternalEscalation, "open a DCCP socket (CVE-2017-6074)", FILTER, Want::By(ip_kind)).varies(),
    row("udp_lite", Class::Exfiltration, "open a UDP-Lite socket", FILTER, Want::By(ip_protocol)).varies(),
    row("unix_socket", Class::Lateral, "open a local socket, as programs do", &[], Want::By(local)).works(),
    row("unix_datagram_pair", Class::Lateral, "make a pair of datagram sockets", FILTER, Want::By(datagram_pair)).varies(),
    row("kernel_tls", Class::Escape, "have the kernel do TLS", FILTER, Want::By(ip_raw)),
    row("tcp_repair", Class::InternalEscalation, "forge the state of a TCP connection", FILTER, Want::By(ip_raw)),
    row("udp_encapsulation", Class::Escape, "hand packets to IPsec (Dirty Frag)", FILTER, Want::By(ip_raw)).varies(),
    row("ip_policy", Class::Escape, "give a socket an IPsec policy", FILTER, Want::By(ip_raw)).varies(),
    row("ip_tables", Class::Escape, "replace the packet filter", FILTER, Want::By(ip_raw)).varies(),
    row("attach_bpf", Class::InternalEscalation, "attach a loaded program to a socket", FILTER, Want::Always(&[EPERM])).varies(),
    row("attach_reuseport", Class::InternalEscalation, "attach a program to a group of sockets", FILTER, Want::Always(&[EPERM])).varies(),
    row("other_level", Class::InternalEscalation, "set an option of a protocol that cannot be opened", FILTER, Want::Always(&["ENOPROTOOPT"])).varies(),
    row("metadata_service", Class::Exfiltration, "connect to the cloud's metadata service", EMPTY_NET, Want::By(no_route)).not_outside(),
    row("broadcast", Class::Lateral, "send a datagram to all neighbours", EMPTY_NET, Want::By(|setting| ip(setting, &[ENETUNREACH, EACCES]))).not_outside(),
    row("connect_out_6", Class::Exfiltration, "connect to an address outside over IPv6", EMPTY_NET, Want::By(no_route_6)).not_outside(),
    row("add_route", Class::Exfiltration, "add a route", &["capabilities"], Want::By(ip_raw)),
    row("socket_files", Class::Lateral, "find a socket in the file tree", &["root_tree", "pivot"], Want::Namespaced(&["none"], super::HOST_TREE)).varies(),
];
