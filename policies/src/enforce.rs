//! Whether this build enforces what a policy asks, one row per field.
//!
//! A field that is not enforced yet refuses the run when it asks for something; it is never
//! accepted and ignored. What a *host* lacks is not known here: `confine` finds that. Invariant:
//! every leaf of a document has a row (test).

#[cfg(test)]
mod tests;

use crate::narrow::{grant_text, list_text, quoted, rules_text};
use crate::policy::{CodeMode, NetworkMode, Policy, RunAs};
use crate::syscalls::profile_with;

/// How this build treats one field.
#[derive(Debug, Clone, Copy)]
pub enum Control {
    /// What carries it out.
    Enforced(&'static str),
    /// Carried out, but for the values that `asks` gives.
    Partly {
        /// What carries it out.
        by: &'static str,
        /// What of the field cannot be carried out.
        asks: fn(&Policy) -> Option<String>,
        /// Why.
        why: &'static str,
    },
    /// Not carried out: whatever `asks` gives refuses the run.
    Missing {
        /// What the field asks for.
        asks: fn(&Policy) -> Option<String>,
        /// Why.
        why: &'static str,
    },
    /// Part of another field, whose row decides.
    PartOf(&'static str),
}

/// One row of [`CONTROLS`].
#[derive(Debug, Clone, Copy)]
pub struct FieldControl {
    /// Path of the field, as in `fields::FIELDS`.
    pub field: &'static str,
    /// How it is treated.
    pub control: Control,
}

/// A field that this build cannot enforce.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{field} = {value} cannot be enforced by this build: {why}")]
pub struct Refusal {
    /// Path of the field.
    pub field: &'static str,
    /// What it asks for.
    pub value: String,
    /// Why it is refused, and what to write instead.
    pub why: &'static str,
}

const NETWORK: &str = "there is no egress proxy yet; use mode \"none\" or \"sealed\"";
const NETWORK_LIMIT: &str = "there is no egress proxy yet that would count; set it to 0";
const CODE: &str = "code is not checked yet when it is loaded; use mode \"open\"";
const CODE_LIST: &str = "code is not checked yet when it is loaded; leave the list empty";
const GRANT: &str = "signatures of code are not verified yet; leave grants out";

const LIMIT_CGROUP: Control = Control::Enforced("the control group of the sandbox");
const PLAN_FILES: Control = Control::Enforced("mounts and Landlock rules");

const fn enforced(field: &'static str, by: &'static str) -> FieldControl {
    FieldControl {
        field,
        control: Control::Enforced(by),
    }
}

const fn with(field: &'static str, control: Control) -> FieldControl {
    FieldControl { field, control }
}

const fn missing(
    field: &'static str,
    asks: fn(&Policy) -> Option<String>,
    why: &'static str,
) -> FieldControl {
    FieldControl {
        field,
        control: Control::Missing { asks, why },
    }
}

const fn part_of(field: &'static str, whole: &'static str) -> FieldControl {
    FieldControl {
        field,
        control: Control::PartOf(whole),
    }
}

/// How this build treats every field of a document.
pub const CONTROLS: &[FieldControl] = &[
    enforced("name", "the catalog"),
    enforced("description", "shown to people"),
    enforced(
        "extends",
        "resolution: a child is never wider than its parent",
    ),
    enforced(
        "defaults.wall_ms",
        "the limits of a request that says nothing",
    ),
    enforced(
        "defaults.cpu_ms",
        "the limits of a request that says nothing",
    ),
    enforced(
        "defaults.memory_bytes",
        "the limits of a request that says nothing",
    ),
    enforced(
        "limits.wall_ms_max",
        "the daemon's deadline, which kills the control group",
    ),
    enforced("limits.cpu_ms_max", "the CPU account of the control group"),
    with("limits.cpu_millicores_max", LIMIT_CGROUP),
    with("limits.memory_bytes_max", LIMIT_CGROUP),
    with("limits.pids_max", LIMIT_CGROUP),
    enforced("limits.disk_bytes_max", "the size of the sandbox's tmpfs"),
    enforced("limits.files_max", "the inodes of the sandbox's tmpfs"),
    enforced("limits.output_bytes_max", "the daemon's output capture"),
    enforced(
        "limits.output_bytes_total_max",
        "the daemon's output capture",
    ),
    enforced("limits.open_files_max", "a resource limit of each process"),
    missing(
        "limits.net_bytes_max",
        |policy| positive(policy.limits.net_bytes_max),
        NETWORK_LIMIT,
    ),
    missing(
        "limits.net_bytes_per_second_max",
        |policy| positive(policy.limits.net_bytes_per_second_max),
        NETWORK_LIMIT,
    ),
    missing(
        "limits.connections_max",
        |policy| positive(policy.limits.connections_max),
        NETWORK_LIMIT,
    ),
    missing(
        "limits.io_bytes_per_second_max",
        |policy| positive(policy.limits.io_bytes_per_second_max),
        "disk rates are not limited yet; set it to 0",
    ),
    with("files.read", PLAN_FILES),
    with("files.write", PLAN_FILES),
    with("files.execute", PLAN_FILES),
    enforced(
        "files.writable_noexec",
        "the noexec flag of writable mounts",
    ),
    enforced("syscalls.profile", "the seccomp filter"),
    with(
        "syscalls.allow",
        Control::Partly {
            by: "the seccomp filter",
            asks: |policy| {
                let unknown = |name: &&String| profile_with(name).is_none();
                texts(policy.syscalls.allow.iter().filter(unknown))
            },
            why: "a policy can add only the calls that some profile has; take the name out of \
                  the list",
        },
    ),
    enforced("syscalls.deny_action", "the seccomp filter"),
    with(
        "network.mode",
        Control::Partly {
            by: "the network namespace and the seccomp filter",
            asks: |policy| {
                let mode = policy.network.mode;
                (mode == NetworkMode::Allowlist).then(|| quoted(&mode))
            },
            why: NETWORK,
        },
    ),
    missing(
        "network.allow.host",
        |policy| {
            let rules = &policy.network.allow;
            (!rules.is_empty()).then(|| rules_text(rules))
        },
        NETWORK,
    ),
    part_of("network.allow.ports", "network.allow.host"),
    part_of("network.allow.methods", "network.allow.host"),
    part_of("network.allow.path_prefix", "network.allow.host"),
    missing(
        "code.mode",
        |policy| (policy.code.mode != CodeMode::Open).then(|| quoted(&policy.code.mode)),
        CODE,
    ),
    missing(
        "code.allow_sha256",
        |policy| texts(&policy.code.allow_sha256),
        CODE_LIST,
    ),
    missing(
        "code.allow_signers",
        |policy| texts(&policy.code.allow_signers),
        CODE_LIST,
    ),
    missing(
        "code.imports_deny",
        |policy| texts(&policy.code.imports_deny),
        CODE_LIST,
    ),
    missing(
        "code.exec_allow_sha256",
        |policy| texts(&policy.code.exec_allow_sha256),
        CODE_LIST,
    ),
    with(
        "process.run_as",
        Control::Partly {
            by: "the user map and empty capability sets",
            asks: |policy| {
                let run_as = policy.process.run_as;
                (run_as == RunAs::Root).then(|| quoted(&run_as))
            },
            why: "root inside the sandbox needs an idmapped image, which is not made yet; use \
                  \"user\"",
        },
    ),
    missing("grant.when.signed_by", grants, GRANT),
    part_of("grant.network.mode", "grant.when.signed_by"),
    part_of("grant.network.allow.host", "grant.when.signed_by"),
    part_of("grant.network.allow.ports", "grant.when.signed_by"),
    part_of("grant.network.allow.methods", "grant.when.signed_by"),
    part_of("grant.network.allow.path_prefix", "grant.when.signed_by"),
    part_of("grant.secrets", "grant.when.signed_by"),
    part_of("grant.gpu", "grant.when.signed_by"),
    missing(
        "gpu.enabled",
        |policy| policy.gpu.enabled.then(|| "true".to_owned()),
        "there is no GPU bridge yet; set it to false",
    ),
    enforced(
        "enforcement.default",
        "the plan: what the host lacks refuses the run",
    ),
    enforced(
        "enforcement.degradable",
        "the plan: what may be missing is shown in the manifest",
    ),
    enforced(
        "audit.on_failure",
        "the daemon: no result without its record",
    ),
    enforced("verify.shared_reward", "the verdict"),
];

/// The fields of `policy` that this build cannot enforce, in document order. A run under a policy
/// that has any must be refused.
pub fn unenforceable(policy: &Policy) -> Vec<Refusal> {
    CONTROLS
        .iter()
        .filter_map(|row| match row.control {
            Control::Enforced(_) | Control::PartOf(_) => None,
            Control::Partly { asks, why, .. } | Control::Missing { asks, why } => {
                asks(policy).map(|value| Refusal {
                    field: row.field,
                    value,
                    why,
                })
            }
        })
        .collect()
}

fn positive(number: u64) -> Option<String> {
    (number > 0).then(|| number.to_string())
}

fn texts<'a>(list: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let list: Vec<&String> = list.into_iter().collect();
    (!list.is_empty()).then(|| list_text(list))
}

fn grants(policy: &Policy) -> Option<String> {
    let grants: Vec<String> = policy.grants.iter().map(grant_text).collect();
    (!grants.is_empty()).then(|| format!("[{}]", grants.join("; ")))
}
