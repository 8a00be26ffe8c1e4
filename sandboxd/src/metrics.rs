//! Numbers for Prometheus: what is counted, and their text form. It knows no listener.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabels {
    ending: String,
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: String,
}

/// All numbers of one daemon. Cheap to update from any task.
pub struct Metrics {
    registry: Registry,
    runs: Family<EndLabels, Counter>,
    runs_infra: Counter,
    runs_refused: Family<ReasonLabels, Counter>,
    queue_wait: Histogram,
    start: Histogram,
    runs_active: Gauge<i64, AtomicI64>,
    runs_queued: Gauge<i64, AtomicI64>,
    sandboxes_live: Gauge<i64, AtomicI64>,
    kernel_objects: Family<KindLabels, Gauge<i64, AtomicI64>>,
    finished: AtomicU64,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All numbers at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("rollcage");
        let runs = Family::default();
        registry.register("runs", "Runs finished, by ending and outcome", runs.clone());
        let runs_infra = Counter::default();
        let help = "Runs that failed through our fault or the host's";
        registry.register("runs_infra", help, runs_infra.clone());
        let runs_refused = Family::default();
        registry.register(
            "runs_refused",
            "Requests refused, by reason",
            runs_refused.clone(),
        );
        // 1 ms to about 2 min.
        let queue_wait = Histogram::new(exponential_buckets(0.001, 2.0, 18));
        let help = "Time between admission and the beginning of the sandbox";
        registry.register_with_unit("queue_wait", help, Unit::Seconds, queue_wait.clone());
        // 0.1 ms to about 1.6 s.
        let start = Histogram::new(exponential_buckets(0.0001, 2.0, 15));
        let help = "Time from the request for a sandbox to the start of its program";
        registry.register_with_unit("start", help, Unit::Seconds, start.clone());
        let runs_active = Gauge::default();
        registry.register(
            "runs_active",
            "Runs admitted and not finished",
            runs_active.clone(),
        );
        let runs_queued = Gauge::default();
        registry.register(
            "runs_queued",
            "Runs waiting for a place",
            runs_queued.clone(),
        );
        let sandboxes_live = Gauge::default();
        registry.register(
            "sandboxes_live",
            "Sandboxes that exist now",
            sandboxes_live.clone(),
        );
        let kernel_objects = Family::default();
        registry.register(
            "kernel_objects",
            "Kernel objects held, by kind",
            kernel_objects.clone(),
        );
        Self {
            registry,
            runs,
            runs_infra,
            runs_refused,
            queue_wait,
            start,
            runs_active,
            runs_queued,
            sandboxes_live,
            kernel_objects,
            finished: AtomicU64::new(0),
        }
    }

    /// A run finished; names as in JSON. `infra`: through our fault or the host's.
    pub fn run_finished(&self, ending: &str, outcome: &str, infra: bool) {
        let labels = EndLabels {
            ending: ending.to_owned(),
            outcome: outcome.to_owned(),
        };
        self.runs.get_or_create(&labels).inc();
        self.finished.fetch_add(1, Ordering::Relaxed);
        if infra {
            self.runs_infra.inc();
        }
    }

    /// A request was refused for a stable upper-case reason.
    pub fn run_refused(&self, reason: &str) {
        self.runs_refused
            .get_or_create(&ReasonLabels {
                reason: reason.to_owned(),
            })
            .inc();
    }

    /// A run waited this long for its place.
    pub fn queue_waited(&self, wait: Duration) {
        self.queue_wait.observe(wait.as_secs_f64());
    }

    /// A program was started this long after its sandbox was asked for.
    pub fn program_started(&self, after: Duration) {
        self.start.observe(after.as_secs_f64());
    }

    /// How busy the daemon is now.
    pub fn load_set(&self, load: Load) {
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.runs_active.set(count(load.runs_active));
        self.runs_queued.set(count(load.runs_queued));
        self.sandboxes_live.set(count(load.sandboxes_live));
    }

    /// Kernel objects held now of one kind, such as `cgroup` or `uid_range`.
    pub fn kernel_objects_set(&self, kind: &str, count: i64) {
        self.kernel_objects
            .get_or_create(&KindLabels {
                kind: kind.to_owned(),
            })
            .set(count);
    }

    /// Runs finished since the start.
    #[must_use]
    pub fn runs_finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    /// Everything in the OpenMetrics text format.
    ///
    /// # Errors
    /// Formatting failed, which writing to a string does not.
    pub fn to_text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// How busy the daemon is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Runs admitted and not finished.
    pub runs_active: u64,
    /// Runs waiting for a place.
    pub runs_queued: u64,
    /// Sandboxes that exist.
    pub sandboxes_live: u64,
}

#[cfg(test)]
mod tests;
