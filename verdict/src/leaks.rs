//! Leaks and misuses of memory, out of what sanitizers and valgrind report. Pure: it does not
//! know who ran the program, nor how many are too many.

mod sanitizer;
#[cfg(test)]
mod tests;
mod valgrind;

use crate::reading::{self, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, ReadError};
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Severity};

/// How a tool reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeakFormat {
    /// Text of `AddressSanitizer`, `LeakSanitizer`, `UndefinedBehaviorSanitizer`,
    /// `ThreadSanitizer` and `MemorySanitizer`.
    Asan,
    /// Valgrind's XML, protocol 4.
    ValgrindXml,
}

impl LeakFormat {
    /// All formats, each with its name.
    pub const ALL: [(&str, Self); 2] = [("asan", Self::Asan), ("valgrind_xml", Self::ValgrindXml)];

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, format)| *format)
    }
}

/// One leak, or one misuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which tool says it.
    pub tool: &'static str,
    /// Its kind in the tool's own words, for example `heap-use-after-free`, `Leak_DefinitelyLost`.
    pub kind: String,
    /// The message.
    pub message: String,
    /// The first place that is the program's own; empty where not known.
    pub file: String,
    /// Its line, from 1.
    pub line: Option<u64>,
    /// Bytes leaked; `None` where it is no leak.
    pub leaked_bytes: Option<u64>,
}

impl Finding {
    /// As a diagnostic: each is an error.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic {
            tool: self.tool.to_owned(),
            severity: Severity::Error,
            code: self.kind.clone(),
            message: self.message.clone(),
            file: self.file.clone(),
            line: self.line,
            column: None,
        }
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeakReport {
    /// What was found.
    pub findings: Vec<Finding>,
    /// Whether the tool says that it came to its end; text of sanitizers does not say.
    pub complete: bool,
    /// Whether `LeakSanitizer` says that it could not look for leaks.
    pub leaks_not_looked_for: bool,
}

impl LeakReport {
    /// How many of the findings are leaks.
    #[must_use]
    pub fn leaks(&self) -> usize {
        let leaks = self
            .findings
            .iter()
            .filter(|finding| finding.leaked_bytes.is_some());
        leaks.count()
    }

    /// Bytes of all leaks.
    #[must_use]
    pub fn leaked_bytes(&self) -> u64 {
        let each = self
            .findings
            .iter()
            .filter_map(|finding| finding.leaked_bytes);
        each.fold(0, u64::saturating_add)
    }

    fn add(&mut self, mut finding: Finding) -> Result<(), ReadError> {
        finding.message = reading::cut(finding.message.trim(), MESSAGE_BYTES_MAX);
        finding.kind = reading::cut(&finding.kind, NAME_BYTES_MAX);
        finding.file = reading::cut(&finding.file, NAME_BYTES_MAX);
        reading::push(&mut self.findings, finding, "findings")
    }
}

/// Reads a report.
///
/// # Errors
/// Any [`ReadError`]. Text of sanitizers is never malformed: without findings there is none.
pub fn parse(format: LeakFormat, report: &Untrusted<Vec<u8>>) -> Result<LeakReport, ReadError> {
    let text = reading::text(report)?;
    match format {
        LeakFormat::Asan => sanitizer::read(&text),
        LeakFormat::ValgrindXml => valgrind::read(&text),
    }
}
