//! Giving up root for good.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

/// Why privileges are not given up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivilegeError {
    /// A step failed.
    #[error("{step}")]
    Step {
        /// Which.
        step: &'static str,
        /// What the kernel said.
        #[source]
        source: Errno,
    },
    /// What is left cannot be read.
    #[error("read /proc/self/status")]
    Status(#[source] std::io::Error),
    /// Something is left after all.
    #[error("{field} is {value} after the drop of privileges")]
    Left {
        /// Line of `/proc/self/status`.
        field: String,
        /// What it says.
        value: String,
    },
}

fn failed(step: &'static str) -> impl FnOnce(Errno) -> PrivilegeError {
    move |source| PrivilegeError::Step { step, source }
}

/// Becomes an ordinary user without groups or capabilities. One thread must be all there is.
pub(super) fn drop_to(uid: u32, gid: u32) -> Result<(), PrivilegeError> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    setgroups(&[]).map_err(failed("drop the supplementary groups"))?;
    setresgid(gid, gid, gid).map_err(failed("become the api's group"))?;
    // From 0 to another uid: the kernel empties all capability sets but the bounding one, and
    // that one gives nothing to a process with no_new_privs.
    setresuid(uid, uid, uid).map_err(failed("become the api's user"))
}

/// Makes what was given up impossible to have again, and checks it.
pub(super) fn settle(was_root: bool) -> Result<(), PrivilegeError> {
    prctl::set_no_new_privs().map_err(failed("give up gaining privileges"))?;
    prctl::set_dumpable(false).map_err(failed("hide memory from other processes of the user"))?;
    if !was_root {
        return Ok(());
    }
    let status = std::fs::read_to_string("/proc/self/status").map_err(PrivilegeError::Status)?;
    match first_left(&status) {
        None => Ok(()),
        Some((field, value)) => Err(PrivilegeError::Left {
            field: field.to_owned(),
            value: value.to_owned(),
        }),
    }
}

/// The first line of a process's status that shows a privilege.
pub(super) fn first_left(status: &str) -> Option<(&str, &str)> {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(field, value)| {
            let value = value.trim();
            let clean = match field {
                "CapInh" | "CapPrm" | "CapEff" | "CapAmb" => {
                    value.bytes().all(|digit| digit == b'0')
                }
                "NoNewPrivs" => value == "1",
                "Groups" => value.is_empty(),
                "Uid" | "Gid" => value.split_whitespace().all(|id| id != "0"),
                _ => true,
            };
            (!clean).then_some((field, value))
        })
}
