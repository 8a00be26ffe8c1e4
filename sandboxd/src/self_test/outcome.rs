//! What a self-test found about one plan: kept, shown, and looked at before each run.
//!
//! It does not know how it was found.

use std::collections::BTreeMap;
use std::sync::Arc;

use probe::{BATTERY, Judged, Row, WITNESSED};
use serde::{Deserialize, Serialize};

/// Rows that a control's proof names; the others are counted.
const NAMED_MAX: usize = 3;

/// The answers of one plan, as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What it holds for: boot, kernel, mode, image, plan, programs and what they inherit, as one
    /// digest; empty if that is not known, and then nothing was tried.
    pub key: String,
    /// Digest of the plan, hexadecimal.
    pub plan_sha256: String,
    /// Grade of confinement: `root`, `rootless` or `landlock`.
    pub mode: String,
    /// Kernel release.
    pub kernel: String,
    /// The boot that it was found in.
    pub boot_id: String,
    /// When, in milliseconds since 1970.
    pub at_unix_ms: u64,
    /// Every row of the battery; empty if it could not be carried through.
    pub rows: Vec<Judged>,
    /// Why it could not be carried through; empty if it was.
    pub fault: String,
}

impl Outcome {
    /// Whether every row that was asked is right, and some were asked.
    #[must_use]
    pub fn is_right(&self) -> bool {
        let none_wrong = self.rows.iter().all(|row| row.right != Some(false));
        self.fault.is_empty() && none_wrong && self.count(Some(true)) > 0
    }

    /// Rows that came out so.
    #[must_use]
    pub fn count(&self, right: Option<bool>) -> usize {
        self.rows.iter().filter(|row| row.right == right).count()
    }

    /// The rows that are wrong.
    pub fn wrong(&self) -> impl Iterator<Item = &Judged> {
        self.rows.iter().filter(|row| row.right == Some(false))
    }

    /// The first thing that is wrong, in words; empty if nothing is.
    #[must_use]
    pub fn trouble(&self) -> String {
        let mut wrong = self.wrong();
        match wrong.next() {
            Some(row) => {
                let more = match wrong.count() {
                    0 => String::new(),
                    more => format!(", and {more} more rows are wrong"),
                };
                format!(
                    "probe `{}` ({}) found `{}`, expected `{}`{more}",
                    row.name, row.class, row.found, row.expected
                )
            }
            None if self.fault.is_empty() && self.is_right() => String::new(),
            None if self.fault.is_empty() => "no row of the battery was asked".to_owned(),
            // Without a key it was never begun.
            None if self.key.is_empty() => self.fault.clone(),
            None => format!("the probe could not be run to its end: {}", self.fault),
        }
    }
}

/// An outcome in use.
#[derive(Debug)]
pub struct Tested {
    /// It.
    pub outcome: Outcome,
    /// Whether it was found earlier in this boot, perhaps by another daemon.
    pub from_cache: bool,
    /// By name of a control, what a manifest says.
    proofs: BTreeMap<&'static str, String>,
}

impl Tested {
    /// Prepares an outcome for use.
    #[must_use]
    pub fn new(outcome: Outcome, from_cache: bool) -> Self {
        Self {
            proofs: proofs(&outcome),
            outcome,
            from_cache,
        }
    }

    /// Which rows show that a control holds, and when they did; empty if none does.
    #[must_use]
    pub fn proof_of(&self, control: &str) -> &str {
        self.proofs.get(control).map_or("", String::as_str)
    }
}

/// The row of the battery, or of what is seen from outside, by its name.
#[must_use]
pub fn row_of(name: &str) -> Option<&'static Row> {
    BATTERY.iter().chain(WITNESSED).find(|row| row.name == name)
}

/// The name that a manifest has for a lock of the launcher.
fn control(step: &'static str) -> &'static str {
    match step {
        "cgroup_memory" => "memory",
        "cgroup_pids" => "pids",
        "cgroup_cpu" => "cpu",
        "cgroup_devices" => "devices",
        other => other,
    }
}

fn proofs(outcome: &Outcome) -> BTreeMap<&'static str, String> {
    let mut rows: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
    for row in BATTERY.iter().chain(WITNESSED) {
        let shown = |judged: &Judged| judged.name == row.name && judged.right == Some(true);
        if outcome.rows.iter().any(shown) {
            for step in row.steps {
                rows.entry(control(step)).or_default().push(row.name);
            }
        }
    }
    let time = utc(outcome.at_unix_ms);
    let text = |names: &[&str]| {
        let named = names.get(..NAMED_MAX).unwrap_or(names).join(", ");
        match names.len().saturating_sub(NAMED_MAX) {
            0 => format!("{named} at {time}"),
            more => format!("{named} and {more} more at {time}"),
        }
    };
    rows.into_iter()
        .map(|(step, names)| (step, text(&names)))
        .collect()
}

/// What is known of the confinement under a policy.
#[derive(Debug, Clone, Default)]
pub enum Proof {
    /// Nothing: no self-test is made, or this very document was not part of one.
    #[default]
    None,
    /// This host or build cannot enforce the policy, and refuses its runs for that.
    NotPlanned(String),
    /// What a self-test found.
    Tested(Arc<Tested>),
}

impl Proof {
    /// The test, if there was one.
    #[must_use]
    pub fn tested(&self) -> Option<&Tested> {
        match self {
            Self::Tested(tested) => Some(tested),
            Self::None | Self::NotPlanned(_) => None,
        }
    }

    /// What is wrong with it, in words, if a self-test found anything wrong.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let outcome = &self.tested()?.outcome;
        (!outcome.is_right()).then(|| outcome.trouble())
    }
}

/// `2026-11-30T15:31:58Z`.
fn utc(unix_ms: u64) -> String {
    const DAY_SECONDS: u64 = 86_400;
    let seconds = unix_ms / 1000;
    let (year, month, day) = date_of(seconds / DAY_SECONDS);
    let (hour, minute, second) = (
        seconds % DAY_SECONDS / 3600,
        seconds / 60 % 60,
        seconds % 60,
    );
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a number of days since 1970, counted year by year and month by month.
fn date_of(mut days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
pub(in crate::self_test) mod tests;
