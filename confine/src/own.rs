//! How the daemon's own processes lock themselves up: capabilities, no new privileges, memory that
//! nobody looks into, Landlock, a filter. Their table is [`OwnProcess`]; their filters are in
//! [`crate::seccomp::own`].
//!
//! It does not know what they do with what they keep.

use std::path::Path;

use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::errno::Errno;

pub use crate::seccomp::own::OwnProcess;

use crate::landlock_rules::{abi, failed};
use crate::steps::StepError;
use crate::sys::{self, process, seccomp};

/// A capability by name and number. capabilities(7).
pub type Capability = (&'static str, u32);

/// What forkers and pid 1, up to its own user namespace, do as root.
#[rustfmt::skip]
const FORKER_CAPABILITIES: &[Capability] = &[
    ("CHOWN", 0), // the workspace is given to a leased id
    ("DAC_OVERRIDE", 1), // folders closed to their owner: in trees to show, in views to make
    ("SETGID", 6), // the gid map
    ("SETUID", 7), // the uid map
    ("NET_ADMIN", 12), // `lo` up, in a network namespace of its own
    ("SYS_PTRACE", 19), // the self-test looks at the namespaces of pid 1 from outside
    ("SYS_ADMIN", 21), // namespaces and mounts
];

/// The launcher's, where Landlock leaves it control groups and its own folder only.
#[rustfmt::skip]
const LAUNCHER_CAPABILITIES: &[Capability] = &[
    ("DAC_OVERRIDE", 1), // the top of a control group hierarchy is closed to its owner, too
];

/// Below which paths a process may open files. Rights of nested paths add up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reach<'a> {
    /// Files and folders that may be read; what does not exist is left out.
    pub read: &'a [&'a Path],
    /// Folders in which files and folders may be made, changed and removed, too.
    pub write: &'a [&'a Path],
}

impl OwnProcess {
    /// What it keeps of root's capabilities once it serves.
    #[must_use]
    pub fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::Api | Self::AuditWriter => &[],
            // It is uid 0 for the files of control groups, and owns the user namespaces of its
            // sandboxes, which is all that killing needs.
            Self::Launcher => LAUNCHER_CAPABILITIES,
            Self::Forker => FORKER_CAPABILITIES,
        }
    }

    /// The same as a mask, bit n for capability n.
    #[must_use]
    pub fn capability_mask(self) -> u64 {
        self.capabilities()
            .iter()
            .fold(0, |mask, (_, number)| mask | (1 << number))
    }

    /// Whether Landlock is for it: a forker mounts, which Landlock forbids, and what it makes
    /// inherits.
    #[must_use]
    pub fn has_landlock(self) -> bool {
        self != Self::Forker
    }

    /// What Landlock keeps in, where it can: the launcher alone signals others.
    fn scope(self) -> BitFlags<Scope> {
        match self {
            Self::Launcher => Scope::AbstractUnixSocket.into(),
            Self::Api | Self::AuditWriter | Self::Forker => {
                Scope::AbstractUnixSocket | Scope::Signal
            }
        }
    }

    /// Takes everything that this process does not keep out of the bounding set, for good. Without
    /// CAP_SETPCAP it stays as it is: no_new_privs, which follows, makes it worth nothing.
    ///
    /// # Errors
    /// Whatever else the kernel says.
    pub fn drop_bounding(self) -> Result<(), StepError> {
        for capability in 0..=sys::last_capability() {
            if self.capability_mask() & (1 << capability) != 0 {
                continue;
            }
            match process::drop_bounding(capability) {
                Ok(()) => {}
                Err(Errno::EPERM) => break,
                Err(errno) => {
                    let doing = format!("drop capability {capability} from the bounding set");
                    return Err(StepError { doing, errno });
                }
            }
        }
        Ok(())
    }

    /// Leaves nothing in any other capability set but what this process keeps and has.
    ///
    /// # Errors
    /// Whatever the kernel says.
    pub fn reduce_capabilities(self) -> Result<(), StepError> {
        process::clear_ambient().map_err(StepError::at("clear the ambient capabilities"))?;
        let held = process::permitted_capabilities().map_err(StepError::at("read capabilities"))?;
        process::set_capabilities(held & self.capability_mask())
            .map_err(StepError::at("reduce the capabilities"))
    }

    /// The last locks, in the only order there is: Landlock and the filter demand no new
    /// privileges, and the filter allows nothing of the rest. Checks what came of it, and gives
    /// what this kernel lacks.
    ///
    /// # Errors
    /// A lock that the kernel has cannot be put on, or it has no filters, or something is left.
    pub fn lock(self, reach: Reach<'_>) -> Result<Option<&'static str>, StepError> {
        process::set_no_new_privs().map_err(StepError::at("give up gaining privileges"))?;
        if self != Self::Forker {
            process::set_dumpable(false).map_err(StepError::at("hide our memory"))?;
        }
        let level = sys::landlock_abi();
        if self.has_landlock() && level > 0 {
            restrict(level, reach, self.scope())?;
        }
        let filter = self.filter().map_err(|error| StepError {
            doing: format!("assemble the own filter: {error}"),
            errno: Errno::EINVAL,
        })?;
        seccomp::install_on_all_threads(&filter.program)
            .map_err(StepError::at("install the own filter"))?;
        let status = std::fs::read_to_string("/proc/self/status")
            .map_err(StepError::io("read /proc/self/status"))?;
        if let Some((field, value)) = self.first_left(&status) {
            return Err(StepError {
                doing: format!("give up privileges: {field} is still {value}"),
                errno: Errno::EPERM,
            });
        }
        let missing = self.has_landlock() && level == 0;
        Ok(missing
            .then_some("this kernel has no Landlock: the own user and the filter stand alone"))
    }
}

impl OwnProcess {
    /// The first line of a process's status that shows more than this one keeps.
    #[must_use]
    pub fn first_left(self, status: &str) -> Option<(&str, &str)> {
        let kept = self.capability_mask();
        status
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(field, value)| (field, value.trim()))
            .find(|(field, value)| {
                let within =
                    |kept: u64| u64::from_str_radix(value, 16).is_ok_and(|held| held & !kept == 0);
                let clean = match *field {
                    "CapInh" | "CapAmb" => within(0),
                    "CapPrm" | "CapEff" => within(kept),
                    "NoNewPrivs" => *value == "1",
                    "Seccomp" => *value == "2",
                    _ => true,
                };
                !clean
            })
    }
}

/// Landlock, with all rights that ABI `level` can handle, the grants of `reach` and nothing
/// outside of `scope`.
fn restrict(level: u32, reach: Reach<'_>, scope: BitFlags<Scope>) -> Result<(), StepError> {
    let abi = abi(level);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(failed("handle file access"))?;
    if level >= 4 {
        // No port is granted: whoever listens has bound its sockets before.
        ruleset = ruleset
            .handle_access(AccessNet::from_all(abi))
            .map_err(failed("handle network access"))?;
    }
    if level >= 6 {
        ruleset = ruleset
            .scope(scope)
            .map_err(failed("scope abstract sockets and signals"))?;
    }
    let mut created = ruleset.create().map_err(failed("create the ruleset"))?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | (AccessFs::from_all(abi) & AccessFs::Truncate);
    let reads = reach.read.iter().map(|path| (path, read));
    let writes = reach.write.iter().map(|path| (path, write));
    for (path, rights) in reads.chain(writes) {
        let Ok(fd) = PathFd::new(path) else {
            continue;
        };
        let rights = if path.is_dir() {
            rights
        } else {
            rights & AccessFs::from_file(abi)
        };
        created = created
            .add_rule(PathBeneath::new(fd, rights))
            .map_err(failed(&format!("grant {}", path.display())))?;
    }
    let status = created
        .restrict_self()
        .map_err(failed("restrict ourselves"))?;
    match status {
        RestrictionStatus {
            ruleset: RulesetStatus::FullyEnforced,
            ..
        } => Ok(()),
        _ => Err(StepError {
            doing: "restrict ourselves: Landlock took only a part of the rules".to_owned(),
            errno: Errno::ENOTSUP,
        }),
    }
}

#[cfg(test)]
mod tests;
