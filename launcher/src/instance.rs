//! One running launcher among others on the host: its number, its folder, and the cleaning up
//! after those that were killed.
//!
//! The folder with its lock is the journal: it exists before the first kernel object, every
//! object's name is derived from the number, and the kernel drops the lock with the process.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};

use crate::cgroup;

/// Host ids of one sandbox.
pub(crate) const IDS_PER_SANDBOX: u32 = 65_536;
/// First host id of the first instance; below lie users and other tools' subordinate ranges.
const FIRST_ID: u32 = 0x1000_0000;
/// Host ids of one instance: 256 sandboxes.
const IDS_PER_INSTANCE: u32 = 256 * IDS_PER_SANDBOX;
/// Instances that fit below 2^31.
const INSTANCES_MAX: u32 = 112;

/// Our own number and folder, held until dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    number: u32,
    dir: PathBuf,
    _lock: Flock<File>,
}

impl Instance {
    /// Cleans up after dead instances, then takes the lowest free number.
    pub(crate) fn claim(runtime_dir: &Path) -> Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(runtime_dir)
            .with_context(|| format!("make the runtime folder {}", runtime_dir.display()))?;
        let mut claimed = None;
        for number in 0..INSTANCES_MAX {
            let dir = runtime_dir.join(format!("instance-{number}"));
            if claimed.is_some() && !dir.exists() {
                continue;
            }
            let Some(lock) = lock(runtime_dir, number)? else {
                continue;
            };
            if dir.exists() {
                remove_traces(number, &dir)?;
            }
            if claimed.is_none() {
                fs::DirBuilder::new()
                    .mode(0o711)
                    .create(&dir)
                    .with_context(|| format!("make {}", dir.display()))?;
                claimed = Some(Self {
                    number,
                    dir,
                    _lock: lock,
                });
            }
        }
        let Some(instance) = claimed else {
            bail!("all {INSTANCES_MAX} instance numbers are taken; stop a daemon on this host");
        };
        Ok(instance)
    }

    /// Name of our group in every cgroup hierarchy.
    pub(crate) fn cgroup_name(&self) -> String {
        cgroup_name(self.number)
    }

    /// Folder of our own.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// First host id of the `slot`-th sandbox.
    pub(crate) fn uid_base(&self, slot: u16) -> u32 {
        FIRST_ID + self.number * IDS_PER_INSTANCE + u32::from(slot) * IDS_PER_SANDBOX
    }

    /// Removes the folder at the end of an orderly stop.
    pub(crate) fn retire(self) -> Result<()> {
        use nix::errno::Errno;
        use nix::mount::{MntFlags, umount2};
        match umount2(&self.dir, MntFlags::MNT_DETACH) {
            // Not a mount point, or not ours to unmount: a plain folder, without privileges.
            Ok(()) | Err(Errno::EINVAL | Errno::EPERM) => {}
            Err(errno) => {
                return Err(errno).with_context(|| format!("unmount {}", self.dir.display()));
            }
        }
        remove_traces(self.number, &self.dir)
    }
}

fn cgroup_name(number: u32) -> String {
    format!("rollcage-{number}")
}

fn lock(runtime_dir: &Path, number: u32) -> Result<Option<Flock<File>>> {
    let path = runtime_dir.join(format!("instance-{number}.lock"));
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
        .open(&path)
        .with_context(|| format!("open {}", path.display()))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_file, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
        Err((_file, errno)) => Err(errno).with_context(|| format!("lock {}", path.display())),
    }
}

/// Kills and removes whatever a dead instance left: its cgroups (with all their processes; mounts
/// and namespaces go with those) and its folder.
fn remove_traces(number: u32, dir: &Path) -> Result<()> {
    let left = cgroup::sweep(&cgroup_name(number));
    if !left.is_empty() {
        bail!(
            "cannot remove what instance {number} left behind: {}",
            left.join(", ")
        );
    }
    fs::remove_dir_all(dir).with_context(|| format!("remove {}", dir.display()))
}
