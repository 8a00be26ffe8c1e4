//! What a program may do under a policy, in plain sentences.
//!
//! It says what the policy means, not how a host carries it out: the daemon appends the
//! confinement sequence. One line a statement, headings for the tables.

#[cfg(test)]
mod tests;

use crate::enforce::unenforceable;
use crate::narrow::{grant_text, rules_text};
use crate::policy::{
    AuditFailure, CodeMode, DenyAction, Enforcement, NetworkMode, Policy, RunAs, SyscallProfile,
};
use crate::size::{format_millis, format_size_bytes};

/// The policy for people.
pub fn explain(policy: &Policy) -> String {
    let mut lines = vec![format!(
        "policy {} ({})",
        policy.name,
        policy.lineage.join(" -> ")
    )];
    if !policy.description.is_empty() {
        lines.push(policy.description.clone());
    }
    lines.push(format!("sha256 {}", policy.sha256_hex()));
    section(&mut lines, "Time, memory and size", limits(policy));
    section(&mut lines, "Files", files(policy));
    section(&mut lines, "System calls", syscalls(policy));
    section(&mut lines, "Network", network(policy));
    section(&mut lines, "Code and user", code(policy));
    section(&mut lines, "Grants and GPU", grants(policy));
    section(&mut lines, "When something is missing", stances(policy));
    let refused = unenforceable(policy);
    if !refused.is_empty() {
        let refused = refused.iter().map(ToString::to_string).collect();
        section(
            &mut lines,
            "This build refuses runs under this policy",
            refused,
        );
    }
    lines.push(String::new());
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, statements: Vec<String>) {
    lines.push(String::new());
    lines.push(title.to_owned());
    lines.extend(
        statements
            .into_iter()
            .map(|statement| format!("  {statement}")),
    );
}

fn limits(policy: &Policy) -> Vec<String> {
    let (limits, defaults) = (&policy.limits, &policy.defaults);
    let cores = limits.cpu_millicores_max;
    vec![
        format!(
            "It may run for {}, or up to {} when the request asks for it.",
            format_millis(defaults.wall_ms),
            format_millis(limits.wall_ms_max)
        ),
        format!(
            "It may use {} of CPU time, or up to {}, at most {}.{:03} cores at a time.",
            format_millis(defaults.cpu_ms),
            format_millis(limits.cpu_ms_max),
            cores / 1_000,
            cores % 1_000
        ),
        format!(
            "It may use {} of memory, or up to {}.",
            format_size_bytes(defaults.memory_bytes),
            format_size_bytes(limits.memory_bytes_max)
        ),
        format!(
            "It may have {} processes and threads, and {} open files in each process.",
            limits.pids_max, limits.open_files_max
        ),
        format!(
            "It may write {} in {} files; they count as memory too.",
            format_size_bytes(limits.disk_bytes_max),
            limits.files_max
        ),
        format!(
            "Of each output stream {} are kept; the run ends beyond {} of output.",
            format_size_bytes(limits.output_bytes_max),
            format_size_bytes(limits.output_bytes_total_max)
        ),
        match limits.io_bytes_per_second_max {
            0 => "Its disk rate is not limited.".to_owned(),
            rate => format!(
                "It may move {} a second to and from disk.",
                format_size_bytes(rate)
            ),
        },
    ]
}

fn files(policy: &Policy) -> Vec<String> {
    let files = &policy.files;
    let noexec = if files.writable_noexec {
        "Nothing that it writes can be executed."
    } else {
        "What it writes can be executed where its path may be executed."
    };
    vec![
        format!("It may read {}.", paths(&files.read)),
        format!("It may read and write {}.", paths(&files.write)),
        format!("It may execute programs in {}.", paths(&files.execute)),
        noexec.to_owned(),
    ]
}

fn syscalls(policy: &Policy) -> Vec<String> {
    let profile = match policy.syscalls.profile {
        SyscallProfile::Strict => {
            "It may make the calls of profile strict; /proc shows its own processes only."
        }
        SyscallProfile::Compat => {
            "It may make the calls of profile compat: threads, compilers at run time; /proc is \
             full, with host details masked."
        }
        SyscallProfile::Debug => {
            "It may make the calls of profile debug: compat, and tracing its own children."
        }
    };
    let mut lines = vec![profile.to_owned()];
    if !policy.syscalls.allow.is_empty() {
        lines.push(format!(
            "Besides it may call {}.",
            policy.syscalls.allow.join(", ")
        ));
    }
    lines.push(match policy.syscalls.deny_action {
        DenyAction::Errno => "Any other call fails with an error.".to_owned(),
        DenyAction::Kill => "Any other call ends the run.".to_owned(),
    });
    lines
}

fn network(policy: &Policy) -> Vec<String> {
    match policy.network.mode {
        NetworkMode::Sealed => vec!["It cannot make IP sockets, not even to itself.".to_owned()],
        NetworkMode::None => {
            vec!["It may talk to itself over loopback and reaches nothing else.".to_owned()]
        }
        NetworkMode::Allowlist => {
            let limits = &policy.limits;
            vec![
                format!("It may reach {}.", rules_text(&policy.network.allow)),
                format!(
                    "It may move {} at {} a second over {} connections.",
                    format_size_bytes(limits.net_bytes_max),
                    format_size_bytes(limits.net_bytes_per_second_max),
                    limits.connections_max
                ),
            ]
        }
    }
}

fn code(policy: &Policy) -> Vec<String> {
    let code = &policy.code;
    let listed = code.allow_sha256.len() + code.allow_signers.len() + code.exec_allow_sha256.len();
    let mut lines = vec![match code.mode {
        CodeMode::Open => "All code runs.".to_owned(),
        CodeMode::Audit => {
            format!("All code runs; what is not on its lists ({listed} entries) is recorded.")
        }
        CodeMode::Allowlist => {
            format!("Only code that its lists admit runs ({listed} entries).")
        }
    }];
    if !code.imports_deny.is_empty() {
        lines.push(format!(
            "It must not import {}.",
            code.imports_deny.join(", ")
        ));
    }
    lines.push(match policy.process.run_as {
        RunAs::User => "It runs as an ordinary user without capabilities.".to_owned(),
        RunAs::Root => "It runs as root inside, with a fixed capability set.".to_owned(),
    });
    lines
}

fn grants(policy: &Policy) -> Vec<String> {
    let mut lines: Vec<String> = policy
        .grants
        .iter()
        .map(|grant| format!("Verified code gets more: {}.", grant_text(grant)))
        .collect();
    if lines.is_empty() {
        lines.push("Verified code gets nothing more.".to_owned());
    }
    let gpu = if policy.gpu.enabled {
        "It may use a GPU."
    } else {
        "It has no GPU."
    };
    lines.push(gpu.to_owned());
    lines
}

fn stances(policy: &Policy) -> Vec<String> {
    let enforcement = &policy.enforcement;
    let host = match (enforcement.default, enforcement.degradable.as_slice()) {
        (Enforcement::Strict, []) => "A host that lacks any control refuses the run.".to_owned(),
        (Enforcement::Strict, names) => format!(
            "A host that lacks a control refuses the run, except for {}.",
            names.join(", ")
        ),
        (Enforcement::Degradable, _) => {
            "A host that lacks a control runs it and says so in the manifest.".to_owned()
        }
    };
    let audit = match policy.audit.on_failure {
        AuditFailure::Deny => "Without an audit record there is no result.",
        AuditFailure::Degrade => "Without an audit record the result says that it is missing.",
    };
    let reward = if policy.verify.shared_reward {
        "A verdict from tests that share a process with the solution may earn reward."
    } else {
        "A verdict from tests that share a process with the solution earns no reward."
    };
    vec![host, audit.to_owned(), reward.to_owned()]
}

fn paths(list: &[String]) -> String {
    if list.is_empty() {
        "nothing".to_owned()
    } else {
        list.join(", ")
    }
}
