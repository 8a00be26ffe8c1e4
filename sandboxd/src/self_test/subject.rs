//! What a self-test runs in: the plans of the policies in force, each once, and the facts on which
//! their right answers depend.

use std::collections::BTreeMap;
use std::sync::Arc;

use confine::host::HostFacts;
use confine::plan::{Mode, NetworkPlan, OwnProgram, Plan, ProcView};
use policies::policy::DenyAction;
use policies::{EffectiveLimits, LimitError, Policy, RequestedLimits};
use probe::Setting;
use sha2::{Digest as _, Sha256};

use crate::policy_set::{PolicySet, Ready};
use crate::run::plan_for;
use crate::run::request::RunError;
use crate::telemetry::chain;

/// Time that the battery may take, in milliseconds; its probes wait for nothing. An emulated host
/// takes forty times that of a real one, and must not be refused for being slow.
const WALL_MS: u64 = 100_000;
const CPU_MS: u64 = 50_000;
/// Output of the battery that is kept, in bytes.
const OUTPUT_BYTES: u64 = 1 << 20;
const MIB: u64 = 1 << 20;

/// The host, and what its operator shows to all sandboxes beside the image.
pub(super) type Host<'a> = (&'a HostFacts, &'a [String]);

/// Policies with one plan.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// Their names.
    pub names: Vec<String>,
    /// The first of them.
    pub policy: Arc<Policy>,
    /// Its digest.
    pub policy_sha256: String,
    /// Limits of the test.
    pub limits: EffectiveLimits,
    /// The plan.
    pub plan: Plan,
    /// Its digest.
    pub plan_sha256: String,
    /// What its right answers depend on.
    pub setting: Setting,
    /// Whether several may be tested at once: not where processes are counted by user.
    pub alone: bool,
}

/// The subjects of a set, and by name why other policies have none.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    pub all: Vec<Subject>,
    pub not_planned: BTreeMap<String, String>,
}

/// Plans every policy of `set`, and `judge` under a name of its own.
pub(super) fn of(set: &PolicySet, judge: (&str, &Ready), host: Host<'_>) -> Subjects {
    let named = set.catalog().names();
    let policies = named.filter_map(|name| set.get(name).map(|ready| (name, ready)));
    let mut subjects = Subjects::default();
    for (name, ready) in policies.chain([judge]) {
        match plan(&ready.policy, host.0) {
            Ok(planned) => subjects.add(name, ready, planned, host),
            Err(fault) => {
                subjects.not_planned.insert(name.to_owned(), chain(&fault));
            }
        }
    }
    subjects
}

impl Subjects {
    fn add(&mut self, name: &str, ready: &Ready, planned: Planned, host: Host<'_>) {
        let Planned {
            limits,
            plan,
            plan_sha256,
        } = planned;
        if let Some(same) = self
            .all
            .iter_mut()
            .find(|one| one.plan_sha256 == plan_sha256)
        {
            same.names.push(name.to_owned());
            return;
        }
        self.all.push(Subject {
            names: vec![name.to_owned()],
            policy: test_policy(&ready.policy),
            policy_sha256: ready.sha256.clone(),
            limits,
            plan_sha256,
            setting: setting(&plan, host),
            alone: plan
                .degradable
                .iter()
                .any(|name| matches!(name.as_str(), "pids" | "memory")),
            plan,
        });
    }
}

/// The policy as it is tested. One that kills on a denied call would end the battery at the first:
/// its filter is the same but for the answer.
fn test_policy(policy: &Arc<Policy>) -> Arc<Policy> {
    if policy.syscalls.deny_action == DenyAction::Errno {
        return Arc::clone(policy);
    }
    let mut policy = Policy::clone(policy);
    policy.syscalls.deny_action = DenyAction::Errno;
    Arc::new(policy)
}

/// Why a policy has no plan.
#[derive(Debug, thiserror::Error)]
enum PlanFault {
    #[error("the policy's own limits cannot be used")]
    Limits(#[source] LimitError),
    #[error("a run under it")]
    Refused(#[source] RunError),
    #[error("encode the plan")]
    Encode(#[source] postcard::Error),
}

/// What a policy comes to in a test.
struct Planned {
    limits: EffectiveLimits,
    plan: Plan,
    plan_sha256: String,
}

/// The digest of the plan that a policy is tested with, if it has one.
#[must_use]
pub fn plan_sha256(policy: &Arc<Policy>, host: &HostFacts) -> Option<String> {
    plan(policy, host).ok().map(|planned| planned.plan_sha256)
}

fn plan(policy: &Arc<Policy>, host: &HostFacts) -> Result<Planned, PlanFault> {
    let limits = policy
        .effective_limits(&RequestedLimits::default())
        .map_err(PlanFault::Limits)?;
    let limits = test_limits(limits);
    let plan = plan_for(&test_policy(policy), &limits, "", host);
    let mut plan = plan.map_err(PlanFault::Refused)?;
    plan.own = Some(OwnProgram::Probe);
    // A plan has no name of its policy. It has no maps either: equal plans have equal bytes.
    let bytes = postcard::to_stdvec(&plan).map_err(PlanFault::Encode)?;
    Ok(Planned {
        limits,
        plan,
        plan_sha256: hex::encode(Sha256::digest(bytes)),
    })
}

/// The policy's own limits, so far as the battery can work in them and no test is a burden: what
/// is tested is that a limit holds, and that is the same for any number.
fn test_limits(own: EffectiveLimits) -> EffectiveLimits {
    EffectiveLimits {
        wall_ms_max: WALL_MS,
        cpu_ms_max: CPU_MS,
        cpu_millicores_max: own.cpu_millicores_max.max(500),
        memory_bytes_max: own.memory_bytes_max.clamp(32 * MIB, 64 * MIB),
        pids_max: own.pids_max.clamp(16, 32),
        disk_bytes_max: own.disk_bytes_max.clamp(MIB, 8 * MIB),
        files_max: own.files_max.clamp(64, 256),
        output_bytes_max: OUTPUT_BYTES,
        output_bytes_total_max: 4 * OUTPUT_BYTES,
        open_files_max: own.open_files_max.clamp(32, 128),
    }
}

fn setting(plan: &Plan, (host, extra_read_paths): Host<'_>) -> Setting {
    let own_namespaces = plan.mode != Mode::Landlock;
    Setting {
        own_namespaces,
        leased_ids: plan.mode == Mode::Root,
        profile: plan.syscalls.profile,
        proc_pids_only: own_namespaces && plan.proc == ProcView::PidsOnly,
        loopback: own_namespaces && plan.network == NetworkPlan::Loopback,
        writable_noexec: own_namespaces && plan.files.writable_noexec,
        landlock_abi: host.landlock_abi,
        cgroup_memory: host.cgroups.has("memory"),
        cgroup_pids: host.cgroups.has("pids"),
        pids_max: plan.limits.pids_max,
        memory_bytes_max: plan.limits.memory_bytes_max,
        disk_bytes_max: plan.limits.disk_bytes_max,
        files_max: plan.limits.files_max,
        open_files_max: plan.limits.open_files_max,
        cpu_ms_max: plan.limits.cpu_ms_max,
        extra_read_paths: extra_read_paths.to_vec(),
        execute: plan.files.execute.clone(),
        write: plan.files.write.clone(),
        allow: plan.syscalls.allow.clone(),
    }
}

#[cfg(test)]
mod tests;
