//! Reports of test runs: their formats by name.

use serde::{Deserialize, Serialize};

/// Format of a report of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// JUnit XML.
    JunitXml,
    /// TAP, versions 12 to 14.
    Tap,
    /// CTRF.
    Ctrf,
    /// `go test -json`.
    GoJson,
    /// `go test -v`.
    GoText,
    /// Rust's libtest, text.
    Libtest,
    /// Rust's libtest, JSON lines.
    LibtestJson,
    /// GoogleTest JSON.
    GtestJson,
    /// RSpec JSON.
    RspecJson,
    /// pytest-json-report.
    PytestJson,
}

impl ReportFormat {
    /// All formats.
    pub const ALL: [Self; 10] = [
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
    ];

    /// Its name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
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
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
