//! What Rust's test harness writes, as text and as JSON lines. One report holds the output of
//! several test programs, one after the other; each announces how many tests it has and sums up at
//! its end, so a program that ended in between (`process::exit(0)`) is seen.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::collect::{Case, Collector, append, seconds_of};
use super::{FormatError, Report, ReportFormat};
use crate::verdict::TestStatus;

/// Tests of the programs so far, and of the one that is being told.
#[derive(Debug, Default)]
struct Groups {
    tests: Collector,
    declared: u64,
    /// How many tests the running program announced, and how many it told.
    open: Option<(u64, u64)>,
    trouble: Vec<String>,
    failed: bool,
    any: bool,
}

impl Groups {
    fn begin(&mut self, tests: u64) {
        self.end_open();
        self.any = true;
        self.declared = self.declared.saturating_add(tests);
        self.open = Some((tests, 0));
        self.failed = false;
    }

    fn add(&mut self, case: Case) -> Result<(), FormatError> {
        match &mut self.open {
            Some((_, told)) => *told += 1,
            None => self.trouble(format!("test `{}` belongs to no test program", case.id)),
        }
        self.failed |= !matches!(case.status, Some(TestStatus::Passed | TestStatus::Skipped));
        self.tests.add(case)
    }

    /// The program's own sum: it came to its end.
    fn sum(&mut self, passed: bool) {
        match self.open.take() {
            Some((announced, told)) if announced != told => self.trouble(format!(
                "a test program announced {announced} tests and told of {told}"
            )),
            Some(_) => {}
            None => self.trouble("a sum belongs to no test program".to_owned()),
        }
        if !passed && !std::mem::take(&mut self.failed) {
            self.trouble("a test program says that it failed, none of its tests did".to_owned());
        }
    }

    fn end_open(&mut self) {
        if let Some((announced, told)) = self.open.take() {
            self.trouble(format!(
                "a test program ended before its tests did: {told} of {announced} were told"
            ));
        }
    }

    fn trouble(&mut self, what: String) {
        if self.trouble.len() < super::TROUBLE_MAX {
            self.trouble.push(what);
        }
    }

    fn report(mut self, format: ReportFormat) -> Result<Report, FormatError> {
        self.end_open();
        if !self.any {
            return Err(FormatError::Malformed {
                format,
                why: "no test program speaks in it".to_owned(),
            });
        }
        let mut report = Report::new(self.tests);
        report.declared = Some(self.declared);
        for trouble in self.trouble {
            report.incomplete(trouble);
        }
        Ok(report)
    }
}

pub(super) fn read_text(text: &str) -> Result<Report, FormatError> {
    let mut groups = Groups::default();
    let mut details = Details::default();
    for line in text.lines() {
        if let Some(tests) = announced(line) {
            groups.begin(tests);
            details = Details::default();
        } else if let Some(sum) = line.strip_prefix("test result: ") {
            groups.sum(sum.starts_with("ok."));
            details.put(&mut groups.tests);
        } else if let Some((name, status)) = outcome(line) {
            details
                .index
                .entry(name.clone())
                .or_insert(groups.tests.len());
            groups.add(Case {
                id: name,
                status: Some(status),
                ..Case::default()
            })?;
        } else {
            details.line(line);
        }
    }
    details.put(&mut groups.tests);
    groups.report(ReportFormat::Libtest)
}

/// `running 17 tests`.
fn announced(line: &str) -> Option<u64> {
    let (number, word) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| number.parse().ok())?
}

/// `test a::b ... ok`, `test a ... ignored, why`, `test a - should panic ... FAILED`.
fn outcome(line: &str) -> Option<(String, TestStatus)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let word = end.split([' ', ',']).next().unwrap_or_default();
    let status = match word {
        "ok" => TestStatus::Passed,
        "FAILED" => TestStatus::Failed,
        "ignored" => TestStatus::Skipped,
        "bench:" => TestStatus::Passed,
        _ => return None,
    };
    Some((plain_name(name), status))
}

fn plain_name(name: &str) -> String {
    let suffixes = [" - should panic", " - compile fail", " - compile"];
    let plain = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
    plain.unwrap_or(name).trim().to_owned()
}

/// What a test program writes of its failures, after all tests: `---- name stdout ----` and text.
#[derive(Debug, Default)]
struct Details {
    /// The first test of that name in this program.
    index: BTreeMap<String, usize>,
    of: Option<String>,
    text: String,
    found: Vec<(usize, String)>,
}

impl Details {
    fn line(&mut self, line: &str) {
        let header = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" ----"));
        let name = header.and_then(|header| {
            let name = header
                .strip_suffix(" stdout")
                .or(header.strip_suffix(" stderr"));
            name.map(str::to_owned)
        });
        if name.is_some() || line == "failures:" || line == "successes:" {
            self.keep();
            self.of = name;
        } else if self.of.is_some() {
            append(&mut self.text, line);
            append(&mut self.text, "\n");
        }
    }

    fn keep(&mut self) {
        let text = std::mem::take(&mut self.text);
        if let Some(at) = self
            .of
            .take()
            .and_then(|name| self.index.get(&name).copied())
        {
            self.found.push((at, text));
        }
    }

    /// Gives the texts to the tests that failed.
    fn put(&mut self, tests: &mut Collector) {
        self.keep();
        for (at, text) in std::mem::take(&mut self.found) {
            if let Some(test) = tests.since(at).first_mut()
                && test.status == TestStatus::Failed
                && test.message.is_empty()
            {
                (test.file, test.line) = panicked_at(&text);
                test.message = super::collect::shortened(&text, 4096);
            }
        }
    }
}

/// The place in `thread 'a' panicked at src/lib.rs:12:5:`, also as older versions write it.
fn panicked_at(text: &str) -> (String, Option<u64>) {
    let after = text
        .split_once("panicked at ")
        .map_or("", |(_, after)| after);
    let line = after.lines().next().unwrap_or_default();
    let place = line.rsplit_once("', ").map_or(line, |(_, place)| place);
    let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    match (file, number(line), number(column)) {
        (Some(file), Some(line), Some(_)) => (file.to_owned(), Some(line)),
        _ => (String::new(), None),
    }
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    event: Option<String>,
    name: Option<String>,
    test_count: Option<u64>,
    exec_time: Option<serde_json::Value>,
    stdout: Option<String>,
    message: Option<String>,
}

pub(super) fn read_json(text: &str) -> Result<Report, FormatError> {
    let mut groups = Groups::default();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            groups.trouble("a line is no event of the test harness".to_owned());
            continue;
        };
        match (
            event.kind.as_str(),
            event.event.as_deref().unwrap_or_default(),
        ) {
            ("suite", "started") => groups.begin(event.test_count.unwrap_or(0)),
            ("suite", outcome) => groups.sum(outcome == "ok"),
            ("test", "started" | "timeout") => {}
            ("test", outcome) => {
                let case = case(&event, outcome);
                groups.add(case)?;
            }
            _ => {}
        }
    }
    groups.report(ReportFormat::LibtestJson)
}

fn case(event: &Event, outcome: &str) -> Case {
    let text = event.stdout.as_deref().or(event.message.as_deref());
    let text = text.unwrap_or_default();
    let (file, line) = panicked_at(text);
    let seconds = match &event.exec_time {
        Some(serde_json::Value::Number(number)) => number.as_f64().unwrap_or(0.0),
        Some(serde_json::Value::String(text)) => seconds_of(text),
        _ => 0.0,
    };
    Case {
        id: plain_name(event.name.as_deref().unwrap_or_default()),
        status: match outcome {
            "ok" => Some(TestStatus::Passed),
            "failed" => Some(TestStatus::Failed),
            "ignored" => Some(TestStatus::Skipped),
            _ => None,
        },
        seconds,
        message: text.to_owned(),
        file,
        line,
    }
}
