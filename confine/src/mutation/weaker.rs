//! The weaker forms of steps: what a step comes to when it is switched off and merely leaving it out
//! would prove nothing, or would be undone by another.

use std::any::Any;

use nix::mount::{MsFlags, mount};
use nix::unistd::{chdir, fchdir};

use crate::steps::session::{self, Session};
use crate::steps::{StepError, proc_view};
use crate::sys::{mount as mounts, process};

/// Takes the weaker form of `step`, if it has one.
pub(super) fn take(step: &str, context: &mut dyn Any) -> Result<(), StepError> {
    if let Some(session) = context.downcast_mut::<Session>() {
        return match step {
            "private_mounts" => slave_mounts(),
            "root_tree" => writable_root_tree(session),
            "workspace" => endless_workspace(session),
            "proc" => whole_proc(session),
            "pivot" => keep_old_root(session),
            _ => Ok(()),
        };
    }
    Ok(())
}

/// What is done after a step that is taken, for the sake of a later one that is switched off.
pub(super) fn after(step: &str) -> Result<(), StepError> {
    if step == "init_privileges" && super::is_off("capabilities") {
        // Later the kernel would refuse it: the bounding set is empty by then.
        process::keep_capabilities_inheritable()
            .map_err(StepError::at("make capabilities inheritable"))?;
    }
    Ok(())
}

/// Mounts still come in from whoever made us (the launcher's part shares them with us).
fn slave_mounts() -> Result<(), StepError> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)
        .map_err(StepError::at("make all mounts slaves"))
}

fn writable_root_tree(session: &mut Session) -> Result<(), StepError> {
    session::root_tree(session)?;
    mounts::set_attributes(session.root()?, 0, mounts::ATTR_RDONLY, true)
        .map_err(StepError::at("make the host's trees writable"))
}

fn endless_workspace(session: &mut Session) -> Result<(), StepError> {
    let asked = session.boot.plan.limits.clone();
    session.boot.plan.limits.disk_bytes_max = 1 << 40;
    session.boot.plan.limits.files_max = 1 << 30;
    let made = session::workspace(session);
    session.boot.plan.limits = asked;
    made.map(drop)
}

fn whole_proc(session: &mut Session) -> Result<(), StepError> {
    proc_view::attach_whole(session.root()?)
}

/// The old root stays, at a folder of the new one. (Beneath the new root, or behind a mere chroot,
/// it could not: the kernel lets no process of such a root make a user namespace.)
fn keep_old_root(session: &mut Session) -> Result<(), StepError> {
    let root = session.root()?;
    mounts::set_attributes(root, mounts::ATTR_RDONLY, 0, false)
        .map_err(StepError::at("make the root read-only"))?;
    fchdir(root).map_err(StepError::at("enter the new root"))?;
    nix::unistd::pivot_root(".", "run").map_err(StepError::at("pivot"))?;
    chdir("/").map_err(StepError::at("enter /"))?;
    session.root = None;
    Ok(())
}
