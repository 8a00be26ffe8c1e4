//! What tools of this decade wrote on this kind of machine, with the exit code that they gave: a
//! whole report without a bad test stands beside 0, any other beside something else.

use std::fs;
use std::path::Path;

use serde_json::Value;
use verdict::{Report, ReportFormat, TestStatus};

use super::{compare, files, read, relative, set};

const SET: &str = "tool_outputs_local";

const DIFFERENT: &[(&str, &str)] = &[];

/// Which file of which folder is a report, and how it is written.
fn format(path: &Path) -> Option<ReportFormat> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let file = path.file_name()?.to_str()?;
    let format = match (folder.split('_').next()?, file) {
        ("pytest", "r.xml") | ("jest", "junit.xml") | ("catch2", "j.xml") => ReportFormat::JunitXml,
        ("jest", "j.json") => ReportFormat::JestJson,
        ("jest", "ctrf-report.json") => ReportFormat::Ctrf,
        ("cargotest", "stdout.txt") => ReportFormat::Libtest,
        ("gotest", "stdout.txt") if folder.starts_with("gotest_json") => ReportFormat::GoJson,
        ("gotest", "stdout.txt") => ReportFormat::GoText,
        ("node", "stdout.txt") => ReportFormat::Tap,
        _ => return None,
    };
    Some(format)
}

fn passes(report: &Report) -> bool {
    let bad = |status| matches!(status, TestStatus::Failed | TestStatus::Error);
    report.complete && !report.tests.iter().any(|test| bad(test.status))
}

#[test]
fn reports_agree_with_exit_codes() {
    let Some(folder) = set(SET, 40) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, "") {
        let Some(format) = format(&path) else {
            continue;
        };
        let meta = fs::read_to_string(path.with_file_name("meta.json")).expect("its command");
        let meta: Value = serde_json::from_str(&meta).expect("JSON");
        let got = read(format, &path).expect("a report");
        let expected = (meta["rc"] == 0).to_string();
        pairs.push((relative(&path, &folder), expected, passes(&got).to_string()));
    }
    assert!(pairs.len() > 30, "{}", pairs.len());
    compare(SET, &pairs, DIFFERENT);
}

/// Three reports of one run say the same of each test.
#[test]
fn three_reports_of_jest_agree() {
    let Some(folder) = set(SET, 3) else {
        return;
    };
    let mut runs = 0;
    for ctrf in files(&folder, "ctrf-report.json") {
        let told = |format, path: &Path| {
            let report = read(format, path).expect("a report");
            let status = |test: &verdict::TestResult| test.status;
            report.tests.iter().map(status).collect::<Vec<_>>()
        };
        let own = told(ReportFormat::JestJson, &ctrf.with_file_name("j.json"));
        assert_eq!(own, told(ReportFormat::Ctrf, &ctrf), "{ctrf:?}");
        let junit = ctrf.with_file_name("junit.xml");
        assert_eq!(own, told(ReportFormat::JunitXml, &junit), "{ctrf:?}");
        runs += 1;
    }
    assert_eq!(runs, 3);
}
