//! Reports of each tool, in small; real files are read in `tests/measures`.

use super::{CoverageFormat as F, CoverageReport, parse};
use crate::reading::ReadError;
use crate::untrusted::Untrusted;

fn try_read(format: F, text: &str) -> Result<CoverageReport, ReadError> {
    parse(format, &Untrusted::new(text.as_bytes().to_vec()))
}

/// Lines, lines covered, branches, branches covered of all files.
fn sums(format: F, text: &str) -> (u64, u64, u64, u64) {
    let report = try_read(format, text).expect("a report");
    report.files.iter().fold((0, 0, 0, 0), |sum, file| {
        let of = (file.lines, file.lines_covered);
        let branches = (file.branches, file.branches_covered);
        (
            sum.0 + of.0,
            sum.1 + of.1,
            sum.2 + branches.0,
            sum.3 + branches.1,
        )
    })
}

#[test]
fn every_format_has_a_name() {
    for (name, format) in F::ALL {
        assert_eq!(F::named(name), Some(format));
    }
    assert_eq!(F::named("nothing"), None);
}

#[test]
fn lines_that_come_twice_count_once_and_ran_if_either_did() {
    let lcov = "TN:\nSF:a.c\nDA:1,0\nDA:2,0\nend_of_record\nSF:a.c\nDA:1,3\nend_of_record\n";
    assert_eq!(sums(F::Lcov, lcov), (2, 1, 0, 0));
    let cobertura = "<coverage><class filename=\"a.py\"><methods><line number=\"1\" hits=\"0\"/></methods>\
                     <lines><line number=\"1\" hits=\"2\"/><line number=\"2\" hits=\"0\" \
                     condition-coverage=\"50% (1/2)\"/></lines></class></coverage>";
    assert_eq!(sums(F::Cobertura, cobertura), (2, 1, 2, 1));
    let gcov = r#"{"files":[{"file":"a.c","lines":[{"line_number":1,"count":0},{"line_number":1,"count":2,"branches":[{"count":1},{"count":0}]}]}]}"#;
    assert_eq!(
        sums(F::GcovJson, &format!("{gcov}\n{gcov}\n")),
        (1, 1, 2, 1)
    );
    let go = "mode: set\nm/a.go:1.1,2.2 2 0\nm/a.go:3.1,4.2 3 1\nm/a.go:1.1,2.2 2 1\nm/b.go:1.1,2.2 5 0\n";
    assert_eq!(sums(F::GoCover, go), (10, 5, 0, 0));
}

#[test]
fn sums_that_are_stated_count_only_without_lines() {
    let lcov =
        "SF:a.c\nLF:10\nLH:5\nend_of_record\nSF:b.c\nDA:1,1\nLF:100\nLH:100\nend_of_record\n";
    assert_eq!(sums(F::Lcov, lcov), (11, 6, 0, 0));
}

#[test]
fn the_figure_is_the_tools_own() {
    let py = r#"{"meta":{"branch_coverage":true},"files":{"a.py":{"summary":{"covered_lines":4,"num_statements":5,"num_branches":2,"covered_branches":1}}}}"#;
    let pct = try_read(F::CoveragePyJson, py)
        .expect("a report")
        .pct()
        .expect("a share");
    assert!((pct - 71.428_571_428_571_43).abs() < 1e-9, "{pct}");
    let lines = py.replace("true", "false");
    assert_eq!(
        try_read(F::CoveragePyJson, &lines).expect("a report").pct(),
        Some(80.0)
    );
    let llvm =
        r#"{"data":[{"files":[{"filename":"a.rs","summary":{"lines":{"count":4,"covered":1}}}]}]}"#;
    assert_eq!(
        try_read(F::LlvmCovJson, llvm).expect("a report").pct(),
        Some(25.0)
    );
    let gcov =
        "        -:    0:Source:a.c\n    #####:    1:x\n        3*:    2:y\n        -:    3:z\n";
    assert_eq!(sums(F::GcovText, gcov), (2, 1, 0, 0));
}

#[test]
fn what_is_cut_or_impossible_is_no_report() {
    let wrong = [
        (F::Lcov, ""),
        (F::Lcov, "SF:a.c\nDA:1,1\n"),
        (F::Lcov, "SF:a.c\nDA:1\nend_of_record\n"),
        (F::Lcov, "no report"),
        (F::Cobertura, "<coverage><class filename=\"a\"></class>"),
        (F::Cobertura, "<other/>"),
        (F::Jacoco, "<report></report>"),
        (F::GoCover, "mode: set\n"),
        (F::GcovJson, "{\"files\":[]}"),
        (F::LlvmCovJson, "{\"data\":[]}"),
        (F::CoveragePyJson, "{\"meta\":{},\"files\":{}}"),
        (
            F::CoveragePyJson,
            r#"{"meta":{},"files":{"a":{"summary":{"covered_lines":9,"num_statements":1}}}}"#,
        ),
    ];
    for (format, text) in wrong {
        let read = try_read(format, text);
        assert!(
            matches!(read, Err(ReadError::Malformed { .. })),
            "{format:?} {text:?}: {read:?}"
        );
    }
}
