//! What pytest and unittest have in common: our runner and its orders, and reading its report.
//! The report is a row of records, each sealed by a key that only the runner had; the first that
//! is not ours ends it. It knows no other framework.

mod records;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{HarnessEvidence, HarnessPlan, Observed, ReportPipe};
use crate::grade::describe;
use crate::plan::HARNESS_FOLDER;
use crate::verdict::{Diagnostic, Outcome, Severity, TamperNote, TestResult, TestStatus};
use crate::verify::{HarnessSpec, OnTamper};
use records::{Collected, CollectionError, Complete, Note, Record, Report};

/// The programs of both runners.
pub(crate) const RUNNER_FILES: [(&str, &str); 5] = [
    ("guard.py", include_str!("../../harness/guard.py")),
    ("watch.py", include_str!("../../harness/watch.py")),
    ("equal.py", include_str!("../../harness/equal.py")),
    (
        "pytest_runner.py",
        include_str!("../../harness/pytest_runner.py"),
    ),
    (
        "unittest_runner.py",
        include_str!("../../harness/unittest_runner.py"),
    ),
];
const WITH_BOTH: [&str; 3] = ["guard.py", "watch.py", "equal.py"];
/// Variables that decide what is run before our runner can look, as the fixed defaults have them.
const DEFAULTS: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LD_PRELOAD", ""),
    ("LD_LIBRARY_PATH", ""),
    ("LD_AUDIT", ""),
];
const FILE_MODE: u32 = 0o644;
/// Weight of a note that a report proves nothing any more, and of one that says what was touched.
const FORGED: u64 = 2;
const TOUCHED: u64 = 1;

/// What the runner is told. It takes the file off the disk before anything else runs.
#[derive(Debug, Serialize)]
struct Orders<'a> {
    nonce: &'a str,
    /// The author's files.
    author: Vec<&'a str>,
    /// Those of them that hold tests.
    tests: Vec<&'a str>,
    args: &'a [String],
    /// Further folders of modules.
    path: Vec<&'a str>,
    /// Modules of the author that are named as one of the library.
    own: Vec<&'a str>,
    /// Whether an author's conftest.py is there to be obeyed.
    conftest: bool,
    /// The author's configuration, or empty.
    config: &'a str,
}

/// Plans the start of `runner`, with `more` files of ours.
pub(super) fn plan(spec: &HarnessSpec, nonce: &str, runner: &str, more: &[&str]) -> HarnessPlan {
    let mut files = BTreeMap::new();
    let mut add = |name: &str, content: Vec<u8>| {
        files.insert(format!("{HARNESS_FOLDER}/{name}"), (content, FILE_MODE));
    };
    let wanted = |name: &&(&str, &str)| WITH_BOTH.contains(&name.0) || name.0 == runner;
    for (name, text) in RUNNER_FILES.iter().filter(wanted) {
        add(name, text.as_bytes().to_vec());
    }
    for name in more {
        add(name, b"[pytest]\n".to_vec());
    }
    add("orders.json", orders(spec, nonce));
    let up = match spec.cwd.as_str() {
        "" => String::new(),
        cwd => "../".repeat(cwd.split('/').count()),
    };
    let program = format!("{up}{HARNESS_FOLDER}/{runner}");
    let argv = ["python3", "-I", "-S", "-B", &program].map(str::to_owned);
    // What would tell the interpreter or the framework something before our runner does.
    let ours = |name: &str| {
        ["PYTHON", "PYTEST", "ROLLCAGE"]
            .iter()
            .any(|own| name.starts_with(own))
    };
    // What the request sets is not the author's: it may name neither an interpreter nor a library.
    let mut env: BTreeMap<String, String> = (DEFAULTS.iter())
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let theirs = spec.env.iter().filter(|(name, _)| !ours(name));
    env.extend(theirs.map(|(name, value)| (name.clone(), value.clone())));
    HarnessPlan {
        argv: argv.to_vec(),
        env,
        cwd: spec.cwd.clone(),
        files,
        collect: Vec::new(),
        report: ReportPipe::Private,
    }
}

fn orders(spec: &HarnessSpec, nonce: &str) -> Vec<u8> {
    let author: Vec<&str> = spec.phase.test_files.keys().map(String::as_str).collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let tests = author.iter().copied().filter(|path| {
        let name = name(path);
        name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"))
    });
    let own = (author.iter())
        .filter_map(|path| path.strip_suffix(".py").filter(|stem| !stem.contains('/')));
    let path = spec.env.get("PYTHONPATH").map_or("", String::as_str);
    let orders = Orders {
        nonce,
        tests: tests.collect(),
        args: &spec.args,
        path: path
            .split(':')
            .filter(|folder| !folder.is_empty())
            .collect(),
        own: own.collect(),
        // Where the author brings no file at all, what lies there is the author's.
        conftest: author.is_empty() || author.iter().any(|path| name(path) == "conftest.py"),
        config: configuration(spec, &author),
        author,
    };
    // Plain texts and lists cannot fail to be written; an empty file stops the runner.
    serde_json::to_vec(&orders).unwrap_or_default()
}

/// The author's configuration file, in the order in which pytest looks for one.
fn configuration<'a>(spec: &HarnessSpec, author: &[&'a str]) -> &'a str {
    let names = [
        "pytest.ini",
        ".pytest.ini",
        "pyproject.toml",
        "tox.ini",
        "setup.cfg",
    ];
    let folders = [spec.cwd.as_str(), ""];
    let mut wanted = folders.iter().flat_map(|folder| {
        names.iter().map(move |name| match *folder {
            "" => (*name).to_owned(),
            folder => format!("{folder}/{name}"),
        })
    });
    wanted
        .find_map(|wanted| author.iter().copied().find(|path| *path == wanted))
        .unwrap_or("")
}

/// What became of the tests, from the runner's report alone.
pub(super) fn read(spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let report = records::read(evidence.report, nonce);
    let mut observed = Observed::default();
    let mut seen = Seen::default();
    for record in &report.records {
        seen.take(record, spec, &mut observed);
    }
    seen.missing(&mut observed.tests);
    if report.broken || evidence.report_too_long {
        observed.tamper.push(TamperNote {
            path: "report".to_owned(),
            what: "something else than the runner wrote to it".to_owned(),
        });
    }
    if seen
        .complete
        .is_some_and(|end| end.collected > 0 && end.canaries == 0)
    {
        observed.tamper.push(TamperNote {
            path: "hidden tests".to_owned(),
            what: "they did not run".to_owned(),
        });
    }
    observed.trouble = trouble(spec, &report, &seen, evidence);
    observed
}

/// What the records say beside the tests.
#[derive(Default)]
struct Seen<'a> {
    ids: Vec<&'a str>,
    reported: BTreeSet<&'a str>,
    errors: Vec<&'a CollectionError>,
    internal: Option<&'a str>,
    complete: Option<Complete>,
}

impl<'a> Seen<'a> {
    fn take(&mut self, record: &'a Record, spec: &HarnessSpec, observed: &mut Observed) {
        match record {
            Record::Start | Record::Missing { .. } => {}
            Record::Note(note) => take_note(note, spec, observed),
            Record::Collected(Collected { ids }) => self.ids.extend(ids.iter().map(String::as_str)),
            Record::CollectionError(error) => {
                self.errors.push(error);
                observed.diagnostics.extend(diagnostic(error));
            }
            Record::Internal { message } => self.internal = Some(message),
            Record::Test(test) => {
                self.reported.insert(test.id.as_str());
                observed.tests.push(test.clone());
            }
            Record::Complete(complete) => self.complete = Some(*complete),
        }
    }

    /// Tests that were collected and of which nothing was said.
    fn missing(&self, tests: &mut Vec<TestResult>) {
        let ids = self.ids.iter().filter(|id| !self.reported.contains(*id));
        tests.extend(ids.map(|id| TestResult {
            id: (*id).to_owned(),
            status: TestStatus::Missing,
            duration_ms: 0,
            message: "collected, but not reported".to_owned(),
            file: String::new(),
            line: None,
        }));
    }
}

fn take_note(note: &Note, spec: &HarnessSpec, observed: &mut Observed) {
    let told = TamperNote {
        path: note.path.clone(),
        what: note.what.clone(),
    };
    let counts = match spec.phase.on_tamper {
        OnTamper::Grade => FORGED,
        OnTamper::Zero => TOUCHED,
    };
    if note.weight >= counts {
        observed.tamper.push(told);
    } else {
        observed.noticed.push(told);
    }
}

fn diagnostic(error: &CollectionError) -> Option<Diagnostic> {
    (!error.kind.is_empty()).then(|| Diagnostic {
        tool: "python3".to_owned(),
        severity: Severity::Error,
        code: error.kind.clone(),
        message: error.text.clone(),
        file: error.file.clone(),
        line: error.line,
        column: error.column,
    })
}

fn trouble(
    spec: &HarnessSpec,
    report: &Report,
    seen: &Seen<'_>,
    evidence: &HarnessEvidence<'_>,
) -> Option<(Outcome, String)> {
    let how = describe(evidence.ended.ending);
    match report.records.first() {
        // Written before anything of the solution was read.
        Some(Record::Missing { what, message }) => {
            let reason = format!(
                "the image's python3 cannot import {what} ({message}); install it there, for example as package python3-{what}"
            );
            return Some((Outcome::VerifierError, reason));
        }
        Some(Record::Start) => {}
        _ => {
            let reason = format!("our test runner did not start: its process {how}");
            return Some((Outcome::VerifierError, reason));
        }
    }
    if let Some(error) = seen.errors.first() {
        let by_author = spec.phase.test_files.contains_key(&error.file);
        let syntax = matches!(
            error.kind.as_str(),
            "SyntaxError" | "IndentationError" | "TabError"
        );
        let outcome = match (seen.reported.is_empty(), syntax && !by_author) {
            (_, true) => Outcome::CompileError,
            (true, false) => Outcome::NoTests,
            (false, false) => Outcome::Failed,
        };
        return Some((
            outcome,
            format!(
                "{} cannot be loaded: {}",
                error.id,
                last_line(&error.message)
            ),
        ));
    }
    let Some(complete) = seen.complete else {
        let (done, all) = (seen.reported.len(), seen.ids.len());
        return Some(if done == 0 {
            let reason = format!("the process of the tests {how} before any test was reported");
            (Outcome::NoTests, reason)
        } else {
            let reason = format!("the process of the tests {how} after {done} of {all} tests");
            (Outcome::Failed, reason)
        });
    };
    if complete.collected != seen.ids.len() as u64 {
        let (told, all) = (seen.ids.len(), complete.collected);
        let reason = format!("{told} of {all} tests were named in the report");
        return Some((Outcome::Failed, reason));
    }
    if let Some(message) = seen.internal {
        let reason = format!(
            "the test framework failed from within: {}",
            last_line(message)
        );
        return Some((Outcome::Failed, reason));
    }
    if complete.collected == 0 {
        let reason = match complete.code {
            4 => "no test was collected: the arguments of the framework name none that is there",
            _ => "no test was collected",
        };
        return Some((Outcome::NoTests, reason.to_owned()));
    }
    None
}

fn last_line(text: &str) -> &str {
    text.lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or(text)
        .trim()
}

#[cfg(test)]
mod tests;
