//! What `go test` writes, as JSON lines and as text. A package that failed without a test that did
//! (it does not compile, it panics at the start) counts as a test of the package's name; a test
//! that began and did not end is an error. Benchmarks are no tests, unless they fail.

mod text;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::collect::{Case, Collector, append};
use super::{FormatError, Report, ReportFormat, TESTS_MAX};
use crate::verdict::TestStatus;

pub(super) use text::read as read_text;

/// Between a package and its test.
const BETWEEN: &str = "::";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    elapsed: f64,
    #[serde(default)]
    output: String,
    #[serde(default)]
    import_path: String,
}

/// A test, from its first event on.
#[derive(Debug, Default)]
struct Running {
    status: Option<TestStatus>,
    seconds: f64,
    output: String,
}

/// A package: what it printed beside its tests, and how it ended.
#[derive(Debug, Default)]
struct Package {
    passed: Option<bool>,
    failed_tests: bool,
    output: String,
}

/// Where the same test ran more than once (`-count`), each run is one.
#[derive(Debug, Default)]
struct Reader {
    tests: Vec<(String, String, Running)>,
    latest: BTreeMap<(String, String), usize>,
    packages: BTreeMap<String, Package>,
    /// Lines that are no events: what the go command itself says.
    plain: String,
    any: bool,
}

pub(super) fn read_json(text: &str) -> Result<Report, FormatError> {
    let mut reader = Reader::default();
    let mut trouble = Vec::new();
    let whole = text.ends_with('\n');
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with('{') {
            reader.plain(line);
            continue;
        }
        match serde_json::from_str::<Event>(line) {
            Ok(event) => reader.event(event)?,
            Err(_) if lines.peek().is_none() && !whole => {
                trouble.push("the last event breaks off".to_owned());
            }
            // What a test printed may begin with a brace.
            Err(_) => reader.plain(line),
        }
    }
    if !reader.any {
        return Err(FormatError::Malformed {
            format: ReportFormat::GoJson,
            why: "it has no event and names no package".to_owned(),
        });
    }
    reader.report(trouble)
}

impl Reader {
    fn event(&mut self, event: Event) -> Result<(), FormatError> {
        self.any = true;
        if event.action == "build-output" || event.action == "build-fail" {
            let package = event.import_path.split(' ').next().unwrap_or_default();
            let package = self.package(package)?;
            append(&mut package.output, &event.output);
            if event.action == "build-fail" {
                package.passed = Some(false);
            }
            return Ok(());
        }
        if event.test.is_empty() {
            return self.package_event(&event);
        }
        let status = match event.action.as_str() {
            "pass" => Some(TestStatus::Passed),
            "fail" => Some(TestStatus::Failed),
            "skip" => Some(TestStatus::Skipped),
            _ => None,
        };
        let benchmark = event.test.starts_with("Benchmark");
        if benchmark && status != Some(TestStatus::Failed) {
            return Ok(());
        }
        let begins = event.action == "run";
        // Each package has to end, so each is known from its first test on.
        let package = self.package(&event.package)?;
        package.failed_tests |= status == Some(TestStatus::Failed);
        let seconds = event.elapsed;
        let running = self.running(event.package, event.test, begins)?;
        if status.is_some() {
            running.status = status;
            running.seconds = seconds;
        } else if event.action == "output" && !is_frame(&event.output) {
            append(&mut running.output, &event.output);
        }
        Ok(())
    }

    fn package_event(&mut self, event: &Event) -> Result<(), FormatError> {
        let passed = match event.action.as_str() {
            "pass" | "skip" => Some(true),
            "fail" => Some(false),
            _ => None,
        };
        let package = self.package(&event.package)?;
        if passed.is_some() {
            package.passed = passed;
        } else if event.action == "output" {
            append(&mut package.output, &event.output);
        }
        Ok(())
    }

    fn package(&mut self, name: &str) -> Result<&mut Package, FormatError> {
        if !self.packages.contains_key(name) {
            if self.packages.len() == TESTS_MAX {
                return Err(FormatError::TooManyTests);
            }
            self.packages.insert(name.to_owned(), Package::default());
        }
        self.packages.get_mut(name).ok_or(FormatError::TooManyTests)
    }

    fn running(
        &mut self,
        package: String,
        test: String,
        begins: bool,
    ) -> Result<&mut Running, FormatError> {
        let key = (package, test);
        let known = self.latest.get(&key).copied().filter(|at| {
            let ended = self
                .tests
                .get(*at)
                .is_some_and(|(_, _, running)| running.status.is_some());
            !(begins && ended)
        });
        let at = match known {
            Some(at) => at,
            None if self.tests.len() == TESTS_MAX => return Err(FormatError::TooManyTests),
            None => {
                let at = self.tests.len();
                self.tests
                    .push((key.0.clone(), key.1.clone(), Running::default()));
                self.latest.insert(key, at);
                at
            }
        };
        match self.tests.get_mut(at) {
            Some((_, _, running)) => Ok(running),
            None => Err(FormatError::TooManyTests),
        }
    }

    /// A line that is no event: `FAIL  pkg [build failed]` ends a package, the rest is said of none.
    fn plain(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        if let (Some("FAIL"), Some(package)) = (words.next(), words.next())
            && self.packages.len() < TESTS_MAX
        {
            self.any = true;
            let entry = self.packages.entry(package.to_owned()).or_default();
            entry.passed = Some(false);
            append(&mut entry.output, &self.plain);
            append(&mut entry.output, line);
            self.plain.clear();
        } else if line.trim() != "FAIL" {
            append(&mut self.plain, line);
            append(&mut self.plain, "\n");
        }
    }

    fn report(mut self, trouble: Vec<String>) -> Result<Report, FormatError> {
        let mut tests = Collector::default();
        let mut open = Vec::new();
        for (package, test, running) in self.tests {
            let ended = running.status.is_some();
            let id = super::collect::joined([package.as_str(), &test], BETWEEN);
            let failed = self
                .packages
                .get(&package)
                .is_some_and(|package| package.passed == Some(false));
            // A package that failed says so itself: the test was running when it did.
            if !ended && !failed {
                open.push(id.clone());
            }
            tests.add(case(id, running.status, &running.output, running.seconds))?;
        }
        let mut unended = Vec::new();
        for (name, package) in std::mem::take(&mut self.packages) {
            if package.passed == Some(false) && !package.failed_tests {
                let status = Some(TestStatus::Error);
                tests.add(case(name, status, &package.output, 0.0))?;
            } else if package.passed.is_none() {
                unended.push(name);
            }
        }
        let mut report = Report::new(tests);
        for id in open {
            report.incomplete(format!("test `{id}` began and did not end"));
        }
        for name in unended {
            report.incomplete(format!("package `{name}` did not end"));
        }
        for trouble in trouble {
            report.incomplete(trouble);
        }
        Ok(report)
    }
}

fn case(id: String, status: Option<TestStatus>, output: &str, seconds: f64) -> Case {
    let (file, line) = place(output).unwrap_or_default();
    Case {
        id,
        status,
        seconds,
        message: output.to_owned(),
        file,
        line,
    }
}

/// Lines that the framework writes around what a test says.
fn is_frame(output: &str) -> bool {
    let line = output.trim_start();
    line.starts_with("=== ") || line.starts_with("--- ")
}

/// The first `file.go:12:` of a text.
fn place(text: &str) -> Option<(String, Option<u64>)> {
    text.lines().find_map(|line| {
        let (file, rest) = line.trim().split_once(".go:")?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let number = rest.get(..digits)?.parse().ok()?;
        let plain = !file.is_empty() && !file.contains(char::is_whitespace);
        plain.then(|| (format!("{file}.go"), Some(number)))
    })
}
