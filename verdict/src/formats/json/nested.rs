//! Documents whose tests lie in suites: the suites are kept as they stand and read one by one, so
//! that no more than one suite's tests are in memory beside those already told.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::collect::{Case, Collector, joined, name, seconds_of};
use super::super::{FormatError, Report, ReportFormat};
use super::lists::AtMost;
use super::{document, whole};
use crate::verdict::TestStatus;

#[derive(Deserialize)]
struct GtestDocument<'a> {
    #[serde(borrow)]
    testsuites: AtMost<&'a RawValue>,
}

#[derive(Deserialize)]
struct GtestSuite {
    #[serde(default)]
    name: String,
    #[serde(default)]
    testsuite: AtMost<GtestTest>,
}

#[derive(Deserialize)]
struct GtestTest {
    name: String,
    #[serde(default)]
    classname: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    result: String,
    #[serde(default)]
    time: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    failures: AtMost<GtestFailure>,
}

#[derive(Deserialize)]
struct GtestFailure {
    #[serde(default)]
    failure: String,
}

/// What GoogleTest writes with `--gtest_output=json`.
pub(in super::super) fn gtest(text: &str) -> Result<Report, FormatError> {
    const FORMAT: ReportFormat = ReportFormat::GtestJson;
    let all: GtestDocument<'_> = document(FORMAT, text)?;
    let mut tests = Collector::default();
    for suite in all.testsuites.0 {
        let suite: GtestSuite = document(FORMAT, suite.get())?;
        for test in suite.testsuite.0 {
            let class = if test.classname.is_empty() {
                &suite.name
            } else {
                &test.classname
            };
            let failed = test.failures.0.first();
            let status = match (failed, test.result.as_str(), test.status.as_str()) {
                (Some(_), ..) => Some(TestStatus::Failed),
                (_, "SKIPPED" | "SUPPRESSED", _) | (_, _, "NOTRUN") => Some(TestStatus::Skipped),
                (_, "COMPLETED" | "", "RUN") => Some(TestStatus::Passed),
                _ => None,
            };
            tests.add(Case {
                id: joined([class.as_str(), &test.name], "::"),
                status,
                seconds: seconds_of(&test.time),
                message: failed
                    .map(|failed| failed.failure.clone())
                    .unwrap_or_default(),
                file: test.file,
                line: test.line,
            })?;
        }
    }
    Ok(Report::new(tests))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestDocument<'a> {
    #[serde(borrow)]
    test_results: AtMost<&'a RawValue>,
    #[serde(default)]
    was_interrupted: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    #[serde(default, alias = "testFilePath")]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default, alias = "failureMessage")]
    message: Option<String>,
    #[serde(default, alias = "testResults")]
    assertion_results: AtMost<JestTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    #[serde(default)]
    ancestor_titles: AtMost<String>,
    #[serde(default)]
    title: String,
    status: String,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    failure_messages: AtMost<String>,
    #[serde(default)]
    location: Option<JestPlace>,
}

#[derive(Deserialize)]
struct JestPlace {
    #[serde(default)]
    line: Option<f64>,
}

/// What Jest and Vitest write as JSON.
pub(in super::super) fn jest(text: &str) -> Result<Report, FormatError> {
    const FORMAT: ReportFormat = ReportFormat::JestJson;
    let all: JestDocument<'_> = document(FORMAT, text)?;
    let mut tests = Collector::default();
    for file in all.test_results.0 {
        let mut file: JestFile = document(FORMAT, file.get())?;
        file.name = name(&file.name);
        let mut failed = false;
        for test in file.assertion_results.0 {
            let titles = test.ancestor_titles.0.iter().map(String::as_str);
            let status = match test.status.as_str() {
                "passed" => Some(TestStatus::Passed),
                "failed" => Some(TestStatus::Failed),
                "pending" | "skipped" | "todo" | "disabled" => Some(TestStatus::Skipped),
                _ => None,
            };
            failed |= !matches!(status, Some(TestStatus::Passed | TestStatus::Skipped));
            tests.add(Case {
                id: joined(titles.chain([test.title.as_str()]), " > "),
                status,
                seconds: test.duration.unwrap_or(0.0) / 1000.0,
                message: test.failure_messages.0.join("\n"),
                file: file.name.clone(),
                line: test.location.and_then(|place| place.line).and_then(whole),
            })?;
        }
        // A file that could not be loaded has no tests of its own.
        if file.status == "failed" && !failed {
            tests.add(Case {
                id: file.name,
                status: Some(TestStatus::Error),
                message: file.message.unwrap_or_default(),
                ..Case::default()
            })?;
        }
    }
    let mut report = Report::new(tests);
    if all.was_interrupted {
        report.incomplete("the run was interrupted");
    }
    Ok(report)
}
