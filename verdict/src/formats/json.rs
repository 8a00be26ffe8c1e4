//! Reports that are one JSON document: CTRF, GoogleTest, RSpec, pytest-json-report, Jest, Mocha.
//! Lists are bounded while they are read, so that a short text cannot become many objects; lists
//! within lists are read one after the other.

mod lists;
mod nested;

use serde::Deserialize;

use super::collect::{Case, Collector};
use super::{FormatError, Report, ReportFormat, XFAIL, XPASS};
use crate::verdict::TestStatus;
use lists::AtMost;

pub(super) use nested::{gtest, jest};

/// Reads a document; what breaks off is told apart from what is wrong.
fn document<'a, T: Deserialize<'a>>(format: ReportFormat, text: &'a str) -> Result<T, FormatError> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| fault(format, &error))
}

fn fault(format: ReportFormat, error: &serde_json::Error) -> FormatError {
    let why = error.to_string();
    if error.is_eof() {
        FormatError::Truncated { why }
    } else if why.contains(lists::TOO_MANY) {
        FormatError::TooManyTests
    } else {
        FormatError::Malformed { format, why }
    }
}

#[derive(Deserialize)]
struct CtrfDocument {
    results: CtrfResults,
}

#[derive(Deserialize)]
struct CtrfResults {
    tests: AtMost<CtrfTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CtrfTest {
    name: String,
    status: String,
    #[serde(default)]
    raw_status: Option<String>,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    trace: Option<String>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    line: Option<f64>,
}

/// The Common Test Report Format, version 1.
pub(super) fn ctrf(text: &str) -> Result<Report, FormatError> {
    let document: CtrfDocument = document(ReportFormat::Ctrf, text)?;
    let mut tests = Collector::default();
    for test in document.results.tests.0 {
        let raw = test.raw_status.as_deref().unwrap_or_default();
        let status = match (test.status.as_str(), raw.to_ascii_lowercase().as_str()) {
            ("passed", "xpassed" | "xpass") => XPASS,
            ("passed", _) => TestStatus::Passed,
            ("failed", "error" | "setup_failed" | "teardown_failed" | "broken") => {
                TestStatus::Error
            }
            ("failed", _) => TestStatus::Failed,
            ("skipped" | "pending" | "other", "xfailed" | "xfail") => XFAIL,
            ("skipped" | "pending", _) => TestStatus::Skipped,
            _ => TestStatus::Error,
        };
        let message = test.message.filter(|text| !text.trim().is_empty());
        tests.add(Case {
            id: test.name,
            status: Some(status),
            seconds: test.duration.unwrap_or(0.0) / 1000.0,
            message: message.or(test.trace).unwrap_or_default(),
            file: test.file_path.unwrap_or_default(),
            line: test.line.and_then(whole),
        })?;
    }
    Ok(Report::new(tests))
}

/// A number from 0 on without its fraction.
fn whole(number: f64) -> Option<u64> {
    format!("{:.0}", number.trunc()).parse().ok()
}

#[derive(Deserialize)]
struct RspecDocument {
    examples: AtMost<RspecExample>,
    #[serde(default)]
    summary: RspecSummary,
    #[serde(default)]
    messages: AtMost<String>,
}

#[derive(Default, Deserialize)]
struct RspecSummary {
    #[serde(default)]
    errors_outside_of_examples_count: u64,
}

#[derive(Deserialize)]
struct RspecExample {
    #[serde(default)]
    id: String,
    #[serde(default)]
    full_description: String,
    status: String,
    #[serde(default)]
    file_path: String,
    #[serde(default)]
    line_number: Option<u64>,
    #[serde(default)]
    run_time: Option<f64>,
    #[serde(default)]
    pending_message: Option<String>,
    #[serde(default)]
    exception: Option<RspecException>,
}

#[derive(Default, Deserialize)]
struct RspecException {
    #[serde(default)]
    message: String,
}

/// RSpec's JSON formatter.
pub(super) fn rspec(text: &str) -> Result<Report, FormatError> {
    let document: RspecDocument = document(ReportFormat::RspecJson, text)?;
    let mut tests = Collector::default();
    for example in document.examples.0 {
        let described = !example.full_description.trim().is_empty();
        let message = example.exception.map(|exception| exception.message);
        tests.add(Case {
            id: if described {
                example.full_description
            } else {
                example.id
            },
            status: match example.status.as_str() {
                "passed" => Some(TestStatus::Passed),
                "failed" => Some(TestStatus::Failed),
                "pending" => Some(TestStatus::Skipped),
                _ => None,
            },
            seconds: example.run_time.unwrap_or(0.0),
            message: message.or(example.pending_message).unwrap_or_default(),
            file: example.file_path,
            line: example.line_number,
        })?;
    }
    let mut report = Report::new(tests);
    if document.summary.errors_outside_of_examples_count > 0 {
        report.incomplete("errors occurred outside of the examples");
        for message in document.messages.0 {
            report.note(message);
        }
    }
    Ok(report)
}

#[derive(Deserialize)]
struct PytestDocument {
    #[serde(default)]
    exitcode: Option<i64>,
    #[serde(default)]
    tests: AtMost<PytestTest>,
    #[serde(default)]
    collectors: AtMost<PytestCollector>,
}

#[derive(Deserialize)]
struct PytestCollector {
    #[serde(default)]
    nodeid: String,
    outcome: String,
    #[serde(default)]
    longrepr: Option<String>,
}

#[derive(Deserialize)]
struct PytestTest {
    nodeid: String,
    outcome: String,
    #[serde(default)]
    lineno: Option<f64>,
    #[serde(default)]
    setup: Option<PytestPhase>,
    #[serde(default)]
    call: Option<PytestPhase>,
    #[serde(default)]
    teardown: Option<PytestPhase>,
}

#[derive(Default, Deserialize)]
struct PytestPhase {
    #[serde(default)]
    duration: f64,
    #[serde(default)]
    crash: Option<PytestCrash>,
    #[serde(default)]
    longrepr: Option<String>,
}

#[derive(Deserialize)]
struct PytestCrash {
    #[serde(default)]
    path: String,
    #[serde(default)]
    lineno: Option<u64>,
    #[serde(default)]
    message: String,
}

/// What pytest-json-report writes.
pub(super) fn pytest(text: &str) -> Result<Report, FormatError> {
    let document: PytestDocument = document(ReportFormat::PytestJson, text)?;
    let mut tests = Collector::default();
    for test in document.tests.0 {
        tests.add(pytest_case(test))?;
    }
    for collector in document.collectors.0 {
        if collector.outcome == "failed" {
            tests.add(Case {
                id: collector.nodeid,
                status: Some(TestStatus::Error),
                message: collector.longrepr.unwrap_or_default(),
                ..Case::default()
            })?;
        }
    }
    let mut report = Report::new(tests);
    // Interrupted, an internal error, wrong usage.
    if let Some(code @ 2..=4) = document.exitcode {
        report.incomplete(format!("pytest ended with code {code}"));
    }
    Ok(report)
}

fn pytest_case(test: PytestTest) -> Case {
    let status = match test.outcome.as_str() {
        "passed" => Some(TestStatus::Passed),
        "failed" => Some(TestStatus::Failed),
        "skipped" => Some(TestStatus::Skipped),
        "xfailed" => Some(XFAIL),
        "xpassed" => Some(XPASS),
        _ => None,
    };
    let phases = [test.call, test.setup, test.teardown];
    let seconds = phases.iter().flatten().map(|phase| phase.duration).sum();
    let mut case = Case {
        id: test.nodeid,
        status,
        seconds,
        line: test.lineno.and_then(whole).map(|line| line + 1),
        ..Case::default()
    };
    for phase in phases.into_iter().flatten() {
        if let Some(crash) = phase.crash {
            (case.message, case.file) = (crash.message, crash.path);
            case.line = crash.lineno.or(case.line);
            break;
        }
        if case.message.is_empty() {
            case.message = phase.longrepr.unwrap_or_default();
        }
    }
    case
}

#[derive(Deserialize)]
struct MochaDocument {
    tests: AtMost<serde::de::IgnoredAny>,
    #[serde(default)]
    passes: AtMost<MochaTest>,
    #[serde(default)]
    failures: AtMost<MochaTest>,
    #[serde(default)]
    pending: AtMost<MochaTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaTest {
    #[serde(default)]
    title: String,
    #[serde(default)]
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    err: MochaError,
}

#[derive(Default, Deserialize)]
struct MochaError {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    stack: Option<String>,
}

/// Mocha's JSON reporter: the lists by outcome count, which also have hooks that failed.
pub(super) fn mocha(text: &str) -> Result<Report, FormatError> {
    let document: MochaDocument = document(ReportFormat::MochaJson, text)?;
    let mut tests = Collector::default();
    let lists = [
        (document.passes.0, TestStatus::Passed),
        (document.failures.0, TestStatus::Failed),
        (document.pending.0, TestStatus::Skipped),
    ];
    for (list, status) in lists {
        for test in list {
            let titled = !test.full_title.trim().is_empty();
            tests.add(Case {
                id: if titled { test.full_title } else { test.title },
                status: Some(status),
                seconds: test.duration.unwrap_or(0.0) / 1000.0,
                message: test.err.message.or(test.err.stack).unwrap_or_default(),
                file: test.file.unwrap_or_default(),
                line: None,
            })?;
        }
    }
    let (all, told) = (document.tests.0.len(), tests.len());
    let mut report = Report::new(tests);
    if all > told {
        report.incomplete(format!("of {all} tests only {told} have an outcome"));
    }
    Ok(report)
}
