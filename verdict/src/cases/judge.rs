//! From what was reported of each case to its result, and from all of them to a verdict.

use super::equal;
use super::literal;
use super::report::{CaseEnd, CaseReport, Loaded, Returned, read_returned};
use super::value::{Value, show};
use super::wire;
use crate::grade::{ENDED_BY_GRADER, Ended, by_ending, by_host, compare, describe};
use crate::plan::programs;
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Outcome, Severity, TestResult, TestStatus, Verdict};
use crate::verify::cases::{Case, CasesSpec};

/// Characters of a message that come from the solution.
const TOLD_CHARS_MAX: usize = 300;
/// What the kernel sends when a limit of processor time is reached.
const SIGXCPU: i32 = 24;

/// What is known of all cases when the sandbox is gone.
#[derive(Debug, Default)]
pub struct Cases {
    /// How the solution was loaded; none if that was never told.
    pub loaded: Option<Loaded>,
    /// Results of the cases that were reported, in order.
    pub results: Vec<TestResult>,
    /// What broke off the exchange, in words.
    pub trouble: Option<String>,
    /// Whether the rest was not asked for, because one did not pass.
    pub stopped: bool,
    /// Whether the rest was not asked for, because all together wrote too much.
    pub output_up: bool,
}

/// The result of one case.
#[must_use]
pub fn judge_case(spec: &CasesSpec, case: &Case, report: &CaseReport) -> TestResult {
    let number = usize::try_from(report.number).unwrap_or(usize::MAX);
    let (status, message) = match by_limits(spec, report) {
        Some(found) => found,
        None if spec.function.is_empty() => of_program(spec, case, report),
        None => of_call(spec, case, report),
    };
    TestResult {
        id: spec.id(number),
        status,
        duration_ms: report.wall_us / 1000,
        message,
        file: String::new(),
        line: None,
    }
}

fn by_limits(spec: &CasesSpec, report: &CaseReport) -> Option<(TestStatus, String)> {
    let cpu_ms = report.cpu_us / 1000;
    let timeout = |message| Some((TestStatus::Timeout, message));
    if spec.case_cpu_ms > 0 && cpu_ms >= u64::from(spec.case_cpu_ms) {
        return timeout(format!(
            "it used {cpu_ms} ms of processor time, of {} ms",
            spec.case_cpu_ms
        ));
    }
    match report.end {
        // The kernel's own count ends it a little before ours has reached the limit.
        CaseEnd::Signalled(SIGXCPU) if spec.case_cpu_ms > 0 => {
            timeout(format!("processor time of {} ms was up", spec.case_cpu_ms))
        }
        CaseEnd::WallTimeUp => timeout(format!("wall time of {} ms was up", spec.wall_ms())),
        CaseEnd::OutputUp => {
            let message = format!("it wrote more than may be, {} bytes", report.written_bytes);
            Some((TestStatus::Error, message))
        }
        CaseEnd::NotStarted => Some((TestStatus::Error, told("it did not start", report))),
        CaseEnd::Exited(_) | CaseEnd::Signalled(_) => None,
    }
}

/// A message with the end of what the case wrote to standard error.
fn told(message: &str, report: &CaseReport) -> String {
    let text = String::from_utf8_lossy(report.stderr.inner());
    let text = text.trim();
    if text.is_empty() {
        return message.to_owned();
    }
    let skip = text.chars().count().saturating_sub(TOLD_CHARS_MAX);
    let tail: String = text.chars().skip(skip).collect();
    format!("{message}; standard error ends: {tail}")
}

fn of_program(spec: &CasesSpec, case: &Case, report: &CaseReport) -> (TestStatus, String) {
    let how = match report.end {
        CaseEnd::Exited(code) if code == case.exit_code => {
            let Some(expected) = case.stdout.as_deref() else {
                return (TestStatus::Passed, String::new());
            };
            let rules = compare::Rules {
                ignore_trailing_space: spec.ignore_trailing_space,
                float_tolerance: spec.float_tolerance,
            };
            return match compare::difference(rules, expected, &report.output) {
                None => (TestStatus::Passed, String::new()),
                Some(message) => {
                    let parts = excerpts(expected, &report.output);
                    (TestStatus::Failed, format!("{message}; {parts}"))
                }
            };
        }
        CaseEnd::Exited(code) => format!("exited with code {code}"),
        CaseEnd::Signalled(signal) => format!("ended by signal {signal}"),
        other => format!("ended as {other:?}"),
    };
    let message = format!("{how}; expected exit code {}", case.exit_code);
    (TestStatus::Error, told(&message, report))
}

/// Both sides from the first line in which they differ, bounded.
fn excerpts(expected: &[u8], output: &Untrusted<Vec<u8>>) -> String {
    let got = output.inner().as_slice();
    let same = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let from = expected[..same]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let part = |bytes: &[u8]| {
        let end = bytes.len().min(from + 4 * TOLD_CHARS_MAX);
        let text = String::from_utf8_lossy(bytes.get(from..end).unwrap_or_default());
        let text = Value::text(&text);
        show(&text, TOLD_CHARS_MAX / 2)
    };
    format!("expected {}, got {}", part(expected), part(got))
}

fn of_call(spec: &CasesSpec, case: &Case, report: &CaseReport) -> (TestStatus, String) {
    match report.end {
        CaseEnd::Exited(0) => {}
        CaseEnd::Exited(code) => {
            let message = format!("its process exited with code {code}");
            return (TestStatus::Error, told(&message, report));
        }
        CaseEnd::Signalled(signal) => {
            let message = format!("its process was ended by signal {signal}");
            return (TestStatus::Error, told(&message, report));
        }
        other => return (TestStatus::Error, format!("its process ended as {other:?}")),
    }
    let expected = match literal::parse(&case.expected) {
        Ok(expected) => expected,
        // Excluded when the request was read.
        Err(error) => return (TestStatus::Error, format!("expected {error}")),
    };
    let returned = if programs::is_made(spec.language) {
        wire::reply(spec.language, &report.output).map_err(|error| error.to_string())
    } else {
        read_returned(&report.output).map_err(|error| error.to_string())
    };
    match returned {
        Ok(Returned::Value(got)) => {
            match equal::difference(&expected, &got, spec.float_tolerance) {
                None => (TestStatus::Passed, String::new()),
                Some(message) => (TestStatus::Failed, message),
            }
        }
        Ok(Returned::Raised { kind, message }) => (TestStatus::Error, format!("{kind}: {message}")),
        Ok(Returned::CannotCross(why)) => (
            TestStatus::Error,
            format!("no plain value crosses here: {why}"),
        ),
        Err(error) => (TestStatus::Error, error),
    }
}

/// The verdict on all cases.
///
/// A pass needs: no host fault, no kernel kill for memory, every case reported in order, and every
/// required one passed.
#[must_use]
pub fn judge_cases(spec: &CasesSpec, mut cases: Cases, sandbox: Ended<'_>) -> Verdict {
    let ran = cases.results.len();
    let complete = ran == spec.cases.len() || cases.stopped;
    let mut verdict = match by_sandbox(spec, &cases, sandbox, complete) {
        Some(verdict) => verdict,
        None => by_results(spec, &cases.results, cases.stopped),
    };
    let why = if cases.stopped {
        "not run: one before it did not pass"
    } else {
        "not run: the run of the cases broke off before it"
    };
    verdict.tests = std::mem::take(&mut cases.results);
    let missing = (ran..spec.cases.len()).map(|number| TestResult {
        id: spec.id(number),
        status: TestStatus::Skipped,
        duration_ms: 0,
        message: why.to_owned(),
        file: String::new(),
        line: None,
    });
    verdict.tests.extend(missing);
    verdict
}

/// What is decided before any case is looked at.
fn by_sandbox(
    spec: &CasesSpec,
    cases: &Cases,
    sandbox: Ended<'_>,
    complete: bool,
) -> Option<Verdict> {
    if let Some(verdict) = by_host(sandbox.ending) {
        return Some(verdict);
    }
    if let crate::ending::Ending::NotStarted { .. } = sandbox.ending {
        let how = describe(sandbox.ending);
        let reason = format!("the cases cannot be run in this image: {how}");
        return Some(Verdict::new(Outcome::VerifierError, reason));
    }
    let is_loaded = cases.loaded.as_ref().is_some_and(|it| it.state == "ok");
    // Time that runs out when the last case is over is no matter; memory always is.
    let limits = by_ending(sandbox);
    if let Some(verdict) = limits
        && !(complete && is_loaded && verdict.outcome() == Outcome::Timeout)
    {
        return Some(verdict);
    }
    let Some(loaded) = &cases.loaded else {
        let how = match sandbox.ending {
            crate::ending::Ending::Cancelled { by } if by == ENDED_BY_GRADER => {
                "did not say that it was ready".to_owned()
            }
            other => describe(other),
        };
        let trouble = cases.trouble.as_deref();
        let trouble = trouble.map_or_else(String::new, |trouble| format!(": {trouble}"));
        let reason = format!("the solution's process {how} before any case could run{trouble}");
        return Some(Verdict::new(Outcome::NoTests, reason));
    };
    if loaded.state != "ok" {
        return Some(by_load(spec, loaded));
    }
    if cases.output_up {
        let reason = "the cases wrote more than may be in all";
        return Some(Verdict::new(Outcome::OutputLimit, reason));
    }
    if complete {
        return None;
    }
    let id = spec.id(cases.results.len());
    let how = match &cases.trouble {
        Some(trouble) => trouble.clone(),
        None => format!("the solution's process {}", describe(sandbox.ending)),
    };
    let reason = format!("case {id} was not reported: {how}");
    Some(Verdict::new(Outcome::Failed, reason))
}

fn by_load(spec: &CasesSpec, loaded: &Loaded) -> Verdict {
    let diagnostic = || Diagnostic {
        tool: "python3".to_owned(),
        severity: Severity::Error,
        code: loaded.kind.clone(),
        message: loaded.message.clone(),
        file: loaded.file.clone(),
        line: loaded.line,
        column: loaded.column,
    };
    let (outcome, reason) = match loaded.state.as_str() {
        "syntax_error" => (
            Outcome::CompileError,
            format!("{}: {}", loaded.kind, loaded.message),
        ),
        "exit" => (
            Outcome::NoTests,
            format!(
                "the solution called exit({}) while it was loaded",
                loaded.code.unwrap_or(0)
            ),
        ),
        "exception" => (
            Outcome::Failed,
            format!(
                "{} while the solution was loaded: {}",
                loaded.kind, loaded.message
            ),
        ),
        "no_function" => (
            Outcome::Failed,
            format!("the solution has no {}: {}", spec.function, loaded.message),
        ),
        _ => (
            Outcome::Failed,
            format!("{} cannot be read: {}", spec.file, loaded.message),
        ),
    };
    let mut verdict = Verdict::new(outcome, reason);
    if matches!(loaded.state.as_str(), "syntax_error" | "exception") {
        verdict.diagnostics.push(diagnostic());
    }
    verdict
}

fn by_results(spec: &CasesSpec, results: &[TestResult], stopped: bool) -> Verdict {
    let required = |id: &str| spec.test_ids.is_empty() || spec.test_ids.iter().any(|it| it == id);
    let bad: Vec<&TestResult> = results
        .iter()
        .filter(|test| test.status != TestStatus::Passed && required(&test.id))
        .collect();
    let Some(first) = bad.first() else {
        if stopped {
            // One that was not required ended it, and required ones may be among the rest.
            return Verdict::new(Outcome::Failed, "the cases were not all run");
        }
        return Verdict::new(Outcome::Passed, "");
    };
    let outcome = if bad.iter().all(|test| test.status == TestStatus::Timeout) {
        Outcome::Timeout
    } else {
        Outcome::Failed
    };
    let more = match bad.len() {
        1 => String::new(),
        many => format!(" ({many} cases did not pass)"),
    };
    let reason = format!("{}: {}{more}", first.id, first.message);
    let all = spec.cases.iter().filter(|case| required(&case.id)).count();
    let passed = (results.iter())
        .filter(|test| test.status == TestStatus::Passed && required(&test.id))
        .count();
    if spec.partial_credit
        && outcome == Outcome::Failed
        && let Ok(verdict) = Verdict::failed_share(share(passed, all), reason.clone())
    {
        return verdict;
    }
    Verdict::new(outcome, reason)
}

/// At most 10,000 of each.
fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

/// Whether no further case is to be run.
#[must_use]
pub fn stops(spec: &CasesSpec, result: &TestResult) -> bool {
    spec.stop_on_first_fail && result.status != TestStatus::Passed
}
