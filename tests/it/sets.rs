//! Whole data sets of other people's programs, judged and compared with their measured truth. The
//! tests judge a sample of each; `./x sets` judges all, or the sets that `ROLLCAGE_SETS` names.
//! A difference is explained in `tests/cases/sets.toml`, or it fails the test.

mod cruxeval;
mod exercism;
mod languages;
mod python;
mod quixbugs;
mod report;
mod repositories;
mod scripts;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::data::{data_dir, text};
use crate::skips;
use crate::tools;
use crate::world::{World, speak_within};
use report::{Explained, Report};

/// Names the sets to judge whole: names with commas between, or `all`.
const CHOICE: &str = "ROLLCAGE_SETS";
/// Verdicts of kinds that share a process may earn under it.
const POLICY: &str = "task";
/// Repositories that the tests prove.
const REPOSITORIES_SAMPLE: usize = 2;
/// A whole set may take long on a slow machine.
const BATCH_MAX: Duration = Duration::from_secs(3600);

/// One program to judge.
struct Task {
    /// As in the table of truths.
    id: String,
    /// Its request, without an id.
    line: Value,
    truth: Truth,
}

/// What must come of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Truth {
    Passed,
    /// Judged, and not passed, in whatever way.
    NotPassed,
    /// It never ends.
    Timeout,
    /// Not passed, with as many tests that did not.
    Failing(usize),
    /// Test by test, whether it passes.
    Tests(BTreeMap<String, bool>),
}

impl Truth {
    /// From the table's own word.
    fn of(word: &str) -> Self {
        if word == "pass" {
            Self::Passed
        } else {
            Self::NotPassed
        }
    }

    /// Why a result differs from it; `None`: it does not.
    fn differs(&self, result: &Value) -> Option<String> {
        let verdict = &result["verdict"];
        let outcome = verdict["outcome"].as_str().unwrap_or("none");
        let own_fault = [
            "failed",
            "compile_error",
            "timeout",
            "out_of_memory",
            "output_limit",
            "no_tests",
        ];
        let holds = match self {
            Self::Passed => outcome == "passed",
            Self::NotPassed => own_fault.contains(&outcome),
            Self::Timeout => outcome == "timeout",
            Self::Failing(count) => own_fault.contains(&outcome) && not_passed(verdict) == *count,
            Self::Tests(tests) => tests.iter().all(|(id, passes)| {
                let status = status_of(verdict, id);
                status.is_some_and(|status| (status == "passed") == *passes)
            }),
        };
        (!holds).then(|| {
            format!(
                "{outcome}, expected {self:?}; {}; tests {}; ending {}; error {}",
                verdict["reason"], verdict["tests"], result["ending"], result["error"]["message"]
            )
        })
    }
}

fn tests_of(verdict: &Value) -> impl Iterator<Item = &Value> {
    verdict["tests"].as_array().into_iter().flatten()
}

fn not_passed(verdict: &Value) -> usize {
    tests_of(verdict)
        .filter(|test| !matches!(test["status"].as_str(), Some("passed" | "skipped")))
        .count()
}

fn status_of<'a>(verdict: &'a Value, id: &str) -> Option<&'a str> {
    tests_of(verdict)
        .find(|test| test["id"] == id)
        .and_then(|test| test["status"].as_str())
}

/// One data set.
struct Set {
    name: &'static str,
    /// How many tasks of it the tests judge; 0: none.
    sample: usize,
    /// Tools and files without which it cannot be judged.
    needs: &'static [&'static str],
    load: fn() -> Option<Vec<Task>>,
}

const fn set(name: &'static str, sample: usize, load: fn() -> Option<Vec<Task>>) -> Set {
    Set {
        name,
        sample,
        needs: &[],
        load,
    }
}

impl Set {
    const fn with(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }
}

/// All sets that are judged by requests of their own.
fn sets() -> Vec<Set> {
    let mut sets = vec![
        set("humaneval", 0, python::humaneval),
        set("mbpp_sanitized", 0, python::mbpp_sanitized),
        set("mbpp_full", 12, python::mbpp_full),
        set("mbpp_plus", 12, python::mbpp_plus),
        set("cruxeval", 12, cruxeval::cruxeval),
        set("llm_cruxeval_generations", 8, cruxeval::generations),
    ];
    sets.extend(languages::sets());
    sets.extend(scripts::sets());
    sets.extend(exercism::sets());
    sets.push(
        set("quixbugs", 8, quixbugs::quixbugs).with(&["/usr/lib/python3/dist-packages/pytest"]),
    );
    sets
}

/// What `ROLLCAGE_SETS` chooses: everything of some sets, or a sample of all.
enum Choice {
    Sample,
    Whole(Vec<String>),
}

impl Choice {
    fn read() -> Self {
        match std::env::var(CHOICE) {
            Ok(names) => Self::Whole(names.split(',').map(str::to_owned).collect()),
            Err(_unset) => Self::Sample,
        }
    }

    fn takes(&self, name: &str) -> bool {
        match self {
            Self::Sample => true,
            Self::Whole(names) => names.iter().any(|chosen| chosen == "all" || chosen == name),
        }
    }

    /// The tasks to judge: all, or some from all over the set.
    fn of(&self, mut tasks: Vec<Task>, sample: usize) -> Vec<Task> {
        if matches!(self, Self::Sample) {
            let step = tasks.len().div_ceil(sample.max(1)).max(1);
            let mut index = 0;
            tasks.retain(|_| {
                index += 1;
                sample > 0 && (index - 1) % step == 0
            });
        }
        tasks
    }
}

#[test]
fn data_sets_agree_with_their_truth() {
    const TEST: &str = "sets::data_sets_agree_with_their_truth";
    let choice = Choice::read();
    let sets: Vec<Set> = sets()
        .into_iter()
        .filter(|set| choice.takes(set.name))
        .collect();
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let explained = Explained::read();
    let mut report = Report::default();
    for set in sets {
        let skipped = format!("{TEST}/{}", set.name);
        if !set.needs.iter().all(|file| needed(&skipped, file)) {
            continue;
        }
        let Some(tasks) = (set.load)() else {
            skips::skip(&skipped, "the data set lies beside the checkout, not in it");
            continue;
        };
        let tasks = choice.of(tasks, set.sample);
        if !tasks.is_empty() {
            report.judge(&world, set.name, &tasks, &explained);
        }
    }
    report.close();
}

#[test]
fn repositories_are_proved_by_rollcage_grade() {
    const TEST: &str = "sets::repositories_are_proved_by_rollcage_grade";
    let choice = Choice::read();
    let needs = [
        "pytest/bin/python3",
        "/usr/lib/python3/dist-packages/pytest_mock",
    ];
    if !choice.takes("repo_bugs") || !needs.iter().all(|file| needed(TEST, file)) {
        return;
    }
    let Some(mut folders) = repositories::folders() else {
        skips::skip(TEST, "the data set lies beside the checkout, not in it");
        return;
    };
    if matches!(choice, Choice::Sample) {
        folders.truncate(REPOSITORIES_SAMPLE);
    }
    if let Some(world) = tools::world(TEST) {
        repositories::prove(&world, &folders);
    }
}

/// A file of the host, or a tool below the folder of tools.
fn needed(test: &str, file: &str) -> bool {
    if file.starts_with('/') {
        skips::has_file(test, file)
    } else {
        tools::tool(test, file).is_some()
    }
}

/// Runs requests through `rollcage batch`; results by id.
fn run(world: &World, lines: &[Value]) -> BTreeMap<String, Value> {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut command = world.rollcage();
    command.arg("batch");
    let spoken = speak_within(&mut command, lines.as_bytes(), BATCH_MAX);
    spoken.ended(0);
    let text = spoken.stdout();
    let results = text.lines().map(|line| {
        let result: Value = serde_json::from_str(line).expect("a result is JSON");
        (result["id"].as_str().expect("an id").to_owned(), result)
    });
    results.collect()
}

/// Lines of a set's file, plain or gzipped; `None`: it is not there.
fn lines(set: &str, file: &str) -> Option<Vec<Value>> {
    let file = File::open(data_dir().join(set).join(file)).ok()?;
    let mut content = Vec::new();
    let mut file = std::io::BufReader::new(file);
    file.read_to_end(&mut content).expect("read a data set");
    if content.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut gzip = flate2::read::MultiGzDecoder::new(content.as_slice());
        gzip.read_to_end(&mut plain).expect("unzip a data set");
        content = plain;
    }
    let content = String::from_utf8(content).expect("a data set is text");
    Some(content.lines().map(parse).collect())
}

/// Python writes numbers that JSON has no word for; nobody here reads them.
fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_not_json| {
        let line = line
            .replace("-Infinity", "null")
            .replace("Infinity", "null");
        let line = line.replace("NaN", "null");
        serde_json::from_str(&line).expect("a data set is JSON lines")
    })
}

/// The table of truths of a set: the word for each id, and the note.
fn truths(set: &str, table: &str) -> Option<BTreeMap<String, (String, String)>> {
    let path = data_dir()
        .join(set)
        .join(format!("GROUND_TRUTH.{table}.tsv"));
    let content = std::fs::read_to_string(path).ok()?;
    let rows = content.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let note = cells.last().copied().unwrap_or_default().to_owned();
        (cells[0].to_owned(), (cells[1].to_owned(), note))
    });
    Some(rows.collect())
}

/// A folder of a set; `None`: it is not there.
fn folder(set: &str) -> Option<PathBuf> {
    Some(data_dir().join(set)).filter(|folder| folder.is_dir())
}

/// The text of a field, or nothing.
fn optional<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
