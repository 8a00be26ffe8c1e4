//! What "narrower" means, one row per field.
//!
//! `resolve` refuses a child that is wider than its parent in any row, and `diff` tells the
//! direction of a change by the same rows. Each row is a partial order, so that narrowing is
//! transitive (property test). `[defaults]` are no permission and have no row here: they stay
//! within the limits, which have.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde::Serialize;

use crate::path::is_below_any;
use crate::policy::{CodeMode, CodePolicy, Enforcement, Grant, NetworkMode, NetworkRule, Policy};
use crate::syscalls::profile_with;

/// A field in which one policy is wider than another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widening {
    /// Path of the field.
    pub field: &'static str,
    /// What is too wide; of a list only the entries that are.
    pub value: String,
    /// What the narrower policy allows.
    pub allowed: String,
}

/// One field as a bound.
pub(crate) struct Dimension {
    /// Path of the field.
    pub(crate) field: &'static str,
    /// The value for people.
    pub(crate) value: fn(&Policy) -> String,
    /// What of the first policy is not within the second.
    pub(crate) outside: fn(&Policy, &Policy) -> Option<String>,
}

macro_rules! number {
    ($table:ident . $name:ident) => {
        Dimension {
            field: concat!(stringify!($table), ".", stringify!($name)),
            value: |policy| policy.$table.$name.to_string(),
            outside: |child, parent| {
                (child.$table.$name > parent.$table.$name).then(|| child.$table.$name.to_string())
            },
        }
    };
}

// Words are declared strictest first, so that "stricter" is "less".
macro_rules! word {
    ($table:ident . $name:ident) => {
        Dimension {
            field: concat!(stringify!($table), ".", stringify!($name)),
            value: |policy| quoted(&policy.$table.$name),
            outside: |child, parent| {
                (child.$table.$name > parent.$table.$name).then(|| quoted(&child.$table.$name))
            },
        }
    };
}

macro_rules! list {
    ($table:ident . $name:ident, $outside:expr) => {
        Dimension {
            field: concat!(stringify!($table), ".", stringify!($name)),
            value: |policy| list_text(&policy.$table.$name),
            outside: $outside,
        }
    };
}

macro_rules! paths {
    ($name:ident) => {
        list!(files.$name, |child, parent| {
            left_over(&child.files.$name, |path| {
                is_below_any(path, &parent.files.$name)
            })
        })
    };
}

macro_rules! code_list {
    ($name:ident) => {
        list!(code.$name, |child, parent| {
            if !code_lists_bound(&child.code, &parent.code) {
                return None;
            }
            left_over(&child.code.$name, |entry| parent.code.$name.contains(entry))
        })
    };
}

/// Every bound of a policy, in document order.
pub(crate) const DIMENSIONS: &[Dimension] = &[
    number!(limits.wall_ms_max),
    number!(limits.cpu_ms_max),
    number!(limits.cpu_millicores_max),
    number!(limits.memory_bytes_max),
    number!(limits.pids_max),
    number!(limits.disk_bytes_max),
    number!(limits.files_max),
    number!(limits.output_bytes_max),
    number!(limits.output_bytes_total_max),
    number!(limits.open_files_max),
    number!(limits.net_bytes_max),
    number!(limits.net_bytes_per_second_max),
    number!(limits.connections_max),
    Dimension {
        field: "limits.io_bytes_per_second_max",
        value: |policy| policy.limits.io_bytes_per_second_max.to_string(),
        outside: |child, parent| {
            // Zero asks for no rate: it is the widest value.
            let rate = |policy: &Policy| match policy.limits.io_bytes_per_second_max {
                0 => u64::MAX,
                rate => rate,
            };
            (rate(child) > rate(parent)).then(|| child.limits.io_bytes_per_second_max.to_string())
        },
    },
    paths!(read),
    paths!(write),
    paths!(execute),
    Dimension {
        field: "files.writable_noexec",
        value: |policy| policy.files.writable_noexec.to_string(),
        outside: |child, parent| {
            (parent.files.writable_noexec && !child.files.writable_noexec)
                .then(|| "false".to_owned())
        },
    },
    word!(syscalls.profile),
    list!(syscalls.allow, |child, parent| {
        // A call that the parent's profile has is within it, also where the child's profile is
        // stricter and has to name it.
        left_over(&child.syscalls.allow, |name| {
            parent.syscalls.allow.contains(name)
                || profile_with(name).is_some_and(|profile| profile <= parent.syscalls.profile)
        })
    }),
    word!(syscalls.deny_action),
    word!(network.mode),
    Dimension {
        field: "network.allow",
        value: |policy| rules_text(&policy.network.allow),
        outside: |child, parent| rules_left_over(&child.network.allow, &parent.network.allow),
    },
    word!(code.mode),
    code_list!(allow_sha256),
    code_list!(allow_signers),
    Dimension {
        field: "code.imports_deny",
        value: |policy| list_text(&policy.code.imports_deny),
        outside: |child, parent| {
            let kept = |name: &String| child.code.imports_deny.contains(name);
            parent
                .code
                .imports_deny
                .iter()
                .any(|name| !kept(name))
                .then(|| list_text(&child.code.imports_deny))
        },
    },
    code_list!(exec_allow_sha256),
    word!(process.run_as),
    Dimension {
        field: "grant",
        value: |policy| grants_text(policy.grants.iter()),
        outside: |child, parent| {
            let bad: Vec<&Grant> = child
                .grants
                .iter()
                .filter(|grant| !parent.grants.iter().any(|bound| grant_within(grant, bound)))
                .collect();
            (!bad.is_empty()).then(|| grants_text(bad.into_iter()))
        },
    },
    Dimension {
        field: "gpu.enabled",
        value: |policy| policy.gpu.enabled.to_string(),
        outside: |child, parent| {
            (child.gpu.enabled && !parent.gpu.enabled).then(|| "true".to_owned())
        },
    },
    word!(enforcement.default),
    list!(enforcement.degradable, |child, parent| {
        // Under a degradable parent every control may be missing already.
        if parent.enforcement.default == Enforcement::Degradable {
            return None;
        }
        left_over(&child.enforcement.degradable, |name| {
            parent.enforcement.degradable.contains(name)
        })
    }),
    word!(audit.on_failure),
    Dimension {
        field: "verify.shared_reward",
        value: |policy| policy.verify.shared_reward.to_string(),
        outside: |child, parent| {
            (child.verify.shared_reward && !parent.verify.shared_reward).then(|| "true".to_owned())
        },
    },
];

/// The fields in which `child` is wider than `parent`, in document order; empty when it is within.
pub fn widenings(child: &Policy, parent: &Policy) -> Vec<Widening> {
    DIMENSIONS
        .iter()
        .filter_map(|dimension| {
            let value = (dimension.outside)(child, parent)?;
            let allowed = (dimension.value)(parent);
            Some(Widening {
                field: dimension.field,
                value,
                allowed,
            })
        })
        .collect()
}

/// Lists of the child bind only where the parent already checks code in the same way: a change
/// to a stricter mode is narrower whatever it lists.
fn code_lists_bound(child: &CodePolicy, parent: &CodePolicy) -> bool {
    parent.mode != CodeMode::Open && child.mode >= parent.mode
}

fn left_over(entries: &[String], is_within: impl Fn(&String) -> bool) -> Option<String> {
    let bad: Vec<&String> = entries.iter().filter(|entry| !is_within(entry)).collect();
    (!bad.is_empty()).then(|| list_text(bad))
}

fn rules_left_over(rules: &[NetworkRule], bounds: &[NetworkRule]) -> Option<String> {
    let bad: Vec<&NetworkRule> = rules
        .iter()
        .filter(|rule| !bounds.iter().any(|bound| rule_within(rule, bound)))
        .collect();
    (!bad.is_empty()).then(|| rules_text(bad))
}

fn rule_within(rule: &NetworkRule, bound: &NetworkRule) -> bool {
    rule.host == bound.host
        && rule.ports.iter().all(|port| bound.ports.contains(port))
        && rule
            .methods
            .iter()
            .all(|method| bound.methods.contains(method))
        && crate::path::is_below(&rule.path_prefix, &bound.path_prefix)
}

fn grant_within(grant: &Grant, bound: &Grant) -> bool {
    let network_within = match (&grant.network, &bound.network) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(network), Some(bound)) => {
            network.mode <= bound.mode && rules_left_over(&network.allow, &bound.allow).is_none()
        }
    };
    grant.when == bound.when
        && network_within
        && grant
            .secrets
            .iter()
            .all(|secret| bound.secrets.contains(secret))
        && (bound.gpu || !grant.gpu)
}

/// A word as a document writes it.
pub(crate) fn quoted(word: &impl Serialize) -> String {
    serde_json::to_string(word).unwrap_or_default()
}

/// A list as a document writes it.
pub(crate) fn list_text<T: Display>(entries: impl IntoIterator<Item = T>) -> String {
    let entries: Vec<String> = entries
        .into_iter()
        .map(|entry| format!("\"{entry}\""))
        .collect();
    format!("[{}]", entries.join(", "))
}

/// Network rules for people.
pub(crate) fn rules_text<'a>(rules: impl IntoIterator<Item = &'a NetworkRule>) -> String {
    let rules: Vec<String> = rules.into_iter().map(rule_text).collect();
    format!("[{}]", rules.join(", "))
}

fn rule_text(rule: &NetworkRule) -> String {
    let ports: Vec<String> = rule.ports.iter().map(u16::to_string).collect();
    format!(
        "{} {}:{}{}",
        rule.methods.join("/"),
        rule.host,
        ports.join(","),
        if rule.path_prefix == "/" {
            ""
        } else {
            &rule.path_prefix
        }
    )
}

fn grants_text<'a>(grants: impl Iterator<Item = &'a Grant>) -> String {
    let grants: Vec<String> = grants.map(grant_text).collect();
    format!("[{}]", grants.join(", "))
}

/// A grant for people.
pub(crate) fn grant_text(grant: &Grant) -> String {
    let mut parts = Vec::new();
    if let Some(network) = &grant.network {
        let rules = match network.mode {
            NetworkMode::Allowlist => format!(" {}", rules_text(&network.allow)),
            NetworkMode::Sealed | NetworkMode::None => String::new(),
        };
        parts.push(format!("network {}{rules}", quoted(&network.mode)));
    }
    if !grant.secrets.is_empty() {
        parts.push(format!("secrets {}", list_text(&grant.secrets)));
    }
    if grant.gpu {
        parts.push("gpu".to_owned());
    }
    if parts.is_empty() {
        parts.push("nothing".to_owned());
    }
    format!(
        "signed by \"{}\": {}",
        grant.when.signed_by,
        parts.join(", ")
    )
}
