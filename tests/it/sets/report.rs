//! What came of the sets: a line for each, the differences by name, and which of them are explained.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Task, run, tests_of};
use crate::world::World;

/// Characters of a difference that are shown.
const SHOWN_MAX: usize = 700;

/// Differences that are not ours to mend, with the reason of each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explained {
    #[serde(default)]
    explained: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    set: String,
    /// Each exact, or a beginning followed by `*`.
    ids: Vec<String>,
    /// What it is judged to be.
    outcome: String,
    reason: String,
}

impl Explained {
    pub(super) fn read() -> Self {
        toml::from_str(include_str!("../../cases/sets.toml")).expect("sets.toml is right")
    }

    fn reason(&self, set: &str, id: &str, outcome: &str) -> Option<&str> {
        let fits = |entry: &&Entry| {
            let named = |name: &String| match name.strip_suffix('*') {
                Some(beginning) => id.starts_with(beginning),
                None => name == id,
            };
            entry.ids.iter().any(named) && entry.set == set && entry.outcome == outcome
        };
        self.explained
            .iter()
            .find(fits)
            .map(|entry| entry.reason.as_str())
    }
}

/// One set.
struct Row {
    set: String,
    judged: usize,
    agree: usize,
    explained: usize,
    cannot_cross: usize,
    seconds: f64,
}

/// All sets.
#[derive(Default)]
pub(super) struct Report {
    rows: Vec<Row>,
    differ: Vec<String>,
}

impl Report {
    /// Judges the tasks of a set and compares each with its truth.
    pub(super) fn judge(
        &mut self,
        world: &World,
        set: &str,
        tasks: &[Task],
        explained: &Explained,
    ) {
        let started = Instant::now();
        let lines: Vec<Value> = tasks
            .iter()
            .enumerate()
            .map(|(index, task)| {
                let mut line = task.line.clone();
                line["id"] = json!(format!("{set}-{index}"));
                line
            })
            .collect();
        let results = run(world, &lines);
        let mut row = Row {
            set: set.to_owned(),
            judged: tasks.len(),
            agree: 0,
            explained: 0,
            cannot_cross: 0,
            seconds: started.elapsed().as_secs_f64(),
        };
        for (index, task) in tasks.iter().enumerate() {
            let result = &results[&format!("{set}-{index}")];
            row.cannot_cross += usize::from(cannot_cross(result));
            let Some(difference) = task.truth.differs(result) else {
                row.agree += 1;
                continue;
            };
            let outcome = result["verdict"]["outcome"].as_str().unwrap_or("none");
            let shown: String = difference.chars().take(SHOWN_MAX).collect();
            if let Some(reason) = explained.reason(set, &task.id, outcome) {
                row.explained += 1;
                println!("EXPLAINED {set} {}: {outcome}: {reason}", task.id);
            } else {
                println!("DIFFERS {set} {}: {shown}", task.id);
                self.differ.push(format!("{set} {}: {shown}", task.id));
            }
        }
        println!("{}", shown(&row));
        self.rows.push(row);
    }

    /// The table; fails the test where a difference has no explanation.
    pub(super) fn close(self) {
        println!(
            "\n{:28} {:>7} {:>7} {:>9} {:>7} {:>12} {:>8}",
            "set", "judged", "agree", "explained", "differ", "cannot cross", "seconds"
        );
        for row in &self.rows {
            println!("{}", shown(row));
        }
        let count = self.differ.len();
        assert!(
            count == 0,
            "{count} differences:\n{}",
            self.differ.join("\n")
        );
    }
}

fn shown(row: &Row) -> String {
    let Row {
        set,
        judged,
        agree,
        explained,
        cannot_cross,
        seconds,
    } = row;
    let differ = judged - agree - explained;
    let share = 100.0 * *cannot_cross as f64 / *judged as f64;
    format!(
        "{set:28} {judged:>7} {agree:>7} {explained:>9} {differ:>7} {share:>10.2} % {seconds:>8.1}"
    )
}

/// Whether a test failed because a value does not go from one process to the other.
fn cannot_cross(result: &Value) -> bool {
    tests_of(&result["verdict"]).any(|test| {
        let message = test["message"].as_str().unwrap_or_default();
        message.contains("cannot cross")
    })
}
