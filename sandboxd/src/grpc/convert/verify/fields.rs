//! Which field belongs to which kind: a field of another kind is a mistake, not something to pass
//! over.

use proto::v1;
use v1::VerifyKind as Kind;

use super::{REASON, kind_name};
use crate::grpc::status::ApiError;

const FRAMEWORK: &[Kind] = &[
    Kind::Pytest,
    Kind::Unittest,
    Kind::CargoTest,
    Kind::GoTest,
    Kind::NodeTest,
    Kind::Jest,
];
const REPORT: &[Kind] = &[Kind::JunitXml, Kind::Tap, Kind::Ctrf, Kind::Command];
const MEASURE: &[Kind] = &[Kind::Compile, Kind::Coverage, Kind::Leaks, Kind::Lint];
const ASSERTS: &[Kind] = &[Kind::Asserts];
const CASES: &[Kind] = &[Kind::Cases];
const ANSWER: &[Kind] = &[Kind::Answer];
const STDOUT: &[Kind] = &[Kind::Stdout];
const COMBINED: &[Kind] = &[Kind::Combined];

/// One field: its name, whether it is given, and the groups of kinds that have it.
type Row<'a> = (&'static str, bool, &'a [&'static [Kind]]);

/// Refuses the first field that `kind` does not have.
pub(super) fn check(kind: Kind, message: &v1::Verify, at: &str) -> Result<(), ApiError> {
    let all = [plain(message), tests(message), measures(message)].concat();
    let has = |groups: &[&[Kind]]| groups.iter().any(|group| group.contains(&kind));
    let stray = all.iter().find(|(_, given, groups)| *given && !has(groups));
    let Some((field, ..)) = stray else {
        return Ok(());
    };
    let allowed: Vec<&str> = (all.iter())
        .filter(|(_, _, groups)| has(groups))
        .map(|(field, ..)| *field)
        .collect();
    let (kind, allowed) = (kind_name(kind), allowed.join(", "));
    let problem = format!("no field of kind {kind}; its fields: {allowed}");
    Err(ApiError::invalid(REASON, format!("{at}.{field}"), problem))
}

fn plain(message: &v1::Verify) -> Vec<Row<'static>> {
    let file = !message.file.is_empty();
    let spaces = message.ignore_trailing_space;
    let tolerance = message.float_tolerance.is_some();
    let exit_code = message.exit_code.is_some();
    let entry_points = !message.entry_points.is_empty();
    let declaration = !message.declaration.is_empty();
    let case_wall_ms = message.case_wall_ms != 0;
    vec![
        ("file", file, &[ASSERTS, CASES, ANSWER, MEASURE]),
        ("code", !message.code.is_empty(), &[ASSERTS]),
        ("exit_code", exit_code, &[&[Kind::ExitCode], STDOUT]),
        ("stdout", message.stdout.is_some(), &[STDOUT]),
        ("ignore_trailing_space", spaces, &[STDOUT, CASES]),
        ("float_tolerance", tolerance, &[STDOUT, CASES, ANSWER]),
        ("tests", !message.tests.is_empty(), &[ASSERTS]),
        ("entry_points", entry_points, &[ASSERTS]),
        ("declaration", declaration, &[ASSERTS, CASES]),
        (
            "language",
            message.language != 0,
            &[ASSERTS, CASES, MEASURE],
        ),
        ("cases", !message.cases.is_empty(), &[CASES]),
        ("stop_on_first_fail", message.stop_on_first_fail, &[CASES]),
        ("function", !message.function.is_empty(), &[CASES]),
        ("case_wall_ms", case_wall_ms, &[CASES]),
        ("case_cpu_ms", message.case_cpu_ms != 0, &[CASES]),
        ("answer", message.answer.is_some(), &[ANSWER]),
        ("parts", !message.parts.is_empty(), &[COMBINED]),
        ("combine", message.combine != 0, &[COMBINED]),
    ]
}

fn tests(message: &v1::Verify) -> Vec<Row<'static>> {
    let on_tamper = message.on_tamper != 0;
    let test_ids = !message.test_ids.is_empty();
    let test_files = !message.test_files.is_empty();
    let protected = !message.protected.is_empty();
    let argv = !message.argv.is_empty();
    let report = !message.report.is_empty();
    let fail_to_pass = !message.fail_to_pass.is_empty();
    let pass_to_pass = !message.pass_to_pass.is_empty();
    let isolation = message.isolation != 0;
    let format = !message.format.is_empty();
    vec![
        ("isolation", isolation, &[ASSERTS, FRAMEWORK, REPORT]),
        (
            "on_tamper",
            on_tamper,
            &[ASSERTS, FRAMEWORK, REPORT, MEASURE],
        ),
        ("test_ids", test_ids, &[ASSERTS, CASES, FRAMEWORK, REPORT]),
        ("test_files", test_files, &[FRAMEWORK, REPORT, MEASURE]),
        ("protected", protected, &[FRAMEWORK, REPORT, MEASURE]),
        ("git", message.git != 0, &[FRAMEWORK, REPORT, MEASURE]),
        ("args", !message.args.is_empty(), &[FRAMEWORK]),
        ("argv", argv, &[REPORT, MEASURE, CASES]),
        (
            "env",
            !message.env.is_empty(),
            &[FRAMEWORK, REPORT, MEASURE],
        ),
        (
            "cwd",
            !message.cwd.is_empty(),
            &[FRAMEWORK, REPORT, MEASURE],
        ),
        ("format", format, &[&[Kind::Command], MEASURE]),
        ("report", report, &[REPORT, MEASURE]),
        ("fail_to_pass", fail_to_pass, &[FRAMEWORK, REPORT]),
        ("pass_to_pass", pass_to_pass, &[FRAMEWORK, REPORT]),
        (
            "partial_credit",
            message.partial_credit,
            &[FRAMEWORK, REPORT, CASES],
        ),
        ("repeat", message.repeat != 0, &[FRAMEWORK, REPORT]),
    ]
}

fn measures(message: &v1::Verify) -> Vec<Row<'static>> {
    let least = message.min_coverage_pct.is_some();
    let baseline = message.baseline_coverage_pct.is_some();
    let warnings = message.max_warnings.is_some();
    vec![
        ("min_coverage_pct", least, &[&[Kind::Coverage]]),
        ("baseline_coverage_pct", baseline, &[&[Kind::Coverage]]),
        ("max_leaks", message.max_leaks != 0, &[&[Kind::Leaks]]),
        ("max_errors", message.max_errors != 0, &[&[Kind::Lint]]),
        ("max_warnings", warnings, &[&[Kind::Compile, Kind::Lint]]),
    ]
}
