//! Which grade of confinement this process can give, and what stands in the way of a higher one:
//! found by trying in a child of our own, since limits, filters and security modules all can refuse.

use std::fs;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::wait::{WaitStatus, waitpid};

use super::read;
use crate::plan::Mode;
use crate::sys::process::{CloneFlags, Fork, clone_process, exit_now};
use crate::sys::{self, mount};

/// The user namespace that no other one is around, by the number that every kernel gives it.
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

/// What a daemon that runs as root does with being root: makes device nodes, folders and processes
/// of other ids, mounts, and a network namespace's loopback.
const CAPABILITIES: [(u32, &str); 8] = [
    (0, "CAP_CHOWN"),
    (1, "CAP_DAC_OVERRIDE"),
    (5, "CAP_KILL"),
    (6, "CAP_SETGID"),
    (7, "CAP_SETUID"),
    (12, "CAP_NET_ADMIN"),
    (21, "CAP_SYS_ADMIN"),
    (27, "CAP_MKNOD"),
];

/// Something that stands in the way, and what an operator can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; fix: {fix}")]
pub struct Obstacle {
    /// What is so.
    pub reason: String,
    /// What to change.
    pub fix: String,
}

impl Obstacle {
    fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            fix: fix.into(),
        }
    }
}

/// Why uid 0 is not root enough here, if it is not: a container takes powers away, and the root of a
/// user namespace has none outside of it. Such a root serves in no mode: programs of its sandboxes
/// could have the ids that own its files.
pub fn root_obstacle() -> Option<Obstacle> {
    const AS_USER: &str = "start the daemon as an ordinary user (docker run --user 1000:1000)";
    let namespace = fs::read_link("/proc/self/ns/user").unwrap_or_default();
    if namespace != Path::new(FIRST_USER_NAMESPACE) {
        return Some(Obstacle::new(
            "root here is the root of a user namespace only",
            format!("{AS_USER}, or as root of the host"),
        ));
    }
    let missing = missing_capabilities(&read("/proc/self/status"));
    (!missing.is_empty()).then(|| {
        Obstacle::new(
            format!(
                "root here lacks {}, as in a container without privileges",
                missing.join(", ")
            ),
            format!("start the container with --privileged, or {AS_USER}"),
        )
    })
}

/// Which of the needed capabilities a process's status does not show as effective.
fn missing_capabilities(status: &str) -> Vec<&'static str> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .unwrap_or_default();
    let effective = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
    CAPABILITIES
        .into_iter()
        .filter(|(bit, _)| effective & (1 << bit) == 0)
        .map(|(_, name)| name)
        .collect()
}

/// The highest mode, and what is in the way of a higher one.
pub(super) fn grade(root: bool) -> (Mode, Option<Obstacle>) {
    match namespaces_obstacle(root) {
        Some(obstacle) => (Mode::Landlock, Some(obstacle)),
        None if root => (Mode::Root, None),
        None => {
            let obstacle = Obstacle::new(
                "the daemon does not run as root",
                "start sandboxd as root (its network-facing part drops all privileges)",
            );
            (Mode::Rootless, Some(obstacle))
        }
    }
}

fn namespaces_obstacle(root: bool) -> Option<Obstacle> {
    let off = |name: &str, file: &str, value: &str| {
        (read(file) == "0").then(|| {
            Obstacle::new(
                format!("user namespaces are off ({name} is 0)"),
                format!("sysctl {name}={value}"),
            )
        })
    };
    let limit = off(
        "user.max_user_namespaces",
        "/proc/sys/user/max_user_namespaces",
        "65536",
    );
    let switch = || {
        let file = "/proc/sys/kernel/unprivileged_userns_clone";
        off("kernel.unprivileged_userns_clone", file, "1").filter(|_| !root)
    };
    limit.or_else(switch).or_else(|| match try_namespaces(root) {
        Trial::Worked => None,
        Trial::Refused(errno) => Some(refused(errno, is_filtered())),
        Trial::Powerless => Some(Obstacle::new(
            "user namespaces have no capabilities here, as AppArmor sees to",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that \
             lets sandboxd have them",
        )),
        Trial::NoProc => Some(Obstacle::new(
            "a /proc of its own cannot be mounted in a namespace, as in a container that hides \
             parts of /proc",
            "start the container with --security-opt systempaths=unconfined (podman: unmask=ALL)",
        )),
    })
}

fn refused(errno: Errno, filtered: bool) -> Obstacle {
    let what = format!("new user namespaces are refused ({errno:?})");
    if errno == Errno::ENOSPC {
        return Obstacle::new(
            format!("{what}: a limit around this process is used up or 0"),
            "on the host: sysctl user.max_user_namespaces=65536",
        );
    }
    if filtered {
        return Obstacle::new(
            format!("{what} by a system call filter, as in a container"),
            "start the container with --security-opt seccomp=unconfined --security-opt \
             systempaths=unconfined",
        );
    }
    Obstacle::new(what, "allow them in the security module of this host")
}

/// Whether a system call filter is laid on us.
fn is_filtered() -> bool {
    let status = read("/proc/self/status");
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

/// What became of trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trial {
    Worked,
    Refused(Errno),
    Powerless,
    NoProc,
}

fn try_namespaces(root: bool) -> Trial {
    const POWERLESS: i32 = 1;
    const NO_PROC: i32 = 2;
    if fs::read_dir("/proc/self/task").map_or(0, Iterator::count) > 1 {
        // Forking from a threaded process is not safe; assume what the limits say.
        return Trial::Worked;
    }
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    match clone_process(CloneFlags(u64::from(flags.cast_unsigned())), None) {
        Ok(Fork::Child) => {
            // A security module may let the namespace be made and strip its capabilities: using
            // one tells. Root mounts /proc before it enters a user namespace.
            let powerless = sys::loopback_up().is_err();
            let proc = || mount::make(c"proc", &[], mount::ATTR_NOSUID | mount::ATTR_NODEV);
            exit_now(match (powerless, root || proc().is_ok()) {
                (true, _) => POWERLESS,
                (false, false) => NO_PROC,
                (false, true) => 0,
            })
        }
        Ok(Fork::Parent { pid, .. }) => match waitpid(nix::unistd::Pid::from_raw(pid), None) {
            Ok(WaitStatus::Exited(_, 0)) => Trial::Worked,
            Ok(WaitStatus::Exited(_, NO_PROC)) => Trial::NoProc,
            _ => Trial::Powerless,
        },
        Err(errno) => Trial::Refused(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_that_a_container_takes_are_named() {
        // Docker's default set.
        let status = "Name:\tx\nCapEff:\t00000000a80425fb\n";
        assert_eq!(
            missing_capabilities(status),
            ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]
        );
        assert!(missing_capabilities("CapEff:\t000001fffeffffff\n").is_empty());
        assert_eq!(missing_capabilities("").len(), CAPABILITIES.len());
    }

    #[test]
    fn each_refusal_has_its_own_fix() {
        let fixes = [
            refused(Errno::ENOSPC, true),
            refused(Errno::EPERM, true),
            refused(Errno::EPERM, false),
        ]
        .map(|obstacle| obstacle.fix);
        assert!(fixes[0].contains("max_user_namespaces"));
        assert!(fixes[1].contains("seccomp=unconfined"));
        assert!(fixes[2].contains("security module"));
    }
}
