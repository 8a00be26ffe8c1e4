//! Which rows noticed which lock: from what refusing daemons recorded, to text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use confine::mutation;
use serde_json::Value;

use super::mutant::Refused;

/// Rows that a line of the matrix names. How many others there are is not told: a record names at
/// most 16 wrong rows of a plan, so that their number over all plans is not known.
const NAMED_MAX: usize = 8;

/// What came of one lock switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noticed {
    /// Rows that gave a wrong answer, over all plans.
    rows: Vec<String>,
    /// Where no sandbox could be made: the step that failed.
    fault: Option<String>,
    refused: Refused,
}

impl Noticed {
    /// From the records of a daemon that has ended.
    pub(super) fn new(refused: Refused, records: &[Value]) -> Self {
        let tested = records.iter().filter(|one| one["event"] == "self_tested");
        let plans: Vec<&Value> = tested
            .flat_map(|one| one["data"]["plans"].as_array().into_iter().flatten())
            .collect();
        let mut rows: Vec<String> = Vec::new();
        for plan in &plans {
            for row in plan["wrong_rows"].as_array().into_iter().flatten() {
                let name = row["name"].as_str().expect("a name").to_owned();
                if !rows.contains(&name) {
                    rows.push(name);
                }
            }
        }
        let fault = plans.iter().find_map(|plan| plan["fault"].as_str());
        Self {
            rows,
            fault: fault.map(str::to_owned),
            refused,
        }
    }

    /// What is missing for a lock that counts as one.
    fn problem(&self, name: &str) -> Option<String> {
        let log = &self.refused.log;
        if self.refused.served {
            return Some(format!(
                "{name}: nobody noticed, and the daemon served\n{log}"
            ));
        }
        if self.rows.is_empty() && self.fault.is_none() {
            let code = self.refused.code;
            return Some(format!(
                "{name}: no row noticed; it ended with {code:?}\n{log}"
            ));
        }
        let last = log.lines().filter(|line| line.starts_with("sandboxd:"));
        let last = last.collect::<String>();
        let told = match &self.fault {
            Some(fault) if self.rows.is_empty() => last.contains(fault.as_str()),
            _ => self.rows.iter().any(|row| last.contains(row.as_str())),
        };
        if self.refused.code == Some(0) || !told {
            return Some(format!(
                "{name}: it ended with {:?} and names none of {:?}, {:?}\n{log}",
                self.refused.code, self.rows, self.fault
            ));
        }
        None
    }

    fn in_words(&self) -> String {
        let named = self.rows.iter().take(NAMED_MAX);
        let mut words: Vec<String> = named.map(|row| format!("`{row}`")).collect();
        if self.rows.len() > NAMED_MAX {
            words.push("and more".to_owned());
        }
        if let Some(fault) = &self.fault {
            words.push(format!("no start: {fault}"));
        }
        words.join(", ")
    }
}

/// All locks of one mode.
#[derive(Debug)]
pub(super) struct Matrix {
    mode: &'static str,
    rows: Vec<(String, Noticed)>,
}

impl Matrix {
    pub(super) fn new(mode: &'static str, rows: Vec<(&str, Noticed)>) -> Self {
        let rows = rows.into_iter();
        Self {
            mode,
            rows: rows.map(|(name, found)| (name.to_owned(), found)).collect(),
        }
    }

    /// Every lock that was not noticed, or not told of.
    pub(super) fn problems(&self) -> Vec<String> {
        let rows = self.rows.iter();
        rows.filter_map(|(name, found)| found.problem(name))
            .collect()
    }

    /// As a table.
    pub(super) fn text(&self) -> String {
        let weaker: BTreeMap<&str, &str> = mutation::all().into_iter().collect();
        let mut text = format!(
            "## {} mode\n\n| step or lock | switched off | noticed by |\n|---|---|---|\n",
            self.mode
        );
        for (name, found) in &self.rows {
            let what = weaker.get(name.as_str()).copied().unwrap_or_default();
            let line = writeln!(text, "| `{name}` | {what} | {} |", found.in_words());
            line.expect("write to memory");
        }
        text
    }

    /// Leaves the table where `./x locks` looks for it.
    pub(super) fn write(&self, folder: &Path) {
        let file = folder.join(format!("{}.md", self.mode));
        fs::write(file, self.text()).expect("write the matrix");
    }
}
