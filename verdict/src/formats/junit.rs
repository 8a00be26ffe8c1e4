//! JUnit's XML as many tools write it. Every `testcase` element counts, whatever the suites around
//! it say of their sums: some tools count subtests twice, some write sums without cases.
//! A failure anywhere below a case fails the case, except in what a retry made good.

use super::collect::{Case, Collector, append, joined, name, seconds_of};
use super::{FormatError, Report, ReportFormat};
use crate::verdict::TestStatus;
use crate::xml::{Element, Piece, Puller};

/// What an open element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Suites,
    Suite,
    Case,
    /// A finding whose text is its message.
    Finding,
    /// An earlier try of a test that was run again, with all that is in it.
    Retried,
    Other,
}

#[derive(Debug, Default)]
struct Reader {
    tests: Collector,
    open: Vec<Kind>,
    suites: Vec<String>,
    case: Option<Pending>,
    /// Cases without any name, which are told by their number.
    nameless: usize,
    /// Suites that speak of failures while no case below them failed.
    contradictions: Vec<String>,
    /// For each open suite: whether its sums speak of failures, and how many cases had failed.
    claims: Vec<(bool, usize)>,
    failed: usize,
}

/// A case, or a suite's own finding, whose end was not seen yet.
#[derive(Debug, Default)]
struct Pending {
    case: Case,
    /// Text of the finding, where it has no message of its own.
    text: String,
    /// What an attribute of the case says of its end.
    attribute: Option<String>,
}

pub(super) fn read(text: &str) -> Result<Report, FormatError> {
    let mut puller = Puller::new(text);
    let mut reader = Reader::default();
    let broken = loop {
        match puller.next() {
            Ok(Piece::Open(element)) => {
                if puller.depth() == 1 && !matches!(element.name(), "testsuites" | "testsuite") {
                    return Err(FormatError::Malformed {
                        format: ReportFormat::JunitXml,
                        why: format!("its outermost element is `{}`", element.name()),
                    });
                }
                reader.open(&element);
            }
            Ok(Piece::Close) => reader.close()?,
            Ok(Piece::Text(text)) => reader.text(&text),
            Ok(Piece::End) => break None,
            Err(error) => break Some(error),
        }
    };
    let contradictions = std::mem::take(&mut reader.contradictions);
    if let Some(error) = &broken
        && (reader.tests.len() == 0 || !matches!(error, crate::xml::XmlError::Truncated { .. }))
    {
        return Err(error.clone().of_report());
    }
    let mut report = Report::new(reader.tests);
    if let Some(error) = broken {
        report.incomplete(error.to_string());
    }
    for suite in contradictions {
        report.note(format!(
            "suite `{suite}` says that tests failed, no test in it did"
        ));
    }
    Ok(report)
}

impl Reader {
    fn open(&mut self, element: &Element<'_>) {
        let kind = self.kind(element.name());
        match kind {
            Kind::Suite => {
                let claims = |sum| {
                    let number = element.attribute(sum);
                    number.is_some_and(|text| text.trim().parse::<u64>().is_ok_and(|n| n > 0))
                };
                self.claims
                    .push((claims("failures") || claims("errors"), self.failed));
                let suite = element.attribute("name").unwrap_or_default();
                self.suites.push(name(&suite));
            }
            Kind::Case => self.case = Some(pending(element, self.suites.last())),
            Kind::Finding => self.finding(element),
            Kind::Suites | Kind::Retried | Kind::Other => {}
        }
        self.open.push(kind);
    }

    /// What an element of that name is where we stand.
    fn kind(&self, name: &str) -> Kind {
        if self.open.contains(&Kind::Retried) {
            return Kind::Other;
        }
        let finding = matches!(
            name,
            "failure" | "error" | "skipped" | "ignored" | "disabled" | "warning"
        );
        match self.case {
            Some(_) if finding => Kind::Finding,
            Some(_) if is_retry(name) => Kind::Retried,
            Some(_) => Kind::Other,
            None => match name {
                "testsuites" => Kind::Suites,
                "testsuite" => Kind::Suite,
                "testcase" => Kind::Case,
                // A suite that could not be set up.
                "failure" | "error" if self.open.last() == Some(&Kind::Suite) => Kind::Finding,
                _ => Kind::Other,
            },
        }
    }

    fn finding(&mut self, element: &Element<'_>) {
        let status = match element.name() {
            "failure" | "warning" => TestStatus::Failed,
            "error" => TestStatus::Error,
            _ if element.attribute("type").as_deref() == Some("pytest.xfail") => super::XFAIL,
            _ => TestStatus::Skipped,
        };
        let suite = self.suites.last();
        let pending = self.case.get_or_insert_with(|| Pending {
            case: Case {
                id: suite.cloned().unwrap_or_default(),
                ..Case::default()
            },
            ..Pending::default()
        });
        let case = &mut pending.case;
        if case.status.is_none_or(|known| rank(known) < rank(status)) {
            case.status = Some(status);
            case.message = element.attribute("message").unwrap_or_default();
            pending.text.clear();
        }
    }

    fn text(&mut self, text: &str) {
        if self.open.last() == Some(&Kind::Finding)
            && let Some(pending) = &mut self.case
        {
            append(&mut pending.text, text);
        }
    }

    fn close(&mut self) -> Result<(), FormatError> {
        match self.open.pop() {
            Some(Kind::Suite) => {
                let suite = self.suites.pop().unwrap_or_default();
                if let Some((true, failed)) = self.claims.pop()
                    && failed == self.failed
                    && self.contradictions.len() < super::TROUBLE_MAX
                {
                    self.contradictions.push(suite);
                }
            }
            Some(Kind::Case) => self.end_case()?,
            // The finding of a suite stands alone.
            Some(Kind::Finding) if !self.open.contains(&Kind::Case) => self.end_case()?,
            _ => {}
        }
        Ok(())
    }

    fn end_case(&mut self) -> Result<(), FormatError> {
        let Some(mut pending) = self.case.take() else {
            return Ok(());
        };
        let case = &mut pending.case;
        if case.id.is_empty() {
            self.nameless += 1;
            case.id = format!("test {}", self.nameless);
        }
        if case.message.trim().is_empty() {
            case.message = std::mem::take(&mut pending.text);
        }
        by_attribute(case, pending.attribute.as_deref().unwrap_or_default());
        if matches!(case.status, Some(TestStatus::Failed | TestStatus::Error)) {
            self.failed += 1;
        }
        self.tests.add(pending.case)
    }
}

/// Earlier tries of a test that Surefire ran again; the last one stands beside them as usual.
fn is_retry(name: &str) -> bool {
    matches!(
        name,
        "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError"
    )
}

fn pending(element: &Element<'_>, suite: Option<&String>) -> Pending {
    let first = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| element.attribute(name));
        values.find(|value| !value.trim().is_empty())
    };
    let name = first(&["name"]).unwrap_or_default();
    let class = first(&["classname", "class"]).or_else(|| suite.cloned());
    // Some tools write the whole name in both places.
    let class = class.filter(|class| class != &name && !name.is_empty());
    let attribute = first(&["result"])
        .filter(|result| !result.eq_ignore_ascii_case("completed"))
        .or_else(|| first(&["status"]));
    Pending {
        case: Case {
            id: joined([class.as_deref().unwrap_or_default(), &name], "::"),
            seconds: first(&["time", "duration"]).map_or(0.0, |text| seconds_of(&text)),
            file: first(&["file", "filepath"]).unwrap_or_default(),
            line: first(&["line", "lineno"]).and_then(|text| text.trim().parse().ok()),
            ..Case::default()
        },
        text: String::new(),
        attribute,
    }
}

/// How much a state weighs against another that is told of the same case.
fn rank(status: TestStatus) -> u8 {
    match status {
        TestStatus::Error => 3,
        TestStatus::Failed => 2,
        TestStatus::Passed => 0,
        _ => 1,
    }
}

/// Takes the attribute's word where it is worse than the elements', or where there are none.
fn by_attribute(case: &mut Case, attribute: &str) {
    let told = match attribute.trim().to_ascii_lowercase().as_str() {
        "" | "run" | "passed" | "pass" | "ok" | "success" | "successful" | "completed" => {
            TestStatus::Passed
        }
        "notrun" | "skipped" | "ignored" | "disabled" | "suppressed" | "pending" | "todo" => {
            TestStatus::Skipped
        }
        "failed" | "fail" | "failure" => TestStatus::Failed,
        // Among others: error, errored, timeout, cancelled, inconclusive.
        _ => TestStatus::Error,
    };
    let elements = case.status;
    if elements.is_none_or(|known| told == TestStatus::Failed && rank(known) < rank(told)) {
        case.status = Some(told);
        if told != TestStatus::Passed && case.message.is_empty() {
            case.message = format!("its status is `{}`", attribute.trim());
        }
    }
}
