//! One running launcher among others on the host: its number, its folder, and the cleaning up
//! after those that were killed.
//!
//! The folder with its lock is the journal: it exists before the first kernel object, every
//! object's name is derived from the number, and the kernel drops the lock with the process.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};

use crate::cgroup;
use crate::remove::remove_tree;

/// Host ids of one sandbox.
pub(crate) const IDS_PER_SANDBOX: u32 = 65_536;
/// First host id of the first instance; below lie users and other tools' subordinate ranges.
const FIRST_ID: u32 = 0x1000_0000;
/// Host ids of one instance: 256 sandboxes.
const IDS_PER_INSTANCE: u32 = 256 * IDS_PER_SANDBOX;
/// Where root's instances take their numbers.
const HOST_LOCKS: &str = "/run/rollcage";
/// Instances that fit below 2^31.
const INSTANCES_MAX: u32 = 112;

/// Our own number and folder, held until dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    number: u32,
    dir: PathBuf,
    lock: PathBuf,
    _held: Flock<File>,
}

impl Instance {
    /// Cleans up after dead instances, then takes the lowest free number.
    ///
    /// Numbers give host ids and cgroup names, so they are one set for the whole host (or, without
    /// privileges, for the user), wherever an instance has its folder.
    pub(crate) fn claim(runtime_dir: &Path) -> Result<Self> {
        let locks = if nix::unistd::geteuid().is_root() {
            Path::new(HOST_LOCKS)
        } else {
            runtime_dir
        };
        make_folder(locks)?;
        make_folder(runtime_dir)?;
        let runtime_dir = &fs::canonicalize(runtime_dir)
            .with_context(|| format!("resolve {}", runtime_dir.display()))?;
        let mut claimed = None;
        for number in 0..INSTANCES_MAX {
            let path = locks.join(format!("instance-{number}.lock"));
            if claimed.is_some() && !path.exists() {
                continue;
            }
            let Some(lock) = lock(&path)? else { continue };
            if let Err(error) = bury_dead(number, &path) {
                // Its ids may still be in use: nobody gets the number until it can be cleaned.
                crate::attest::warn(&format!("{error:#}"));
                continue;
            }
            if claimed.is_none() {
                let dir = runtime_dir.join(format!("instance-{number}"));
                // The journal: written before the folder, the folder before any other object.
                fs::write(&path, dir.as_os_str().as_bytes())
                    .with_context(|| format!("write {}", path.display()))?;
                remove_folder(&dir)?;
                fs::DirBuilder::new()
                    .mode(0o711)
                    .create(&dir)
                    .with_context(|| format!("make {}", dir.display()))?;
                claimed = Some(Self {
                    number,
                    dir,
                    lock: path,
                    _held: lock,
                });
            }
        }
        let Some(instance) = claimed else {
            bail!("all {INSTANCES_MAX} instance numbers are taken; stop a daemon on this host");
        };
        Ok(instance)
    }

    /// Our number among the launchers of this host.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Name of our group in every cgroup hierarchy.
    pub(crate) fn cgroup_name(&self) -> String {
        cgroup_name(self.number, &self.lock)
    }

    /// Folder of our own.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// First host id of the `slot`-th sandbox.
    pub(crate) fn uid_base(&self, slot: u16) -> u32 {
        FIRST_ID + self.number * IDS_PER_INSTANCE + u32::from(slot) * IDS_PER_SANDBOX
    }

    /// All host ids that it may lease.
    pub(crate) fn ids(&self) -> Range<u32> {
        let first = self.uid_base(0);
        first..first + IDS_PER_INSTANCE
    }

    /// Folder of the locks of all instances.
    pub(crate) fn locks(&self) -> &Path {
        self.lock.parent().unwrap_or(&self.lock)
    }

    /// Folder that ours lies in.
    pub(crate) fn parent(&self) -> &Path {
        self.dir.parent().unwrap_or(&self.dir)
    }

    /// Removes what is left at the end of an orderly stop.
    pub(crate) fn retire(self) -> Result<()> {
        bury_dead(self.number, &self.lock)?;
        cgroup::restore_base().context("give the control group back that we were started in")
    }
}

fn make_folder(dir: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(dir)
        .with_context(|| format!("make the folder {}", dir.display()))
}

/// Numbers of root's launchers are one set; other users have a set in each runtime folder, and may
/// have several such folders and one control group.
fn cgroup_name(number: u32, lock: &Path) -> String {
    if nix::unistd::geteuid().is_root() {
        return format!("rollcage-{number}");
    }
    let folder = lock.parent().unwrap_or(lock).as_os_str().as_bytes();
    // FNV-1a: the same in every build, and nobody gains by a collision but in his own groups.
    let name = folder.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("rollcage-{number}-{name:016x}")
}

fn lock(path: &Path) -> Result<Option<Flock<File>>> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
        .open(path)
        .with_context(|| format!("open {}", path.display()))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_file, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
        Err((_file, errno)) => Err(errno).with_context(|| format!("lock {}", path.display())),
    }
}

/// Kills and removes whatever the last holder of this number left: its cgroups (with all their
/// processes; mounts and namespaces go with those) and its folder, named in the lock file.
fn bury_dead(number: u32, lock: &Path) -> Result<()> {
    let left = cgroup::sweep(&cgroup_name(number, lock));
    if !left.is_empty() {
        bail!(
            "cannot remove what instance {number} left behind: {}",
            left.join(", ")
        );
    }
    let named = fs::read(lock).with_context(|| format!("read {}", lock.display()))?;
    let dir = PathBuf::from(OsStr::from_bytes(&named));
    let ours = dir.file_name() == Some(OsStr::new(&format!("instance-{number}")));
    if ours && dir.is_absolute() {
        remove_folder(&dir)?;
    }
    fs::write(lock, b"").with_context(|| format!("empty {}", lock.display()))
}

/// Removes a folder of a number that we hold, if it is there. Programs in landlock mode may have
/// filled it.
fn remove_folder(dir: &Path) -> Result<()> {
    remove_tree(dir).with_context(|| format!("remove {}", dir.display()))
}
