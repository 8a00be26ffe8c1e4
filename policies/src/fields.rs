//! One row for every field of a policy document: what it is, what silence means, how a child
//! may change it. The hints of `parse` and the reference page are made from this table.
//!
//! Paths of list entries carry no index: `network.allow.host`, `grant.when.signed_by`.

#[cfg(test)]
pub(crate) mod tests;

/// What can be written for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A whole number of bytes, or text such as `"512 MiB"`.
    Size,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of text.
    Texts,
    /// A list of whole numbers.
    Integers,
}

/// How a document that extends another may change a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// Belongs to the document itself.
    Own,
    /// Freely, within the limit of the same thing.
    WithinLimit,
    /// To a smaller or equal number.
    AtMost,
    /// From 0 (not limited) to a rate, then to a smaller one.
    RateAtMost,
    /// To entries that are equal to or below an entry of the parent.
    Below,
    /// To a subset.
    Subset,
    /// To a superset.
    Superset,
    /// To a word further left in its list.
    Stricter,
    /// From `false` to `true`.
    OnlyOn,
    /// From `true` to `false`.
    OnlyOff,
    /// With the list entry that it is part of.
    WithEntry,
}

/// One field of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Path, dots between tables.
    pub path: &'static str,
    /// What can be written.
    pub kind: Kind,
    /// What silence means in a document that extends nothing.
    pub unset: &'static str,
    /// How a child may change it.
    pub narrowing: Narrowing,
    /// What it does.
    pub doc: &'static str,
}

const fn row(
    path: &'static str,
    kind: Kind,
    unset: &'static str,
    narrowing: Narrowing,
    doc: &'static str,
) -> Field {
    Field {
        path,
        kind,
        unset,
        narrowing,
        doc,
    }
}

use Kind::{Choice, Flag, Integer, Integers, Size, Text, Texts};
use Narrowing::{
    AtMost, Below, OnlyOff, OnlyOn, Own, RateAtMost, Stricter, Subset, Superset, WithEntry,
    WithinLimit,
};

/// Words of `network.mode`, strictest first.
const NETWORK_MODES: &[&str] = &["sealed", "none", "allowlist"];

/// Every field, in the order of the reference page.
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    row("name", Text, "error", Own, "Name of the policy: lower-case letters, digits, `-`, `_` and `.`, at most 64 bytes."),
    row("description", Text, "empty", Own, "One line for people."),
    row("extends", Text, "nothing is extended", Own, "Name of the catalog policy that this document narrows. Required in a document sent inline."),
    row("defaults.wall_ms", Integer, "0", WithinLimit, "Wall-clock milliseconds that a request gets when it says nothing; at least 4 times `defaults.cpu_ms`."),
    row("defaults.cpu_ms", Integer, "0", WithinLimit, "CPU milliseconds, all processes together, that a request gets when it says nothing."),
    row("defaults.memory_bytes", Size, "0", WithinLimit, "Memory that a request gets when it says nothing."),
    row("limits.wall_ms_max", Integer, "0", AtMost, "Most wall-clock milliseconds that a request may ask for."),
    row("limits.cpu_ms_max", Integer, "0", AtMost, "Most CPU milliseconds, all processes together."),
    row("limits.cpu_millicores_max", Integer, "0", AtMost, "CPU rate in thousandths of a core; programs count as many CPUs as that is worth, rounded up."),
    row("limits.memory_bytes_max", Size, "0", AtMost, "Most memory, the sandbox's own files included."),
    row("limits.pids_max", Integer, "0", AtMost, "Most processes and threads at one time."),
    row("limits.disk_bytes_max", Size, "0", AtMost, "Most bytes in `/workspace`, `/tmp` and `/dev/shm` together; they count as memory too."),
    row("limits.files_max", Integer, "0", AtMost, "Most files and folders made."),
    row("limits.output_bytes_max", Size, "0", AtMost, "Bytes kept of each output stream; the rest is counted and hashed."),
    row("limits.output_bytes_total_max", Size, "0", AtMost, "Bytes of output beyond which the run ends."),
    row("limits.open_files_max", Integer, "0", AtMost, "Most open descriptors of one process."),
    row("limits.net_bytes_max", Size, "0", AtMost, "Most network bytes, both ways."),
    row("limits.net_bytes_per_second_max", Size, "0", AtMost, "Network rate in bytes a second."),
    row("limits.connections_max", Integer, "0", AtMost, "Most network connections in one run."),
    row("limits.io_bytes_per_second_max", Size, "0", RateAtMost, "Disk rate in bytes a second; 0 asks for no rate."),
    row("files.read", Texts, "empty", Below, "Absolute paths inside the sandbox that may be read, with all below them. What may be written may be read too."),
    row("files.write", Texts, "empty", Below, "Absolute paths that may be read and written, with all below them."),
    row("files.execute", Texts, "empty", Below, "Absolute paths from which programs may be executed."),
    row("files.writable_noexec", Flag, "true", OnlyOn, "Nothing below `files.write` can be executed or mapped executable."),
    row("syscalls.profile", Choice(&["strict", "compat", "debug"]), "strict", Stricter, "The built-in list of system calls."),
    row("syscalls.allow", Texts, "empty", Subset, "Names of system calls allowed beyond the profile; a child may name those that its parent's profile or list has."),
    row("syscalls.deny_action", Choice(&["kill", "errno"]), "errno", Stricter, "What a denied system call does: end the run, or fail with an error number. Both deny the same calls."),
    row("network.mode", Choice(NETWORK_MODES), "sealed", Stricter, "`sealed`: no IP sockets at all; `none`: loopback is up, no route; `allowlist`: listed destinations through the proxy."),
    row("network.allow.host", Text, "error", WithEntry, "Host name in lower case; no wildcard."),
    row("network.allow.ports", Integers, "[443]", WithEntry, "TCP ports; a child may name fewer."),
    row("network.allow.methods", Texts, "[\"GET\", \"HEAD\"]", WithEntry, "HTTP methods in upper case; a child may name fewer."),
    row("network.allow.path_prefix", Text, "\"/\"", WithEntry, "Path that requests are at or below; a child may name a deeper one."),
    row("code.mode", Choice(&["allowlist", "audit", "open"]), "open", Stricter, "`open`: all code runs; `audit`: all code runs and what is not listed is recorded; `allowlist`: only listed code runs."),
    row("code.allow_sha256", Texts, "empty", Subset, "SHA-256 digests of code that may be loaded."),
    row("code.allow_signers", Texts, "empty", Subset, "Ed25519 public keys, 64 hex digits each, whose signatures admit code."),
    row("code.imports_deny", Texts, "empty", Superset, "Module names that must not be imported, in every mode."),
    row("code.exec_allow_sha256", Texts, "empty", Subset, "SHA-256 digests of programs that may be executed."),
    row("process.run_as", Choice(&["user", "root"]), "user", Stricter, "As whom the program runs inside the sandbox; `root` has a fixed capability set."),
    row("grant.when.signed_by", Text, "error", WithEntry, "Name of the key whose signature on the code makes the grant apply."),
    row("grant.network.mode", Choice(NETWORK_MODES), "sealed", WithEntry, "As `network.mode`, for verified code."),
    row("grant.network.allow.host", Text, "error", WithEntry, "As `network.allow.host`."),
    row("grant.network.allow.ports", Integers, "[443]", WithEntry, "As `network.allow.ports`."),
    row("grant.network.allow.methods", Texts, "[\"GET\", \"HEAD\"]", WithEntry, "As `network.allow.methods`."),
    row("grant.network.allow.path_prefix", Text, "\"/\"", WithEntry, "As `network.allow.path_prefix`."),
    row("grant.secrets", Texts, "empty", WithEntry, "Names of secrets that the daemon's providers hand to verified code."),
    row("grant.gpu", Flag, "false", WithEntry, "Verified code may use a GPU."),
    row("gpu.enabled", Flag, "false", OnlyOff, "The program may use a GPU through the bridge."),
    row("enforcement.default", Choice(&["strict", "degradable"]), "strict", Stricter, "`strict`: a control that the host lacks refuses the run; `degradable`: the run goes on and the manifest shows it."),
    row("enforcement.degradable", Texts, "empty", Subset, "Names of controls that may be missing although the stance is strict."),
    row("audit.on_failure", Choice(&["deny", "degrade"]), "deny", Stricter, "When the audit log cannot be written: give no result, or give it marked as unrecorded."),
    row("verify.shared_reward", Flag, "false", OnlyOff, "A verdict whose tests ran in one process with the solution may earn reward."),
];

/// The row of a field; list indexes in `path` do not matter (`network.allow[2].host`).
pub fn field(path: &str) -> Option<&'static Field> {
    let plain = without_indexes(path);
    FIELDS.iter().find(|row| row.path == plain)
}

/// A path with its list indexes taken out.
pub(crate) fn without_indexes(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut inside = false;
    for character in path.chars() {
        match character {
            '[' => inside = true,
            ']' => inside = false,
            _ if !inside => plain.push(character),
            _ => {}
        }
    }
    plain
}

/// Names that can stand directly in the table at `table` (empty: the top of the document).
pub(crate) fn names_in(table: &str) -> Vec<&'static str> {
    let table = without_indexes(table);
    let mut names: Vec<&'static str> = FIELDS
        .iter()
        .filter_map(|row| {
            let rest = if table.is_empty() {
                row.path
            } else {
                row.path.strip_prefix(table.as_str())?.strip_prefix('.')?
            };
            rest.split('.').next()
        })
        .collect();
    names.dedup();
    names
}
