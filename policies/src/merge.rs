//! Lays a document over what it extends, checking each value by itself.
//!
//! It does not compare with the parent (that is `narrow`), and it does not stop at an error: a
//! wrong value is reported and the inherited one stays, so that all errors are found at once.

use crate::check::{self, Errors};
use crate::document::{
    DefaultsDocument, Document, GrantDocument, LimitsDocument, NetworkDocument, NetworkRuleDocument,
};
use crate::path::{is_below_any, is_normal};
use crate::policy::{
    AuditFailure, AuditPolicy, CodeMode, CodePolicy, Defaults, DenyAction, Enforcement,
    EnforcementPolicy, FilesPolicy, GpuPolicy, Grant, GrantCondition, Limits, NetworkMode,
    NetworkPolicy, NetworkRule, Policy, ProcessPolicy, RunAs, SyscallProfile, SyscallsPolicy,
    VerifyPolicy, WALL_PER_CPU_MIN,
};
use crate::resolve::ResolveError;

/// What a document means that says nothing and extends nothing.
fn nothing() -> Policy {
    Policy {
        name: String::new(),
        description: String::new(),
        lineage: Vec::new(),
        defaults: Defaults {
            wall_ms: 0,
            cpu_ms: 0,
            memory_bytes: 0,
        },
        limits: Limits {
            wall_ms_max: 0,
            cpu_ms_max: 0,
            cpu_millicores_max: 0,
            memory_bytes_max: 0,
            pids_max: 0,
            disk_bytes_max: 0,
            files_max: 0,
            output_bytes_max: 0,
            output_bytes_total_max: 0,
            open_files_max: 0,
            net_bytes_max: 0,
            net_bytes_per_second_max: 0,
            connections_max: 0,
            io_bytes_per_second_max: 0,
        },
        files: FilesPolicy {
            read: Vec::new(),
            write: Vec::new(),
            execute: Vec::new(),
            writable_noexec: true,
        },
        syscalls: SyscallsPolicy {
            profile: SyscallProfile::Strict,
            allow: Vec::new(),
            deny_action: DenyAction::Errno,
        },
        network: NetworkPolicy {
            mode: NetworkMode::Sealed,
            allow: Vec::new(),
        },
        code: CodePolicy {
            mode: CodeMode::Open,
            allow_sha256: Vec::new(),
            allow_signers: Vec::new(),
            imports_deny: Vec::new(),
            exec_allow_sha256: Vec::new(),
        },
        process: ProcessPolicy {
            run_as: RunAs::User,
        },
        grants: Vec::new(),
        gpu: GpuPolicy { enabled: false },
        enforcement: EnforcementPolicy {
            default: Enforcement::Strict,
            degradable: Vec::new(),
        },
        audit: AuditPolicy {
            on_failure: AuditFailure::Deny,
        },
        verify: VerifyPolicy {
            shared_reward: false,
        },
    }
}

/// The policy that `document` means over `parent`. It may be wider than `parent`, and it is of no
/// use when `errors` is not empty.
pub(crate) fn merge(document: &Document, parent: Option<&Policy>, errors: &mut Errors) -> Policy {
    let mut policy = parent.cloned().unwrap_or_else(nothing);
    match &document.name {
        Some(name) => policy.name = check::name("name", name, errors),
        None => errors.push(ResolveError::Missing {
            field: "name".to_owned(),
            expected: "the name of the policy",
        }),
    }
    policy.lineage.push(policy.name.clone());
    set(&mut policy.description, document.description.as_ref());
    if let Some(limits) = &document.limits {
        merge_limits(&mut policy.limits, limits);
    }
    let written = document.defaults.clone().unwrap_or_default();
    merge_defaults(&mut policy, &written, errors);
    merge_files(&mut policy.files, document, errors);
    merge_syscalls(&mut policy.syscalls, document, errors);
    if let Some(network) = &document.network {
        merge_network(&mut policy.network, network, "network", errors);
    }
    merge_code(&mut policy.code, document, errors);
    if let Some(grants) = &document.grant {
        policy.grants = merge_grants(grants, errors);
    }
    merge_switches(&mut policy, document, errors);
    policy
}

fn set<T: Clone>(target: &mut T, written: Option<&T>) {
    if let Some(value) = written {
        target.clone_from(value);
    }
}

fn merge_limits(limits: &mut Limits, written: &LimitsDocument) {
    macro_rules! numbers {
        ($($name:ident),*) => { $( set(&mut limits.$name, written.$name.as_ref()); )* };
    }
    macro_rules! sizes {
        ($($name:ident),*) => { $( set(&mut limits.$name, written.$name.map(|size| size.0).as_ref()); )* };
    }
    numbers!(
        wall_ms_max,
        cpu_ms_max,
        cpu_millicores_max,
        pids_max,
        files_max,
        open_files_max,
        connections_max
    );
    sizes!(
        memory_bytes_max,
        disk_bytes_max,
        output_bytes_max,
        output_bytes_total_max,
        net_bytes_max,
        net_bytes_per_second_max,
        io_bytes_per_second_max
    );
}

fn merge_defaults(policy: &mut Policy, written: &DefaultsDocument, errors: &mut Errors) {
    let limits = policy.limits;
    let defaults = &mut policy.defaults;
    let mut settle = |target: &mut u64, written: Option<u64>, field, limit, max| match written {
        None => *target = (*target).min(max),
        Some(value) if value > max => {
            errors.push(ResolveError::DefaultBeyondLimit {
                field,
                value,
                limit,
                max,
            });
        }
        Some(value) => *target = value,
    };
    settle(
        &mut defaults.wall_ms,
        written.wall_ms,
        "defaults.wall_ms",
        "limits.wall_ms_max",
        limits.wall_ms_max,
    );
    settle(
        &mut defaults.cpu_ms,
        written.cpu_ms,
        "defaults.cpu_ms",
        "limits.cpu_ms_max",
        limits.cpu_ms_max,
    );
    settle(
        &mut defaults.memory_bytes,
        written.memory_bytes.map(|size| size.0),
        "defaults.memory_bytes",
        "limits.memory_bytes_max",
        limits.memory_bytes_max,
    );
    if written.cpu_ms.is_none() {
        defaults.cpu_ms = defaults.cpu_ms.min(defaults.wall_ms / WALL_PER_CPU_MIN);
    }
    if defaults.wall_ms < defaults.cpu_ms.saturating_mul(WALL_PER_CPU_MIN) {
        let Defaults {
            wall_ms, cpu_ms, ..
        } = *defaults;
        errors.push(ResolveError::WallTooShort { wall_ms, cpu_ms });
    }
}

fn merge_files(files: &mut FilesPolicy, document: &Document, errors: &mut Errors) {
    let Some(written) = &document.files else {
        return;
    };
    let expected = "absolute paths without `.`, `..`, double or end slashes";
    let mut list = |target: &mut Vec<String>, list: Option<&Vec<String>>, field| {
        if let Some(list) = list {
            *target = check::list(field, list, is_normal, expected, errors);
        }
    };
    list(&mut files.read, written.read.as_ref(), "files.read");
    list(&mut files.write, written.write.as_ref(), "files.write");
    list(
        &mut files.execute,
        written.execute.as_ref(),
        "files.execute",
    );
    set(&mut files.writable_noexec, written.writable_noexec.as_ref());
    if !files.writable_noexec {
        return;
    }
    let write = &files.write;
    let Some(list) = &written.execute else {
        files.execute.retain(|path| !is_below_any(path, write));
        return;
    };
    for (index, path) in list
        .iter()
        .enumerate()
        .filter(|(_, path)| is_below_any(path, write))
    {
        errors.push(ResolveError::Invalid {
            field: format!("files.execute[{index}]"),
            value: format!("\"{path}\""),
            expected: "a path outside files.write, or writable_noexec = false",
        });
    }
}

fn merge_syscalls(syscalls: &mut SyscallsPolicy, document: &Document, errors: &mut Errors) {
    let Some(written) = &document.syscalls else {
        return;
    };
    set(&mut syscalls.profile, written.profile.as_ref());
    set(&mut syscalls.deny_action, written.deny_action.as_ref());
    if let Some(list) = &written.allow {
        let expected = "names of system calls, for instance \"io_uring_setup\"";
        syscalls.allow = check::list("syscalls.allow", list, check::is_word, expected, errors);
    }
}

fn merge_network(
    network: &mut NetworkPolicy,
    written: &NetworkDocument,
    field: &str,
    errors: &mut Errors,
) {
    set(&mut network.mode, written.mode.as_ref());
    let listed = network.mode == NetworkMode::Allowlist;
    let Some(rules) = &written.allow else {
        if !listed {
            network.allow.clear();
        }
        return;
    };
    if !listed && !rules.is_empty() {
        errors.push(ResolveError::Invalid {
            field: format!("{field}.allow"),
            value: format!("{} entries", rules.len()),
            expected: "none, or mode = \"allowlist\": the list has no meaning in another mode",
        });
    }
    network.allow = rules
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| merge_rule(rule, &format!("{field}.allow[{index}]"), errors))
        .collect();
    network.allow.sort();
    network.allow.dedup();
}

fn merge_rule(
    written: &NetworkRuleDocument,
    field: &str,
    errors: &mut Errors,
) -> Option<NetworkRule> {
    let Some(host) = &written.host else {
        errors.push(ResolveError::Missing {
            field: format!("{field}.host"),
            expected: "the host name that may be reached",
        });
        return None;
    };
    let before = errors.len();
    let mut invalid = |name: &str, value: String, expected| {
        errors.push(ResolveError::Invalid {
            field: format!("{field}.{name}"),
            value,
            expected,
        });
    };
    if !check::is_host(host) {
        invalid(
            "host",
            format!("\"{host}\""),
            "a host name in lower case, without wildcard, scheme or port",
        );
    }
    let mut ports = written.ports.clone().unwrap_or_else(|| vec![443]);
    if ports.is_empty() || ports.contains(&0) {
        invalid(
            "ports",
            format!("{ports:?}"),
            "at least one port from 1 to 65535, or leave it out for 443",
        );
    }
    let default_methods = || vec!["GET".to_owned(), "HEAD".to_owned()];
    let mut methods = written.methods.clone().unwrap_or_else(default_methods);
    if methods.is_empty() || !methods.iter().all(|method| check::is_method(method)) {
        invalid(
            "methods",
            format!("{methods:?}"),
            "at least one HTTP method in upper case, or leave it out for GET and HEAD",
        );
    }
    let written_prefix = written
        .path_prefix
        .clone()
        .unwrap_or_else(|| "/".to_owned());
    // `/simple` and `/simple/` mean the same: all requests at or below it.
    let path_prefix = match written_prefix.strip_suffix('/') {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        Some(_) | None => written_prefix,
    };
    if !is_normal(&path_prefix) {
        invalid(
            "path_prefix",
            format!("\"{path_prefix}\""),
            "an absolute path without `.`, `..` or double slashes",
        );
    }
    ports.sort_unstable();
    ports.dedup();
    methods.sort();
    methods.dedup();
    (errors.len() == before).then(|| NetworkRule {
        host: host.clone(),
        ports,
        methods,
        path_prefix,
    })
}

fn merge_code(code: &mut CodePolicy, document: &Document, errors: &mut Errors) {
    let Some(written) = &document.code else {
        return;
    };
    set(&mut code.mode, written.mode.as_ref());
    let mut hex_list = |target: &mut Vec<String>, list: Option<&Vec<String>>, field| {
        if let Some(list) = list {
            let lower: Vec<String> = list
                .iter()
                .map(|entry| entry.to_ascii_lowercase())
                .collect();
            let expected = "64 hexadecimal digits each";
            *target = check::list(field, &lower, check::is_hex_256, expected, errors);
        }
    };
    hex_list(
        &mut code.allow_sha256,
        written.allow_sha256.as_ref(),
        "code.allow_sha256",
    );
    hex_list(
        &mut code.allow_signers,
        written.allow_signers.as_ref(),
        "code.allow_signers",
    );
    hex_list(
        &mut code.exec_allow_sha256,
        written.exec_allow_sha256.as_ref(),
        "code.exec_allow_sha256",
    );
    if let Some(list) = &written.imports_deny {
        let expected = "module names, for instance \"ctypes\" or \"os.path\"";
        code.imports_deny = check::list(
            "code.imports_deny",
            list,
            check::is_module,
            expected,
            errors,
        );
    }
}

fn merge_grants(written: &[GrantDocument], errors: &mut Errors) -> Vec<Grant> {
    let mut grants: Vec<Grant> = written
        .iter()
        .enumerate()
        .filter_map(|(index, grant)| merge_grant(grant, &format!("grant[{index}]"), errors))
        .collect();
    grants.sort();
    grants.dedup();
    grants
}

fn merge_grant(written: &GrantDocument, field: &str, errors: &mut Errors) -> Option<Grant> {
    let Some(signed_by) = written
        .when
        .as_ref()
        .and_then(|when| when.signed_by.as_ref())
    else {
        errors.push(ResolveError::Missing {
            field: format!("{field}.when.signed_by"),
            expected: "the name of the key that the code must be signed by",
        });
        return None;
    };
    let signed_by = check::name(&format!("{field}.when.signed_by"), signed_by, errors);
    let network = written.network.as_ref().map(|network| {
        let mut granted = nothing().network;
        merge_network(&mut granted, network, &format!("{field}.network"), errors);
        granted
    });
    let secrets = check::list(
        &format!("{field}.secrets"),
        written.secrets.as_deref().unwrap_or_default(),
        check::is_word,
        "names of secrets, for instance \"HF_TOKEN\"",
        errors,
    );
    let gpu = written.gpu.unwrap_or(false);
    Some(Grant {
        when: GrantCondition { signed_by },
        network,
        secrets,
        gpu,
    })
}

fn merge_switches(policy: &mut Policy, document: &Document, errors: &mut Errors) {
    if let Some(process) = &document.process {
        set(&mut policy.process.run_as, process.run_as.as_ref());
    }
    if let Some(gpu) = &document.gpu {
        set(&mut policy.gpu.enabled, gpu.enabled.as_ref());
    }
    if let Some(enforcement) = &document.enforcement {
        set(
            &mut policy.enforcement.default,
            enforcement.default.as_ref(),
        );
        if let Some(list) = &enforcement.degradable {
            let expected = "names of controls, as in a run's manifest";
            policy.enforcement.degradable = check::list(
                "enforcement.degradable",
                list,
                check::is_word,
                expected,
                errors,
            );
        }
    }
    if let Some(audit) = &document.audit {
        set(&mut policy.audit.on_failure, audit.on_failure.as_ref());
    }
    if let Some(verify) = &document.verify {
        set(
            &mut policy.verify.shared_reward,
            verify.shared_reward.as_ref(),
        );
    }
}
