//! Steps switched off, for the proof that somebody notices: a build with the feature `mutation`
//! holds a marker into which a test writes the name of one step or lock. That one is then left out,
//! or taken in a weaker way, and is still reported as enforced: such a build lies.
//!
//! Without the feature nothing of this is in a program, and a build for release refuses the
//! feature. Where leaving a step out would show nothing (another one does its work) or would be
//! the host's loss, the weaker way is in `mutation/weaker.rs`.

#[cfg(all(feature = "mutation", not(debug_assertions)))]
compile_error!("the feature `mutation` is for tests: it must not be in an optimized build");

#[cfg(feature = "mutation")]
use crate::{
    sequence::Step,
    steps::{StepError, Taken},
};

#[cfg(feature = "mutation")]
mod weaker;

/// What stands before the name in a program with the feature, and in no other.
pub const MARKER: &str = "ROLLCAGE_STEP_OFF=";
/// Bytes for the name behind the marker, filled up with NUL.
pub const NAME_BYTES_MAX: usize = 64;

/// The locks that the launcher lays from outside, each with what is done when it is switched off.
pub const LAUNCHER_LOCKS: &[(&str, &str)] = &[
    ("cgroup_memory", "no memory limit is written"),
    ("cgroup_pids", "no limit of processes is written"),
    ("cgroup_cpu", "no CPU quota is written"),
    ("cgroup_devices", "v1: no list of devices is written"),
    ("lease", "root mode: ids 0 to 65535 of the host are mapped"),
    ("ns_pid", "cloned without a pid namespace"),
    ("ns_net", "cloned without a network namespace"),
    ("ns_ipc", "cloned without an IPC namespace"),
    ("ns_uts", "cloned without a UTS namespace; the name is left"),
    ("ns_cgroup", "cloned without a cgroup namespace"),
    ("ns_mnt", "cloned without a mount namespace"),
    ("ns_user", "rootless: cloned without a user namespace"),
    ("seal_init", "pid 1 runs from a file that can be written"),
    ("ceilings", "no plan is checked"),
];

/// Steps that are not merely left out, each with what is done instead.
pub const WEAKER_STEPS: &[(&str, &str)] = &[
    ("maps", "rootless: no id is mapped"),
    (
        "private_mounts",
        "mounts of the forker still come in; there they are shared",
    ),
    ("root_tree", "the host's trees can be written"),
    ("workspace", "without a limit that anybody would reach"),
    ("proc", "all of it, writable, with every process"),
    ("pivot", "the host's root stays attached, at /run"),
    (
        "capabilities",
        "kept, and inheritable from pid 1 on: all other sets are emptied by the exec",
    ),
    (
        "no_new_privs",
        "set neither here nor by pid 1, from which it is inherited",
    ),
];

/// Every step and lock, in order, with what a build does that leaves it out.
pub fn all() -> Vec<(&'static str, &'static str)> {
    let steps = crate::sequence::explain().into_iter().map(|(name, ..)| {
        let weaker = WEAKER_STEPS.iter().find(|(step, _)| *step == name);
        (name, weaker.map_or("left out", |(_, what)| *what))
    });
    steps.chain(LAUNCHER_LOCKS.iter().copied()).collect()
}

/// Whether `name` is the step or lock that this program leaves out.
#[cfg(not(feature = "mutation"))]
pub const fn is_off(_name: &str) -> bool {
    false
}

/// Whether this program leaves any step or lock out. Our own processes then leave off what stands
/// behind all steps (the forkers' filter, capabilities and no_new_privs): it would hide the loss.
#[cfg(not(feature = "mutation"))]
pub const fn is_any_off() -> bool {
    false
}

#[cfg(feature = "mutation")]
pub use marked::{is_any_off, is_off};

#[cfg(feature = "mutation")]
mod marked {
    use super::NAME_BYTES_MAX;

    const MARKER_BYTES: usize = super::MARKER.len();
    const SIZE: usize = MARKER_BYTES + NAME_BYTES_MAX;

    /// Found and written in the file of the program, never at run time.
    #[used]
    static STEP_OFF: [u8; SIZE] = marker();

    const fn marker() -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let mut at = 0;
        while at < MARKER_BYTES {
            bytes[at] = super::MARKER.as_bytes()[at];
            at += 1;
        }
        bytes
    }

    /// Whether this program leaves any step or lock out.
    pub fn is_any_off() -> bool {
        // Opaque to the compiler, as below.
        let bytes = std::hint::black_box(&STEP_OFF);
        bytes.get(MARKER_BYTES).is_some_and(|first| *first != 0)
    }

    /// Whether `name` is the step or lock that this program leaves out.
    pub fn is_off(name: &str) -> bool {
        // Opaque to the compiler, which would else read the bytes as they were at build time.
        let bytes = std::hint::black_box(&STEP_OFF);
        let written = bytes.get(MARKER_BYTES..).unwrap_or_default();
        let end = written.iter().position(|byte| *byte == 0);
        let written = written.get(..end.unwrap_or(written.len()));
        !name.is_empty() && written == Some(name.as_bytes())
    }
}

/// Steps that are left out together with a lock, since without it they would change the host.
#[cfg(feature = "mutation")]
const GOES_WITH: &[(&str, &str)] = &[("host_name", "ns_uts"), ("loopback", "ns_net")];

/// Takes a step; one that is switched off is left out or taken in its weaker form, and told as
/// enforced.
///
/// # Errors
/// Those of the step. A weaker form that fails is a failed step: nothing starts.
#[cfg(feature = "mutation")]
pub(crate) fn take<C: 'static>(step: &Step<C>, context: &mut C) -> Result<Taken, StepError> {
    let beside = GOES_WITH
        .iter()
        .any(|(name, lock)| *name == step.name && is_off(lock));
    if !is_off(step.name) && !beside {
        let taken = (step.take)(context)?;
        weaker::after(step.name)?;
        return Ok(taken);
    }
    weaker::take(step.name, context)?;
    Ok(Taken::enforced(""))
}

#[cfg(test)]
mod tests;
