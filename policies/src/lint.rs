//! What is wrong or odd about a policy text, with place and fix.
//!
//! Errors mean that no run would start under it; warnings that it hardly means what was wanted.
//! All errors of one stage are found at once (a text that is not TOML stops the rest).

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::catalog::Catalog;
use crate::enforce::unenforceable;
use crate::limits::MINIMUMS;
use crate::locate::{Places, position};
use crate::parse::{ParseError, parse};
use crate::path::is_below_any;
use crate::policy::{CodeMode, NetworkMode, Policy};
use crate::resolve::{ResolveError, resolve_all};

/// How bad a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No run starts under this policy.
    Error,
    /// Runs start, but something has no effect or fails in a surprising way.
    Warning,
    /// Worth knowing.
    Note,
}

/// Something that a reader of the policy should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// Path of the field; empty for the text as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// Checks a policy text against a catalog: findings by place, the worst first on one place.
pub fn lint(text: &str, catalog: &Catalog) -> Vec<Finding> {
    let document = match parse(text) {
        Ok(document) => document,
        Err(error) => return vec![of_parse(error)],
    };
    let mut report = Report {
        text,
        places: Places::of(text),
        findings: Vec::new(),
    };
    match resolve_all(&document, catalog) {
        Ok(policy) => {
            refused_fields(&policy, &mut report);
            unusable_limits(&policy, &mut report);
            useless_fields(&policy, &mut report);
            odd_files(&policy, &mut report);
        }
        Err(errors) => {
            for error in errors.iter() {
                report.add(
                    Severity::Error,
                    error.field(),
                    error.to_string(),
                    fix_of(error),
                );
            }
        }
    }
    if document.description.is_none() {
        let fix = "add a line for people".to_owned();
        report.add(
            Severity::Note,
            "description",
            "there is no description".to_owned(),
            fix,
        );
    }
    report
        .findings
        .sort_by_key(|finding| (finding.line, finding.column, finding.severity));
    report.findings
}

struct Report<'a> {
    text: &'a str,
    places: Places,
    findings: Vec<Finding>,
}

impl Report<'_> {
    fn add(&mut self, severity: Severity, field: &str, message: String, fix: String) {
        let place = position(self.text, self.places.offset_of(field).unwrap_or(0));
        self.findings.push(Finding {
            severity,
            line: place.line,
            column: place.column,
            field: field.to_owned(),
            message,
            fix,
        });
    }

    fn warn(&mut self, field: &str, message: String, fix: &str) {
        self.add(Severity::Warning, field, message, fix.to_owned());
    }
}

fn of_parse(error: ParseError) -> Finding {
    Finding {
        severity: Severity::Error,
        line: error.line,
        column: error.column,
        field: error.field,
        message: error.message,
        fix: error
            .hint
            .unwrap_or_else(|| "correct the text at this place".to_owned()),
    }
}

fn fix_of(error: &ResolveError) -> String {
    match error {
        ResolveError::Missing { expected, .. } | ResolveError::Invalid { expected, .. } => {
            format!("write {expected}")
        }
        ResolveError::UnknownParent { known, nearest, .. } => match nearest {
            Some(name) => format!("extends = \"{name}\""),
            None => format!("extend one of {}", known.join(", ")),
        },
        ResolveError::Cycle { .. } => "remove one extends".to_owned(),
        ResolveError::ChainTooLong { .. } => "extend a policy nearer to the root".to_owned(),
        ResolveError::Widens { field, allowed, .. } => {
            format!("stay within {field} = {allowed}, or leave it out")
        }
        ResolveError::DefaultBeyondLimit { max, limit, .. } => {
            format!("lower it to {max} or raise {limit}")
        }
        ResolveError::WallTooShort { wall_ms, cpu_ms } => {
            let wall_needed = cpu_ms.saturating_mul(crate::policy::WALL_PER_CPU_MIN);
            let cpu_fitting = wall_ms / crate::policy::WALL_PER_CPU_MIN;
            format!("set defaults.wall_ms = {wall_needed} or defaults.cpu_ms = {cpu_fitting}")
        }
    }
}

fn refused_fields(policy: &Policy, report: &mut Report<'_>) {
    for refusal in unenforceable(policy) {
        let inherited = if report.places.is_written(refusal.field) {
            ""
        } else {
            " (inherited)"
        };
        let message = format!(
            "{} = {}{inherited} cannot be enforced by this build, so every run is refused",
            refusal.field, refusal.value
        );
        report.add(
            Severity::Error,
            refusal.field,
            message,
            refusal.why.to_owned(),
        );
    }
}

fn unusable_limits(policy: &Policy, report: &mut Report<'_>) {
    macro_rules! limits {
        ($($name:ident),*) => {
            [$((concat!("limits.", stringify!($name)), policy.limits.$name, MINIMUMS.$name)),*]
        };
    }
    let limits = limits!(
        wall_ms_max,
        cpu_ms_max,
        cpu_millicores_max,
        memory_bytes_max,
        pids_max,
        disk_bytes_max,
        files_max,
        output_bytes_max,
        output_bytes_total_max,
        open_files_max
    );
    for (field, value, min) in limits.into_iter().filter(|(_, value, min)| value < min) {
        let message = format!(
            "{field} = {value} is below the least usable value {min}, so every run is refused"
        );
        report.add(
            Severity::Error,
            field,
            message,
            format!("set it to {min} or more"),
        );
    }
    let defaults = &policy.defaults;
    let defaults = [
        ("defaults.wall_ms", defaults.wall_ms, MINIMUMS.wall_ms_max),
        ("defaults.cpu_ms", defaults.cpu_ms, MINIMUMS.cpu_ms_max),
        (
            "defaults.memory_bytes",
            defaults.memory_bytes,
            MINIMUMS.memory_bytes_max,
        ),
    ];
    for (field, value, min) in defaults.into_iter().filter(|(_, value, min)| value < min) {
        let message = format!(
            "{field} = {value} is below the least usable value {min}, so a request that names \
             none is refused"
        );
        report.warn(field, message, "set a default within the limit");
    }
}

fn useless_fields(policy: &Policy, report: &mut Report<'_>) {
    let limits = &policy.limits;
    if limits.output_bytes_max > limits.output_bytes_total_max {
        let message = format!(
            "output_bytes_max = {} is more than output_bytes_total_max = {}, where the run ends",
            limits.output_bytes_max, limits.output_bytes_total_max
        );
        report.warn(
            "limits.output_bytes_max",
            message,
            "lower it or raise the total",
        );
    }
    if limits.disk_bytes_max > limits.memory_bytes_max {
        let message = format!(
            "disk_bytes_max = {} is more than memory_bytes_max = {}; files count as memory",
            limits.disk_bytes_max, limits.memory_bytes_max
        );
        report.warn(
            "limits.disk_bytes_max",
            message,
            "lower it or raise the memory",
        );
    }
    let code = &policy.code;
    if code.mode == CodeMode::Open {
        let lists = [
            ("code.allow_sha256", &code.allow_sha256),
            ("code.allow_signers", &code.allow_signers),
            ("code.exec_allow_sha256", &code.exec_allow_sha256),
        ];
        for (field, _) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let message = format!("{field} has no effect in code.mode = \"open\"");
            report.warn(field, message, "set mode = \"allowlist\" or empty the list");
        }
    }
    let counted = [
        ("limits.net_bytes_max", limits.net_bytes_max),
        (
            "limits.net_bytes_per_second_max",
            limits.net_bytes_per_second_max,
        ),
        ("limits.connections_max", limits.connections_max),
    ];
    let listed = policy.network.mode == NetworkMode::Allowlist;
    for (field, value) in counted {
        if listed && value == 0 {
            let message =
                format!("{field} = 0 lets nothing through although there is an allowlist");
            report.warn(field, message, "set it to what the program needs");
        }
        if !listed && value > 0 {
            let message = format!("{field} = {value} has no effect without an allowlist");
            report.warn(
                field,
                message,
                "set it to 0 or use network.mode = \"allowlist\"",
            );
        }
    }
    if listed && policy.network.allow.is_empty() {
        let message = "network.mode = \"allowlist\" with an empty list reaches nothing".to_owned();
        report.warn("network.mode", message, "add entries or use mode \"none\"");
    }
}

fn odd_files(policy: &Policy, report: &mut Report<'_>) {
    let files = &policy.files;
    if files.execute.is_empty() {
        let message = "files.execute is empty, so no program can start".to_owned();
        report.warn(
            "files.execute",
            message,
            "name the folders of the interpreter, such as \"/usr\"",
        );
    }
    for path in &files.execute {
        if !is_below_any(path, &files.read) && !is_below_any(path, &files.write) {
            let message = format!(
                "files.execute has {path}, which may not be read: scripts and libraries there cannot load"
            );
            report.warn("files.execute", message, "add it to files.read");
        }
    }
    let system = [
        "/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev", "/sys",
    ];
    for path in files
        .write
        .iter()
        .filter(|path| system.contains(&path.as_str()))
    {
        let message = format!("files.write has {path}, a folder of the image");
        report.warn(
            "files.write",
            message,
            "write below /workspace, /tmp or /dev/shm",
        );
    }
}
