//! Findings against expectations: every row of the battery gets a judgement, also those that were
//! not told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BATTERY, Class, Expectation, Finding, Row, Setting, expected, row_named};

/// What is found where a row was not told.
pub const MISSING: &str = "missing";

/// One row, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The row's name.
    pub name: String,
    /// What is lost if it works.
    pub class: Class,
    /// What came of it; [`MISSING`] if it was not told.
    pub found: String,
    /// The right answers, in words.
    pub expected: String,
    /// Whether it is right; `None` = not asked in this setting.
    pub right: Option<bool>,
}

/// Judges the findings of one run of the whole battery: all rows but those that need a run of
/// their own. A row that was not told is wrong; so is a finding of no such row.
#[must_use]
pub fn judge(findings: &[Finding], setting: &Setting) -> Vec<Judged> {
    let told: BTreeMap<&str, &str> = findings
        .iter()
        .map(|finding| (finding.name.as_str(), finding.result.as_str()))
        .collect();
    let mut all: Vec<Judged> = BATTERY
        .iter()
        .filter(|row| !row.alone)
        .map(|row| judge_row(row, told.get(row.name).copied(), setting))
        .collect();
    let unknown = findings
        .iter()
        .filter(|finding| row_named(&finding.name).is_none_or(|row| row.alone));
    all.extend(unknown.map(|finding| Judged {
        name: finding.name.clone(),
        class: Class::Escape,
        found: finding.result.clone(),
        expected: "no such row in this run".to_owned(),
        right: Some(false),
    }));
    all
}

/// Judges one row; `None` if it was not told.
#[must_use]
pub fn judge_row(row: &Row, found: Option<&str>, setting: &Setting) -> Judged {
    let expectation = expected(row, setting);
    let right = match (&expectation, found) {
        (Expectation::NotAsked(_), _) => None,
        (_, None) => Some(false),
        (_, Some(result)) => expectation.allows(result),
    };
    Judged {
        name: row.name.to_owned(),
        class: row.class,
        found: found.unwrap_or(MISSING).to_owned(),
        expected: expectation.to_string(),
        right,
    }
}

#[cfg(test)]
mod tests;
