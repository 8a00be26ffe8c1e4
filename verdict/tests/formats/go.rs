//! Output of `go test`, as text and as JSON lines, with the JUnit report that go-junit-report makes
//! of it: both readers are asked, and must say the same.

use verdict::ReportFormat;

use super::{Counts, compare, files, read, relative, set};

const SET: &str = "reports_go_test";

/// Why files with benchmarks differ.
const BENCHMARKS: &str = "they count benchmarks, which are no tests unless they fail";

const DIFFERENT: &[(&str, &str)] = &[
    ("022-bench.txt", BENCHMARKS),
    ("023-benchmem.txt", BENCHMARKS),
    ("024-benchtests.txt", BENCHMARKS),
    ("025-benchcount.txt", BENCHMARKS),
    ("026-testbenchmultiple.txt", BENCHMARKS),
    ("027-benchdecimal.txt", BENCHMARKS),
    ("029-bench-16cpu.txt", BENCHMARKS),
    ("033-bench-mb.txt", BENCHMARKS),
    ("036-benchfail.txt", BENCHMARKS),
    ("109-bench.gojson.txt", BENCHMARKS),
    ("110-benchfail.gojson.txt", BENCHMARKS),
];

#[test]
fn counts_agree_with_the_junit_report() {
    let Some(folder) = set(SET, 34) else {
        return;
    };
    let mut pairs = Vec::new();
    for path in files(&folder, ".txt") {
        let name = relative(&path, &folder);
        let number = name.split('-').next().expect("a number");
        let report = folder.join(format!("{number}-report.xml"));
        let expected = read(ReportFormat::JunitXml, &report);
        let expected = expected.map(|report| Counts::of(&report));
        let format = if name.ends_with(".gojson.txt") {
            ReportFormat::GoJson
        } else {
            ReportFormat::GoText
        };
        let got = read(format, &path).map(|report| Counts::of(&report));
        pairs.push((name, format!("{expected:?}"), format!("{got:?}")));
    }
    compare(SET, &pairs, DIFFERENT);
}
