//! The self-test: the probe battery under every policy in force, on this host, with these programs.
//!
//! It runs as any request does, through the engine, and is judged from outside of the sandbox.
//! What follows from an outcome is decided where it is used: the daemon's start and reload, the
//! check of each run, the manifest.

mod battery;
pub mod cache;
mod outcome;
pub mod programs;
mod subject;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use audit::text::untrusted;
use audit::{Draft, Event, Source};
use confine::plan::Mode;
use futures::StreamExt as _;
use policies::Catalog;
use probe::{BATTERY, Setting, WITNESSED, expected};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use crate::policy_set::{PolicySet, Ready};
use crate::run::Engine;
use crate::run::record::AuditSink;
use crate::store::unix_ms;

use crate::telemetry::chain;

use cache::Cache;
pub use outcome::{Outcome, Proof, Tested, row_of};
use programs::ProgramsError;
use subject::{Subject, Subjects};

/// Under which name a set keeps the proof of the judge's own sandbox; no policy can have it.
pub const JUDGE: &str = "(judge)";
/// Subjects that are tested at once.
const AT_ONCE_MAX: usize = 4;
/// Wrong rows that a record names.
const RECORDED_ROWS_MAX: usize = 16;
/// Bytes of one text in a record.
const RECORDED_BYTES_MAX: usize = 512;

/// Why a self-test is made.
#[derive(Debug, Clone)]
pub enum Occasion {
    /// The daemon starts.
    Start,
    /// The policies are read again.
    Reload,
    /// This principal asks for it.
    Asked(String),
}

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Why.
    pub occasion: Occasion,
    /// Whether an outcome from before is not good enough.
    pub fresh: bool,
    /// Names of policies; none: all.
    pub names: BTreeSet<String>,
}

/// What a self-test is made of.
#[derive(Debug)]
pub struct Parts {
    /// Runs it.
    pub engine: Engine,
    /// Where its record goes.
    pub audit: Arc<dyn AuditSink>,
    /// The policy of the judge's sandbox.
    pub judge: Ready,
    /// Where right outcomes are kept.
    pub cache: Option<Cache>,
    /// Digest of the programs that confine, or why there is none.
    pub programs_sha256: Result<String, ProgramsError>,
    /// What the operator shows to all sandboxes beside the image.
    pub extra_read_paths: Vec<String>,
}

#[derive(Debug)]
struct Inner {
    parts: Parts,
    boot_id: String,
    /// One at a time.
    turn: Mutex<()>,
}

/// Why it cannot be said what an outcome would hold for.
#[derive(Debug, thiserror::Error)]
enum KeyFault<'a> {
    #[error("the programs that confine are not known: {0}")]
    Programs(&'a ProgramsError),
    #[error("this boot's id cannot be read from /proc")]
    Boot,
}

/// Makes self-tests. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SelfTest {
    inner: Arc<Inner>,
}

impl SelfTest {
    /// One that has not tested anything.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        // Without it nothing is kept or found: a key of its own for each daemon.
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let boot_id = boot_id.map(|id| id.trim().to_owned()).unwrap_or_default();
        let inner = Inner {
            parts,
            boot_id,
            turn: Mutex::new(()),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The boot that outcomes hold for.
    #[must_use]
    pub fn boot_id(&self) -> &str {
        &self.inner.boot_id
    }

    /// Gives the policies of `set` that are asked for their proofs, and records what was found.
    /// One at a time: `set` is asked for when it is this test's turn.
    ///
    /// # Errors
    /// The outcome cannot be recorded.
    pub async fn prove(
        &self,
        ask: &Ask,
        set: impl FnOnce() -> PolicySet,
        install: impl FnOnce(&PolicySet),
    ) -> Result<PolicySet, crate::run::record::AppendFailed> {
        let _turn = self.inner.turn.lock().await;
        let mut set = set();
        let host = self.inner.parts.engine.launcher().host();
        let judge = (JUDGE, &self.inner.parts.judge);
        let Subjects {
            mut all,
            not_planned,
        } = subject::of(&set, judge, (host, &self.inner.parts.extra_read_paths));
        if !ask.names.is_empty() {
            all.retain(|subject| subject.names.iter().any(|name| ask.names.contains(name)));
        }
        let at_once = if all.iter().any(|subject| subject.alone) {
            1
        } else {
            AT_ONCE_MAX
        };
        let tested: Vec<(Vec<String>, Arc<Tested>)> = futures::stream::iter(all)
            .map(|subject| self.tested(subject, ask.fresh))
            .buffered(at_once)
            .collect()
            .await;
        let record = record(ask, &tested, &not_planned);
        for (name, why) in not_planned {
            set.set_proof(&name, Proof::NotPlanned(why));
        }
        for (names, tested) in tested {
            for name in names {
                set.set_proof(&name, Proof::Tested(Arc::clone(&tested)));
            }
        }
        // First of all what is wrong is no longer served.
        install(&set);
        self.inner.parts.audit.append(record).await?;
        Ok(set)
    }

    async fn tested(&self, subject: Subject, fresh: bool) -> (Vec<String>, Arc<Tested>) {
        let parts = &self.inner.parts;
        let key = self.key(&subject);
        let cache = parts.cache.as_ref().zip(key.as_ref().ok());
        if !fresh
            && let Some((cache, key)) = cache
            && let Some(outcome) = cache.read(key)
        {
            return (subject.names, Arc::new(Tested::new(outcome, true)));
        }
        let tried = match &key {
            Ok(_) => battery::run(&parts.engine, &subject)
                .await
                .map_err(|fault| chain(&fault)),
            Err(fault) => Err(chain(fault)),
        };
        let (rows, fault) = match tried {
            Ok(rows) => (rows, String::new()),
            Err(fault) => (Vec::new(), fault),
        };
        let host = parts.engine.launcher().host();
        let outcome = Outcome {
            key: key.as_ref().map_or_else(|_| String::new(), String::clone),
            plan_sha256: subject.plan_sha256.clone(),
            mode: mode_name(host.mode).to_owned(),
            kernel: host.kernel_release.clone(),
            boot_id: self.inner.boot_id.clone(),
            at_unix_ms: unix_ms(),
            rows,
            fault,
        };
        if let Some((cache, key)) = cache {
            if outcome.is_right() {
                cache.keep(&outcome);
            } else {
                cache.forget(key);
            }
        }
        (subject.names, Arc::new(Tested::new(outcome, false)))
    }

    /// What an outcome holds for. All that confines is in it: what the daemon itself adds is the
    /// plan, and what it judges by is the right answers.
    fn key(&self, subject: &Subject) -> Result<String, KeyFault<'_>> {
        let link = self.inner.parts.engine.launcher();
        let programs = self.inner.parts.programs_sha256.as_ref();
        let programs = programs.map_err(KeyFault::Programs)?;
        if self.inner.boot_id.is_empty() {
            return Err(KeyFault::Boot);
        }
        let host = link.host();
        let parts = json!([
            "rollcage self-test 1",
            self.inner.boot_id,
            host.kernel_release,
            mode_name(host.mode),
            format!("{:?}", host.cgroups),
            link.image_sha256(),
            subject.plan_sha256,
            programs,
            expectations(&subject.setting),
        ]);
        Ok(hex::encode(Sha256::digest(parts.to_string().as_bytes())))
    }
}

/// The right answers of every row, in words.
fn expectations(setting: &Setting) -> Vec<String> {
    let rows = BATTERY.iter().chain(WITNESSED);
    rows.map(|row| format!("{} {} {}", row.name, row.class, expected(row, setting)))
        .collect()
}

/// Name of a grade of confinement, as the contract has it.
#[must_use]
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Root => "root",
        Mode::Rootless => "rootless",
        Mode::Landlock => "landlock",
    }
}

/// Why a daemon must not serve this set, in words: a built-in policy or the judge's sandbox gave a
/// wrong answer, or no policy gave right ones.
#[must_use]
pub fn stops_start(set: &PolicySet) -> Option<String> {
    let own = Catalog::builtin();
    let built_in = |name: &str| own.as_ref().is_ok_and(|own| own.get(name).is_some());
    let wrong: Vec<(String, String)> = troubles(set).collect();
    // A policy that the operator knows by name before the judge's own.
    let named = wrong.iter().find(|(name, _)| name != JUDGE);
    let (first, trouble) = named.or_else(|| wrong.first())?;
    let is_base = wrong
        .iter()
        .any(|(name, _)| name == JUDGE || built_in(name));
    let some_right = set
        .proofs()
        .any(|(_, proof)| proof.tested().is_some_and(|one| one.outcome.is_right()));
    (is_base || !some_right).then(|| format!("policy {first}: {trouble}"))
}

/// Every policy that a self-test found wrong, and what is wrong.
pub fn troubles(set: &PolicySet) -> impl Iterator<Item = (String, String)> {
    set.proofs()
        .filter_map(|(name, proof)| Some((name.to_owned(), proof.trouble()?)))
}

fn record(
    ask: &Ask,
    tested: &[(Vec<String>, Arc<Tested>)],
    not_planned: &BTreeMap<String, String>,
) -> Draft {
    let text = |text: &str| untrusted(text.as_bytes(), RECORDED_BYTES_MAX);
    let (occasion, by) = match &ask.occasion {
        Occasion::Start => ("start", None),
        Occasion::Reload => ("reload", None),
        Occasion::Asked(principal) => ("asked", Some(principal.clone())),
    };
    let plan = |(names, tested): &(Vec<String>, Arc<Tested>)| {
        let outcome = &tested.outcome;
        let wrong = outcome.wrong().take(RECORDED_ROWS_MAX).map(|row| {
            json!({
                "name": text(&row.name), "class": row.class.name(),
                "found": text(&row.found), "expected": text(&row.expected),
            })
        });
        let mut value = json!({
            "policies": names,
            "plan_sha256": outcome.plan_sha256,
            "at_unix_ms": outcome.at_unix_ms,
            "from_cache": tested.from_cache,
            "right": outcome.count(Some(true)),
            "wrong": outcome.count(Some(false)),
            "not_asked": outcome.count(None),
            "wrong_rows": wrong.collect::<Vec<_>>(),
        });
        if !outcome.fault.is_empty() {
            value["fault"] = text(&outcome.fault);
        }
        value
    };
    let refused: BTreeMap<&str, Value> = not_planned
        .iter()
        .map(|(name, why)| (name.as_str(), text(why)))
        .collect();
    let mut draft = Draft::new(Event::SelfTested, Source::Api);
    draft.principal = by;
    draft
        .with("occasion", occasion)
        .with("plans", tested.iter().map(plan).collect::<Vec<_>>())
        .with("not_planned", json!(refused))
}

#[cfg(test)]
mod tests;
