//! Single things that a policy lets happen, asked of two policies without the rows by which the
//! policies crate itself decides what is narrower.

use policies::syscalls::profile_with;
use policies::{AuditFailure, CodeMode, DenyAction, Enforcement, NetworkMode, Policy, RunAs};
use serde_json::Value;

/// Something that `child` lets happen and `parent` does not.
pub(super) fn wider(child: &Policy, parent: &Policy) -> Option<String> {
    spends_more(child, parent)
        .or_else(|| touches_more(child, parent))
        .or_else(|| calls_more(child, parent))
        .or_else(|| loads_more(child, parent))
        .or_else(|| reaches_more(child, parent))
        .or_else(|| switches(child, parent).map(str::to_owned))
}

fn spends_more(child: &Policy, parent: &Policy) -> Option<String> {
    let numbers = |policy: &Policy| match serde_json::to_value(policy.limits) {
        Ok(Value::Object(map)) => map,
        other => panic!("limits are an object: {other:?}"),
    };
    let parent = numbers(parent);
    numbers(child).into_iter().find_map(|(name, value)| {
        let most = |value: &Value| match value.as_u64() {
            Some(0) if name == "io_bytes_per_second_max" => u64::MAX,
            Some(number) => number,
            None => panic!("{name} is a number"),
        };
        let over = most(&value) > parent.get(&name).map_or(0, most);
        over.then(|| format!("{name} = {value}"))
    })
}

fn touches_more(child: &Policy, parent: &Policy) -> Option<String> {
    let lists = [
        (&child.files.read, &parent.files.read),
        (&child.files.write, &parent.files.write),
        (&child.files.execute, &parent.files.execute),
    ];
    let below = |path: &str, above: &String| {
        path == above || above == "/" || path.starts_with(&format!("{above}/"))
    };
    let path = lists.into_iter().find_map(|(own, allowed)| {
        own.iter()
            .find(|path| !allowed.iter().any(|above| below(path, above)))
    });
    if let Some(path) = path {
        return Some(format!("path {path}"));
    }
    let runs = parent.files.writable_noexec && !child.files.writable_noexec;
    runs.then(|| "execute what it wrote".to_owned())
}

fn calls_more(child: &Policy, parent: &Policy) -> Option<String> {
    if child.syscalls.profile > parent.syscalls.profile {
        return Some(format!("profile {:?}", child.syscalls.profile));
    }
    let may = |name: &String| {
        parent.syscalls.allow.contains(name)
            || profile_with(name).is_some_and(|from| from <= parent.syscalls.profile)
    };
    if let Some(name) = child.syscalls.allow.iter().find(|name| !may(name)) {
        return Some(format!("call {name}"));
    }
    let survives = child.syscalls.deny_action == DenyAction::Errno
        && parent.syscalls.deny_action == DenyAction::Kill;
    survives.then(|| "survive a denied call".to_owned())
}

fn loads_more(child: &Policy, parent: &Policy) -> Option<String> {
    let (own, allowed) = (&child.code, &parent.code);
    if own.mode > allowed.mode {
        return Some(format!("code mode {:?}", own.mode));
    }
    if let Some(name) = allowed
        .imports_deny
        .iter()
        .find(|name| !own.imports_deny.contains(name))
    {
        return Some(format!("import {name}"));
    }
    if allowed.mode != CodeMode::Allowlist {
        return None;
    }
    let lists = [
        (&own.allow_sha256, &allowed.allow_sha256),
        (&own.allow_signers, &allowed.allow_signers),
        (&own.exec_allow_sha256, &allowed.exec_allow_sha256),
    ];
    lists.into_iter().find_map(|(own, allowed)| {
        let digest = own.iter().find(|digest| !allowed.contains(digest))?;
        Some(format!("load {digest}"))
    })
}

fn reaches_more(child: &Policy, parent: &Policy) -> Option<String> {
    if child.network.mode > parent.network.mode {
        return Some(format!("network {:?}", child.network.mode));
    }
    if child.network.mode == NetworkMode::Allowlist {
        let known = |host: &str, port: u16| {
            let mut rules = parent.network.allow.iter();
            rules.any(|rule| rule.host == host && rule.ports.contains(&port))
        };
        for rule in &child.network.allow {
            if let Some(port) = rule.ports.iter().find(|port| !known(&rule.host, **port)) {
                return Some(format!("{}:{port}", rule.host));
            }
        }
    }
    let granted = |policy: &Policy, secret: &String, key: &String| {
        let mut grants = policy.grants.iter();
        grants.any(|grant| grant.when.signed_by == *key && grant.secrets.contains(secret))
    };
    for grant in &child.grants {
        let key = &grant.when.signed_by;
        let missing = grant
            .secrets
            .iter()
            .find(|name| !granted(parent, name, key));
        if let Some(secret) = missing {
            return Some(format!("secret {secret}"));
        }
    }
    None
}

fn switches(child: &Policy, parent: &Policy) -> Option<&'static str> {
    let misses = |policy: &Policy, name: &String| {
        policy.enforcement.default == Enforcement::Degradable
            || policy.enforcement.degradable.contains(name)
    };
    let rows = [
        (
            child.process.run_as == RunAs::Root && parent.process.run_as == RunAs::User,
            "be root",
        ),
        (child.gpu.enabled && !parent.gpu.enabled, "use the GPU"),
        (
            child.audit.on_failure == AuditFailure::Degrade
                && parent.audit.on_failure == AuditFailure::Deny,
            "go unrecorded",
        ),
        (
            child.verify.shared_reward && !parent.verify.shared_reward,
            "earn by a shared verdict",
        ),
        (
            child.enforcement.default == Enforcement::Degradable
                && parent.enforcement.default == Enforcement::Strict,
            "miss any control",
        ),
        (
            child
                .enforcement
                .degradable
                .iter()
                .any(|name| !misses(parent, name)),
            "miss a control",
        ),
    ];
    rows.into_iter()
        .find(|(wider, _)| *wider)
        .map(|(_, what)| what)
}
