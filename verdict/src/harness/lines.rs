//! Reports of our own reporters: one JSON line a test with this run's nonce, and a last line with
//! their number. A line without the nonce was written by somebody else.

use serde::Deserialize;

use super::whole::not_whole;
use super::{HarnessEvidence, Observed};
use crate::diagnostics::{self, DiagnosticFormat};
use crate::formats::TESTS_MAX;
use crate::reading::{MESSAGE_BYTES_MAX, cut};
use crate::untrusted::Untrusted;
use crate::verdict::{TamperNote, TestResult, TestStatus};

/// Bytes of an id or a path that are kept.
const NAME_BYTES_MAX: usize = 1024;

#[derive(Debug, Deserialize)]
struct Line {
    nonce: String,
    event: String,
    #[serde(default)]
    id: String,
    status: Option<TestStatus>,
    #[serde(default)]
    duration_ms: u64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    file: String,
    line: Option<u64>,
    tests: Option<usize>,
}

/// What a file that could not be loaded said: if that is a message of the language itself, nothing
/// of it ran.
pub(super) fn not_loaded(observed: &mut Observed) {
    for test in &observed.tests {
        if test.status == TestStatus::Passed || !test.message.contains("SyntaxError") {
            continue;
        }
        let said = Untrusted::new(test.message.clone().into_bytes());
        let found = diagnostics::parse(DiagnosticFormat::Node, &said).unwrap_or_default();
        observed.diagnostics.extend(found);
    }
    if observed.trouble.is_none()
        && let Some(error) = observed.diagnostics.first()
    {
        observed.trouble = Some(super::compile_error(error));
    }
}

/// Reads the report of descriptor 4.
pub(super) fn read(nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    let mut observed = Observed::default();
    let text = String::from_utf8_lossy(evidence.report.inner());
    let mut end = None;
    let mut empty_files = Vec::new();
    for text in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = serde_json::from_str::<Line>(text).ok();
        let Some(line) = line.filter(|line| line.nonce == nonce && end.is_none()) else {
            foreign(&mut observed);
            continue;
        };
        match line.event.as_str() {
            "end" => end = line.tests,
            _ if observed.tests.len() == TESTS_MAX => {
                not_whole(&mut observed, evidence, "it has too many tests");
                return observed;
            }
            event => {
                let status = line.status.unwrap_or(TestStatus::Error);
                if event == "file" && status == TestStatus::Passed {
                    empty_files.push(observed.tests.len());
                }
                observed.tests.push(result(&line, status));
            }
        }
    }
    if evidence.report_too_long {
        not_whole(&mut observed, evidence, "it is longer than what is read");
    }
    // A file that ended well without a test: it left before its tests, or it has none.
    let ran = observed.tests.len() - empty_files.len();
    for at in &empty_files {
        if let Some(test) = observed.tests.get_mut(*at) {
            test.status = TestStatus::Error;
            test.message = "the file ended without running a test".to_owned();
        }
    }
    if end != Some(observed.tests.len()) {
        let why = "the framework ended before its tests did";
        not_whole(&mut observed, evidence, why);
    } else if ran == 0 && !empty_files.is_empty() {
        observed.tests.clear();
        not_whole(&mut observed, evidence, "no file of tests ran any");
    }
    observed
}

fn result(line: &Line, status: TestStatus) -> TestResult {
    TestResult {
        id: cut(&line.id, NAME_BYTES_MAX),
        status,
        duration_ms: line.duration_ms,
        message: if status == TestStatus::Passed {
            String::new()
        } else {
            cut(&line.message, MESSAGE_BYTES_MAX)
        },
        file: cut(&line.file, NAME_BYTES_MAX),
        line: line.line.filter(|line| *line > 0),
    }
}

fn foreign(observed: &mut Observed) {
    if observed.tamper.is_empty() {
        observed.tamper.push(TamperNote {
            path: "the report's descriptor".to_owned(),
            what: "something else than our reporter wrote to it".to_owned(),
        });
    }
}
