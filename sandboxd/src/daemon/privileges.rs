//! The api gives up what it was started with, and locks itself up for good.

use std::path::Path;

use confine::own::{OwnProcess, Reach};
use confine::steps::StepError;
use nix::errno::Errno;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use crate::audit_writer;
use crate::config::Config;

/// Why privileges are not given up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivilegeError {
    /// The kernel does not let us become the api's user.
    #[error("{step}")]
    Become {
        /// Which step failed.
        step: &'static str,
        /// What the kernel said.
        #[source]
        source: Errno,
    },
    /// A lock cannot be put on.
    #[error("lock the api up")]
    Lock(#[source] StepError),
}

/// Becomes an ordinary user without groups or capabilities. One thread must be all there is.
pub(super) fn drop_to(uid: u32, gid: u32) -> Result<(), PrivilegeError> {
    let failed = |step| move |source| PrivilegeError::Become { step, source };
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    setgroups(&[]).map_err(failed("drop the supplementary groups"))?;
    setresgid(gid, gid, gid).map_err(failed("become the api's group"))?;
    // Before the uid changes, which takes the right to do so.
    OwnProcess::Api
        .drop_bounding()
        .map_err(PrivilegeError::Lock)?;
    setresuid(uid, uid, uid).map_err(failed("become the api's user"))
}

/// Makes what was given up impossible to have again. Threads begin after this, and inherit it.
pub(super) fn settle(config: &Config, proof: Option<&Path>) -> Result<(), PrivilegeError> {
    let api = OwnProcess::Api;
    api.reduce_capabilities().map_err(PrivilegeError::Lock)?;
    let results = config.state_dir.join("results");
    let log = config.state_dir.join(audit_writer::FOLDER);
    let policies = reloaded(&config.policies_dir);
    // Facts of the machine, as the runtime and the metrics read them.
    let facts = ["/proc", "/sys/fs/cgroup", "/sys/devices/system"].map(Path::new);
    let read = [&facts[..], &[log.as_path()], policies.as_slice()].concat();
    let write: Vec<&Path> = [Some(results.as_path()), proof]
        .into_iter()
        .flatten()
        .collect();
    let reach = Reach {
        read: &read,
        write: &write,
    };
    if let Some(missing) = api.lock(reach).map_err(PrivilegeError::Lock)? {
        tracing::warn!("the api is locked up less than it could be: {missing}");
    }
    Ok(())
}

/// What has to stay readable for SIGHUP. Rules are about what exists: policies may be put later
/// into a folder that is not there yet, if the folder that it will lie in is.
fn reloaded(policies_dir: &Path) -> Option<&Path> {
    if policies_dir.exists() {
        return Some(policies_dir);
    }
    let parent = policies_dir.parent()?;
    let is_narrow = parent.components().count() > 2;
    (is_narrow && parent.exists()).then_some(parent)
}
