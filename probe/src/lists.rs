//! What a sandbox may see, by name, and how far limits are tried: shared by the program, which
//! looks, and the table, which says what is right.

/// What stands in the root of a sandbox. Extra paths of the operator come on top.
pub const ROOT_NAMES: &[&str] = &[
    ".mask",
    ".mask-file",
    ".probe",
    ".proc",
    "bin",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
];

/// What stands in `/sys/devices/system/cpu`, the only folder of `/sys` with files, beside one folder
/// `cpuN` for each CPU that the sandbox has.
pub const SYS_CPU_NAMES: &[&str] = &["online", "possible", "present"];

/// What stands in `/sys`, by folder; beside that the folders of single CPUs.
pub const SYS_NAMES: &[(&str, &[&str])] = &[
    ("/sys", &["devices"]),
    ("/sys/devices", &["system"]),
    ("/sys/devices/system", &["cpu"]),
    ("/sys/devices/system/cpu", SYS_CPU_NAMES),
];

/// What stands in `/dev`.
pub const DEV_NAMES: &[&str] = &[
    "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty",
    "urandom", "zero",
];

/// Most processes that are forked to find the limit.
pub const PROCESSES_TRIED: u64 = 1024;

/// Most memory that is used to find the limit, in bytes.
pub const MEMORY_TRIED_BYTES: u64 = 1 << 30;

/// Most descriptors that are made to find the limit.
pub const DESCRIPTORS_TRIED: u64 = 1 << 16;

/// Told where nothing is beyond a list.
pub const KNOWN: &str = "known";

/// What stays visible in a whole `/proc`, beside processes; all else is covered.
pub const PROC_NAMES: &[&str] = &[
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "mounts",
    "net",
    "self",
    "stat",
    "sys",
    "thread-self",
    "uptime",
    "version",
];

/// The variables that every program starts with.
pub const VARIABLES: &[&str] = &["HOME", "LANG", "PATH", "TMPDIR", "TZ"];

/// Nodes of `/dev` with their device numbers.
pub const DEVICES: &[(&str, u64, u64)] = &[
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
];

/// The last number of a system call that the table of them tries: far beyond any kernel's.
pub const CALL_LAST: u32 = 600;

/// The errno that a filter of the table gives in place of each of its own: no kernel gives it.
pub const CALL_DENIED: i32 = 3999;

/// Numbers that the table does not call, with the reason: what they do with arguments of zero would
/// end, stop or silence the process that calls, or reach others.
pub const CALLS_LEFT_OUT: &[(u32, &str)] = &[
    (15, "rt_sigreturn returns to where no signal came"),
    (23, "select waits without end"),
    (34, "pause waits without end"),
    (58, "vfork shares the caller's stack"),
    (60, "exit ends the process"),
    (153, "vhangup hangs up a terminal"),
    (162, "sync waits for all disks of the host"),
    (231, "exit_group ends the process"),
    (270, "pselect6 waits without end"),
    (271, "ppoll waits without end"),
    (317, "seccomp with zero leaves the process three calls"),
];

/// Calls that kernels from 6.14 on show to no filter, with what they come to: they return from a
/// probe's landing place in the program, and refuse every caller that stands elsewhere.
pub const CALLS_UNFILTERED: &[(u32, &str)] = &[(335, "signal 4"), (336, "ENXIO")];
