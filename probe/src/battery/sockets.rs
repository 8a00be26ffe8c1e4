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
    row("udp6", Class::Exfiltration, "open a UDP socket over IPv6, as programs do", &[], Want::By(ip_works)).works(),
    row("unix_pair", Class::Lateral, "make a pair of sockets, as programs do", &[], Want::Always(&[OK])).works(),
    row("send_out", Class::Exfiltration, "send a datagram to an address outside", EMPTY_NET, Want::By(no_route)).varies(),
    row("connect_out", Class::Exfiltration, "connect to an address outside", EMPTY_NET, Want::By(no_route)).varies(),
    row("low_port", Class::InternalEscalation, "bind a port below 1024", &["capabilities"], Want::By(|setting| ip(setting, &[EACCES]))),
    row("own_loopback", Class::Lateral, "connect to oneself over lo, as programs do", &["loopback"], Want::By(ip_works)).works(),
    row("change_interface", Class::InternalEscalation, "change a network interface", &["capabilities"], Want::By(|setting| ip(setting, &[EPERM]))),
    row("other_interfaces", Class::Exfiltration, "find an interface other than lo", EMPTY_NET, Want::By(|setting| ip(setting, &[ENODEV]))).varies(),
    row("attach_filter", Class::InternalEscalation, "have the kernel compile a socket filter", FILTER, Want::Always(&[EPERM])),
];
