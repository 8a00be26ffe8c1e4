//! The confinement sequence. The order of the two tables is the security argument: each row says
//! why it stands where it stands, and the tests check the order.
//!
//! [`SESSION`] is taken once by `sandbox-init` as pid 1; [`COMMAND`] by each child of it, between
//! fork and exec. A step that fails ends the process: no program starts after a failed step.

use crate::report::{Layer, Status, StepReport};
use crate::steps::{StepError, Taken};
use crate::steps::{command, cpu_files, session};

/// One row of a table; `C` is what the step works on.
pub struct Step<C> {
    /// Name, as in manifests and errors.
    pub name: &'static str,
    /// Layer of defence it belongs to.
    pub layer: Layer,
    /// What it closes and why it stands here.
    pub why: &'static str,
    pub(crate) take: fn(&mut C) -> Result<Taken, StepError>,
}

impl<C> std::fmt::Debug for Step<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Steps of pid 1, in order.
pub const SESSION: &[Step<session::Session>] = &[
    Step {
        name: "maps",
        layer: Layer::Semantics,
        why: "rootless only: without a uid map the mounts below cannot be made",
        take: session::outer_maps,
    },
    Step {
        name: "session_keyring",
        layer: Layer::Semantics,
        why: "keyrings are not namespaced; first, so that nothing later can look keys up in the host's",
        take: session::session_keyring,
    },
    Step {
        name: "private_mounts",
        layer: Layer::Semantics,
        why: "before any mount, so that none propagates to the host",
        take: session::private_mounts,
    },
    Step {
        name: "root_tree",
        layer: Layer::Semantics,
        why: "the only files there will be; attached read-only while the host's tree is still in reach",
        take: session::root_tree,
    },
    Step {
        name: "workspace",
        layer: Layer::Resource,
        why: "one tmpfs of fixed size and inode count behind all that is writable",
        take: session::workspace,
    },
    Step {
        name: "proc",
        layer: Layer::Semantics,
        why: "in the new pid namespace, and before the old /proc is gone, else the kernel refuses it",
        take: session::proc,
    },
    Step {
        name: "cpu_view",
        layer: Layer::Semantics,
        why: "on the new /proc and the root tree, while the root can still be written",
        take: cpu_files::cpu_view,
    },
    Step {
        name: "pivot",
        layer: Layer::Semantics,
        why: "after all mounts: from here on no host path can be named",
        take: session::pivot,
    },
    Step {
        name: "host_name",
        layer: Layer::Semantics,
        why: "in the own UTS namespace; the host's name is not shown",
        take: session::host_name,
    },
    Step {
        name: "loopback",
        layer: Layer::Semantics,
        why: "programs hang without lo; the namespace has no other interface and no route",
        take: session::loopback,
    },
    Step {
        name: "user_namespace",
        layer: Layer::Semantics,
        why: "after the mounts: copying them into a new owner locks their read-only flags for good",
        take: session::user_namespace,
    },
    Step {
        name: "landlock_rules",
        layer: Layer::Semantics,
        why: "after the pivot, so that the rules name the sandbox's own files",
        take: session::landlock_rules,
    },
    Step {
        name: "init_privileges",
        layer: Layer::AttackSurface,
        why: "nothing below needs more than changing ids and killing; last, since the steps above do",
        take: session::init_privileges,
    },
    Step {
        name: "init_guard",
        layer: Layer::AttackSurface,
        why: "after the id changes, which reset the parent-death signal and the dumpable flag",
        take: session::init_guard,
    },
];

/// Steps of each command, in order, between fork and exec.
pub const COMMAND: &[Step<command::Command>] = &[
    Step {
        name: "cgroups",
        layer: Layer::Resource,
        why: "first: whatever this child does from here on is counted and limited",
        take: command::cgroups,
    },
    Step {
        name: "cpu_lease",
        layer: Layer::Resource,
        why: "before anything of the program runs, so that it never counts more CPUs than it has",
        take: command::cpu_lease,
    },
    Step {
        name: "session",
        layer: Layer::Semantics,
        why: "an own session and process group, so that no terminal or group signal reaches across",
        take: command::session,
    },
    Step {
        name: "rlimits",
        layer: Layer::Resource,
        why: "before the privileges go, since raising a hard limit needs them",
        take: command::rlimits,
    },
    Step {
        name: "bounding_set",
        layer: Layer::AttackSurface,
        why: "before the uid changes: dropping from the bounding set needs CAP_SETPCAP",
        take: command::bounding_set,
    },
    Step {
        name: "identity",
        layer: Layer::Semantics,
        why: "after everything that needs privileges; groups first, then gid, then uid",
        take: command::identity,
    },
    Step {
        name: "capabilities",
        layer: Layer::AttackSurface,
        why: "securebits keep capabilities over the uid change, so they are emptied by hand",
        take: command::capabilities,
    },
    Step {
        name: "parent_death",
        layer: Layer::Semantics,
        why: "after the uid change, which resets it",
        take: command::parent_death,
    },
    Step {
        name: "no_new_privs",
        layer: Layer::AttackSurface,
        why: "no set-uid program gains anything; Landlock and seccomp demand it",
        take: command::no_new_privs,
    },
    Step {
        name: "landlock",
        layer: Layer::Semantics,
        why: "after the files are in place and before descriptors are closed (it is one)",
        take: command::landlock,
    },
    Step {
        name: "descriptors",
        layer: Layer::Semantics,
        why: "nothing but 0-2 and what was granted survives the exec",
        take: command::descriptors,
    },
    Step {
        name: "seccomp",
        layer: Layer::AttackSurface,
        why: "last: no step above then needs a place on the allow list",
        take: command::seccomp,
    },
];

/// Takes every step of a table in order; the first failure stops it.
pub fn enter<C: 'static>(
    table: &[Step<C>],
    context: &mut C,
) -> Result<Vec<StepReport>, (String, StepError)> {
    let mut reports = Vec::with_capacity(table.len());
    for step in table {
        #[cfg(not(feature = "mutation"))]
        let taken = (step.take)(context);
        #[cfg(feature = "mutation")]
        let taken = crate::mutation::take(step, context);
        let taken = taken.map_err(|error| (step.name.to_owned(), error))?;
        reports.push(StepReport {
            step: step.name.to_owned(),
            layer: step.layer,
            status: taken.status,
            applied: taken.applied,
        });
    }
    Ok(reports)
}

/// The two tables as text for `policy explain`: name, layer, reason.
pub fn explain() -> Vec<(&'static str, Layer, &'static str)> {
    let session = SESSION.iter().map(|step| (step.name, step.layer, step.why));
    let command = COMMAND.iter().map(|step| (step.name, step.layer, step.why));
    session.chain(command).collect()
}

/// A status in words, for tables.
pub fn status_word(status: &Status) -> &'static str {
    match status {
        Status::Enforced => "enforced",
        Status::Degraded(_) => "degraded",
        Status::NotAsked => "not_asked",
    }
}

#[cfg(test)]
mod tests;
