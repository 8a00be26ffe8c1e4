//! What a sandbox may see, by name, and how far limits are tried: shared by the program, which looks, and the table, which says
//! what is right.

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
    (
        "/sys/devices/system/cpu",
        &["online", "possible", "present"],
    ),
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
