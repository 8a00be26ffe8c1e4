//! The text of `go test` and of a compiled test program, with `-v`: without it only failures name
//! their tests.

use std::collections::BTreeMap;

use super::super::collect::{Case, Collector, append, joined, seconds_of};
use super::super::{FormatError, Report, ReportFormat, TESTS_MAX};
use super::{BETWEEN, case, place};
use crate::verdict::TestStatus;

#[derive(Debug, Default)]
struct Reader {
    tests: Collector,
    /// Tests that began, with what they printed.
    running: BTreeMap<String, String>,
    /// Whose output the lines are.
    current: Option<String>,
    /// The test that ended last: older versions print its messages after it.
    ended: Option<usize>,
    /// Where the tests begin whose package is still to come.
    first: usize,
    failed: bool,
    /// Lines beside tests since the last package.
    beside: String,
    /// Whether tests or their program's `PASS` or `FAIL` were seen since the last package.
    open: bool,
    /// Whether the program said `PASS` or `FAIL`.
    sum: bool,
    any: bool,
    trouble: Vec<String>,
    /// Whether a package failed: the go command then ends with a `FAIL` of its own.
    package_failed: bool,
}

pub(in super::super) fn read(text: &str) -> Result<Report, FormatError> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line)?;
    }
    reader.end_package("", None)?;
    if !reader.any {
        return Err(FormatError::Malformed {
            format: ReportFormat::GoText,
            why: "it names no test and no package".to_owned(),
        });
    }
    let mut report = Report::new(reader.tests);
    for trouble in reader.trouble {
        report.incomplete(trouble);
    }
    Ok(report)
}

/// How a package ended, in the first word of its line.
enum Summary<'a> {
    Passed(&'a str),
    Failed(&'a str),
    Empty,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), FormatError> {
        let trimmed = line.trim();
        if let Some((word, name)) = frame(trimmed) {
            self.any = true;
            self.open = true;
            let begins = word == "RUN" || !self.running.contains_key(name);
            if begins && word != "PAUSE" {
                if self.running.len() == TESTS_MAX {
                    return Err(FormatError::TooManyTests);
                }
                self.running.insert(name.to_owned(), String::new());
            }
            self.current = Some(name.to_owned());
            self.ended = None;
            return Ok(());
        }
        if let Some((before, status, name, seconds)) = self.result(line) {
            if !before.trim().is_empty() {
                self.output(before);
            }
            return self.end_test(name, status, seconds);
        }
        match summary(line) {
            Some(Summary::Passed(package)) => return self.end_package(package, Some(true)),
            Some(Summary::Failed(package)) => return self.end_package(package, Some(false)),
            Some(Summary::Empty) => {
                self.any = true;
                return Ok(());
            }
            None => {}
        }
        match line.trim_end() {
            "PASS" => self.sum = true,
            "FAIL" => (self.sum, self.failed) = (true, true),
            _ => {
                self.output(line);
                return Ok(());
            }
        }
        (self.any, self.open) = (true, true);
        (self.current, self.ended) = (None, None);
        Ok(())
    }

    /// `--- PASS: TestA (0.00s)`, at the beginning of a line or after what the test printed.
    fn result<'l>(&self, line: &'l str) -> Option<(&'l str, TestStatus, &'l str, f64)> {
        let at = line.find("--- ")?;
        let (before, rest) = line.split_at(at);
        let (word, rest) = rest.strip_prefix("--- ")?.split_once(": ")?;
        let status = match word {
            "PASS" => TestStatus::Passed,
            "FAIL" => TestStatus::Failed,
            "SKIP" => TestStatus::Skipped,
            _ => return None,
        };
        let (name, time) = rest.rsplit_once(" (").unwrap_or((rest, ""));
        let name = name.trim();
        // In the middle of a line it counts only for a test that runs.
        let known = before.trim().is_empty() || self.running.contains_key(name);
        let seconds = seconds_of(time.trim_end_matches(')'));
        (known && !name.is_empty()).then_some((before, status, name, seconds))
    }

    fn end_test(
        &mut self,
        name: &str,
        status: TestStatus,
        seconds: f64,
    ) -> Result<(), FormatError> {
        (self.any, self.open) = (true, true);
        let output = self.running.remove(name).unwrap_or_default();
        self.current = None;
        self.ended = None;
        if name.starts_with("Benchmark") && status != TestStatus::Failed {
            return Ok(());
        }
        self.failed |= status == TestStatus::Failed;
        self.ended = (status != TestStatus::Passed).then_some(self.tests.len());
        self.tests
            .add(case(name.to_owned(), Some(status), &output, seconds))
    }

    fn output(&mut self, line: &str) {
        let text = match &self.current {
            Some(name) => self.running.get_mut(name),
            None => None,
        };
        if let Some(text) = text {
            append(text, line);
            append(text, "\n");
            return;
        }
        if line.starts_with([' ', '\t'])
            && let Some(test) = self.ended.and_then(|at| self.tests.since(at).first_mut())
        {
            if test.line.is_none()
                && let Some(found) = place(line)
            {
                (test.file, test.line) = found;
            }
            append(&mut test.message, line.trim());
            append(&mut test.message, "\n");
            return;
        }
        self.ended = None;
        append(&mut self.beside, line);
        append(&mut self.beside, "\n");
    }

    /// Ends a package, or what is left at the end of the text.
    fn end_package(&mut self, package: &str, passed: Option<bool>) -> Result<(), FormatError> {
        let named = !package.is_empty();
        self.any |= named;
        let unended = std::mem::take(&mut self.running);
        for (name, output) in unended {
            let benchmark = name.starts_with("Benchmark");
            if !benchmark && passed == Some(false) {
                // A package that failed says so itself: the test was running when it did.
                self.tests.add(case(name, None, &output, 0.0))?;
            } else if !benchmark {
                self.trouble(format!("test `{name}` began and did not end"));
                self.tests.add(case(name, None, &output, 0.0))?;
            }
        }
        let failed_before = self.failed;
        let first = self.first;
        for test in self.tests.since(first) {
            test.id = joined([package, &test.id], BETWEEN);
        }
        let failing = |test: &crate::TestResult| {
            matches!(test.status, TestStatus::Failed | TestStatus::Error)
        };
        let told = self.tests.since(first).iter().any(failing);
        let ours = !named && failed_before && !self.package_failed;
        if (passed == Some(false) || ours) && !told {
            let name = if named { package } else { "test program" };
            let beside = std::mem::take(&mut self.beside);
            self.tests.add(Case {
                id: name.to_owned(),
                status: Some(TestStatus::Error),
                message: beside,
                ..Case::default()
            })?;
        }
        if passed == Some(true) && told {
            self.trouble(format!("package `{package}` passed, a test in it did not"));
        }
        if !named && self.open && !self.sum {
            self.trouble("the text ends before its package does".to_owned());
        }
        *self = Self {
            first: self.tests.len(),
            tests: std::mem::take(&mut self.tests),
            trouble: std::mem::take(&mut self.trouble),
            any: self.any,
            package_failed: self.package_failed || passed == Some(false),
            ..Self::default()
        };
        Ok(())
    }

    fn trouble(&mut self, what: String) {
        if self.trouble.len() < super::super::TROUBLE_MAX {
            self.trouble.push(what);
        }
    }
}

/// `=== RUN   TestA`.
fn frame(line: &str) -> Option<(&str, &str)> {
    let (word, name) = line.strip_prefix("=== ")?.split_once(' ')?;
    let known = matches!(word, "RUN" | "PAUSE" | "CONT" | "NAME");
    let name = name.trim();
    (known && !name.is_empty()).then_some((word, name))
}

/// `ok  pkg 0.1s`, `FAIL pkg 0.1s`, `FAIL pkg [build failed]`, `? pkg [no test files]`.
fn summary(line: &str) -> Option<Summary<'_>> {
    let (word, rest) = line.split_once([' ', '\t'])?;
    let mut rest = rest.split_ascii_whitespace();
    let (package, next) = (rest.next()?, rest.next());
    let ends = next.is_some_and(|next| {
        next.starts_with(['[', '(']) || next.starts_with(|c: char| c.is_ascii_digit())
    });
    match word {
        "ok" if ends => Some(Summary::Passed(package)),
        "FAIL" if ends => Some(Summary::Failed(package)),
        "?" if ends => Some(Summary::Empty),
        _ => None,
    }
}
