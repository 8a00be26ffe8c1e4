//! The facts on which a right answer depends: taken from a plan and the host by whoever runs the
//! battery, never read here.

use policies::SyscallProfile;
use serde::{Deserialize, Serialize};

/// One sandbox, as far as its right answers depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Whether there are namespaces; false in landlock mode.
    pub own_namespaces: bool,
    /// Whether pid 1 and the program have ids of their own, from a leased range; true in root mode.
    pub leased_ids: bool,
    /// The filter's profile.
    pub profile: SyscallProfile,
    /// Whether `/proc` shows processes only.
    pub proc_pids_only: bool,
    /// Whether IP sockets exist and `lo` is up; false under `sealed`.
    pub loopback: bool,
    /// Whether all that can be written is mounted `noexec`.
    pub writable_noexec: bool,
    /// The Landlock ABI that the rules were made for; 0 = no Landlock.
    pub landlock_abi: u32,
    /// Whether the kernel limits memory by a control group; else it is polled.
    pub cgroup_memory: bool,
    /// Whether the kernel limits processes by a control group; else by rlimit.
    pub cgroup_pids: bool,
    /// Processes and threads.
    pub pids_max: u64,
    /// Memory in bytes.
    pub memory_bytes_max: u64,
    /// Size of all that can be written, in bytes.
    pub disk_bytes_max: u64,
    /// Inodes of the same.
    pub files_max: u64,
    /// Open descriptors of one process.
    pub open_files_max: u64,
    /// CPU time in milliseconds.
    pub cpu_ms_max: u64,
    /// Paths of the host that the operator shows to all sandboxes (`host_image.extra_read_paths`).
    pub extra_read_paths: Vec<String>,
    /// Trees that may be executed, as in the plan.
    pub execute: Vec<String>,
    /// Trees that may be written, as in the plan.
    pub write: Vec<String>,
    /// System calls that the policy adds to its profile.
    pub allow: Vec<String>,
}

impl Setting {
    /// Whether files below `path` may be executed: by the mount and by the rules.
    #[must_use]
    pub fn may_execute(&self, path: &str) -> bool {
        !self.writable_noexec && covers(&self.execute, path)
    }

    /// Whether files below `path` may be written.
    #[must_use]
    pub fn may_write(&self, path: &str) -> bool {
        covers(&self.write, path)
    }

    /// Whether the policy adds this system call.
    #[must_use]
    pub fn adds(&self, call: &str) -> bool {
        self.allow.iter().any(|name| name == call)
    }
}

fn covers(trees: &[String], path: &str) -> bool {
    trees.iter().any(|tree| {
        path.strip_prefix(tree.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
pub(crate) mod testing {
    //! One setting of each mode.

    use super::Setting;
    use policies::SyscallProfile;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Root mode, policy `python`.
    pub(crate) fn root() -> Setting {
        Setting {
            own_namespaces: true,
            leased_ids: true,
            profile: SyscallProfile::Strict,
            proc_pids_only: true,
            loopback: true,
            writable_noexec: true,
            landlock_abi: 7,
            cgroup_memory: true,
            cgroup_pids: true,
            pids_max: 64,
            memory_bytes_max: 512 << 20,
            disk_bytes_max: 256 << 20,
            files_max: 20_000,
            open_files_max: 256,
            cpu_ms_max: 10_000,
            extra_read_paths: Vec::new(),
            execute: words(&["/usr", "/bin", "/lib"]),
            write: words(&["/workspace", "/tmp", "/dev/shm"]),
            allow: Vec::new(),
        }
    }

    /// Rootless mode without control groups, on an older kernel, policy `node`.
    pub(crate) fn rootless() -> Setting {
        Setting {
            leased_ids: false,
            profile: SyscallProfile::Compat,
            proc_pids_only: false,
            landlock_abi: 2,
            cgroup_memory: false,
            cgroup_pids: false,
            ..root()
        }
    }

    /// Landlock mode.
    pub(crate) fn landlock() -> Setting {
        Setting {
            own_namespaces: false,
            loopback: false,
            proc_pids_only: true,
            profile: SyscallProfile::Strict,
            ..rootless()
        }
    }
}
