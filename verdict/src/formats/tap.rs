//! The Test Anything Protocol, versions 12 to 14, with subtests. Where versions differ, the
//! stricter reading holds: a plan that is not kept, two plans, a number that stands there twice and
//! a bail-out each make the report incomplete. A line that is not of the protocol is nothing, unless
//! the report itself asked for strictness.

mod line;

use super::collect::{Case, Collector, joined};
use super::{FormatError, Report, ReportFormat};
use crate::verdict::TestStatus;
use line::{Line, Point};

/// How deep subtests may lie in each other.
const DEPTH_MAX: usize = 32;
/// Between the names of a test and its subtest.
const BETWEEN: &str = " > ";

/// One nesting level: the report itself, or the subtests of one test.
#[derive(Debug, Default)]
struct Level {
    /// How many spaces its lines begin with.
    indent: usize,
    plan: Option<(u64, u64)>,
    /// Whether the plan came after tests, so that no more may follow.
    plan_last: bool,
    count: u64,
    highest: u64,
    numbers: Numbers,
    strict: bool,
    /// Where its first test stands in the collector.
    first: usize,
    /// The test whose subtests these are, where they stand in braces after it.
    braced: Option<Point>,
    /// Where the subtests begin whose test, in this level, is still to come.
    children: Option<usize>,
}

/// Which numbers were seen: all up to one, and those beyond it.
#[derive(Debug, Default)]
struct Numbers {
    up_to: u64,
    beyond: std::collections::BTreeSet<u64>,
}

impl Numbers {
    /// Whether the number is new.
    fn add(&mut self, number: u64) -> bool {
        if number <= self.up_to || !self.beyond.insert(number) {
            return false;
        }
        while self.beyond.remove(&(self.up_to + 1)) {
            self.up_to += 1;
        }
        true
    }
}

#[derive(Debug)]
struct Reader {
    tests: Collector,
    levels: Vec<Level>,
    trouble: Vec<String>,
    /// Whether a line of the protocol was seen at all.
    any: bool,
    bailed: bool,
    /// The indentation of the block of details that is open, and whether its test is known.
    details: Option<usize>,
}

pub(super) fn read(text: &str) -> Result<Report, FormatError> {
    let mut reader = Reader {
        tests: Collector::default(),
        levels: vec![Level::default()],
        trouble: Vec::new(),
        any: false,
        bailed: false,
        details: None,
    };
    for line in text.trim_start_matches('\u{feff}').lines() {
        reader.line(line)?;
        if reader.bailed {
            break;
        }
    }
    if !reader.any {
        return Err(FormatError::Malformed {
            format: ReportFormat::Tap,
            why: "no line of it is of the protocol".to_owned(),
        });
    }
    reader.close_to(0, false)?;
    let outermost = reader.levels.pop().unwrap_or_default();
    if !reader.bailed {
        reader.check_plan(&outermost);
    }
    let declared = outermost.plan;
    let mut report = Report::new(reader.tests);
    report.declared = declared.map(planned);
    for trouble in reader.trouble {
        report.incomplete(trouble);
    }
    Ok(report)
}

fn planned((from, to): (u64, u64)) -> u64 {
    (to + 1).saturating_sub(from)
}

impl Reader {
    fn line(&mut self, raw: &str) -> Result<(), FormatError> {
        let content = raw.trim_start_matches(' ');
        let indent = raw.len() - content.len();
        if self.in_details(raw, content, indent) {
            return Ok(());
        }
        if content.trim().is_empty() {
            return Ok(());
        }
        let level_indent = self.levels.last().map_or(0, |level| level.indent);
        let mut parsed = line::parse(content);
        if matches!(parsed, Line::CloseBrace) && !self.closes_brace(indent) {
            parsed = Line::Noise;
        }
        if indent == level_indent + 2 && content.trim_end() == "---" && self.tests.len() > 0 {
            self.details = Some(indent);
            return Ok(());
        }
        if matches!(parsed, Line::Noise) {
            self.noise(content, indent);
            return Ok(());
        }
        if matches!(parsed, Line::Comment) {
            return Ok(());
        }
        self.any = true;
        self.move_to(indent, &parsed)?;
        match parsed {
            Line::Point(point) => self.point(point)?,
            Line::Plan(from, to) => self.plan(from, to),
            Line::BailOut(why) => {
                self.trouble(format!("Bail out! {why}"));
                self.bailed = true;
            }
            Line::Strict(on) => {
                if let Some(level) = self.levels.last_mut() {
                    level.strict = on;
                }
            }
            Line::Version | Line::CloseBrace | Line::Comment | Line::Noise => {}
        }
        Ok(())
    }

    /// Takes a line of a block of details; whether it was one.
    fn in_details(&mut self, raw: &str, content: &str, indent: usize) -> bool {
        let Some(block) = self.details else {
            return false;
        };
        if indent < block && !content.trim().is_empty() {
            // The block was not ended; the line is looked at as any other.
            self.details = None;
            return false;
        }
        if indent == block && content.trim_end() == "..." {
            self.details = None;
            return true;
        }
        let last = self.tests.len().saturating_sub(1);
        if let Some(test) = self.tests.since(last).first_mut() {
            line::detail(test, raw.get(block.min(raw.len())..).unwrap_or_default());
        }
        true
    }

    fn noise(&mut self, content: &str, indent: usize) {
        let level = self.levels.last();
        if level.is_some_and(|level| level.strict && indent <= level.indent) {
            self.trouble(format!("a line that is not of the protocol: {content}"));
        }
    }

    /// Opens or closes levels until the last one is at `indent`.
    fn move_to(&mut self, indent: usize, line: &Line) -> Result<(), FormatError> {
        let here = self.levels.last().map_or(0, |level| level.indent);
        if indent < here {
            return self.close_to(indent, matches!(line, Line::CloseBrace));
        }
        if !matches!(line, Line::Point(_) | Line::Plan(..) | Line::Strict(_)) {
            return Ok(());
        }
        // A subtest may begin with its own subtest.
        for step in 1..=(indent - here) / 4 {
            if self.levels.len() < DEPTH_MAX {
                self.levels.push(Level {
                    indent: here + 4 * step,
                    strict: self.levels.last().is_some_and(|level| level.strict),
                    first: self.tests.len(),
                    ..Level::default()
                });
            }
        }
        Ok(())
    }

    /// Whether a closing brace at `indent` ends subtests in braces.
    fn closes_brace(&self, indent: usize) -> bool {
        let mut levels = self.levels.iter();
        levels.any(|level| level.braced.is_some() && level.indent == indent + 4)
    }

    /// Closes levels that are deeper than `indent`, the last of them perhaps by its brace.
    fn close_to(&mut self, indent: usize, brace: bool) -> Result<(), FormatError> {
        while self.levels.len() > 1
            && let Some(here) = self.levels.last().map(|level| level.indent)
            && here > indent
        {
            self.close_last(brace && here == indent + 4)?;
        }
        Ok(())
    }

    fn close_last(&mut self, by_brace: bool) -> Result<(), FormatError> {
        let Some(level) = self.levels.pop() else {
            return Ok(());
        };
        if by_brace || level.first != self.tests.len() {
            self.check_plan(&level);
        }
        if let Some(mut point) = level.braced {
            if !by_brace && level.first == self.tests.len() {
                // No subtest came: the brace belongs to the name.
                point.name.push_str(" {");
            } else if !by_brace {
                self.trouble(format!("the subtests of `{}` do not end", point.name));
            }
            self.end_point(&point, Some(level.first))
        } else {
            if let Some(parent) = self.levels.last_mut() {
                parent.children.get_or_insert(level.first);
            }
            Ok(())
        }
    }

    fn check_plan(&mut self, level: &Level) {
        match level.plan {
            // It only held a level that is deeper.
            None if level.count == 0 && level.indent > 0 && level.braced.is_none() => {}
            None => self.trouble("there is no plan".to_owned()),
            Some(plan) if planned(plan) != level.count => self.trouble(format!(
                "the plan is {}..{}, {} tests were told",
                plan.0, plan.1, level.count
            )),
            Some(_) => {}
        }
    }

    fn plan(&mut self, from: u64, to: u64) {
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        if level.plan.is_some() {
            self.trouble("there are two plans".to_owned());
            return;
        }
        level.plan = Some((from, to));
        level.plan_last = level.count > 0;
        let highest = level.highest;
        if level.plan_last && highest > to {
            self.trouble(format!("test {highest} is not in the plan"));
        }
    }

    fn point(&mut self, mut point: Point) -> Result<(), FormatError> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(());
        };
        level.count += 1;
        let number = point.number.unwrap_or(level.count);
        level.highest = level.highest.max(number);
        let wrong = if !level.numbers.add(number) {
            Some("stands there twice")
        } else if level.plan_last {
            Some("comes after the plan")
        } else if (level.plan).is_some_and(|(from, to)| number < from || number > to) {
            Some("is not in the plan")
        } else {
            None
        };
        let children = level.children.take();
        let indent = level.indent;
        if point.name.is_empty() {
            point.name = number.to_string();
        }
        if let Some(wrong) = wrong {
            self.trouble(format!("test {number} {wrong}"));
        }
        if point.brace && self.levels.len() < DEPTH_MAX {
            let first = self.tests.len();
            self.levels.push(Level {
                indent: indent + 4,
                first,
                braced: Some(point),
                ..Level::default()
            });
            return Ok(());
        }
        self.end_point(&point, children)
    }

    /// Adds a test, and names it before those of its subtests, which are all since `children`.
    fn end_point(&mut self, point: &Point, children: Option<usize>) -> Result<(), FormatError> {
        let status = point.status();
        for child in children
            .map(|first| self.tests.since(first))
            .unwrap_or_default()
        {
            child.id = joined([point.name.as_str(), &child.id], BETWEEN);
            // What the test is excused from its subtests are as well.
            if point.excused() && matches!(child.status, TestStatus::Failed | TestStatus::Error) {
                child.status = status;
            }
        }
        self.tests.add(Case {
            id: point.name.clone(),
            status: Some(status),
            message: point.reason.clone(),
            seconds: point.seconds,
            ..Case::default()
        })
    }

    fn trouble(&mut self, what: String) {
        if self.trouble.len() < super::TROUBLE_MAX {
            self.trouble.push(what);
        }
    }
}
