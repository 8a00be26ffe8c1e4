//! The judge's report as it stands on its pipe. What it says is believed only if it is one whole
//! line with this run's nonce; texts in it may still come from the solution.

use serde::Deserialize;

use crate::plan::REPORT_BYTES_MAX;
use crate::untrusted::Untrusted;
use crate::verdict::TestStatus;

/// Why there is no report to believe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReportError {
    /// Nothing came.
    #[error("the judge wrote no report")]
    Absent,
    /// More than may come.
    #[error("the judge's report has {bytes} bytes, at most {max} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        max: usize,
    },
    /// It breaks off, or something follows.
    #[error("the judge's report is not one whole line")]
    NotOneLine,
    /// It is no report.
    #[error("the judge's report cannot be read: {why}")]
    Malformed {
        /// What the parser says.
        why: String,
    },
    /// It belongs to another run.
    #[error("the judge's report does not carry this run's nonce")]
    WrongNonce,
    /// The judge itself says that it did not come to an end.
    #[error("the judge did not finish: {fault}")]
    Incomplete {
        /// What it says.
        fault: String,
    },
}

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    nonce: String,
    complete: bool,
    #[serde(default)]
    fault: Option<String>,
    pub(super) load: Option<Load>,
    pub(super) verifier_error: Option<String>,
    pub(super) tests: Vec<ReportedTest>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReportedTest {
    pub(super) id: String,
    pub(super) status: TestStatus,
    pub(super) duration_ms: u64,
    pub(super) message: String,
    pub(super) line: Option<u64>,
}

/// How loading the solution went, in the words of the process beside it: a claim of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Load {
    pub(super) state: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) column: Option<u64>,
    pub(super) code: Option<i64>,
}

pub(super) fn read(bytes: &Untrusted<Vec<u8>>, nonce: &str) -> Result<Report, ReportError> {
    let text = bytes.inner().as_slice();
    if text.is_empty() {
        return Err(ReportError::Absent);
    }
    if text.len() > REPORT_BYTES_MAX {
        return Err(ReportError::TooLong {
            bytes: text.len(),
            max: REPORT_BYTES_MAX,
        });
    }
    let line = text.strip_suffix(b"\n").ok_or(ReportError::NotOneLine)?;
    if line.contains(&b'\n') {
        return Err(ReportError::NotOneLine);
    }
    let report: Report = serde_json::from_slice(line).map_err(|error| ReportError::Malformed {
        why: error.to_string(),
    })?;
    if report.nonce != nonce {
        return Err(ReportError::WrongNonce);
    }
    if !report.complete {
        return Err(ReportError::Incomplete {
            fault: report.fault.unwrap_or_default(),
        });
    }
    Ok(report)
}
