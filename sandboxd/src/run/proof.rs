//! What a self-test means for a run: refused where the confinement does not hold, and in its
//! manifest the probes that showed each control.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use confine::host::HostFacts;
use verdict::{ControlStatus, ManifestRow};

use super::request::{Request, RunError};
use super::{BUILDER_POLICY, Inner, grade};
use crate::self_test::{JUDGE, Proof, plan_sha256};

/// What self-tests have found wrong, whatever policies are in force: looked at again when a run's
/// turn comes, for there may have been a test since it was taken in.
#[derive(Debug, Default)]
pub(super) struct KnownWrong {
    /// By digest of a plan.
    plans: BTreeMap<String, String>,
    /// By name of a policy in force.
    pub policies: BTreeMap<String, String>,
}

impl KnownWrong {
    pub(super) fn note_plan(&mut self, plan_sha256: &str, trouble: Option<String>) {
        match trouble {
            Some(trouble) => self.plans.insert(plan_sha256.to_owned(), trouble),
            None => self.plans.remove(plan_sha256),
        };
    }

    pub(super) fn is_plan_wrong(&self, plan_sha256: &str) -> bool {
        self.plans.contains_key(plan_sha256)
    }

    /// What is wrong with the sandboxes that a run asks for.
    fn trouble(&self, request: &Request, host: &HostFacts) -> Option<String> {
        let policy = &request.policy;
        // An inline document, which is not tested, may only narrow what it extends.
        let name = match request.proof.tested() {
            Some(_) => Some(policy.name.as_str()),
            None => policy.parent(),
        };
        let judge = grade::needs_pair(request).then_some(JUDGE);
        let builder = grade::needs_build(request).then_some(BUILDER_POLICY);
        let mut names = name.into_iter().chain(judge).chain(builder);
        if let Some(trouble) = names.find_map(|name| self.policies.get(name)) {
            return Some(trouble.clone());
        }
        if self.plans.is_empty() {
            return None;
        }
        self.plans.get(&plan_sha256(policy, host)?).cloned()
    }
}

/// Whether the confinement that the run asks for is known to hold here.
pub(super) fn check(inner: &Inner, request: &Request) -> Result<(), RunError> {
    let refused = |message| RunError::Refused {
        reason: "PROBE_FAILED",
        field: None,
        message,
    };
    if let Some(trouble) = inner.unproven.get() {
        return Err(refused(format!(
            "no run is taken, because confinement does not hold on this host: {trouble}; put the \
             host right and start the daemon anew"
        )));
    }
    let known = || {
        let known = inner.known_wrong.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        known.trouble(request, inner.link.host())
    };
    match request.proof.trouble().or_else(known) {
        None => Ok(()),
        Some(trouble) => {
            let name = &request.policy.name;
            Err(refused(format!(
                "policy {name} is not served, because its confinement does not hold on this host: \
                 {trouble}; once the host is put right, an admin's `rollcage doctor --self-test \
                 --fresh` tests again"
            )))
        }
    }
}

/// Says of each control that holds which probes have shown so, where there was a self-test.
pub(super) fn mark(manifest: &mut [ManifestRow], proof: &Proof) {
    let Some(tested) = proof.tested() else {
        return;
    };
    for row in manifest
        .iter_mut()
        .filter(|row| row.status == ControlStatus::Enforced)
    {
        tested.proof_of(&row.name).clone_into(&mut row.proof);
    }
}
