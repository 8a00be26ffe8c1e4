//! The order of waiting runs: tenants in turn, then priority, then arrival. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Names a waiting run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// Higher priority first, then earlier arrival.
type Rank = (Reverse<i32>, Ticket);

#[derive(Debug)]
struct Entry<T> {
    count: u32,
    what: T,
}

/// Waiting runs of all tenants.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// Tenants with waiting runs, the next to be served first.
    turns: VecDeque<String>,
    by_tenant: HashMap<String, BTreeMap<Rank, Entry<T>>>,
    /// Where a ticket is, to take it out again.
    places: HashMap<Ticket, (String, Rank)>,
    next: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            turns: VecDeque::new(),
            by_tenant: HashMap::new(),
            places: HashMap::new(),
            next: 0,
        }
    }
}

impl<T> Queue<T> {
    /// Runs that wait.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a run that needs `count` places.
    pub(super) fn push(&mut self, tenant: &str, priority: i32, count: u32, what: T) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        let rank = (Reverse(priority), ticket);
        if !self.by_tenant.contains_key(tenant) {
            self.turns.push_back(tenant.to_owned());
        }
        let runs = self.by_tenant.entry(tenant.to_owned()).or_default();
        runs.insert(rank, Entry { count, what });
        self.places.insert(ticket, (tenant.to_owned(), rank));
        ticket
    }

    /// Takes the run whose turn it is, if `free` places are enough for it. A run that needs more
    /// is not overtaken: it would never get its turn.
    pub(super) fn pop(&mut self, free: u32) -> Option<(u32, T)> {
        let tenant = self.turns.front()?;
        let runs = self.by_tenant.get_mut(tenant)?;
        let first = runs.first_entry()?;
        if first.get().count > free {
            return None;
        }
        let ((_, ticket), entry) = first.remove_entry();
        self.places.remove(&ticket);
        let tenant = self.turns.pop_front()?;
        if self.by_tenant.get(&tenant).is_some_and(BTreeMap::is_empty) {
            self.by_tenant.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        Some((entry.count, entry.what))
    }

    /// Takes a run out, if it still waits.
    pub(super) fn remove(&mut self, ticket: Ticket) {
        let Some((tenant, rank)) = self.places.remove(&ticket) else {
            return;
        };
        if let Some(runs) = self.by_tenant.get_mut(&tenant) {
            runs.remove(&rank);
            if runs.is_empty() {
                self.by_tenant.remove(&tenant);
                self.turns.retain(|name| *name != tenant);
            }
        }
    }
}
