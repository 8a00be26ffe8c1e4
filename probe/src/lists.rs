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

/// What stands in `/dev`.
pub const DEV_NAMES: &[&str] = &[
    "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty",
    "urandom", "zero",
];

/// Most processes that are forked to find the limit.
pub const PROCESSES_TRIED: u64 = 1024;

/// Most memory that is used to find the limit, in bytes.
pub const MEMORY_TRIED_BYTES: u64 = 1 << 30;
