//! Reports of test tools, read: JUnit XML, TAP, CTRF, and the own formats of go, cargo, Jest, Mocha,
//! GoogleTest, RSpec and pytest. Pure and total: whatever the bytes are, a reader returns.
//!
//! A reader believes single tests only. Sums that a report states about itself are never taken for
//! the tests they speak of; a report that breaks off, or whose plan does not fit, is not complete.

mod collect;
mod go;
mod json;
mod junit;
mod libtest;
mod tap;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::untrusted::Untrusted;
use crate::verdict::{TestResult, TestStatus};
use crate::xml::XmlError;
use collect::Collector;

/// The most bytes of a report that are read: 16 MiB.
pub const FORMAT_BYTES_MAX: usize = 16 << 20;
/// The most tests of one report.
pub const TESTS_MAX: usize = 100_000;
/// The most pieces of trouble that are kept of one report.
const TROUBLE_MAX: usize = 16;
/// The most bytes kept of one piece of trouble.
const TROUBLE_BYTES_MAX: usize = 1024;

/// It failed, as its author expects.
const XFAIL: TestStatus = TestStatus::Xfail;
/// It passed although its author expects a failure.
const XPASS: TestStatus = TestStatus::Xpass;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// JUnit's XML in the flavours of Surefire, pytest, GoogleTest, CTest, Catch2, jest-junit,
    /// PHPUnit, RSpec, Mocha, Gradle and node.
    JunitXml,
    /// The Test Anything Protocol, versions 12 to 14.
    Tap,
    /// The Common Test Report Format.
    Ctrf,
    /// Lines of `go test -json`.
    GoJson,
    /// Text of `go test -v`.
    GoText,
    /// Text of Rust's test harness.
    Libtest,
    /// Lines of Rust's test harness with `--format json`.
    LibtestJson,
    /// `--gtest_output=json` of GoogleTest.
    GtestJson,
    /// `--format json` of RSpec.
    RspecJson,
    /// pytest-json-report.
    PytestJson,
    /// `--json` of Jest, and of Vitest.
    JestJson,
    /// `--reporter json` of Mocha.
    MochaJson,
}

impl ReportFormat {
    /// All of them, in the order of declaration.
    pub const ALL: [Self; 12] = [
        Self::JunitXml,
        Self::Tap,
        Self::Ctrf,
        Self::GoJson,
        Self::GoText,
        Self::Libtest,
        Self::LibtestJson,
        Self::GtestJson,
        Self::RspecJson,
        Self::PytestJson,
        Self::JestJson,
        Self::MochaJson,
    ];

    /// Its name in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JunitXml => "junit_xml",
            Self::Tap => "tap",
            Self::Ctrf => "ctrf",
            Self::GoJson => "go_json",
            Self::GoText => "go_text",
            Self::Libtest => "libtest",
            Self::LibtestJson => "libtest_json",
            Self::GtestJson => "gtest_json",
            Self::RspecJson => "rspec_json",
            Self::PytestJson => "pytest_json",
            Self::JestJson => "jest_json",
            Self::MochaJson => "mocha_json",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What a report says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The tests in the order of the report. An id may stand there more than once, as with subtests
    /// and several test programs: it passed where each of them did.
    pub tests: Vec<TestResult>,
    /// Whether the report came to its end and its plan was kept.
    pub complete: bool,
    /// How many tests the plan promised, in formats that have a plan; sums that were written after
    /// the tests are none.
    pub declared: Option<u64>,
    /// What went wrong beside the tests, and why the report is not complete: each in one sentence.
    pub trouble: Vec<String>,
}

impl Report {
    fn new(tests: Collector) -> Self {
        Self {
            tests: tests.into_tests(),
            complete: true,
            ..Self::default()
        }
    }

    /// Notes something that went wrong beside the tests.
    fn note(&mut self, what: impl AsRef<str>) {
        if self.trouble.len() < TROUBLE_MAX {
            let what = collect::shortened(what.as_ref(), TROUBLE_BYTES_MAX);
            self.trouble.push(what);
        }
    }

    /// Notes why the report is not complete.
    fn incomplete(&mut self, why: impl AsRef<str>) {
        self.complete = false;
        self.note(why);
    }
}

/// Why bytes are no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// There are none.
    #[error("the report is empty")]
    Empty,
    /// It is longer than what is read.
    #[error("the report has {bytes} bytes, at most {FORMAT_BYTES_MAX} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// There are more tests than are read.
    #[error("the report has more than {TESTS_MAX} tests")]
    TooManyTests,
    /// It breaks off before a test can be told.
    #[error("the report breaks off: {why}")]
    Truncated {
        /// Where, or what the parser says.
        why: String,
    },
    /// It is not of the format.
    #[error("the report is not {format}: {why}")]
    Malformed {
        /// The format.
        format: ReportFormat,
        /// What the parser says.
        why: String,
    },
}

/// Reads a report.
///
/// # Errors
/// [`FormatError`] where there is nothing that could be believed; a report that breaks off after
/// some tests is returned with `complete` false.
pub fn parse(format: ReportFormat, bytes: &Untrusted<Vec<u8>>) -> Result<Report, FormatError> {
    let bytes = bytes.inner().as_slice();
    if bytes.len() > FORMAT_BYTES_MAX {
        return Err(FormatError::TooLong { bytes: bytes.len() });
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(FormatError::Empty);
    }
    let text: Cow<'_, str> = text;
    match format {
        ReportFormat::JunitXml => junit::read(&text),
        ReportFormat::Tap => tap::read(&text),
        ReportFormat::GoJson => go::read_json(&text),
        ReportFormat::GoText => go::read_text(&text),
        ReportFormat::Libtest => libtest::read_text(&text),
        ReportFormat::LibtestJson => libtest::read_json(&text),
        ReportFormat::Ctrf => json::ctrf(&text),
        ReportFormat::GtestJson => json::gtest(&text),
        ReportFormat::RspecJson => json::rspec(&text),
        ReportFormat::PytestJson => json::pytest(&text),
        ReportFormat::JestJson => json::jest(&text),
        ReportFormat::MochaJson => json::mocha(&text),
    }
}

impl XmlError {
    /// As an error of a report in JUnit's XML.
    fn of_report(self) -> FormatError {
        match self {
            Self::Truncated { .. } => FormatError::Truncated {
                why: self.to_string(),
            },
            other => FormatError::Malformed {
                format: ReportFormat::JunitXml,
                why: other.to_string(),
            },
        }
    }
}
