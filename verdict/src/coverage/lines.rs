//! Lines and branches while a report is read: the same line may be told several times, by several
//! programs or for several instances of a template, and was reached if any of them reached it.

use std::collections::BTreeMap;

use crate::reading::{self, NAME_BYTES_MAX, ReadError};

use super::{CoverageReport, FileCoverage};

/// Lines and branches of all files together.
const MARKS_MAX: usize = 2_000_000;

/// What is known of each file.
#[derive(Default)]
pub(super) struct Lines {
    files: BTreeMap<String, Marks>,
    marks: usize,
}

#[derive(Default)]
struct Marks {
    /// Line -> whether it ran.
    lines: BTreeMap<u64, bool>,
    /// Line and number of the branch -> whether it was taken.
    branches: BTreeMap<(u64, u64), bool>,
    /// Sums, where the report has no lines.
    stated: Option<(u64, u64)>,
}

impl Lines {
    /// Notes that there is such a file.
    pub(super) fn file(&mut self, path: &str) -> Result<(), ReadError> {
        if self.files.len() >= reading::ENTRIES_MAX {
            return Err(too_many("files", reading::ENTRIES_MAX));
        }
        self.files
            .entry(reading::cut(path, NAME_BYTES_MAX))
            .or_default();
        Ok(())
    }

    /// Notes a line.
    pub(super) fn line(&mut self, path: &str, line: u64, ran: bool) -> Result<(), ReadError> {
        let marks = self.marked(path)?;
        *marks.lines.entry(line).or_default() |= ran;
        Ok(())
    }

    /// Notes a branch of a line.
    pub(super) fn branch(
        &mut self,
        path: &str,
        (line, number): (u64, u64),
        taken: bool,
    ) -> Result<(), ReadError> {
        let marks = self.marked(path)?;
        *marks.branches.entry((line, number)).or_default() |= taken;
        Ok(())
    }

    /// Notes the sums that a report states; they count only where it has no line of that file.
    pub(super) fn stated(&mut self, path: &str, all: u64, ran: u64) -> Result<(), ReadError> {
        self.marked(path)?.stated = Some((all, ran.min(all)));
        Ok(())
    }

    fn marked(&mut self, path: &str) -> Result<&mut Marks, ReadError> {
        self.marks += 1;
        if self.marks > MARKS_MAX {
            return Err(too_many("lines and branches", MARKS_MAX));
        }
        if !self.files.contains_key(path) {
            self.file(path)?;
        }
        Ok(self
            .files
            .entry(reading::cut(path, NAME_BYTES_MAX))
            .or_default())
    }

    /// The report, if there is any file in it.
    pub(super) fn report(self, format: &'static str) -> Result<CoverageReport, ReadError> {
        if self.files.is_empty() {
            return Err(ReadError::malformed(format, "it names no file"));
        }
        let files = self
            .files
            .into_iter()
            .map(|(path, marks)| marks.summed(path));
        Ok(CoverageReport {
            files: files.collect(),
            with_branches: false,
        })
    }
}

impl Marks {
    fn summed(self, path: String) -> FileCoverage {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let mut lines = count(self.lines.len());
        let mut lines_covered = count(self.lines.values().filter(|ran| **ran).count());
        if let (true, Some((all, ran))) = (self.lines.is_empty(), self.stated) {
            (lines, lines_covered) = (all, ran);
        }
        FileCoverage {
            path,
            lines,
            lines_covered,
            branches: count(self.branches.len()),
            branches_covered: count(self.branches.values().filter(|taken| **taken).count()),
        }
    }
}

fn too_many(what: &'static str, count_max: usize) -> ReadError {
    ReadError::TooMany { what, count_max }
}
