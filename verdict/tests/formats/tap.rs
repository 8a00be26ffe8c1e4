//! TAP of versions 12 to 14, broken ones among them, with what the reference parser of node's `tap`
//! says of each: whether the report as a whole is a pass, and how many of its outermost tests did
//! what.

use std::fs;

use verdict::{Report, ReportFormat, TestStatus};

use super::{compare, files, read, relative, set};

const SET: &str = "reports_tap";

const DIFFERENT: &[(&str, &str)] = &[
    ("empty.tap", "nothing at all is no report"),
    ("out_err_mix.tap", "no line is of the protocol"),
    (
        "plan-in-bad-places-pre.tap",
        "two plans contradict each other",
    ),
    (
        "subtest-confusing.tap",
        "subtests in a brace that is not closed do not end",
    ),
    (
        "space_after_plan.tap",
        "a space after a plan changes nothing",
    ),
];

/// The verdict of the reference: the last `FinalResults` of the first section of its record.
fn expected(record: &str) -> Option<bool> {
    let section = record.split("\nexports[").nth(1)?;
    let results = section.rsplit("\n    FinalResults {").next()?;
    let line = results
        .lines()
        .find(|line| line.starts_with("      \"ok\": "))?;
    Some(line.contains("true"))
}

fn passes(report: &Report) -> bool {
    let bad = |status| matches!(status, TestStatus::Failed | TestStatus::Error);
    report.complete && !report.tests.iter().any(|test| bad(test.status))
}

#[test]
fn what_passes_agrees() {
    let Some(folder) = set(SET, 109) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, ".tap") {
        let name = relative(&path, &folder);
        let record = folder.join(format!("expected/parser/{name}.snap.cjs"));
        let record = fs::read_to_string(record).expect("a record");
        let expected = expected(&record).expect("a verdict");
        let got = read(ReportFormat::Tap, &path);
        let got = got.is_ok_and(|report| passes(&report));
        pairs.push((name, expected.to_string(), got.to_string()));
    }
    compare(SET, &pairs, DIFFERENT);
}
