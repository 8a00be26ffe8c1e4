//! Calls that are allowed with some arguments and refused with others.
//!
//! Only arguments passed by value can be judged: what is behind a pointer can
//! change between the check and the call, so calls that hide their meaning
//! there are closed in [`super::CLOSED`].

use super::super::rule::{Clause, Denial, Outcome, Rule, Test, Want};
use super::super::{Network, Profile};
use super::{EPERM, NO_FIX, denial};

pub mod signals;

const ALL: u32 = u32::MAX;
const EINVAL: u16 = 22;
const EBUSY: u16 = 16;
const ENOPROTOOPT: u16 = 92;
const EPROTONOSUPPORT: u16 = 93;
const ESOCKTNOSUPPORT: u16 = 94;
const EAFNOSUPPORT: u16 = 97;

const fn is(arg: u8, values: &'static [u32]) -> Test {
    Test {
        arg,
        mask: ALL,
        want: Want::In(values),
    }
}

const fn masked(arg: u8, mask: u32, values: &'static [u32]) -> Test {
    Test {
        arg,
        mask,
        want: Want::In(values),
    }
}

const fn any_bit(arg: u8, mask: u32) -> Test {
    Test {
        arg,
        mask,
        want: Want::AnyBit,
    }
}

const fn allow(when: &'static [Test]) -> Clause {
    Clause {
        when,
        then: Outcome::Allow,
    }
}

const fn deny(when: &'static [Test], denial: &'static Denial) -> Clause {
    Clause {
        when,
        then: Outcome::Deny(denial),
    }
}

/// Names that have a rule in every profile.
pub const RULED: &[&str] = &[
    "clone",
    "socket",
    "socketpair",
    "setsockopt",
    "ioctl",
    "fcntl",
    "personality",
    "prctl",
    "prlimit64",
    "memfd_create",
    "sched_setscheduler",
    "seccomp",
    "mknod",
    "mknodat",
];

/// The rule of a call, if it has one.
#[must_use]
pub fn rule(name: &str, profile: Profile, network: Network) -> Option<&'static Rule> {
    Some(match (name, profile, network) {
        ("clone", _, _) => &CLONE,
        ("socket", _, Network::Sealed) => &SOCKET_SEALED,
        ("socket", _, Network::Loopback) => &SOCKET_LOOPBACK,
        ("socketpair", _, Network::Sealed) => &SOCKETPAIR_SEALED,
        ("socketpair", _, Network::Loopback) => &SOCKETPAIR,
        ("setsockopt", _, _) => &SETSOCKOPT,
        ("ioctl", _, _) => &IOCTL,
        ("fcntl", _, _) => &FCNTL,
        ("personality", Profile::Strict | Profile::Compat, _) => &PERSONALITY,
        ("personality", Profile::Debug, _) => &PERSONALITY_DEBUG,
        ("prctl", _, _) => &PRCTL,
        ("prlimit64", _, _) => &PRLIMIT,
        ("memfd_create", Profile::Strict, _) => &MEMFD_STRICT,
        ("memfd_create", Profile::Compat | Profile::Debug, _) => &MEMFD_COMPAT,
        ("sched_setscheduler", _, _) => &SCHED_SETSCHEDULER,
        ("seccomp", _, _) => &SECCOMP,
        ("mknod", _, _) => &MKNOD,
        ("mknodat", _, _) => &MKNODAT,
        _ => return None,
    })
}

/// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, and NEWTIME,
/// whose bit lies in the exit signal here and is no valid signal.
pub(in super::super) const NAMESPACE_FLAGS: u32 = 0x7E02_0000 | 0x80;

static NEW_NAMESPACE: Denial = denial(
    EPERM,
    true,
    "clone with a namespace flag: an own user namespace gives capabilities over closed kernel code",
    NO_FIX,
);
static CLONE: Rule = Rule {
    clauses: &[deny(&[any_bit(0, NAMESPACE_FLAGS)], &NEW_NAMESPACE)],
    otherwise: Outcome::Allow,
};

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
/// The kernel takes the kind of a socket from these bits; the rest are flags.
const SOCK_TYPE_MASK: u32 = 0xf;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
const SOCK_RAW: u32 = 3;
const SOCK_SEQPACKET: u32 = 5;
/// An old way to ask for a packet socket through any family.
const SOCK_PACKET: u32 = 10;

static FAMILY: Denial = denial(
    EAFNOSUPPORT,
    true,
    "a socket family outside AF_UNIX, AF_INET, AF_INET6 and routing netlink: none of them is \
     isolated by namespaces or needed by programs",
    NO_FIX,
);
static NO_IP: Denial = denial(
    EAFNOSUPPORT,
    true,
    "IP sockets are not part of a sealed sandbox",
    "[network] mode = \"none\" (a loopback interface and no route)",
);
static NETLINK: Denial = denial(
    EPROTONOSUPPORT,
    true,
    "netlink other than NETLINK_ROUTE reaches netfilter, audit and crypto code",
    NO_FIX,
);
static RAW: Denial = denial(EPERM, true, "raw and packet sockets forge traffic", NO_FIX);
static KIND: Denial = denial(
    ESOCKTNOSUPPORT,
    true,
    "an IP socket that is neither a stream nor a datagram",
    NO_FIX,
);
static PROTOCOL: Denial = denial(
    EPROTONOSUPPORT,
    true,
    "an IP protocol other than TCP and UDP (MPTCP walks around port rules)",
    "none: use TCP or UDP",
);

static SOCKET_SEALED: Rule = Rule {
    clauses: &[
        allow(&[is(0, &[AF_UNIX])]),
        allow(&[is(0, &[AF_NETLINK]), is(2, &[0])]),
        deny(&[is(0, &[AF_NETLINK])], &NETLINK),
        deny(&[is(0, &[AF_INET, AF_INET6])], &NO_IP),
    ],
    otherwise: Outcome::Deny(&FAMILY),
};
static SOCKET_LOOPBACK: Rule = Rule {
    clauses: &[
        allow(&[is(0, &[AF_UNIX])]),
        allow(&[is(0, &[AF_NETLINK]), is(2, &[0])]),
        deny(&[is(0, &[AF_NETLINK])], &NETLINK),
        // From here on, whatever is not IP is refused first.
        allow(&[
            is(0, &[AF_INET, AF_INET6]),
            masked(1, SOCK_TYPE_MASK, &[SOCK_STREAM, SOCK_DGRAM]),
            is(2, &[0, 6, 17]),
        ]),
        deny(
            &[
                is(0, &[AF_INET, AF_INET6]),
                masked(1, SOCK_TYPE_MASK, &[1, 2]),
            ],
            &PROTOCOL,
        ),
        deny(
            &[
                is(0, &[AF_INET, AF_INET6]),
                masked(1, SOCK_TYPE_MASK, &[SOCK_RAW, SOCK_PACKET]),
            ],
            &RAW,
        ),
        deny(&[is(0, &[AF_INET, AF_INET6])], &KIND),
    ],
    otherwise: Outcome::Deny(&FAMILY),
};
static SOCKETPAIR: Rule = Rule {
    clauses: &[allow(&[is(0, &[AF_UNIX])])],
    otherwise: Outcome::Deny(&FAMILY),
};
static DATAGRAM_PAIR: Denial = denial(
    ESOCKTNOSUPPORT,
    true,
    "one of a pair of datagram sockets can be connected to another socket of the host by its path",
    "none: use a pair of SOCK_STREAM or SOCK_SEQPACKET",
);
// Landlock mode is sealed and shares the host's files, with their sockets.
static SOCKETPAIR_SEALED: Rule = Rule {
    clauses: &[
        allow(&[
            is(0, &[AF_UNIX]),
            masked(1, SOCK_TYPE_MASK, &[SOCK_STREAM, SOCK_SEQPACKET]),
        ]),
        deny(&[is(0, &[AF_UNIX])], &DATAGRAM_PAIR),
    ],
    otherwise: Outcome::Deny(&FAMILY),
};

const SOL_IP: u32 = 0;
const SOL_SOCKET: u32 = 1;
const SOL_TCP: u32 = 6;
const SOL_UDP: u32 = 17;
const SOL_IPV6: u32 = 41;
const SOL_NETLINK: u32 = 270;

static SOCKET_FILTER: Denial = denial(
    EPERM,
    true,
    "attaches a program to a socket, compiled by the kernel",
    NO_FIX,
);
static TCP_OPTION: Denial = denial(
    EPERM,
    true,
    "TCP upper-layer protocols (kernel TLS), repair mode and key options: rarely used kernel code",
    NO_FIX,
);
static UDP_OPTION: Denial = denial(
    EPERM,
    true,
    "UDP encapsulation hands packets to IPsec code",
    NO_FIX,
);
static IP_OPTION: Denial = denial(
    EPERM,
    true,
    "netfilter tables and IPsec policies through a socket",
    NO_FIX,
);
static LEVEL: Denial = denial(
    ENOPROTOOPT,
    false,
    "socket options of a protocol that cannot be opened",
    NO_FIX,
);

static SETSOCKOPT: Rule = Rule {
    clauses: &[
        // SO_ATTACH_FILTER, SO_LOCK_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_{C,E}BPF.
        deny(
            &[is(1, &[SOL_SOCKET]), is(2, &[26, 44, 50, 51, 52])],
            &SOCKET_FILTER,
        ),
        // TCP_ULP, TCP_REPAIR, TCP_MD5SIG and its EXT, TCP_AO_{ADD_KEY,DEL_KEY,INFO,REPAIR}.
        deny(
            &[is(1, &[SOL_TCP]), is(2, &[31, 19, 14, 32, 38, 39, 40, 42])],
            &TCP_OPTION,
        ),
        // UDP_ENCAP.
        deny(&[is(1, &[SOL_UDP]), is(2, &[100])], &UDP_OPTION),
        // {IP,ARP,EB}T_SO_SET_*, IP_IPSEC_POLICY, IP_XFRM_POLICY.
        deny(
            &[
                is(1, &[SOL_IP]),
                is(2, &[64, 65, 66, 67, 96, 97, 128, 129, 16, 17]),
            ],
            &IP_OPTION,
        ),
        // IP6T_SO_SET_*, IPV6_IPSEC_POLICY, IPV6_XFRM_POLICY.
        deny(
            &[is(1, &[SOL_IPV6]), is(2, &[64, 65, 66, 67, 34, 35])],
            &IP_OPTION,
        ),
        allow(&[is(
            1,
            &[SOL_SOCKET, SOL_TCP, SOL_UDP, SOL_IP, SOL_IPV6, SOL_NETLINK],
        )]),
    ],
    otherwise: Outcome::Deny(&LEVEL),
};

static TERMINAL: Denial = denial(
    EPERM,
    true,
    "puts input into a terminal or changes its line discipline, console or selection",
    NO_FIX,
);
static IOCTL: Rule = Rule {
    // TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD. What devices there are at all is a matter of /dev.
    clauses: &[deny(&[is(1, &[0x5412, 0x541C, 0x541D, 0x5423])], &TERMINAL)],
    otherwise: Outcome::Allow,
};

static FOLDER_SIGNALS: Denial = denial(
    EINVAL,
    false,
    "an old way to watch a folder, also one of the host; answered as by a kernel without it",
    NO_FIX,
);
static FCNTL: Rule = Rule {
    // F_NOTIFY.
    clauses: &[deny(&[is(1, &[1026])], &FOLDER_SIGNALS)],
    otherwise: Outcome::Allow,
};

static EXECUTION_DOMAIN: Denial = denial(
    EPERM,
    true,
    "execution domains switch off address randomisation and other protections",
    "[syscalls] profile = \"debug\" (address randomisation only)",
);
static PERSONALITY: Rule = Rule {
    // PER_LINUX, PER_LINUX32, each also with UNAME26, and the query.
    clauses: &[allow(&[is(0, &[0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff])])],
    otherwise: Outcome::Deny(&EXECUTION_DOMAIN),
};
static PERSONALITY_DEBUG: Rule = Rule {
    // Debuggers start their program with ADDR_NO_RANDOMIZE.
    clauses: &[allow(&[is(
        0,
        &[0, 8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff],
    )])],
    otherwise: Outcome::Deny(&EXECUTION_DOMAIN),
};

static PRCTL_CLOSED: Denial = denial(
    EPERM,
    true,
    "process options that forge one's own memory map, share pages or unlock privileges",
    NO_FIX,
);
static PRCTL_UNKNOWN: Denial = denial(
    EINVAL,
    false,
    "a process option answered as by a kernel without it",
    NO_FIX,
);
#[rustfmt::skip]
const PRCTL_OPEN: &[u32] = &[
    15, 16, // PR_{SET,GET}_NAME, the most frequent
    0x5356_4d41, // PR_SET_VMA: names of mappings
    1, 2, 3, 4, // PR_{SET,GET}_PDEATHSIG, PR_{GET,SET}_DUMPABLE
    7, 8, // PR_{GET,SET}_KEEPCAPS
    21, 22, // PR_{GET,SET}_SECCOMP: filters only add up
    23, 24, // PR_CAPBSET_{READ,DROP}
    27, // PR_GET_SECUREBITS
    29, 30, // PR_{SET,GET}_TIMERSLACK
    31, 32, // PR_TASK_PERF_EVENTS_{DISABLE,ENABLE}
    36, 37, // PR_{SET,GET}_CHILD_SUBREAPER
    38, 39, // PR_{SET,GET}_NO_NEW_PRIVS
    40, // PR_GET_TID_ADDRESS
    41, 42, // PR_{SET,GET}_THP_DISABLE
    47, // PR_CAP_AMBIENT
    52, 53, // PR_{GET,SET}_SPECULATION_CTRL
    65, 66, // PR_{SET,GET}_MDWE
    0x5961_6d61, // PR_SET_PTRACER
    0x4155_5856, // PR_GET_AUXV
];
static PRCTL: Rule = Rule {
    clauses: &[
        allow(&[is(0, PRCTL_OPEN)]),
        // PR_SET_SECUREBITS, PR_MCE_KILL, PR_SET_MM, PR_SCHED_CORE, PR_SET_MEMORY_MERGE.
        deny(&[is(0, &[28, 33, 35, 62, 67])], &PRCTL_CLOSED),
    ],
    otherwise: Outcome::Deny(&PRCTL_UNKNOWN),
};

static LIMITS_OF_OTHERS: Denial = denial(
    EPERM,
    true,
    "the limits of another process of the same user: its supervisor's, without privileges",
    "none: use setrlimit, or prlimit with pid 0, for one's own limits",
);
static PRLIMIT: Rule = Rule {
    clauses: &[allow(&[is(0, &[0])])],
    otherwise: Outcome::Deny(&LIMITS_OF_OTHERS),
};

const MFD_NOEXEC_SEAL: u32 = 0x8;
const MFD_EXEC: u32 = 0x10;

static EXECUTABLE_MEMFD: Denial = denial(
    EPERM,
    true,
    "memory files that can be executed walk around noexec mounts and execute rules",
    "[syscalls] profile = \"compat\", or MFD_NOEXEC_SEAL in the program",
);
static EXPLICIT_MEMFD: Denial = denial(
    EPERM,
    true,
    "memory files made to be executed",
    "none: make it without MFD_EXEC",
);
static MEMFD_STRICT: Rule = Rule {
    clauses: &[allow(&[masked(
        1,
        MFD_NOEXEC_SEAL | MFD_EXEC,
        &[MFD_NOEXEC_SEAL],
    )])],
    otherwise: Outcome::Deny(&EXECUTABLE_MEMFD),
};
// Policies with this profile let programs of the workspace be executed, so a
// memory file that happens to be executable gives nothing more.
static MEMFD_COMPAT: Rule = Rule {
    clauses: &[deny(&[any_bit(1, MFD_EXEC)], &EXPLICIT_MEMFD)],
    otherwise: Outcome::Allow,
};

const SCHED_RESET_ON_FORK: u32 = 0x4000_0000;
static REAL_TIME: Denial = denial(
    EPERM,
    true,
    "real-time scheduling classes starve the host",
    NO_FIX,
);
static SCHED_SETSCHEDULER: Rule = Rule {
    // SCHED_OTHER, SCHED_BATCH, SCHED_IDLE.
    clauses: &[allow(&[masked(1, !SCHED_RESET_ON_FORK, &[0, 3, 5])])],
    otherwise: Outcome::Deny(&REAL_TIME),
};

const SECCOMP_FILTER_FLAG_NEW_LISTENER: u32 = 0x8;
static LISTENER: Denial = denial(
    EBUSY,
    true,
    "a listener of the program's own could answer for the one that guards it",
    NO_FIX,
);
static SECCOMP: Rule = Rule {
    // SECCOMP_SET_MODE_FILTER is operation 1.
    clauses: &[deny(
        &[is(0, &[1]), any_bit(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)],
        &LISTENER,
    )],
    otherwise: Outcome::Allow,
};

const S_IFMT: u32 = 0xf000;
/// Unset (a regular file), FIFO, regular file, socket.
const PLAIN_NODES: &[u32] = &[0, 0x1000, 0x8000, 0xc000];
static DEVICE_NODE: Denial = denial(EPERM, true, "device nodes", NO_FIX);
static MKNOD: Rule = Rule {
    clauses: &[allow(&[masked(1, S_IFMT, PLAIN_NODES)])],
    otherwise: Outcome::Deny(&DEVICE_NODE),
};
static MKNODAT: Rule = Rule {
    clauses: &[allow(&[masked(2, S_IFMT, PLAIN_NODES)])],
    otherwise: Outcome::Deny(&DEVICE_NODE),
};

#[cfg(test)]
mod tests;
