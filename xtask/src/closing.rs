//! Counts: read from the closing lines of test runners, summed, and written as our own closing line.
//! It does not know which tests ran.

use std::fmt;
use std::ops::AddAssign;

/// How many tests ended how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that ran and held.
    pub(crate) passed: u64,
    /// Tests that ran and did not hold, or ran out of time.
    pub(crate) failed: u64,
    /// Tests that said why they could not run.
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(
            formatter,
            "{passed} passed, {failed} failed, {skipped} skipped"
        )
    }
}

/// Counts of a nextest run, from its last `Summary` line; `None` when no test ran at all.
/// Its `skipped` are ignored or filtered tests, which nobody gave us a reason for.
pub(crate) fn of_nextest(output: &str) -> Option<Counts> {
    let summary = output
        .lines()
        .rev()
        .find(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, list) = summary.split_once("run: ")?;
    Some(sum(list.split(',')))
}

/// Counts of a libtest run: the sum over its `test result:` lines; `None` when there is none.
pub(crate) fn of_libtest(output: &str) -> Option<Counts> {
    let mut total: Option<Counts> = None;
    for line in output.lines() {
        if let Some(list) = line.strip_prefix("test result: ") {
            let list = list.split_once(". ").map_or(list, |(_, rest)| rest);
            *total.get_or_insert_default() += sum(list.split(';'));
        }
    }
    total
}

fn sum<'a>(parts: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::default();
    for part in parts {
        let mut words = part.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
            continue;
        };
        match words.next() {
            Some("passed") => counts.passed += number,
            Some("failed" | "timed" | "exec") => counts.failed += number,
            Some("skipped" | "ignored") => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests;
