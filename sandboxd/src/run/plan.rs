//! From a request to what a sandbox is to be and what runs in it: plan, environment, command.
//!
//! Pure. What the policy means for the kernel is [`confine::make_plan`]'s business.

use std::collections::BTreeMap;

use confine::host::HostFacts;
use confine::plan::Plan;
use confine::wire::SpawnSpec;
use confine::{PlanError, make_plan};
use policies::{EffectiveLimits, Policy, unenforceable};

use super::request::RunError;

/// The environment every program starts from; policy and request add to it.
pub(crate) const ENV_DEFAULTS: [(&str, &str); 5] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/workspace"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("TMPDIR", "/tmp"),
];

/// Working directory of a request that names none.
pub(crate) const CWD_DEFAULT: &str = "/workspace";

/// The plan of a sandbox under `policy` with `limits` and `image`.
///
/// # Errors
/// [`RunError::Refused`] where this host or build cannot enforce what the policy asks.
pub(crate) fn plan_for(
    policy: &Policy,
    limits: &EffectiveLimits,
    image: &str,
    host: &HostFacts,
) -> Result<Plan, RunError> {
    if let Some(refusal) = unenforceable(policy).into_iter().next() {
        return Err(RunError::Refused {
            reason: "NOT_SUPPORTED_YET",
            field: Some(format!("policy.{}", refusal.field)),
            message: format!("policy {}: {refusal}", policy.name),
        });
    }
    let mut plan = make_plan(policy, limits, host).map_err(|error| {
        let reason = match error {
            PlanError::HostCannot { .. } => "HOST_CANNOT_ENFORCE",
            _ => "NOT_SUPPORTED_YET",
        };
        RunError::Refused {
            reason,
            field: Some("policy".to_owned()),
            message: format!("policy {}: {error}", policy.name),
        }
    })?;
    if !image.is_empty() {
        image.clone_into(&mut plan.image);
    }
    Ok(plan)
}

/// The command with its full environment; a request's variables win over the defaults.
pub(crate) fn spawn_spec(argv: &[Vec<u8>], env: &BTreeMap<String, String>, cwd: &str) -> SpawnSpec {
    let mut all: BTreeMap<&str, &str> = ENV_DEFAULTS.into_iter().collect();
    all.extend(env.iter().map(|(name, value)| (&**name, &**value)));
    let bytes = |text: &str| text.as_bytes().to_vec();
    let cwd = if cwd.is_empty() { CWD_DEFAULT } else { cwd };
    SpawnSpec {
        argv: argv.to_vec(),
        env: all
            .into_iter()
            .map(|(name, value)| (bytes(name), bytes(value)))
            .collect(),
        cwd: cwd.to_owned(),
    }
}

/// Where a solution's own files may lie, so that no program of ours is looked for there.
const WRITABLE: [&str; 4] = ["/workspace", "/tmp", "/dev", "/proc"];
const SEARCH_PATH: &str = "PATH";

/// A request's variables for a program that the verifier starts: its `PATH` may add toolchains, but
/// it leads to none of the solution's files. What is left out is not searched by the solution's own
/// process either.
pub(crate) fn env_for_ours(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = env.clone();
    let Some(path) = env.get_mut(SEARCH_PATH) else {
        return env;
    };
    let is_safe = |folder: &&str| {
        let below = |outer: &&str| {
            let rest = folder.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let plain = |part: &str| !matches!(part, "" | "." | "..");
        (folder.strip_prefix('/')).is_some_and(|rest| rest.split('/').all(plain))
            && !WRITABLE.iter().any(below)
    };
    let kept: Vec<&str> = (path.split(':'))
        .map(|folder| folder.trim_end_matches('/'))
        .filter(is_safe)
        .collect();
    let kept = kept.join(":");
    if kept.is_empty() {
        env.remove(SEARCH_PATH);
    } else {
        *path = kept;
    }
    env
}

#[cfg(test)]
mod tests;
