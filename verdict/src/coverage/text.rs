//! LCOV's tracefile, gcov's text in both forms, Go's profile.

use std::collections::BTreeMap;

use crate::reading::{self, ReadError};

use super::lines::Lines;
use super::{CoverageReport, FileCoverage};

/// Reads LCOV's tracefile. A line that says less than it must is an error: a cut report would
/// otherwise look better than it is.
pub(super) fn lcov(text: &str) -> Result<CoverageReport, ReadError> {
    let wrong = |line: &str| ReadError::malformed("lcov", format!("line {line:?}"));
    let mut lines = Lines::default();
    let mut file: Option<String> = None;
    let mut found = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        match (key, file.as_deref()) {
            ("SF", _) => {
                lines.file(value)?;
                file = Some(value.to_owned());
                found = None;
            }
            ("end_of_record", _) => file = None,
            ("DA", Some(file)) => {
                let (number, count) = value.split_once(',').ok_or_else(|| wrong(line))?;
                let number = number.parse().map_err(|_error| wrong(line))?;
                let count = count.split(',').next().unwrap_or_default();
                lines.line(file, number, ran(count).ok_or_else(|| wrong(line))?)?;
            }
            ("BRDA", Some(file)) => {
                let fields: Vec<&str> = value.splitn(3, ',').collect();
                let (Some(number), Some((of, taken))) = (
                    fields.first().and_then(|number| number.parse().ok()),
                    fields.get(2).and_then(|rest| rest.rsplit_once(',')),
                ) else {
                    return Err(wrong(line));
                };
                let block = fields.get(1).copied().unwrap_or_default();
                let branch = number_of(&format!("{block},{of}"));
                let taken = taken == "-" || ran(taken).is_some();
                if !taken {
                    return Err(wrong(line));
                }
                let was = ran(value.rsplit(',').next().unwrap_or_default()) == Some(true);
                lines.branch(file, (number, branch), was)?;
            }
            ("LF", Some(_)) => found = value.parse().ok(),
            ("LH", Some(file)) => {
                if let (Some(all), Ok(hit)) = (found, value.parse()) {
                    lines.stated(file, all, hit)?;
                }
            }
            ("TN" | "FN" | "FNDA" | "FNF" | "FNH" | "FNL" | "FNA" | "BRF" | "BRH" | "VER", _) => {}
            ("MCDC" | "MCF" | "MCH" | "FNLF" | "FNLH" | "BFH", _) => {}
            _ => return Err(wrong(line)),
        }
    }
    if file.is_some() {
        return Err(ReadError::malformed("lcov", "the last record does not end"));
    }
    lines.report("lcov")
}

/// A number for a branch's name, the same for the same name.
fn number_of(name: &str) -> u64 {
    // FNV-1a: names are short, and a clash only joins two branches of one line.
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether a count is more than none; `None` where it is no count.
fn ran(count: &str) -> Option<bool> {
    let (sign, digits) = match count.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, count),
    };
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| !sign && digits.bytes().any(|byte| byte != b'0'))
}

/// Reads gcov's text: annotated source, or lines of `file:`, `lcount:` and `branch:`.
pub(super) fn gcov(text: &str) -> Result<CoverageReport, ReadError> {
    let mut lines = Lines::default();
    let mut file: Option<String> = None;
    let mut branch = (0, 0);
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("file:") {
            lines.file(path)?;
            file = Some(path.to_owned());
        } else if let (Some(rest), Some(file)) = (line.strip_prefix("lcount:"), &file) {
            let mut fields = rest.split(',');
            let number = fields.next().and_then(|number| number.parse().ok());
            let ran = fields.next().and_then(ran);
            let (Some(number), Some(ran)) = (number, ran) else {
                return Err(ReadError::malformed("gcov_text", format!("line {line:?}")));
            };
            branch = (number, 0);
            lines.line(file, number, ran)?;
        } else if let (Some(rest), Some(file)) = (line.strip_prefix("branch:"), &file) {
            let taken = rest.split(',').nth(1) == Some("taken");
            branch.1 += 1;
            lines.branch(file, branch, taken)?;
        } else if let (Some(taken), Some(file)) = (annotated_branch(line), &file) {
            branch.1 += 1;
            lines.branch(file, branch, taken)?;
        } else if let Some((mark, number, source)) = annotated(line) {
            if let ("-", 0, Some(path)) = (mark, number, source.strip_prefix("Source:")) {
                lines.file(path)?;
                file = Some(path.to_owned());
            } else if let (true, Some(file)) = (mark != "-", &file) {
                branch = (number, 0);
                let unreached = mark.starts_with(['#', '=', '$', '%']);
                let count = mark.trim_end_matches('*');
                lines.line(file, number, !unreached && ran(count) != Some(false))?;
            }
        }
    }
    lines.report("gcov_text")
}

/// `  COUNT:  LINE:source`.
fn annotated(line: &str) -> Option<(&str, u64, &str)> {
    let (mark, rest) = line.split_once(':')?;
    let (number, source) = rest.split_once(':')?;
    Some((mark.trim(), number.trim().parse().ok()?, source))
}

/// `branch  0 taken 9` or `branch  1 never executed`.
fn annotated_branch(line: &str) -> Option<bool> {
    let rest = line.strip_prefix("branch ")?.trim_start();
    let (_, what) = rest.split_once(' ')?;
    let taken = what.trim_start().strip_prefix("taken ");
    Some(taken.is_some_and(|count| !count.starts_with("0 ") && !matches!(count, "0" | "0%")))
}

/// Reads Go's profile: `FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT`, blocks may come again.
pub(super) fn go(text: &str) -> Result<CoverageReport, ReadError> {
    let wrong = |line: &str| ReadError::malformed("go_cover", format!("line {line:?}"));
    let mut blocks: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("mode: ") {
            continue;
        }
        let mut fields = line.rsplitn(3, ' ');
        let (count, statements, block) = (fields.next(), fields.next(), fields.next());
        let ran = count.and_then(ran).ok_or_else(|| wrong(line))?;
        let statements = statements.and_then(|number| number.parse().ok());
        let statements = statements.ok_or_else(|| wrong(line))?;
        let block = block.filter(|block| block.contains(':'));
        let entry = blocks.entry(block.ok_or_else(|| wrong(line))?);
        let known = entry.or_insert((statements, false));
        known.1 |= ran;
        if blocks.len() > reading::ENTRIES_MAX {
            let (what, count_max) = ("blocks", reading::ENTRIES_MAX);
            return Err(ReadError::TooMany { what, count_max });
        }
    }
    let mut report = CoverageReport::default();
    for (block, (statements, ran)) in blocks {
        let path = block.rsplit_once(':').map_or(block, |(path, _)| path);
        // Blocks are in the order of their paths.
        if report.files.last().is_none_or(|file| file.path != path) {
            report.files.push(FileCoverage {
                path: path.to_owned(),
                ..FileCoverage::default()
            });
        }
        if let Some(file) = report.files.last_mut() {
            file.lines = file.lines.saturating_add(statements);
            let reached = if ran { statements } else { 0 };
            file.lines_covered = file.lines_covered.saturating_add(reached);
        }
    }
    if report.files.is_empty() {
        return Err(ReadError::malformed("go_cover", "it names no file"));
    }
    Ok(report)
}
