//! Runs that are not finished, by id.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::v1;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::Outcome;
use crate::run::cancel::Cancel;
use crate::store::{Listing, unix_ms};

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct ActiveRun {
    pub(super) tenant: String,
    pub(super) record: v1::RunRecord,
    pub(super) cancel: Cancel,
    pub(super) result: watch::Receiver<Option<Outcome>>,
}

impl ActiveRun {
    /// Its record as it is now: it may have a result that is not stored yet.
    pub(super) fn told(self) -> v1::RunRecord {
        let record = self.listed();
        let outcome = self.result.borrow().clone();
        let result = outcome.and_then(Result::ok).map(Arc::unwrap_or_clone);
        v1::RunRecord { result, ..record }
    }

    /// The same without its result.
    pub(super) fn listed(&self) -> v1::RunRecord {
        let record = self.record.clone();
        match &*self.result.borrow() {
            Some(Ok(result)) => v1::RunRecord {
                state: v1::RunState::Finished.into(),
                finished_unix_ms: Some(unix_ms()),
                ending_kind: result.ending.as_ref().map(|ending| ending.kind),
                outcome: result.verdict.as_ref().map(|verdict| verdict.outcome),
                ..record
            },
            _ => record,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    runs: BTreeMap<String, ActiveRun>,
    by_principal: BTreeMap<String, u32>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Active {
    state: Mutex<State>,
    /// Told when a run has gone.
    gone: Notify,
}

impl Active {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a run in, unless its principal has `most` already.
    fn insert(&self, run: ActiveRun, most: Option<u32>) -> bool {
        let mut state = self.state();
        let count = state
            .by_principal
            .entry(run.record.principal.clone())
            .or_default();
        if most.is_some_and(|most| *count >= most) {
            return false;
        }
        *count += 1;
        state.runs.insert(run.record.run_id.clone(), run);
        true
    }

    /// The same, waiting for at most `patience` until its principal has fewer.
    pub(super) async fn insert_in_time(
        &self,
        run: &ActiveRun,
        most: Option<u32>,
        patience: Duration,
    ) -> bool {
        let until = Instant::now() + patience;
        loop {
            // Made before the attempt, so that a run that goes meanwhile is not missed.
            let mut gone = std::pin::pin!(self.gone.notified());
            gone.as_mut().enable();
            if self.insert(run.clone(), most) {
                return true;
            }
            if timeout_at(until, gone).await.is_err() {
                return false;
            }
        }
    }

    pub(super) fn remove(&self, run_id: &str) {
        self.forget(run_id);
        self.gone.notify_waiters();
    }

    fn forget(&self, run_id: &str) {
        let mut state = self.state();
        let Some(run) = state.runs.remove(run_id) else {
            return;
        };
        let principal = run.record.principal;
        if let Some(count) = state.by_principal.get_mut(&principal) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                state.by_principal.remove(&principal);
            }
        }
    }

    /// A run of this tenant.
    pub(super) fn get(&self, tenant: &str, run_id: &str) -> Option<ActiveRun> {
        self.state()
            .runs
            .get(run_id)
            .filter(|run| run.tenant == tenant)
            .cloned()
    }

    pub(super) fn len(&self) -> usize {
        self.state().runs.len()
    }

    /// Records of a listing, latest first.
    pub(super) fn list(&self, listing: &Listing) -> Vec<v1::RunRecord> {
        let state = self.state();
        let wanted = |run: &&ActiveRun| {
            run.tenant == listing.tenant
                && (listing.group.is_empty() || run.record.group == listing.group)
                && (listing.page_token.is_empty() || run.record.run_id < listing.page_token)
        };
        let matching = state.runs.values().rev().filter(wanted);
        matching
            .map(ActiveRun::listed)
            .filter(|record| {
                listing.state == v1::RunState::Unspecified || record.state() == listing.state
            })
            .take(listing.page_size + 1)
            .collect()
    }
}
