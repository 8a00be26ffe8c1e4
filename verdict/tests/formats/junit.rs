//! JUnit reports made from the output of many C, C++, .NET, PHP and Ada frameworks by the xUnit
//! plugin of Jenkins, and such as the tools wrote themselves, counted a second way: by the text
//! alone. Where the plugin's input is JUnit's as well, it counts as its result does.

use std::fs;
use std::path::Path;

use verdict::ReportFormat;

use super::{Counts, compare, files, read, relative, set};

const XUNIT: &str = "reports_xunit_plugin";
const REPORTER: &str = "reports_test_reporter";

/// Counts of a report, or why it is none.
fn counts(path: &Path) -> String {
    let report = read(ReportFormat::JunitXml, path);
    report.map_or_else(
        |error| error.to_string(),
        |report| format!("{:?}", Counts::of(&report)),
    )
}

/// Counts by the text alone: elements that begin, without a parser.
fn by_text(text: &str) -> String {
    let begins = |name: &str| {
        let element = format!("<{name}");
        let after = text.split(element.as_str()).skip(1);
        after
            .filter(|rest| rest.starts_with([' ', '>', '/', '\n', '\r', '\t']))
            .count()
    };
    format!("{} cases", begins("testcase"))
}

#[test]
fn every_case_of_the_text_is_read() {
    let Some(folder) = set(XUNIT, 80) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, "/result.xml") {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        let report = read(ReportFormat::JunitXml, &path);
        let got = report.map_or_else(
            |error| error.to_string(),
            |report| {
                assert!(report.complete, "{path:?}: {:?}", report.trouble);
                format!("{} cases", report.tests.len())
            },
        );
        pairs.push((relative(&path, &folder), by_text(&text), got));
    }
    compare(XUNIT, &pairs, &[]);
}

#[test]
fn an_input_counts_as_its_result_does() {
    let Some(folder) = set(XUNIT, 14) else {
        return;
    };
    let mut pairs = Vec::new();
    for tool in ["junit", "googletest", "phpunit"] {
        for path in files(&folder.join(tool), "/input.xml") {
            let result = counts(&path.with_file_name("result.xml"));
            pairs.push((relative(&path, &folder), result, counts(&path)));
        }
    }
    compare("reports_xunit_plugin inputs", &pairs, DIFFERENT_INPUTS);
}

const DIFFERENT_INPUTS: &[(&str, &str)] = &[];

/// The sums of the outermost element, or of the suites right below it, as the tool wrote them.
fn sums(text: &str) -> String {
    let start = |element: &str| text.split(element).nth(1).map(str::to_owned);
    let whole = start("<testsuites ").filter(|rest| {
        let head = rest.split('>').next().unwrap_or_default();
        head.contains("tests=")
    });
    let heads: Vec<String> = match whole {
        Some(whole) => vec![whole],
        None => text
            .split("<testsuite ")
            .skip(1)
            .map(str::to_owned)
            .collect(),
    };
    let sum = |name: &str| -> usize {
        let value = |head: &String| {
            let head = head.split('>').next().unwrap_or_default();
            let value = head.split(&format!("{name}=\"")).nth(1)?;
            value.split('"').next()?.parse::<usize>().ok()
        };
        heads.iter().filter_map(value).sum()
    };
    format!(
        "{} tests, {} bad",
        sum(" tests").max(sum("tests")),
        sum("failures") + sum("errors")
    )
}

/// Only where the tool's own sums can be had from the text, and are no more than a hint.
#[test]
fn what_the_tools_say_of_themselves() {
    let Some(folder) = set(REPORTER, 14) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, ".xml") {
        let text = fs::read_to_string(&path).expect("text");
        if text.contains("<test-run") {
            continue;
        }
        let report = read(ReportFormat::JunitXml, &path);
        let got = report.map_or_else(
            |error| error.to_string(),
            |report| {
                let counts = Counts::of(&report);
                format!(
                    "{} tests, {} bad",
                    counts.tests,
                    counts.failed + counts.errors
                )
            },
        );
        pairs.push((relative(&path, &folder), sums(&text), got));
    }
    compare(REPORTER, &pairs, DIFFERENT_SUMS);
}

const DIFFERENT_SUMS: &[(&str, &str)] = &[
    ("external/java/junit4-basic.xml", "its suites state no sums"),
    (
        "external/phpunit/junit-basic.xml",
        "its suites state no sums",
    ),
    (
        "external/phpunit/phpcheckstyle-phpunit.xml",
        "suites within suites state the same tests again",
    ),
    (
        "phpunit/phpunit.xml",
        "suites within suites state the same tests again",
    ),
    (
        "python-xunit-pytest.xml",
        "the sum of its suite says 15, there are 10 cases",
    ),
    (
        "test-errors/jest/jest-test-results.xml",
        "two files could not be loaded: errors that the sum of tests leaves out",
    ),
];
