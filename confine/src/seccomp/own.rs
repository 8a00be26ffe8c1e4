//! Filters of the daemon's own processes: what each of them calls once it serves, and nothing else.
//!
//! The api, the audit writer and the launcher have allow lists. What they do not name fails with
//! EPERM and not with the death of the process: a call of the runtime that nobody foresaw must not
//! take every live sandbox with it. The forkers' filter is inherited by pid 1 and by every program,
//! so it is a superset of every profile: it closes what no profile has and neither a forker nor
//! pid 1 needs.
//!
//! A call that the forkers' filter closes is answered by `SECCOMP_RET_TRACE`: ENOSYS as long as
//! nobody traces with `PTRACE_O_TRACESECCOMP`, which the same filter closes. An errno would be
//! stronger than the notification of a program's own filter, and its denials would not be told.

use super::profiles::{CLOSED, EPERM, Group, NO_FIX, UNKNOWN, arguments};
use super::program::ProgramError;
use super::rule::{Clause, Denial, Meaning, Outcome, Rule, Test, Want};
use super::{Filter, Network, Profile, RET_ALLOW, RET_ERRNO, RET_TRACE, X32_BIT, table};

/// A process of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnProcess {
    /// Speaks with callers. No new process, no program, no new listener or outgoing connection.
    Api,
    /// Appends, syncs and signs. No process, no socket of its own making.
    AuditWriter,
    /// Makes and removes control groups and speaks with the forkers. No process, no mount.
    Launcher,
    /// Makes sandboxes; its filter is on everything in them too.
    Forker,
}

/// What a filter of ours does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnVerdict {
    /// The kernel does it.
    Allow,
    /// It fails with this errno.
    Errno(u16),
    /// It fails with ENOSYS, unless a filter above says something stronger.
    Absent,
    /// The process ends: a call of another ABI.
    Kill,
}

impl OwnVerdict {
    /// The filter's return value for it.
    #[must_use]
    pub fn return_value(self) -> u32 {
        match self {
            Self::Allow => RET_ALLOW,
            Self::Errno(errno) => RET_ERRNO | u32::from(errno),
            Self::Absent => RET_TRACE,
            Self::Kill => super::RET_KILL_PROCESS,
        }
    }
}

#[rustfmt::skip]
static EVERY_PROCESS: Group = Group {
    why: "memory, locks, signal handlers and the end of a process; reading and writing what is open",
    names: &[
        "read", "write", "pread64", "pwrite64", "readv", "writev", "lseek", "close", "fstat",
        "stat", "lstat", "newfstatat", "statx", "open", "openat", "readlink", "readlinkat",
        "getdents64", "dup", "poll", "ppoll", "munmap", "brk", "mremap", "madvise",
        "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
        "gettid", "getpid", "getppid", "exit", "exit_group", "futex",
        "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "membarrier",
        "getuid", "geteuid", "getgid", "getegid", "getrandom", "clock_gettime", "clock_getres",
        "clock_nanosleep", "nanosleep", "gettimeofday", "time", "uname", "getrlimit",
        "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown",
    ],
};

#[rustfmt::skip]
static RUNTIME: Group = Group {
    why: "threads, timers, events, connections that come in, pipes for programs, and the result store",
    names: &[
        "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2",
        "timerfd_create", "timerfd_settime", "timerfd_gettime", "pipe2", "fchmod", "select", "pselect6",
        "rt_sigtimedwait", "rt_sigpending", "set_tid_address", "get_robust_list", "arch_prctl",
        "getcpu", "sched_getparam", "sched_getscheduler", "sched_get_priority_min",
        "sched_get_priority_max", "mincore", "dup2", "dup3", "close_range",
        "accept", "accept4", "getsockname", "getpeername", "getsockopt", "sendmmsg", "recvmmsg",
        "wait4", "waitid", "pidfd_open", "access", "faccessat", "faccessat2", "getcwd",
        "preadv", "pwritev", "preadv2", "pwritev2", "fsync", "fdatasync", "ftruncate", "fallocate",
        "fadvise64", "flock", "statfs", "fstatfs", "rename", "renameat", "renameat2", "unlink",
        "unlinkat", "mkdir", "mkdirat", "rmdir", "copy_file_range", "msync",
        "getrusage", "times", "sysinfo", "getresuid", "getresgid", "getgroups", "capget",
        "getpriority", "epoll_create", "pipe", "getdents",
    ],
};

#[rustfmt::skip]
static LOG: Group = Group {
    why: "append, make durable, replace the head; the modes of new files",
    names: &[
        "fsync", "fdatasync", "ftruncate", "flock", "rename", "renameat", "renameat2", "fchmod",
        "unlinkat",
    ],
};

#[rustfmt::skip]
static KERNEL_OBJECTS: Group = Group {
    why: "control groups, the folder of the instance, the death of sandboxes",
    names: &[
        "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "chmod", "fchmod", "fchmodat",
        "fchmodat2", "ftruncate", "flock", "access", "faccessat", "faccessat2", "kill",
        "pidfd_open", "pidfd_send_signal", "wait4", "waitid", "eventfd2", "getdents",
    ],
};

/// What forkers and pid 1 need of what every profile closes.
#[rustfmt::skip]
const MAKES_SANDBOXES: &[&str] = &[
    "clone3", "unshare", "mount", "umount2", "pivot_root", "open_tree", "move_mount",
    "mount_setattr", "fsopen", "fsconfig", "fsmount", "sethostname",
];

static NOT_NEEDED: Denial = Denial {
    errno: EPERM,
    told: true,
    why: "a call that this process of the daemon has no use for",
    fix: NO_FIX,
};
static FALL_BACK: Denial = Denial {
    errno: 38,
    told: false,
    why: "its flags are behind a pointer; the C library falls back to clone",
    fix: NO_FIX,
};

const fn is(arg: u8, values: &'static [u32]) -> Test {
    Test {
        arg,
        mask: u32::MAX,
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

const fn deny(when: &'static [Test]) -> Clause {
    Clause {
        when,
        then: Outcome::Deny(&NOT_NEEDED),
    }
}

const fn only(clauses: &'static [Clause]) -> Rule {
    Rule {
        clauses,
        otherwise: Outcome::Deny(&NOT_NEEDED),
    }
}

const fn all_but(clauses: &'static [Clause]) -> Rule {
    Rule {
        clauses,
        otherwise: Outcome::Allow,
    }
}

// CLONE_THREAD, and no namespace of any kind.
static THREADS: Rule = only(&[
    deny(&[any_bit(0, arguments::NAMESPACE_FLAGS)]),
    allow(&[any_bit(0, 0x1_0000)]),
]);
// PROT_EXEC: all code of ours is mapped at the start.
static NO_NEW_CODE: Rule = all_but(&[deny(&[any_bit(2, 4)])]);
// F_NOTIFY, F_SETOWN and F_SETSIG: signals about files, also to others.
static FCNTL: Rule = all_but(&[deny(&[is(1, &[1026, 8, 10, 15])])]);
// TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX.
static IOCTL: Rule = only(&[allow(&[is(
    1,
    &[0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450],
)])]);
// PR_{SET,GET}_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_VMA: nothing that unlocks.
static PRCTL: Rule = only(&[allow(&[is(0, &[15, 16, 3, 39, 0x5356_4d41])])]);
// Its own threads, and no other process of the same user.
static OWN_THREADS: Rule = only(&[allow(&[Test {
    arg: 0,
    mask: u32::MAX,
    want: Want::OwnProcess,
}])]);
static OWN_LIMITS: Rule = only(&[allow(&[is(0, &[0])])]);
static UNIX_PAIR: Rule = only(&[allow(&[is(0, &[1])])]);
// MFD_EXEC.
static DATA_ONLY: Rule = all_but(&[deny(&[any_bit(1, 0x10)])]);
// KEYCTL_JOIN_SESSION_KEYRING.
static OWN_KEYRING: Rule = only(&[allow(&[is(0, &[1])])]);
// PTRACE_{,OLD}SETOPTIONS and PTRACE_SEIZE with PTRACE_O_TRACESECCOMP or PTRACE_O_SUSPEND_SECCOMP.
static TRACE: Rule = all_but(&[deny(&[is(0, &[21, 0x4200, 0x4206]), any_bit(3, 0x20_0080)])]);

impl OwnProcess {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Api, Self::AuditWriter, Self::Launcher, Self::Forker];

    /// What an allow list is made of; nothing for the forkers, who have none.
    #[must_use]
    pub fn needs(self) -> Vec<&'static Group> {
        match self {
            Self::Api => vec![&EVERY_PROCESS, &RUNTIME],
            Self::AuditWriter => vec![&EVERY_PROCESS, &LOG],
            Self::Launcher => vec![&EVERY_PROCESS, &KERNEL_OBJECTS],
            Self::Forker => Vec::new(),
        }
    }

    fn rule(self, name: &str) -> Option<&'static Rule> {
        let profile = |name| arguments::rule(name, Profile::Debug, Network::Loopback);
        match (self, name) {
            (Self::Forker, "keyctl") => Some(&OWN_KEYRING),
            (Self::Forker, "ptrace") => Some(&TRACE),
            (Self::Forker, "socket" | "mknod" | "mknodat" | "sched_setscheduler") => profile(name),
            (Self::Forker, _) => None,
            (_, "mmap" | "mprotect" | "pkey_mprotect") => Some(&NO_NEW_CODE),
            (_, "fcntl") => Some(&FCNTL),
            (_, "tgkill") => Some(&OWN_THREADS),
            (_, "ioctl") => Some(&IOCTL),
            (_, "prctl") => Some(&PRCTL),
            (_, "prlimit64") => Some(&OWN_LIMITS),
            (Self::Api, "clone") => Some(&THREADS),
            (Self::Api, "socketpair") => Some(&UNIX_PAIR),
            (Self::Api, "setsockopt") => profile(name),
            (Self::Api | Self::Launcher, "memfd_create") => Some(&DATA_ONLY),
            _ => None,
        }
    }

    fn meaning(self, nr: u32) -> Meaning {
        if nr >= X32_BIT && nr != super::NR_SKIPPED {
            return Meaning::Foreign;
        }
        let Some(name) = table::name_of(nr) else {
            return Meaning::Plain(Outcome::Deny(&UNKNOWN));
        };
        if let Some(rule) = self.rule(name) {
            return Meaning::Ruled(rule);
        }
        let allowed = match self {
            Self::Forker => {
                MAKES_SANDBOXES.contains(&name)
                    || !CLOSED.iter().any(|group| group.names.contains(&name))
            }
            _ => self.needs().iter().any(|group| group.names.contains(&name)),
        };
        Meaning::Plain(match (allowed, name) {
            (true, _) => Outcome::Allow,
            (false, "clone3") => Outcome::Deny(&FALL_BACK),
            (false, _) => Outcome::Deny(&NOT_NEEDED),
        })
    }

    fn verdict(self, outcome: Outcome) -> OwnVerdict {
        match (self, outcome) {
            (_, Outcome::Allow) => OwnVerdict::Allow,
            (Self::Forker, Outcome::Deny(_)) => OwnVerdict::Absent,
            (_, Outcome::Deny(denial)) => OwnVerdict::Errno(denial.errno),
        }
    }

    /// What the tables mean for a native call of x86_64, or one of another ABI by its number.
    #[must_use]
    pub fn verdict_of(self, nr: u32, args: [u64; 6]) -> OwnVerdict {
        match self.meaning(nr) {
            Meaning::Plain(outcome) => self.verdict(outcome),
            Meaning::Ruled(rule) => self.verdict(rule.outcome(&args)),
            Meaning::Foreign => OwnVerdict::Kill,
        }
    }

    /// Compiles its filter.
    ///
    /// # Errors
    /// The tables cannot be assembled: a fault of this build.
    pub fn filter(self) -> Result<Filter, ProgramError> {
        let meaning = |nr| self.meaning(nr);
        let value = |outcome| self.verdict(outcome).return_value();
        super::compile_table(&meaning, &value)
    }
}

#[cfg(test)]
mod tests;
