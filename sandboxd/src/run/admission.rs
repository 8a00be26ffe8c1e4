//! Who runs next: bounded concurrency and a bounded queue.
//!
//! Tenants take turns; within a tenant the higher priority goes first, then the earlier arrival.
//! A run that needs several sandboxes at once takes all its places at once, so that two halves
//! of runs can never wait for each other. The order is decided in [`queue`], which is pure.

mod queue;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use queue::{Queue, Ticket};

/// Bounds of admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Sandboxes that live at one time.
    pub live_max: u32,
    /// Runs that wait at one time.
    pub queued_max: usize,
}

impl AdmissionLimits {
    /// Two sandboxes a CPU, at least four, and ten thousand waiting runs.
    #[must_use]
    pub fn for_cpus(cpus: u32) -> Self {
        Self {
            live_max: cpus.saturating_mul(2).max(4),
            queued_max: 10_000,
        }
    }
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{queued} runs are waiting already")]
pub(crate) struct QueueFull {
    /// How many wait.
    pub queued: usize,
    /// When a place is likely, in milliseconds.
    pub retry_after_ms: u64,
}

/// Nobody hands out places any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the daemon is stopping")]
pub(crate) struct Closed;

/// How full the house is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Places taken by live sandboxes.
    pub live: u32,
    /// Places there are.
    pub live_max: u32,
    /// Runs that wait.
    pub queued: usize,
    /// Runs that may wait.
    pub queued_max: usize,
}

#[derive(Debug)]
struct State {
    queue: Queue<oneshot::Sender<Places>>,
    limits: AdmissionLimits,
    free: u32,
    /// Running mean of how long a run holds its places, in milliseconds.
    mean_ms: u64,
}

/// Hands out places.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    state: Arc<Mutex<State>>,
}

/// Places held by one run; given back when dropped.
#[derive(Debug)]
pub(crate) struct Places {
    admission: Admission,
    count: u32,
    since: std::time::Instant,
}

impl Drop for Places {
    fn drop(&mut self) {
        let held_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut state = self.admission.state();
        state.free += self.count;
        state.mean_ms = (state.mean_ms * 7 + held_ms.min(3_600_000)) / 8;
        self.admission.hand_out(state);
    }
}

/// A place in the queue; left when dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    admission: Admission,
    ticket: Ticket,
    places: oneshot::Receiver<Places>,
}

impl Waiting {
    /// Waits for the places. Safe to drop and call again.
    ///
    /// # Errors
    /// If nobody hands out places any more.
    pub(crate) async fn places(&mut self) -> Result<Places, Closed> {
        (&mut self.places).await.map_err(|_closed| Closed)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        state.queue.remove(self.ticket);
        // The head of the queue may have been waiting for more places than are free.
        self.admission.hand_out(state);
    }
}

impl Admission {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        let state = State {
            queue: Queue::default(),
            limits,
            free: limits.live_max,
            mean_ms: 100,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts stay true whatever a panicking holder did: each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How full the house is.
    pub(crate) fn load(&self) -> Load {
        let state = self.state();
        Load {
            live: state.limits.live_max - state.free,
            live_max: state.limits.live_max,
            queued: state.queue.len(),
            queued_max: state.limits.queued_max,
        }
    }

    /// Queues for `count` places at once (never more than there are).
    ///
    /// # Errors
    /// If too many wait already.
    pub(crate) fn enter(
        &self,
        tenant: &str,
        priority: i32,
        count: u32,
    ) -> Result<Waiting, QueueFull> {
        let state = self.state();
        let queued = state.queue.len();
        let count = count.clamp(1, state.limits.live_max);
        let at_once = queued == 0 && state.free >= count;
        if queued >= state.limits.queued_max && !at_once {
            let rounds = queued as u64 / u64::from(state.limits.live_max.max(1)) + 1;
            let retry_after_ms = rounds.saturating_mul(state.mean_ms).clamp(10, 60_000);
            return Err(QueueFull {
                queued,
                retry_after_ms,
            });
        }
        Ok(self.wait(state, (tenant, priority), count))
    }

    /// Queues for one place however many wait. For the daemon's own runs, which are few: no
    /// tenant's crowd may keep the host from being tested.
    pub(crate) fn enter_beyond(&self, tenant: &str, priority: i32) -> Waiting {
        self.wait(self.state(), (tenant, priority), 1)
    }

    fn wait(
        &self,
        mut state: MutexGuard<'_, State>,
        (tenant, priority): (&str, i32),
        count: u32,
    ) -> Waiting {
        let (sender, places) = oneshot::channel();
        let ticket = state.queue.push(tenant, priority, count, sender);
        self.hand_out(state);
        Waiting {
            admission: self.clone(),
            ticket,
            places,
        }
    }

    /// Gives free places to those whose turn it is. Takes the lock's guard, because places that
    /// nobody takes are dropped, which locks again.
    fn hand_out(&self, mut state: MutexGuard<'_, State>) {
        let mut given = Vec::new();
        loop {
            let free = state.free;
            let Some((count, sender)) = state.queue.pop(free) else {
                break;
            };
            state.free -= count;
            let places = Places {
                admission: self.clone(),
                count,
                since: std::time::Instant::now(),
            };
            given.push((sender, places));
        }
        drop(state);
        for (sender, places) in given {
            // A receiver that is gone gives the places back by dropping them.
            drop(sender.send(places));
        }
    }
}

#[cfg(test)]
mod tests;
