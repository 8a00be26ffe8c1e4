//! Reports of many frameworks with the counts that publish-unit-test-result-action makes of them;
//! those of NUnit, xUnit.net, MSTest and Dart are in its own translation to JUnit's XML.

use std::fs;

use serde_json::Value;
use verdict::ReportFormat;

use super::{Counts, compare, files, read, relative, set};

const SET: &str = "reports_enricomi";

const DIFFERENT: &[(&str, &str)] = &[
    (
        "junit-xml/junit.multiresult.junit-xml",
        "a case that was skipped, failed and in error counts once, by the worst of them",
    ),
    (
        "junit-xml/no-cases-but-tests.junit-xml",
        "sums of a suite without cases are no tests",
    ),
    (
        "junit-xml/non-junit.junit-xml",
        "a document without suites is refused, not taken for an empty one",
    ),
    (
        "junit-xml/tst/disabled.junit-xml",
        "a disabled test did not run: it is skipped, not passed",
    ),
];

#[test]
fn counts_agree() {
    let Some(folder) = set(SET, 46) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, ".junit-xml") {
        let results = path.with_extension("results.json");
        let text = fs::read_to_string(&results).expect("expected results");
        let stats = &serde_json::from_str::<Value>(&text).expect("JSON")["stats"];
        let number = |name: &str| {
            let number = stats[name].as_i64().expect("a number");
            usize::try_from(number).unwrap_or(0)
        };
        let expected = Counts {
            tests: number("runs"),
            failed: number("runs_fail"),
            errors: number("runs_error"),
            skipped: number("runs_skip"),
        };
        let original = path.with_extension("xml");
        let junit = path
            .components()
            .any(|part| part.as_os_str() == "junit-xml");
        let source = if junit { original } else { path.clone() };
        let got = read(ReportFormat::JunitXml, &source);
        let got = got.map_or_else(
            |error| error.to_string(),
            |report| format!("{:?}", Counts::of(&report)),
        );
        pairs.push((relative(&path, &folder), format!("{expected:?}"), got));
    }
    compare(SET, &pairs, DIFFERENT);
}

/// What they cannot read we do not take for a whole report either.
#[test]
fn what_breaks_off_is_no_whole_report() {
    let Some(folder) = set(SET, 1) else {
        return;
    };
    let cut = folder.join("junit-xml/pytest/corrupt-xml.xml");
    let got = read(ReportFormat::JunitXml, &cut);
    assert!(
        got.as_ref().map_or(true, |report| !report.complete),
        "{got:?}"
    );
}

#[test]
fn mocha_s_own_json_agrees() {
    let Some(folder) = set(SET, 1) else {
        return;
    };
    let report = read(ReportFormat::MochaJson, &folder.join("mocha/tests.json")).expect("a report");
    // They tell one of the two failures as an error, by the kind of exception; Mocha does not.
    let expected = Counts {
        tests: 5,
        failed: 2,
        errors: 0,
        skipped: 1,
    };
    assert_eq!(Counts::of(&report), expected);
    assert!(report.complete);
}
