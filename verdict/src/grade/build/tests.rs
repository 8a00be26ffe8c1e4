//! What becomes of a build, whose program it was and how it ended: as a table.

use super::{BuildEvidence, judge_build};
use crate::diagnostics::DiagnosticFormat;
use crate::ending::Ending;
use crate::grade::{Ended, Output};
use crate::plan::build::{Build, Builder};
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, Verdict};

fn judged(whose: Builder, ending: &Ending, carried: &[&str], said: &str) -> Option<Verdict> {
    let build = Build {
        required: vec!["program".to_owned()],
        messages: Some(DiagnosticFormat::GccText),
        files_renamed: vec![("built.cpp".to_owned(), "solution.cpp".to_owned())],
        lines_before: 2,
        ..Build::default()
    };
    let (stdout, stderr) = (
        Untrusted::new(Vec::new()),
        Untrusted::new(said.as_bytes().to_vec()),
    );
    let all = |kept| Output {
        kept,
        dropped_bytes: 0,
    };
    let evidence = BuildEvidence {
        ended: Ended {
            ending,
            oom_kills: 0,
        },
        stdout: all(&stdout),
        stderr: all(&stderr),
        carried,
    };
    judge_build(&build, whose, evidence)
}

const ALL: [Builder; 3] = [Builder::Solution, Builder::Judge, Builder::JudgeOfSolution];

#[test]
fn each_ending_is_put_to_whom_it_belongs() {
    let exited = |code| Ending::Exited { code };
    let fault = Ending::SandboxFailed {
        step: "x".into(),
        reason: "y".into(),
    };
    let missing = Ending::NotStarted {
        code: 127,
        path: "g++".into(),
        reason: "not found".into(),
    };
    let wall = Ending::WallTimeUp {
        limit_ms: 1,
        used_ms: 2,
        throttled_ms: 0,
    };
    use Outcome::{CompileError, InfraError, Timeout, VerifierError};
    // The solution's, the judge's, the judge's against the solution's functions.
    let rows: [(Ending, &[&str], [Outcome; 3]); 5] = [
        (fault, &[], [InfraError; 3]),
        (missing, &[], [VerifierError; 3]),
        (exited(1), &[], [CompileError, VerifierError, CompileError]),
        (exited(0), &[], [CompileError, VerifierError, CompileError]),
        (wall, &["program"], [Timeout, VerifierError, CompileError]),
    ];
    for (ending, carried, expected) in rows {
        for (whose, outcome) in ALL.into_iter().zip(expected) {
            let verdict = judged(whose, &ending, carried, "").expect("is judged");
            assert_eq!(verdict.outcome(), outcome, "{whose:?} {ending:?}");
            assert!(!verdict.reason.is_empty());
        }
    }
    for whose in ALL {
        assert_eq!(
            judged(whose, &exited(0), &["program"], "built.cpp:9:1: warning: w"),
            None
        );
    }
}

#[test]
fn messages_stand_at_the_lines_of_the_author_s_file() {
    let said = "built.cpp:5:7: error: no such thing\nother.cpp:1:1: error: elsewhere\n";
    let ending = Ending::Exited { code: 1 };
    let verdict = judged(Builder::Solution, &ending, &[], said).expect("is judged");
    let told: Vec<(&str, Option<u64>)> = (verdict.diagnostics.iter())
        .map(|one| (one.file.as_str(), one.line))
        .collect();
    assert_eq!(told, [("solution.cpp", Some(3)), ("other.cpp", Some(1))]);
    assert_eq!(verdict.reason, "solution.cpp:3: no such thing");
    let unreadable = judged(Builder::Solution, &ending, &[], "\u{1}?").expect("is judged");
    assert!(
        unreadable.reason.contains("exited with code 1"),
        "{}",
        unreadable.reason
    );
}
