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
use crate::run::record::{AppendFailed, AuditSink};
use crate::store::unix_ms;

use crate::telemetry::chain;

use cache::Cache;
pub use outcome::{Outcome, Proof, Tested, row_of};
use programs::ProgramsError;
pub use subject::plan_sha256;
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
    /// What they inherit from whoever starts the daemon, or why it is not known.
    pub inherited: Result<String, ProgramsError>,
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
    #[error("the programs that confine are not known: {}", chain(.0))]
    Programs(&'a ProgramsError),
    #[error("what the programs inherit is not known: {0}")]
    Inherited(&'a ProgramsError),
    #[error("this boot's id cannot be read from /proc")]
    Boot,
}

/// Why a self-test that was asked for has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// It cannot be recorded.
    #[error("record the self-test")]
    Unrecorded(#[source] AppendFailed),
    /// A probe did not come to an answer.
    #[error(
        "no fresh outcome for policy {policy}, what was found before stays in force: {why}; try \
         again"
    )]
    NotAnswered {
        /// The first policy.
        policy: String,
        /// Why.
        why: String,
    },
    /// The test's own task failed.
    #[error("the task of the self-test")]
    Task(#[source] tokio::task::JoinError),
}

/// What became of one subject.
#[derive(Debug)]
struct Found {
    names: Vec<String>,
    tested: Arc<Tested>,
    /// Whether the probe came to an answer, right or wrong.
    answered: bool,
}

/// Puts down what was found. With `keep` a policy without an answer keeps what it had, and the
/// first such is told.
fn put_down(set: &mut PolicySet, found: Vec<Found>, keep: bool) -> Option<ProveError> {
    let mut unanswered = None;
    for one in found {
        if keep && !one.answered {
            unanswered.get_or_insert_with(|| ProveError::NotAnswered {
                policy: one.names.first().cloned().unwrap_or_default(),
                why: one.tested.outcome.fault.clone(),
            });
            continue;
        }
        for name in one.names {
            set.set_proof(&name, Proof::Tested(Arc::clone(&one.tested)));
        }
    }
    unanswered
}

/// Gives policies of `set` what is known in `before` of their plans; what is wrong first.
fn take_over(set: &mut PolicySet, before: &PolicySet, plans: &[(Vec<String>, String)]) {
    for (names, plan_sha256) in plans {
        let known = before.proofs().filter(|(_, proof)| {
            let tested = proof.tested();
            tested.is_some_and(|one| &one.outcome.plan_sha256 == plan_sha256)
        });
        let known: Vec<&Proof> = known.map(|(_, proof)| proof).collect();
        let wrong = known.iter().find(|proof| proof.trouble().is_some());
        if let Some(proof) = wrong.or(known.first()) {
            for name in names {
                set.set_proof(name, Proof::clone(proof));
            }
        }
    }
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

    /// The engine that it runs in.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.inner.parts.engine
    }

    /// Gives the policies of `set` that are asked for their proofs, and records what was found.
    /// One at a time: `set` is asked for when it is this test's turn.
    ///
    /// Where a probe did not come to an answer, its policy is as before if somebody asked: a host
    /// that is busy is not one that does not hold. At a start and a reload there is no before.
    ///
    /// # Errors
    /// The outcome cannot be recorded, or a probe somebody asked for did not come to an answer.
    pub async fn prove(
        &self,
        ask: &Ask,
        set: impl FnOnce() -> PolicySet,
        install: impl FnOnce(&PolicySet),
    ) -> Result<PolicySet, ProveError> {
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
        let tested: Vec<Found> = futures::stream::iter(all)
            .map(|subject| self.tested(subject, ask.fresh))
            .buffered(at_once)
            .collect()
            .await;
        let record = record(ask, &tested, &not_planned);
        for Found { tested, .. } in tested.iter().filter(|one| one.answered) {
            let outcome = &tested.outcome;
            let is_wrong = outcome.wrong().next().is_some();
            // Runs that wait already, and documents with the same plan.
            if is_wrong || outcome.is_right() {
                let trouble = is_wrong.then(|| outcome.trouble());
                self.engine().note_plan(&outcome.plan_sha256, trouble);
            }
        }
        for (name, why) in not_planned {
            set.set_proof(&name, Proof::NotPlanned(why));
        }
        let unanswered = put_down(&mut set, tested, matches!(ask.occasion, Occasion::Asked(_)));
        // First of all what is wrong is no longer served.
        install(&set);
        let recorded = self.inner.parts.audit.append(record).await;
        recorded.map_err(ProveError::Unrecorded)?;
        unanswered.map_or(Ok(set), Err)
    }

    /// Puts other policies in force without a test, not while one goes on: it would put those it
    /// began with back. What is known of a plan is known of it in the new set too.
    pub async fn replace(
        &self,
        set: PolicySet,
        before: impl FnOnce() -> Arc<PolicySet>,
        install: impl FnOnce(PolicySet),
    ) {
        let _turn = self.inner.turn.lock().await;
        let mut set = set;
        let host = self.inner.parts.engine.launcher().host();
        let judge = (JUDGE, &self.inner.parts.judge);
        let subjects = subject::of(&set, judge, (host, &self.inner.parts.extra_read_paths));
        let plans = subjects.all.into_iter();
        let plans: Vec<_> = plans
            .map(|subject| (subject.names, subject.plan_sha256))
            .collect();
        take_over(&mut set, &before(), &plans);
        install(set);
    }

    async fn tested(&self, subject: Subject, fresh: bool) -> Found {
        let parts = &self.inner.parts;
        let key = self.key(&subject);
        let cache = parts.cache.as_ref().zip(key.as_ref().ok());
        // What was wrong here is not right because another daemon once found it so.
        let fresh = fresh || parts.engine.is_plan_wrong(&subject.plan_sha256);
        if !fresh
            && let Some((cache, key)) = cache
            && let Some(outcome) = cache.read(key)
        {
            return Found {
                names: subject.names,
                tested: Arc::new(Tested::new(outcome, true)),
                answered: true,
            };
        }
        let tried = match &key {
            Ok(_) => battery::run(&parts.engine, &subject)
                .await
                .map_err(|fault| (chain(&fault), fault.is_answer())),
            Err(fault) => Err((chain(fault), false)),
        };
        let (rows, fault, answered) = match tried {
            Ok(rows) => (rows, String::new(), true),
            Err((fault, answered)) => (Vec::new(), fault, answered),
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
            } else if answered {
                cache.forget(key);
            }
        }
        Found {
            names: subject.names,
            tested: Arc::new(Tested::new(outcome, false)),
            answered,
        }
    }

    /// What an outcome holds for. All that confines is in it: what the daemon itself adds is the
    /// plan, and what it judges by is the right answers.
    fn key(&self, subject: &Subject) -> Result<String, KeyFault<'_>> {
        let link = self.inner.parts.engine.launcher();
        let programs = self.inner.parts.programs_sha256.as_ref();
        let programs = programs.map_err(KeyFault::Programs)?;
        let inherited = self.inner.parts.inherited.as_ref();
        let inherited = inherited.map_err(KeyFault::Inherited)?;
        if self.inner.boot_id.is_empty() {
            return Err(KeyFault::Boot);
        }
        let host = link.host();
        let parts = json!([
            "rollcage self-test 2",
            self.inner.boot_id,
            host.kernel_release,
            mode_name(host.mode),
            format!("{:?}", host.cgroups),
            link.image_sha256(),
            subject.plan_sha256,
            programs,
            inherited,
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

/// As [`troubles`], but policies with the same trouble, such as those of one plan, together: their
/// names in one text.
#[must_use]
pub fn troubles_together(set: &PolicySet) -> Vec<(String, String)> {
    let mut together: Vec<(String, String)> = Vec::new();
    for (name, trouble) in troubles(set) {
        match together.iter_mut().find(|(_, known)| *known == trouble) {
            Some((names, _)) => names.push_str(&format!(", {name}")),
            None => together.push((name, trouble)),
        }
    }
    together
}

/// Every policy that a self-test found wrong, and what is wrong.
pub fn troubles(set: &PolicySet) -> impl Iterator<Item = (String, String)> {
    set.proofs()
        .filter_map(|(name, proof)| Some((name.to_owned(), proof.trouble()?)))
}

fn record(ask: &Ask, tested: &[Found], not_planned: &BTreeMap<String, String>) -> Draft {
    let text = |text: &str| untrusted(text.as_bytes(), RECORDED_BYTES_MAX);
    let (occasion, by) = match &ask.occasion {
        Occasion::Start => ("start", None),
        Occasion::Reload => ("reload", None),
        Occasion::Asked(principal) => ("asked", Some(principal.clone())),
    };
    let plan = |Found { names, tested, .. }: &Found| {
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
