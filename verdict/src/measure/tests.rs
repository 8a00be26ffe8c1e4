//! Plans and verdicts of compile, coverage, leaks and lint on evidence made up here; real tools
//! run in `tests/it/measures.rs`.

use std::collections::BTreeMap;

use crate::ending::Ending;
use crate::grade::{Ended, Output};
use crate::harness::{self, HarnessEvidence, ReportPipe};
use crate::untrusted::Untrusted;
use crate::verdict::{Isolation, Outcome, Verdict};
use crate::verify::{Language, Measure, MeasureSpec, OnTamper, ReportFrom, VerifySpec};

const NONCE: &str = "n1";

/// What a command left, in text.
#[derive(Default)]
struct Left<'a> {
    code: i32,
    stdout: &'a str,
    stderr: &'a str,
    report: &'a str,
}

fn judge(spec: &MeasureSpec, left: &Left<'_>) -> Verdict {
    judge_ended(spec, left, &Ending::Exited { code: left.code })
}

fn judge_ended(spec: &MeasureSpec, left: &Left<'_>, ending: &Ending) -> Verdict {
    let bytes = |text: &str| Untrusted::new(text.as_bytes().to_vec());
    let (stdout, stderr, report) = (bytes(left.stdout), bytes(left.stderr), bytes(left.report));
    let evidence = HarnessEvidence {
        ended: Ended {
            ending,
            oom_kills: 0,
        },
        stdout: Output {
            kept: &stdout,
            dropped_bytes: 0,
        },
        stderr: Output {
            kept: &stderr,
            dropped_bytes: 0,
        },
        report: &report,
        report_too_long: false,
        files: &BTreeMap::new(),
    };
    harness::judge(&VerifySpec::Measure(spec.clone()), NONCE, &evidence)
}

fn spec(measure: Measure, language: Language, file: &str) -> MeasureSpec {
    MeasureSpec {
        measure,
        language: Some(language),
        file: file.to_owned(),
        ..MeasureSpec::default()
    }
}

fn command(measure: Measure, format: &str, report: ReportFrom) -> MeasureSpec {
    MeasureSpec {
        measure,
        argv: vec!["tool".to_owned()],
        format: format.to_owned(),
        report,
        ..MeasureSpec::default()
    }
}

#[test]
fn a_compile_error_has_its_line_and_a_broken_compiler_is_nobodys() {
    let spec = spec(Measure::Compile, Language::C, "m.c");
    let stderr = "m.c:3:5: error: expected ';'\nm.c:9:1: warning: unused [-Wunused]\n";
    let left = Left {
        code: 1,
        stderr,
        report: "n1 0\n",
        ..Left::default()
    };
    let verdict = judge(&spec, &left);
    assert_eq!(verdict.outcome(), Outcome::CompileError);
    assert_eq!(verdict.reason, "m.c:3:5: expected ';'");
    assert_eq!(verdict.diagnostics[0].line, Some(3));
    assert_eq!(verdict.metrics["compile_ok"], 0.0);
    assert_eq!(
        (verdict.metrics["errors"], verdict.metrics["warnings"]),
        (1.0, 1.0)
    );
    assert_eq!(verdict.evidence.isolation, Isolation::Separate);
    let broken = Left {
        code: 127,
        report: "n1 127\n",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &broken).outcome(), Outcome::VerifierError);
    // The solution has no say in which of the two it is.
    let forged = Left {
        code: 1,
        stderr: "n1 127\n",
        report: "other 127\nn1 0\n",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &forged).outcome(), Outcome::CompileError);
}

#[test]
fn what_compiles_passes_unless_it_warns_too_much() {
    let mut spec = spec(Measure::Compile, Language::C, "m.c");
    let stderr = "m.c:9:1: warning: unused [-Wunused]\n";
    let left = Left {
        stderr,
        ..Left::default()
    };
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Passed);
    spec.max_warnings = Some(0);
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Failed);
}

#[test]
fn perl_has_to_come_to_its_end() {
    let spec = spec(Measure::Compile, Language::Perl, "m.pl");
    let done = Left {
        stderr: "m.pl syntax OK\n",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &done).outcome(), Outcome::Passed);
    let left_early = judge(&spec, &Left::default());
    assert_eq!(left_early.outcome(), Outcome::CompileError);
    assert_eq!(left_early.evidence.isolation, Isolation::Shared);
}

#[test]
fn limits_come_before_everything_else() {
    let spec = spec(Measure::Compile, Language::C, "m.c");
    let ending = Ending::WallTimeUp {
        limit_ms: 10,
        used_ms: 11,
        throttled_ms: 0,
    };
    let verdict = judge_ended(&spec, &Left::default(), &ending);
    assert_eq!(verdict.outcome(), Outcome::Timeout);
}

#[test]
fn lint_counts_errors_and_warnings() {
    let mut spec = command(Measure::Lint, "lines", ReportFrom::Stdout);
    let stdout = "a.py:1:1: error: x\na.py:2:1: warning: y\na.py:3: z\n";
    let left = Left {
        code: 1,
        stdout,
        ..Left::default()
    };
    let verdict = judge(&spec, &left);
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert_eq!(
        (
            verdict.metrics["lint_errors"],
            verdict.metrics["lint_warnings"]
        ),
        (1.0, 2.0)
    );
    spec.max_errors = 1;
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Passed);
    spec.max_warnings = Some(1);
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Failed);
}

#[test]
fn a_linter_that_says_nothing_understandable_passes_nobody() {
    let lines = command(Measure::Lint, "lines", ReportFrom::Stdout);
    let left = Left {
        code: 1,
        stdout: "something broke\n",
        ..Left::default()
    };
    assert_eq!(judge(&lines, &left).outcome(), Outcome::Failed);
    let sarif = command(Measure::Lint, "sarif", ReportFrom::Stdout);
    for stdout in ["", "{}", "{\"version\":\"2.1.0\",\"runs\":[]}"] {
        let left = Left {
            stdout,
            ..Left::default()
        };
        assert_eq!(judge(&sarif, &left).outcome(), Outcome::Failed, "{stdout}");
    }
    let file = command(
        Measure::Lint,
        "sarif",
        ReportFrom::File("r.sarif".to_owned()),
    );
    assert_eq!(judge(&file, &Left::default()).outcome(), Outcome::Failed);
}

#[test]
fn our_linters_fail_only_on_our_own_file_by_the_images_fault() {
    let spec = spec(Measure::Lint, Language::Python, "m.py");
    let missing = Left {
        code: 127,
        report: "n1 127\n",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &missing).outcome(), Outcome::VerifierError);
    let crashed = Left {
        code: 2,
        report: "n1 0\n",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &crashed).outcome(), Outcome::Failed);
    let clean = Left {
        stdout: "[]",
        ..Left::default()
    };
    assert_eq!(judge(&spec, &clean).outcome(), Outcome::Passed);
}

const LEAK: &str =
    "Direct leak of 8 byte(s) in 1 object(s) allocated from:\\n    #1 0x5 in f /workspace/m.c:3\\n";
const VALGRIND: &str = "<valgrindoutput><status><state>FINISHED</state></status></valgrindoutput>";

/// Steps of our program.
fn steps(lines: &[&str]) -> String {
    let line = |line: &&str| format!("{{\"nonce\":\"n1\",\"what\":{line}}}\n");
    lines.iter().map(line).collect()
}

#[test]
fn leaks_of_both_tools_are_judged_by_the_larger_number() {
    let mut spec = spec(Measure::Leaks, Language::C, "m.c");
    let tools = "\"tools\",\"compiler\":true,\"use\":[\"asan\",\"valgrind\"],\"lsan\":true";
    let built = "\"build\",\"tool\":\"asan\",\"code\":0";
    let leaky = format!("\"run\",\"tool\":\"asan\",\"code\":97,\"text\":\"{LEAK}\"");
    let clean = "\"run\",\"tool\":\"asan\",\"code\":0,\"text\":\"\"";
    let valgrind = format!("\"run\",\"tool\":\"valgrind\",\"code\":0,\"text\":\"{VALGRIND}\"");
    let of = |spec: &MeasureSpec, lines: &[&str]| {
        judge(
            spec,
            &Left {
                report: &steps(lines),
                ..Left::default()
            },
        )
    };
    let good = of(&spec, &[tools, built, clean, built, &valgrind, "\"end\""]);
    assert_eq!(good.outcome(), Outcome::Passed, "{good:?}");
    let bad = of(&spec, &[tools, built, &leaky, built, &valgrind, "\"end\""]);
    assert_eq!(bad.outcome(), Outcome::Failed);
    assert_eq!(
        (bad.metrics["leaks"], bad.metrics["leaked_bytes"]),
        (1.0, 8.0)
    );
    assert_eq!(bad.diagnostics[0].line, Some(3));
    // What was not run, not ended or not found counts for nothing.
    let lost = "\"run\",\"tool\":\"asan\",\"code\":97,\"text\":\"\"";
    for lines in [
        vec![tools, built, clean, "\"end\""],
        vec![tools, built, clean, built, &valgrind],
        vec![tools, built, lost, built, &valgrind, "\"end\""],
    ] {
        assert_eq!(of(&spec, &lines).outcome(), Outcome::Failed, "{lines:?}");
    }
    spec.max_leaks = 1;
    assert_eq!(
        of(&spec, &[tools, built, &leaky, built, &valgrind, "\"end\""]).outcome(),
        Outcome::Passed
    );
}

#[test]
fn without_a_tool_for_leaks_there_is_no_number() {
    let spec = spec(Measure::Leaks, Language::C, "m.c");
    for tools in [
        "\"tools\",\"compiler\":false,\"use\":[],\"lsan\":false",
        "\"tools\",\"compiler\":true,\"use\":[\"asan\"],\"lsan\":false",
    ] {
        let report = steps(&[tools, "\"end\""]);
        let verdict = judge(
            &spec,
            &Left {
                report: &report,
                ..Left::default()
            },
        );
        assert_eq!(verdict.outcome(), Outcome::VerifierError, "{verdict:?}");
    }
}

#[test]
fn coverage_is_compared_with_what_is_asked() {
    let mut spec = command(Measure::Coverage, "lcov", ReportFrom::Descriptor);
    let report = "SF:a.c\nDA:1,1\nDA:2,0\nDA:3,1\nDA:4,1\nend_of_record\n";
    let left = Left {
        report,
        ..Left::default()
    };
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Passed);
    spec.min_coverage_pct = Some(75.0);
    spec.baseline_coverage_pct = Some(50.0);
    let verdict = judge(&spec, &left);
    assert_eq!(verdict.outcome(), Outcome::Passed);
    assert_eq!(verdict.metrics["coverage_pct"], 75.0);
    assert_eq!(verdict.metrics["coverage_delta_pct"], 25.0);
    spec.min_coverage_pct = Some(75.1);
    assert_eq!(judge(&spec, &left).outcome(), Outcome::Failed);
    spec.min_coverage_pct = None;
    let failed = Left {
        code: 1,
        report,
        ..Left::default()
    };
    assert_eq!(judge(&spec, &failed).outcome(), Outcome::Failed);
    assert_eq!(judge(&spec, &Left::default()).outcome(), Outcome::Failed);
    spec.file = "b.c".to_owned();
    assert_eq!(judge(&spec, &left).outcome(), Outcome::NoTests);
}

#[test]
fn coverage_of_python_needs_the_end_of_our_own_program() {
    let mut spec = spec(Measure::Coverage, Language::Python, "m.py");
    spec.argv = vec!["pytest".to_owned()];
    let tools = "\"tools\",\"coverage\":true";
    let run = "\"run\",\"tool\":\"tests\",\"code\":0";
    let json = r#"{\"meta\":{},\"files\":{\"m.py\":{\"summary\":{\"covered_lines\":1,\"num_statements\":2}}}}"#;
    let report = format!("\"report\",\"tool\":\"coverage_py_json\",\"text\":\"{json}\"");
    let changed = "\"changed\",\"text\":\"m.py\"";
    let of = |spec: &MeasureSpec, lines: &[&str]| {
        judge(
            spec,
            &Left {
                report: &steps(lines),
                ..Left::default()
            },
        )
    };
    let whole = of(&spec, &[tools, run, &report, "\"end\""]);
    assert_eq!(whole.outcome(), Outcome::Passed, "{whole:?}");
    assert_eq!(whole.metrics["coverage_pct"], 50.0);
    assert_eq!(of(&spec, &[tools, run, &report]).outcome(), Outcome::Failed);
    assert_eq!(
        of(&spec, &["\"tools\",\"coverage\":false", "\"end\""]).outcome(),
        Outcome::VerifierError
    );
    let touched = of(&spec, &[tools, run, changed, &report, "\"end\""]);
    assert_eq!(
        (touched.outcome(), touched.tamper.len()),
        (Outcome::Passed, 1)
    );
    spec.phase.on_tamper = OnTamper::Zero;
    let touched = of(&spec, &[tools, run, changed, &report, "\"end\""]);
    assert_eq!(
        (touched.outcome(), touched.tamper.len()),
        (Outcome::Tampered, 1)
    );
}

#[test]
fn what_cannot_be_measured_is_refused_by_its_field() {
    let refused = [
        command(Measure::Lint, "", ReportFrom::Stdout),
        command(Measure::Lint, "nothing", ReportFrom::Stdout),
        command(Measure::Coverage, "sarif", ReportFrom::Stdout),
        command(Measure::Leaks, "", ReportFrom::Stdout),
        spec(Measure::Lint, Language::Lua, "m.lua"),
        spec(Measure::Leaks, Language::Python, "m.py"),
        spec(Measure::Coverage, Language::Python, "m.py"),
        spec(Measure::Compile, Language::C, ""),
    ];
    for spec in refused {
        assert!(super::check(&spec).is_err(), "{spec:?}");
    }
}

#[test]
fn plans_hold_our_files_and_the_authors_command() {
    let own = VerifySpec::Measure(spec(Measure::Compile, Language::Python, "-m.py"));
    let own = harness::plan(&own, NONCE).expect("a plan");
    assert_eq!(own.argv[2..], [NONCE, "./-m.py", ".rollcage/right.py"]);
    assert!(own.files.contains_key(".rollcage/compile_python.py"));
    assert_eq!(own.report, ReportPipe::Private);
    let file = command(
        Measure::Lint,
        "sarif",
        ReportFrom::File("r.sarif".to_owned()),
    );
    let author = harness::plan(&VerifySpec::Measure(file), NONCE).expect("a plan");
    assert_eq!(
        (author.argv.as_slice(), author.report),
        (&["tool".to_owned()][..], ReportPipe::None)
    );
    assert_eq!(author.collect, ["r.sarif"]);
    let mut leaks = spec(Measure::Leaks, Language::C, "m.c");
    leaks.cwd = "a/b".to_owned();
    let leaks = harness::plan(&VerifySpec::Measure(leaks), NONCE).expect("a plan");
    assert_eq!(leaks.argv[2], "../../.rollcage/measure.py");
}
