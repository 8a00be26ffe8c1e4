//! One line of the Test Anything Protocol, without its indentation.

use super::super::collect::{append, seconds_of};
use super::super::{XFAIL, XPASS};
use crate::verdict::{TestResult, TestStatus};

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    Version,
    Plan(u64, u64),
    Point(Point),
    BailOut(String),
    /// The report asks that lines which are not of the protocol count as failures, or takes it back.
    Strict(bool),
    Comment,
    CloseBrace,
    Noise,
}

/// `ok 3 - name # SKIP why`.
#[derive(Debug, Default)]
pub(super) struct Point {
    ok: bool,
    pub(super) number: Option<u64>,
    pub(super) name: String,
    skip: bool,
    todo: bool,
    pub(super) reason: String,
    pub(super) seconds: f64,
    /// Whether its subtests follow in braces.
    pub(super) brace: bool,
}

impl Point {
    pub(super) fn status(&self) -> TestStatus {
        match (self.skip, self.todo, self.ok) {
            (true, ..) => TestStatus::Skipped,
            (_, true, true) => XPASS,
            (_, true, false) => XFAIL,
            (_, _, true) => TestStatus::Passed,
            (_, _, false) => TestStatus::Failed,
        }
    }

    /// Whether a failure of it does not count.
    pub(super) fn excused(&self) -> bool {
        self.skip || self.todo
    }
}

pub(super) fn parse(content: &str) -> Line {
    let content = content.trim_end();
    if content == "}" {
        return Line::CloseBrace;
    }
    if content.starts_with('#') {
        return Line::Comment;
    }
    if let Some(why) = content.strip_prefix("Bail out!") {
        return Line::BailOut(why.trim().to_owned());
    }
    if content.starts_with("TAP version ") {
        return Line::Version;
    }
    match content.strip_prefix("pragma ").map(str::trim) {
        Some("+strict") => return Line::Strict(true),
        Some("-strict") => return Line::Strict(false),
        _ => {}
    }
    if let Some(plan) = plan(content) {
        return plan;
    }
    point(content).map_or(Line::Noise, Line::Point)
}

/// `1..5`, perhaps with a comment.
fn plan(content: &str) -> Option<Line> {
    let (from, rest) = content.split_once("..")?;
    let from = number(from)?;
    let (to, rest) = rest.split_at(
        rest.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len()),
    );
    let rest = rest.trim_start();
    if !(rest.is_empty() || rest.starts_with('#')) {
        return None;
    }
    let to = number(to)?;
    // Nothing was planned, or a range.
    ((from, to) == (1, 0) || from <= to).then_some(Line::Plan(from, to))
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn point(content: &str) -> Option<Point> {
    let (ok, rest) = match content.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, content.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(digits);
    let numbered = after.is_empty() || after.starts_with([' ', '\t', '-', '#']);
    let (number, rest) = match number(digits) {
        Some(number) if numbered => (Some(number), after),
        _ => (None, rest),
    };
    let mut point = Point {
        ok,
        number,
        ..Point::default()
    };
    let rest = rest.trim();
    let rest = match rest.strip_suffix('{') {
        Some(before) if before.is_empty() || before.ends_with(' ') => {
            point.brace = true;
            before.trim_end()
        }
        _ => rest,
    };
    let (name, directive) = directive(rest);
    take_directive(&mut point, directive);
    let name = name.trim();
    let name = name.strip_prefix('-').unwrap_or(name).trim();
    point.name = unescaped(name);
    Some(point)
}

/// The description, and what stands after the last `#` that begins a directive.
fn directive(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if character == '#' && !escaped {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + 1..).unwrap_or_default().trim_start();
            if (before.is_empty() || before.ends_with([' ', '\t'])) && is_directive(after) {
                return (before, after);
            }
        }
        escaped = character == '\\' && !escaped;
    }
    (text, "")
}

fn is_directive(text: &str) -> bool {
    ["skip", "todo", "time="].iter().any(|word| {
        let start = text.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    })
}

fn take_directive(point: &mut Point, text: &str) {
    let Some(word) = text.get(..4) else {
        return;
    };
    // The word may go on, as in `SKIPPED` and `SKIP:`.
    let after = text.get(4..).unwrap_or_default();
    let end = after
        .find(|c: char| c.is_whitespace())
        .unwrap_or(after.len());
    let reason = after.get(end..).unwrap_or_default().trim();
    if word.eq_ignore_ascii_case("skip") {
        point.skip = true;
        point.reason = reason.to_owned();
    } else if word.eq_ignore_ascii_case("todo") {
        point.todo = true;
        point.reason = reason.to_owned();
    } else {
        let value = text.get(5..).unwrap_or_default();
        let seconds = seconds_of(value);
        point.seconds = if value.ends_with("ms") {
            seconds / 1000.0
        } else {
            seconds
        };
    }
}

/// A description without the backslashes before `#` and before themselves.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('#' | '\\')) => plain.extend(characters.next()),
            _ => plain.push(character),
        }
    }
    plain
}

/// Takes one line of a test's block of details.
pub(super) fn detail(test: &mut TestResult, line: &str) {
    if let Some(value) = line.strip_prefix("duration_ms:") {
        let whole = value.trim().split('.').next().unwrap_or_default();
        test.duration_ms = whole.parse().unwrap_or(0);
        return;
    }
    // node: `location: '/work/a.test.js:12:3'`
    if let Some(value) = line.strip_prefix("location:") {
        let value = value.trim().trim_matches(['\'', '"']);
        let mut parts = value.rsplitn(3, ':');
        let (_, line, file) = (parts.next(), parts.next(), parts.next());
        if let (Some(file), Some(Ok(line))) = (file, line.map(str::parse)) {
            test.file = super::super::collect::shortened(file, 1024);
            test.line = Some(line);
        }
        return;
    }
    if test.status != TestStatus::Passed {
        if !test.message.is_empty() {
            append(&mut test.message, "\n");
        }
        append(&mut test.message, line);
    }
}
