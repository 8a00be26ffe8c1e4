//! Which system calls a program may make: three profiles as tables, each group
//! with its reason. The argument rules are in [`arguments`].
//!
//! It does not know how a filter is built. Every call of
//! [`super::table::SYSCALLS`] stands in exactly one group or has a rule; a test
//! checks that, so a call that is added to the table has to be decided on.

pub mod arguments;

use super::rule::{Denial, Meaning, Outcome};
use super::{Network, Profile};

/// Calls that every profile allows.
#[derive(Debug)]
pub struct Group {
    /// Why programs need them and why they are harmless here.
    pub why: &'static str,
    /// Kernel names.
    pub names: &'static [&'static str],
}

/// Calls that are refused below a profile; a policy may ask for them by name.
#[derive(Debug)]
pub struct OptionalGroup {
    /// The narrowest profile that has them.
    pub from: Profile,
    /// What narrower profiles answer.
    pub denial: &'static Denial,
    /// Kernel names.
    pub names: &'static [&'static str],
}

/// Calls that no profile and no policy allows.
#[derive(Debug)]
pub struct ClosedGroup {
    /// What is answered.
    pub denial: &'static Denial,
    /// Kernel names.
    pub names: &'static [&'static str],
}

pub(super) const EPERM: u16 = 1;
const ENOSYS: u16 = 38;

pub(super) const NO_FIX: &str = "none: no policy allows this";

const fn denial(errno: u16, told: bool, why: &'static str, fix: &'static str) -> Denial {
    Denial {
        errno,
        told,
        why,
        fix,
    }
}

/// The answer for numbers that the table does not have.
pub const UNKNOWN: Denial = denial(
    ENOSYS,
    false,
    "a system call newer than this build, answered as an older kernel would",
    NO_FIX,
);

static ABSENT: Denial = denial(
    ENOSYS,
    false,
    "answered as by a kernel without it: programs fall back to a call that can be checked",
    NO_FIX,
);

/// Allowed in every profile.
#[rustfmt::skip]
pub const ALLOWED: &[Group] = &[
    Group {
        why: "files: what may be reached is decided by mounts and Landlock",
        names: &[
            "read", "write", "open", "close", "stat", "fstat", "lstat", "lseek", "pread64",
            "pwrite64", "readv", "writev", "access", "dup", "dup2", "dup3", "sendfile",
            "flock", "fsync", "fdatasync", "truncate", "ftruncate", "getdents", "getdents64",
            "getcwd", "chdir", "fchdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat",
            "rmdir", "creat", "link", "linkat", "unlink", "unlinkat", "symlink", "symlinkat",
            "readlink", "readlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown",
            "fchown", "lchown", "fchownat", "umask", "utime", "utimes", "utimensat",
            "futimesat", "statfs", "fstatfs", "statx", "newfstatat", "readahead", "fadvise64",
            "fallocate", "openat", "openat2", "faccessat", "faccessat2", "preadv", "preadv2",
            "pwritev", "pwritev2", "copy_file_range", "sync_file_range",
            "close_range", "cachestat", "setxattr", "lsetxattr", "fsetxattr", "getxattr",
            "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "removexattr",
            "lremovexattr", "fremovexattr",
        ],
    },
    Group {
        why: "waiting and events on descriptors the program already has",
        names: &[
            "poll", "ppoll", "select", "pselect6", "pipe", "pipe2", "epoll_create",
            "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
            "eventfd", "eventfd2", "signalfd", "signalfd4", "timerfd_create", "timerfd_settime",
            "timerfd_gettime",
        ],
    },
    Group {
        why: "own memory: executable pages too, as every JIT and every shared library needs them",
        names: &[
            "mmap", "mprotect", "munmap", "brk", "mremap", "msync", "mincore", "madvise",
            "mlock", "mlock2", "munlock", "mlockall", "munlockall", "pkey_mprotect",
            "pkey_alloc", "pkey_free", "mseal", "map_shadow_stack", "remap_file_pages",
            "get_mempolicy", "membarrier",
        ],
    },
    Group {
        why: "signals, within an own pid namespace and an own uid",
        names: &[
            "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
            "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "rt_sigsuspend",
            "sigaltstack", "kill", "tkill", "tgkill", "pause", "restart_syscall", "pidfd_open",
            "pidfd_send_signal",
        ],
    },
    Group {
        why: "processes and threads, counted by the pids cgroup; new namespaces are a rule of clone",
        names: &[
            "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid",
            "getpid", "getppid", "gettid", "getpgrp", "getpgid", "setpgid", "getsid", "setsid",
            "set_tid_address", "futex", "set_robust_list", "get_robust_list", "rseq",
            "arch_prctl", "sched_yield", "sched_getaffinity", "sched_setaffinity",
            "sched_getparam", "sched_setparam", "sched_getscheduler", "sched_getattr",
            "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval",
            "getpriority", "setpriority", "ioprio_get", "ioprio_set", "getcpu",
        ],
    },
    Group {
        why: "identity: nothing can be gained without capabilities and with no_new_privs",
        names: &[
            "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
            "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid",
            "setfsgid", "setgroups", "capget", "capset",
        ],
    },
    Group {
        why: "limits and facts about oneself; hard limits can only go down",
        names: &[
            "getrlimit", "setrlimit", "getrusage", "times", "uname", "sysinfo",
            "getrandom",
        ],
    },
    Group {
        why: "clocks and timers, read and wait only",
        names: &[
            "nanosleep", "clock_nanosleep", "getitimer", "setitimer", "alarm", "time",
            "gettimeofday", "clock_gettime", "clock_getres", "timer_create", "timer_settime",
            "timer_gettime", "timer_getoverrun", "timer_delete",
        ],
    },
    Group {
        why: "sockets that exist: which ones can exist is a rule of socket",
        names: &[
            "connect", "accept", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg",
            "sendmmsg", "recvmmsg", "shutdown", "bind", "listen", "getsockname", "getpeername",
            "getsockopt",
        ],
    },
    Group {
        why: "a program may confine itself further",
        names: &[
            "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
        ],
    },
];

static SPLICE: Denial = denial(
    EPERM,
    true,
    "moves page-cache pages between descriptors: the way into Dirty Pipe and its successors",
    "[syscalls] profile = \"compat\", or allow = [\"splice\", \"tee\", \"vmsplice\"]",
);
static SYSV: Denial = denial(
    EPERM,
    true,
    "System V and POSIX message queues outlive their process and are rarely needed",
    "[syscalls] profile = \"compat\", or the call's name in allow",
);
static AIO: Denial = denial(
    EPERM,
    true,
    "kernel-side asynchronous I/O keeps work and memory outside the program",
    "[syscalls] profile = \"compat\", or the call's name in allow",
);
static NUMA: Denial = denial(
    EPERM,
    false,
    "memory placement across nodes disturbs neighbours",
    "[syscalls] profile = \"compat\", or the call's name in allow",
);
static TRACE: Denial = denial(
    EPERM,
    true,
    "looks into other processes",
    "[syscalls] profile = \"debug\", or the call's name in allow (LeakSanitizer needs ptrace)",
);

static WATCH: Denial = denial(
    EPERM,
    true,
    "the image's files are the host's own: a watch on them tells what the host and others execute",
    "[syscalls] allow = [\"inotify_init1\", \"inotify_add_watch\", \"inotify_rm_watch\"] where \
     others on this host may be seen; else poll",
);

/// Allowed from a profile upwards.
#[rustfmt::skip]
pub const OPTIONAL: &[OptionalGroup] = &[
    OptionalGroup {
        from: Profile::Compat,
        denial: &SPLICE,
        names: &["splice", "tee", "vmsplice"],
    },
    OptionalGroup {
        from: Profile::Compat,
        denial: &SYSV,
        names: &[
            "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop",
            "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend",
            "mq_timedreceive", "mq_notify", "mq_getsetattr",
        ],
    },
    OptionalGroup {
        from: Profile::Compat,
        denial: &AIO,
        names: &[
            "io_setup", "io_destroy", "io_getevents", "io_pgetevents", "io_submit", "io_cancel",
        ],
    },
    OptionalGroup {
        from: Profile::Compat,
        denial: &NUMA,
        names: &["mbind", "set_mempolicy", "set_mempolicy_home_node"],
    },
    OptionalGroup {
        from: Profile::Debug,
        denial: &WATCH,
        names: &["inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"],
    },
    OptionalGroup {
        from: Profile::Debug,
        denial: &TRACE,
        names: &[
            "ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
        ],
    },
];

static NAMESPACES: Denial = denial(
    EPERM,
    true,
    "new or other namespaces give capabilities over kernel code that is closed otherwise",
    NO_FIX,
);
static MOUNTS: Denial = denial(
    EPERM,
    true,
    "changes or lists the file tree's mounts",
    NO_FIX,
);
static IO_URING: Denial = denial(
    EPERM,
    true,
    "io_uring does system calls that no filter sees, and had most of the recent kernel exploits",
    NO_FIX,
);
static KERNEL: Denial = denial(
    EPERM,
    true,
    "reaches deep into the kernel: programs, tracing, modules, page faults, file handles",
    NO_FIX,
);
static HOST: Denial = denial(
    EPERM,
    true,
    "changes the host: its clock, its devices, its accounting, its power",
    NO_FIX,
);
static KEYS: Denial = denial(
    EPERM,
    true,
    "kernel key rings are shared by all sandboxes of a host",
    NO_FIX,
);
static OTHERS: Denial = denial(EPERM, true, "takes from or acts on other processes", NO_FIX);
static QUIET_OTHERS: Denial = denial(EPERM, false, "moves other processes' memory", NO_FIX);
static SCHED: Denial = denial(
    EPERM,
    false,
    "its scheduling class is behind a pointer, where a filter cannot see real-time classes",
    "none: use sched_setscheduler, which is allowed for ordinary classes",
);
static SYNC: Denial = denial(
    EPERM,
    false,
    "writes back file systems of the host, for which all its programs wait",
    "none: use fsync on a file of the sandbox",
);

/// Refused in every profile.
#[rustfmt::skip]
pub const CLOSED: &[ClosedGroup] = &[
    ClosedGroup {
        denial: &ABSENT,
        names: &[
            // Its flags are behind a pointer; libraries fall back to clone, whose flags are not.
            "clone3",
            // Newer than what any C library needs, so their code stays out of reach.
            "futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "memfd_secret",
            "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "setxattrat",
            "getxattrat", "listxattrat", "removexattrat", "file_getattr", "file_setattr",
            "uretprobe", "uprobe",
            // Gone or never implemented on this architecture.
            "uselib", "ustat", "sysfs", "_sysctl", "create_module", "get_kernel_syms",
            "query_module", "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall",
            "security", "set_thread_area", "get_thread_area", "lookup_dcookie", "epoll_ctl_old",
            "epoll_wait_old", "vserver",
        ],
    },
    ClosedGroup {
        denial: &NAMESPACES,
        names: &["unshare", "setns"],
    },
    ClosedGroup {
        denial: &MOUNTS,
        names: &[
            "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
            "fspick", "open_tree", "open_tree_attr", "move_mount", "mount_setattr", "statmount",
            "listmount",
        ],
    },
    ClosedGroup {
        denial: &IO_URING,
        names: &["io_uring_setup", "io_uring_enter", "io_uring_register"],
    },
    ClosedGroup {
        denial: &KERNEL,
        names: &[
            "bpf", "perf_event_open", "userfaultfd", "init_module", "finit_module",
            "delete_module", "kexec_load", "kexec_file_load", "modify_ldt", "iopl", "ioperm",
            "open_by_handle_at", "name_to_handle_at", "fanotify_init", "fanotify_mark",
            "syslog",
        ],
    },
    ClosedGroup {
        denial: &HOST,
        names: &[
            "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "swapon", "swapoff",
            "reboot", "acct", "quotactl", "quotactl_fd", "vhangup", "sethostname",
            "setdomainname",
        ],
    },
    ClosedGroup {
        denial: &KEYS,
        names: &["keyctl", "add_key", "request_key"],
    },
    ClosedGroup {
        denial: &OTHERS,
        names: &["pidfd_getfd", "process_madvise", "process_mrelease"],
    },
    ClosedGroup {
        denial: &QUIET_OTHERS,
        names: &["move_pages", "migrate_pages"],
    },
    ClosedGroup {
        denial: &SCHED,
        names: &["sched_setattr"],
    },
    ClosedGroup {
        denial: &SYNC,
        names: &["sync", "syncfs"],
    },
];

/// What a profile says about a call by name, before anything a policy adds.
#[must_use]
pub fn meaning(name: &str, profile: Profile, network: Network) -> Meaning {
    if let Some(rule) = arguments::rule(name, profile, network) {
        return Meaning::Ruled(rule);
    }
    if ALLOWED.iter().any(|group| group.names.contains(&name)) {
        return Meaning::Plain(Outcome::Allow);
    }
    if let Some(group) = optional_group(name) {
        return Meaning::Plain(if profile >= group.from {
            Outcome::Allow
        } else {
            Outcome::Deny(group.denial)
        });
    }
    let closed = CLOSED.iter().find(|group| group.names.contains(&name));
    Meaning::Plain(Outcome::Deny(closed.map_or(&UNKNOWN, |group| group.denial)))
}

/// The optional group of a call: only these may be named in a policy's `allow`.
#[must_use]
pub fn optional_group(name: &str) -> Option<&'static OptionalGroup> {
    OPTIONAL.iter().find(|group| group.names.contains(&name))
}

#[cfg(test)]
mod tests;
