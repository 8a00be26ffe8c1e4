//! The engine: admits runs, has them run in sandboxes, judges and records them.
//!
//! It knows nothing of protobuf or connections ([`crate::grpc`] does), and nothing of how a
//! sandbox is made (the launcher does). A run belongs to a task of its own: a caller who goes
//! away cancels it, but never leaves a sandbox behind.

pub mod admission;
pub(crate) mod beyond;
pub mod cancel;
mod channel;
mod check;
pub mod collect;
mod conclude;
mod cpu_clock;
mod facts;
mod grade;
mod harness_cache;
mod heavy;
mod keep;
pub mod launcher_link;
mod oneshot;
mod packet;
mod pair;
mod plan;
mod precheck;
mod program;
mod proof;
pub mod record;
mod report;
pub mod request;
mod retry;
mod sandbox;
mod streams;
mod supervise;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use policies::{EffectiveLimits, Policy};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use admission::{Admission, AdmissionLimits, Load};
use cancel::Cancel;
use launcher_link::LauncherLink;
pub(crate) use plan::plan_for;
use proof::KnownWrong;
use record::AuditSink;
use request::{Event, Request, RunError, RunResult};
pub use retry::RetryLimits;

/// How long cancelled runs may take to end when the daemon stops.
const STOP_MAX: Duration = Duration::from_secs(10);

/// Who asks for the runs of a self-test, and their tenant: a name that no configuration can give.
pub const SELF_TEST_PRINCIPAL: &str = "daemon/self-test";

/// The built-in policy that test code of a compiled language is built and runs under.
pub const BUILDER_POLICY: &str = "build";

/// Under what the judge of test code runs: a sandbox like any other, with limits of its own.
#[derive(Debug, Clone)]
pub struct JudgeSandbox {
    /// Its policy.
    pub policy: Arc<Policy>,
    /// Its limits.
    pub limits: EffectiveLimits,
}

/// What an engine is made of.
#[derive(Debug)]
pub struct EngineParts {
    /// The launcher.
    pub link: LauncherLink,
    /// Where records go.
    pub audit: Arc<dyn AuditSink>,
    /// Bounds of admission.
    pub admission: AdmissionLimits,
    /// How often runs may be done again.
    pub retries: RetryLimits,
    /// Where test code runs.
    pub judge: JudgeSandbox,
    /// Where test code of a compiled language is built and runs.
    pub builder: JudgeSandbox,
    /// Whether images whose content can change under the same name (`host`) may be used.
    pub unpinned_images: bool,
}

#[derive(Debug)]
struct Inner {
    link: LauncherLink,
    audit: Arc<dyn AuditSink>,
    admission: Admission,
    retries: retry::Budget,
    judge: JudgeSandbox,
    builder: JudgeSandbox,
    unpinned_images: bool,
    /// Why it takes no runs but those of a self-test.
    unproven: OnceLock<String>,
    known_wrong: RwLock<KnownWrong>,
    harness: harness_cache::Cell,
    builds: grade::build_cache::BuildCache,
    tasks: TaskTracker,
    draining: CancellationToken,
    live: Mutex<HashMap<u64, Cancel>>,
    next: AtomicU64,
}

impl Inner {
    fn live(&self) -> MutexGuard<'_, HashMap<u64, Cancel>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_wrong_mut(&self) -> RwLockWriteGuard<'_, KnownWrong> {
        let known = self.known_wrong.write();
        known.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// Cancels a run whose caller goes away before its result is there.
#[derive(Debug)]
struct CallerGuard {
    cancel: Option<Cancel>,
}

impl Drop for CallerGuard {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.cancel("caller gone");
        }
    }
}

/// Takes a run out of the list of live ones.
#[derive(Debug)]
struct LiveGuard {
    inner: Arc<Inner>,
    key: u64,
}

impl Drop for LiveGuard {
    fn drop(&mut self) {
        self.inner.live().remove(&self.key);
    }
}

impl Engine {
    /// An engine that serves at once.
    #[must_use]
    pub fn new(parts: EngineParts) -> Self {
        let inner = Inner {
            link: parts.link,
            audit: parts.audit,
            admission: Admission::new(parts.admission),
            retries: retry::Budget::new(parts.retries),
            judge: parts.judge,
            builder: parts.builder,
            unpinned_images: parts.unpinned_images,
            unproven: OnceLock::new(),
            known_wrong: RwLock::default(),
            harness: harness_cache::Cell::new(),
            builds: grade::build_cache::BuildCache::default(),
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            live: Mutex::default(),
            next: AtomicU64::new(0),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Runs one request to its end. Live events go to `events`, whose slowness holds the
    /// program's output; `cancel` ends it early. If the returned future is dropped, the run is
    /// cancelled and cleaned up all the same.
    ///
    /// # Errors
    /// [`RunError`] where no run took place; whatever the program did is in the result.
    pub async fn run(
        &self,
        request: Request,
        events: Option<mpsc::Sender<Event>>,
        cancel: Cancel,
    ) -> Result<RunResult, RunError> {
        let key = self.inner.next.fetch_add(1, Ordering::Relaxed);
        self.inner.live().insert(key, cancel.clone());
        let live = LiveGuard {
            inner: Arc::clone(&self.inner),
            key,
        };
        let mut guard = CallerGuard {
            cancel: Some(cancel.clone()),
        };
        let inner = Arc::clone(&self.inner);
        let run = self.inner.tasks.spawn(async move {
            let _live = live;
            oneshot::run_to_end(&inner, &request, events, cancel).await
        });
        let outcome = run.await;
        guard.cancel = None;
        outcome.unwrap_or_else(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a run's task failed"
            );
            let message = "the run's task failed; see the daemon's log".to_owned();
            Err(RunError::Unavailable { message })
        })
    }

    /// From now on takes no runs but those of a self-test, for this reason.
    pub fn refuse_all(&self, trouble: String) {
        self.inner.unproven.get_or_init(|| trouble);
    }

    /// Takes what a self-test found under a plan: `trouble` if a row was wrong, else none.
    pub fn note_plan(&self, plan_sha256: &str, trouble: Option<String>) {
        self.inner.known_wrong_mut().note_plan(plan_sha256, trouble);
    }

    /// Whether a self-test found a row wrong under this plan, and none since found it right.
    #[must_use]
    pub fn is_plan_wrong(&self, plan_sha256: &str) -> bool {
        self.inner.known_wrong_mut().is_plan_wrong(plan_sha256)
    }

    /// Takes what is wrong with policies in force, by their names.
    pub fn note_policies(&self, troubles: BTreeMap<String, String>) {
        self.inner.known_wrong_mut().policies = troubles;
    }

    /// How full it is.
    #[must_use]
    pub fn load(&self) -> Load {
        self.inner.admission.load()
    }

    /// The launcher it works with.
    #[must_use]
    pub fn launcher(&self) -> &LauncherLink {
        &self.inner.link
    }

    /// Waits until the launcher is gone: every run has ended as `sandbox_failed` then, and the
    /// daemon must stop.
    pub async fn launcher_gone(&self) {
        self.inner.link.gone().await;
    }

    /// Takes no more runs, lets the live ones end for at most `grace`, then cancels them.
    /// On return none is left; false if some had to be given up on.
    pub async fn drain(&self, grace: Duration) -> bool {
        self.inner.draining.cancel();
        self.inner.tasks.close();
        if tokio::time::timeout(grace, self.inner.tasks.wait())
            .await
            .is_ok()
        {
            return true;
        }
        for cancel in self.inner.live().values() {
            cancel.cancel("shutdown");
        }
        tokio::time::timeout(STOP_MAX, self.inner.tasks.wait())
            .await
            .is_ok()
    }
}

#[cfg(test)]
mod tests;
