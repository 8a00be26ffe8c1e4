//! How a task was judged: outcome, reward and the evidence for both.
//! An absent reward has no way to become a number: reward and outcome are private and only
//! the constructors of [`Verdict`] and [`Verdict::withheld`] set them, together.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contention::Contention;

/// The verdict's outcome: a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was required passed, on our own evidence.
    Passed,
    /// The solution is wrong.
    Failed,
    /// The solution does not compile or parse.
    CompileError,
    /// Wall or processor time was up.
    Timeout,
    /// The kernel killed something of the solution for lack of memory.
    OutOfMemory,
    /// The policy killed it.
    PolicyViolation,
    /// It wrote too much.
    OutputLimit,
    /// No test was seen to run.
    NoTests,
    /// It touched the test harness, and the request says that this is judged as such.
    Tampered,
    /// The verifier itself is broken: says nothing about the solution.
    VerifierError,
    /// Ours or the host's fault: says nothing about the solution.
    InfraError,
    /// No verification was asked.
    Unjudged,
}

impl Outcome {
    /// All outcomes, in declaration order.
    pub const ALL: [Self; 12] = [
        Self::Passed,
        Self::Failed,
        Self::CompileError,
        Self::Timeout,
        Self::OutOfMemory,
        Self::PolicyViolation,
        Self::OutputLimit,
        Self::NoTests,
        Self::Tampered,
        Self::VerifierError,
        Self::InfraError,
        Self::Unjudged,
    ];

    /// Whether this outcome says something about the solution, so that it may be rewarded.
    #[must_use]
    pub fn scorable(self) -> bool {
        !matches!(
            self,
            Self::VerifierError | Self::InfraError | Self::Unjudged
        )
    }

    /// The reward of this outcome when the whole counts; `None` where there is none to give.
    fn reward(self) -> Option<f64> {
        match self {
            Self::Passed => Some(1.0),
            Self::VerifierError | Self::InfraError | Self::Unjudged => None,
            _ => Some(0.0),
        }
    }
}

/// State of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// It ran and passed.
    Passed,
    /// It ran and an assertion did not hold.
    Failed,
    /// It ran and something else was raised.
    Error,
    /// It did not run.
    Skipped,
    /// It ran and failed, as its author expects.
    Xfail,
    /// It ran and passed although its author expects a failure.
    Xpass,
    /// Its own time was up.
    Timeout,
    /// It is required, and nothing was reported of it.
    Missing,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: TestStatus,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// Why it did not pass; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The file it failed in; empty where not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line it failed at, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note.
    Note,
}

/// One message of a compiler, interpreter or checker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Which tool says it.
    pub tool: String,
    /// How bad.
    pub severity: Severity,
    /// The tool's code for it, for example `SyntaxError`; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The message.
    pub message: String,
    /// The file; empty where not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

/// Something of the harness that the solution touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TamperNote {
    /// The path, or the name in the interpreter.
    pub path: String,
    /// What was done to it.
    pub what: String,
}

/// Whether solution and judge shared a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Another sandbox: nothing of the solution ran where the verdict was made.
    #[default]
    Separate,
    /// The same process: the solution could have forged the report.
    Shared,
}

/// What repetitions of one verification came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Flake {
    /// How often it was done.
    pub runs: u32,
    /// How often it passed.
    pub passed: u32,
    /// Tests that did not always end alike.
    pub test_ids: Vec<String>,
}

/// What the verdict depends on: digests in lower-case hexadecimal, and the host's part in a timeout.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The image.
    pub image_sha256: String,
    /// Whether the image's digest names its packages and paths only, not every byte.
    pub image_unpinned: bool,
    /// The policy in canonical form.
    pub policy_sha256: String,
    /// The solution's files, see [`crate::digest::inputs_sha256`].
    pub inputs_sha256: String,
    /// The tests, see [`crate::digest::tests_sha256`].
    pub tests_sha256: String,
    /// The programs of the judge, see [`crate::digest::verifier_sha256`].
    pub verifier_sha256: String,
    /// Whether solution and judge shared a process.
    pub isolation: Isolation,
    /// The host's part in a timeout; only where a time limit ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention: Option<Contention>,
    /// What repetitions came to; only where more than one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flake: Option<Flake>,
}

/// End of the name of a metric that is the reward of a part.
pub(crate) const PART_REWARD: &str = ".reward";

/// How the task was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenVerdict", into = "WrittenVerdict")]
pub struct Verdict {
    outcome: Outcome,
    reward: Option<f64>,
    /// Why, in words; empty for a plain pass.
    pub reason: String,
    /// The tests.
    pub tests: Vec<TestResult>,
    /// Messages of compilers and checkers.
    pub diagnostics: Vec<Diagnostic>,
    /// What of the harness was touched.
    pub tamper: Vec<TamperNote>,
    /// Digests of what the verdict depends on.
    pub evidence: Evidence,
    /// Measures: coverage, leaks, lint errors.
    pub metrics: BTreeMap<String, f64>,
}

impl Verdict {
    /// A verdict whose reward follows from its outcome: passed 1; infra_error, verifier_error and
    /// unjudged none; the rest 0.
    pub fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reward: outcome.reward(),
            reason: reason.into(),
            tests: Vec::new(),
            diagnostics: Vec::new(),
            tamper: Vec::new(),
            evidence: Evidence::default(),
            metrics: BTreeMap::new(),
        }
    }

    /// A pass that counts for a share (0 to 1) of a weighted whole.
    ///
    /// # Errors
    /// [`InvalidVerdict::Share`] if `share` is not a number from 0 to 1.
    pub fn passed_share(share: f64, reason: impl Into<String>) -> Result<Self, InvalidVerdict> {
        if !(0.0..=1.0).contains(&share) {
            return Err(InvalidVerdict::Share { share });
        }
        let mut verdict = Self::new(Outcome::Passed, reason);
        verdict.reward = Some(share);
        Ok(verdict)
    }

    /// A failure that counts for a share (0 or more, below 1): partial credit.
    ///
    /// # Errors
    /// [`InvalidVerdict::Share`] if `share` is no such number.
    pub fn failed_share(share: f64, reason: impl Into<String>) -> Result<Self, InvalidVerdict> {
        if !(0.0..1.0).contains(&share) {
            return Err(InvalidVerdict::Share { share });
        }
        let mut verdict = Self::new(Outcome::Failed, reason);
        verdict.reward = Some(share);
        Ok(verdict)
    }

    /// The same outcome without a reward: solution and tests shared a process, and the policy
    /// lets no such verdict earn one. What has no reward anyway stays as it is.
    #[must_use]
    pub fn withheld(mut self, why: &str) -> Self {
        if self.reward.take().is_some() {
            let reason = std::mem::take(&mut self.reason);
            let between = if reason.is_empty() { "" } else { "; " };
            self.reason = format!("{reason}{between}{why}");
        }
        // Nor do those of its parts, where it is a combination.
        self.metrics.retain(|name, _| !name.ends_with(PART_REWARD));
        self.evidence.isolation = Isolation::Shared;
        self
    }

    /// No verification was asked.
    #[must_use]
    pub fn unjudged() -> Self {
        Self::new(Outcome::Unjudged, "")
    }

    /// The outcome.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The reward from 0 to 1; `None` means that there is none, which is not 0.
    #[must_use]
    pub fn reward(&self) -> Option<f64> {
        self.reward
    }

    /// Whether there is a reward.
    #[must_use]
    pub fn scorable(&self) -> bool {
        self.reward.is_some()
    }
}

/// A written verdict that contradicts itself.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidVerdict {
    /// The share is not from 0 to 1.
    #[error("share {share} is not a number from 0 to 1, below 1 for a failure")]
    Share {
        /// The value.
        share: f64,
    },
    /// The reward does not follow from the outcome.
    #[error("outcome {outcome:?} cannot have reward {reward:?}")]
    Reward {
        /// The outcome.
        outcome: Outcome,
        /// The reward.
        reward: Option<f64>,
    },
    /// `scorable` contradicts the reward.
    #[error("scorable is {scorable} but reward is {reward:?}")]
    Scorable {
        /// The flag.
        scorable: bool,
        /// The reward.
        reward: Option<f64>,
    },
}

/// The JSON form.
#[derive(Clone, Serialize, Deserialize)]
struct WrittenVerdict {
    outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scorable: Option<bool>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    tests: Vec<TestResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Diagnostic>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tamper: Vec<TamperNote>,
    #[serde(default)]
    evidence: Evidence,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<String, f64>,
}

impl From<Verdict> for WrittenVerdict {
    fn from(verdict: Verdict) -> Self {
        Self {
            outcome: verdict.outcome,
            reward: verdict.reward,
            scorable: Some(verdict.scorable()),
            reason: verdict.reason,
            tests: verdict.tests,
            diagnostics: verdict.diagnostics,
            tamper: verdict.tamper,
            evidence: verdict.evidence,
            metrics: verdict.metrics,
        }
    }
}

impl TryFrom<WrittenVerdict> for Verdict {
    type Error = InvalidVerdict;

    fn try_from(written: WrittenVerdict) -> Result<Self, InvalidVerdict> {
        let WrittenVerdict {
            outcome, reward, ..
        } = written;
        let follows = match (outcome, reward) {
            (Outcome::Passed, Some(share)) => (0.0..=1.0).contains(&share),
            (Outcome::Failed, Some(share)) => (0.0..1.0).contains(&share),
            // Withheld.
            (outcome, None) if outcome.scorable() => {
                written.evidence.isolation == Isolation::Shared
            }
            _ => reward == outcome.reward(),
        };
        if !follows {
            return Err(InvalidVerdict::Reward { outcome, reward });
        }
        if let Some(scorable) = written.scorable
            && scorable != reward.is_some()
        {
            return Err(InvalidVerdict::Scorable { scorable, reward });
        }
        Ok(Self {
            outcome,
            reward,
            reason: written.reason,
            tests: written.tests,
            diagnostics: written.diagnostics,
            tamper: written.tamper,
            evidence: written.evidence,
            metrics: written.metrics,
        })
    }
}
