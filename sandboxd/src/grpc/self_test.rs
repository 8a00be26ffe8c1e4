//! The outcome of self-tests as messages. What follows from an outcome is not decided here.

use std::collections::BTreeSet;
use std::fmt;

use futures::future::BoxFuture;
use probe::Judged;
use proto::v1;

use super::auth::Session;
use super::convert::named_policy;
use super::status::ApiError;
use crate::policy_set::PolicySet;
use crate::self_test::{JUDGE, Proof, ProveError, row_of};

/// Whoever can test anew.
pub trait Prover: fmt::Debug + Send + Sync {
    /// Tests these policies, all if none are named, and puts the outcome in force. Goes on if the
    /// caller does not wait.
    fn prove_again(
        &self,
        names: BTreeSet<String>,
        principal: String,
    ) -> BoxFuture<'_, Result<(), ProveError>>;

    /// The boot that outcomes hold for.
    fn boot_id(&self) -> &str;

    /// Whether the daemon tests itself before it serves.
    fn at_start(&self) -> bool;
}

/// The policies that a request is about: those named, else all that the caller may use.
pub(super) fn asked(
    names: &[String],
    session: &Session,
    set: &PolicySet,
) -> Result<Vec<String>, ApiError> {
    for name in names {
        named_policy(name, "policies", session, set)?;
    }
    if !names.is_empty() {
        return Ok(names.to_vec());
    }
    let mine = set
        .catalog()
        .names()
        .filter(|name| session.policies.contains(name));
    Ok(mine.chain([JUDGE]).map(str::to_owned).collect())
}

/// How it stands, and what is wrong.
pub(super) fn state(proof: &Proof) -> (v1::SelfTestState, String) {
    match (proof, proof.trouble()) {
        (_, Some(trouble)) => (v1::SelfTestState::Wrong, trouble),
        (Proof::Tested(_), None) => (v1::SelfTestState::Right, String::new()),
        (Proof::None, None) => (v1::SelfTestState::NotTested, String::new()),
        (Proof::NotPlanned(why), None) => (v1::SelfTestState::NotEnforceable, why.clone()),
    }
}

/// One policy's outcome with all rows.
pub(super) fn policy(name: &str, proof: &Proof) -> v1::PolicySelfTest {
    let (state, trouble) = state(proof);
    let mut message = v1::PolicySelfTest {
        policy: name.to_owned(),
        state: state.into(),
        trouble,
        ..v1::PolicySelfTest::default()
    };
    if let Some(tested) = proof.tested() {
        message.at_unix_ms = tested.outcome.at_unix_ms;
        message.from_cache = tested.from_cache;
        message.plan_sha256.clone_from(&tested.outcome.plan_sha256);
        message.rows = tested.outcome.rows.iter().map(row).collect();
    }
    message
}

fn row(judged: &Judged) -> v1::SelfTestRow {
    let known = row_of(&judged.name);
    let steps = known.map_or(&[][..], |row| row.steps);
    v1::SelfTestRow {
        name: judged.name.clone(),
        class: judged.class.name().to_owned(),
        what: known.map_or("", |row| row.what).to_owned(),
        found: judged.found.clone(),
        expected: judged.expected.clone(),
        right: judged.right,
        proves: steps.iter().map(|step| (*step).to_owned()).collect(),
    }
}

/// All that a caller may see in short: the worst state of any policy that can be used here.
pub(super) fn summary(set: &PolicySet, names: &[String]) -> v1::SelfTestSummary {
    let mut summary = v1::SelfTestSummary::default();
    let mut plans = BTreeSet::new();
    let mut states = BTreeSet::new();
    for name in names {
        let proof = set.proof(name);
        let (state, trouble) = state(&proof);
        states.insert(state);
        if state == v1::SelfTestState::Wrong && summary.trouble.is_empty() {
            summary.trouble = format!("policy {name}: {trouble}");
        }
        let Some(tested) = proof.tested() else {
            continue;
        };
        let outcome = &tested.outcome;
        if !plans.insert(outcome.plan_sha256.clone()) {
            continue;
        }
        let count = |right| u64::try_from(outcome.count(right)).unwrap_or(u64::MAX);
        summary.right += count(Some(true));
        summary.wrong += count(Some(false));
        summary.not_asked += count(None);
        summary.at_unix_ms = match summary.at_unix_ms {
            0 => outcome.at_unix_ms,
            before => before.min(outcome.at_unix_ms),
        };
    }
    let worst = [
        v1::SelfTestState::Wrong,
        v1::SelfTestState::NotTested,
        v1::SelfTestState::Right,
        v1::SelfTestState::NotEnforceable,
    ];
    let worst = worst.into_iter().find(|state| states.contains(state));
    summary.state = worst.unwrap_or(v1::SelfTestState::NotTested).into();
    summary
}
