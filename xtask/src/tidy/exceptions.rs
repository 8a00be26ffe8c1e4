//! Exceptions to the house rules, as written in `xtask/tidy.toml`. A list may only shrink: an
//! exception that nothing needs any more is itself a finding.

use super::{Finding, files};
use crate::source::Source;
use anyhow::{Result, bail};
use serde::Deserialize;

/// Where the exceptions are written.
pub(crate) const PATH: &str = "xtask/tidy.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exempt {
    path: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFile {
    path: String,
    lines_max: usize,
    reason: String,
}

/// Which file may break which rule.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    #[serde(default)]
    unsafe_code: Vec<Exempt>,
    #[serde(default)]
    start_programs: Vec<Exempt>,
    #[serde(default)]
    long_files: Vec<LongFile>,
}

impl Exceptions {
    /// Reads the list.
    ///
    /// # Errors
    /// When it is no such list, or an entry has no reason.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let exceptions: Self = toml::from_str(text)?;
        let plain = exceptions
            .unsafe_code
            .iter()
            .chain(&exceptions.start_programs);
        let reasons = plain.map(|entry| (&entry.path, &entry.reason));
        let long = exceptions
            .long_files
            .iter()
            .map(|entry| (&entry.path, &entry.reason));
        for (path, reason) in reasons.chain(long) {
            if reason.trim().is_empty() {
                bail!("the exception for {path} has no reason");
            }
        }
        Ok(exceptions)
    }

    /// Whether `path` may hold unsafe code.
    pub(crate) fn may_be_unsafe(&self, path: &str) -> bool {
        self.unsafe_code.iter().any(|entry| entry.path == path)
    }

    /// Whether `path` may start other programs.
    pub(crate) fn may_start_programs(&self, path: &str) -> bool {
        self.start_programs.iter().any(|entry| entry.path == path)
    }

    /// How many lines `path` may have when it may have more than the rule says.
    pub(crate) fn lines_max(&self, path: &str) -> Option<usize> {
        self.long_files
            .iter()
            .find(|entry| entry.path == path)
            .map(|entry| entry.lines_max)
    }

    /// Exceptions that no file needs.
    pub(crate) fn stale(&self, sources: &[Source]) -> Vec<Finding> {
        let source_of = |path: &str| sources.iter().find(|source| source.path == path);
        let mut stale = Vec::new();
        let mut check = |path: &str, list: &str, needed: bool| {
            if !needed {
                let message = format!("{list} lists {path}, which does not need it (any more)");
                stale.push(Finding::new(PATH, 0, message));
            }
        };
        for Exempt { path, .. } in &self.unsafe_code {
            check(
                path,
                "unsafe_code",
                source_of(path).is_some_and(files::is_unsafe),
            );
        }
        for Exempt { path, .. } in &self.start_programs {
            check(
                path,
                "start_programs",
                source_of(path).is_some_and(files::starts_programs),
            );
        }
        for LongFile { path, .. } in &self.long_files {
            let is_long = |source: &Source| source.lines_before_tests > files::lines_max(path);
            check(path, "long_files", source_of(path).is_some_and(is_long));
        }
        stale
    }
}

#[cfg(test)]
mod tests;
