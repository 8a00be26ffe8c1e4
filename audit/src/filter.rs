//! Which records a query wants. Knows no caller: the api sets `tenant` from who asks.

use serde::{Deserialize, Serialize};

use crate::record::{Event, Record, Source};

/// Conditions that must all hold; an absent one always holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// One of these events; empty: any.
    #[serde(default)]
    pub events: Vec<Event>,
    /// This source.
    #[serde(default)]
    pub source: Option<Source>,
    /// This tenant; records without a tenant do not match then.
    #[serde(default)]
    pub tenant: Option<String>,
    /// This principal.
    #[serde(default)]
    pub principal: Option<String>,
    /// This run.
    #[serde(default)]
    pub run_id: Option<String>,
    /// This sandbox.
    #[serde(default)]
    pub sandbox_id: Option<String>,
    /// Recorded at or after: nanoseconds since 1970.
    #[serde(default)]
    pub since_unix_ns: Option<u64>,
    /// Recorded before: nanoseconds since 1970.
    #[serde(default)]
    pub until_unix_ns: Option<u64>,
}

impl Filter {
    /// Whether `record` is wanted.
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        let draft = &record.draft;
        let same =
            |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
        (self.events.is_empty() || self.events.contains(&draft.event))
            && self.source.is_none_or(|source| source == draft.source)
            && same(&self.tenant, &draft.tenant)
            && same(&self.principal, &draft.principal)
            && same(&self.run_id, &draft.run_id)
            && same(&self.sandbox_id, &draft.sandbox_id)
            && self
                .since_unix_ns
                .is_none_or(|since| record.time_unix_ns >= since)
            && self
                .until_unix_ns
                .is_none_or(|until| record.time_unix_ns < until)
    }
}
