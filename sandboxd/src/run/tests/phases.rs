//! The verify phase through the engine: what the second sandbox gets of the first, over which
//! descriptors it reports, and what its end means.

use std::io::Write;

use confine::wire::{ArchiveFile, CollectProblem, CollectSpec, CollectedFile, FromInit, ToInit};
use verdict::verify::ReportFrom;
use verdict::{Framework, HarnessSpec, Isolation, Outcome, Phase, TestFile, VerifySpec};

use super::fake::FakeSandbox;
use super::*;

const TAP: &[u8] = b"1..1\nok 1 - it\n";

fn send(pipe: &mut std::fs::File, path: &str, content: &[u8]) {
    let file = CollectedFile {
        path: path.as_bytes().to_vec(),
        mode: 0o100_644,
        content: content.to_vec(),
    };
    let bytes = postcard::to_stdvec(&file).unwrap();
    let length = u32::try_from(bytes.len()).unwrap();
    pipe.write_all(&length.to_le_bytes()).unwrap();
    pipe.write_all(&bytes).unwrap();
}

/// The request's own run: it changes one file, adds a hook, and takes a test away.
fn changes(sandbox: &mut FakeSandbox) {
    changes_but(sandbox, Vec::new());
}

fn changes_but(sandbox: &mut FakeSandbox, problems: Vec<CollectProblem>) {
    let (_, program) = sandbox.spawned();
    assert!(program.extra.is_empty(), "nothing of the verification yet");
    drop(program);
    sandbox.exited(0);
    let (frame, mut fds) = sandbox.hear().unwrap();
    assert!(matches!(frame, ToInit::Collect { alone: true }));
    let mut pipe = std::fs::File::from(fds.remove(1));
    let spec: CollectSpec = confine::packet::unseal(fds.remove(0)).unwrap();
    assert_eq!(spec.patterns, ["**"]);
    send(&mut pipe, "main.py", b"print(2)");
    send(&mut pipe, "sub/conftest.py", b"hook");
    drop(pipe);
    sandbox.say(&FromInit::Collected { files: 2, problems });
    assert!(matches!(sandbox.hear(), Some((ToInit::Finish, _))));
    sandbox.finished();
    sandbox.reaped();
}

/// The verification's: it says what it is told by its files.
fn tests(sandbox: &mut FakeSandbox) {
    let (archive, mut program) = sandbox.spawned();
    let mut files: Vec<(&str, &[u8])> = (archive.files.iter())
        .map(|file: &ArchiveFile| (file.path.as_str(), file.content.as_slice()))
        .collect();
    files.sort_unstable();
    let expected: [(&str, &[u8]); 3] = [
        ("main.py", b"print(2)"),
        ("pytest.ini", b"author's"),
        ("run.sh", b"tests"),
    ];
    assert_eq!(files, expected);
    assert_eq!(program.spec.cwd, "/workspace");
    let fd = (b"ROLLCAGE_REPORT_FD".to_vec(), b"4".to_vec());
    assert!(program.spec.env.contains(&fd));
    // The third is at its end, the fourth is the report's.
    let mut report = std::fs::File::from(program.extra.remove(1));
    report.write_all(TAP).unwrap();
    drop(report);
    drop(program);
    sandbox.exited(0);
    sandbox.finished();
    sandbox.reaped();
}

fn script(sandbox: &mut FakeSandbox) {
    sandbox.started();
    if sandbox.id.ends_with("-tests") {
        tests(sandbox);
    } else {
        changes(sandbox);
    }
}

fn tap() -> VerifySpec {
    let content = b"tests".to_vec();
    let file = TestFile {
        content,
        mode: 0o755,
    };
    VerifySpec::Harness(HarnessSpec {
        framework: Framework::Tap,
        argv: vec!["sh".to_owned(), "run.sh".to_owned()],
        report: ReportFrom::Descriptor,
        phase: Phase {
            test_files: [("run.sh".to_owned(), file)].into(),
            ..Phase::default()
        },
        ..HarnessSpec::default()
    })
}

fn task(name: &str) -> Request {
    let mut request = request(&["python3"]);
    request.policy = Arc::new(policy(name));
    request.files.push(InputFile {
        path: "pytest.ini".to_owned(),
        content: b"author's".to_vec(),
        mode: 0o644,
    });
    request.verify = Some(tap());
    request
}

#[tokio::test]
async fn tests_start_from_what_the_run_left_with_the_authors_files_over_it() {
    let house = house(script).await;
    let run = house.engine.run(task("task"), None, Cancel::new());
    let result = run.await.unwrap();
    let verdict = &result.verdict;
    assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:?}");
    assert_eq!(verdict.reward(), Some(1.0));
    assert_eq!(verdict.evidence.isolation, Isolation::Shared);
    assert_eq!(verdict.tests[0].id, "it");
    let touched: Vec<&str> = verdict.tamper.iter().map(|note| &*note.path).collect();
    assert_eq!(touched, ["sub/conftest.py", "pytest.ini"]);
    assert_eq!((result.files.len(), result.files_missing.len()), (0, 0));
    let requested = audit::Event::SandboxRequested;
    let expected = [
        audit::Event::RunAdmitted,
        requested,
        requested,
        audit::Event::RunEnded,
    ];
    assert_eq!(house.log.events(), expected);
}

#[tokio::test]
async fn a_policy_without_shared_reward_withholds_it() {
    let result = run(script, task("python")).await;
    let verdict = &result.verdict;
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Passed, None)
    );
    assert!(verdict.reason.contains("shared_reward"), "{verdict:?}");
}

#[tokio::test]
async fn a_verification_that_cannot_be_had_is_no_number() {
    fn no_tests(sandbox: &mut FakeSandbox) {
        if sandbox.id.ends_with("-tests") {
            return sandbox.tell(&confine::wire::FromLauncher::StartFailed {
                token: sandbox.token,
                step: "clone".to_owned(),
                reason: "no memory".to_owned(),
                refused: false,
            });
        }
        sandbox.started();
        changes(sandbox);
    }
    let result = run(no_tests, task("task")).await;
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    assert_eq!(result.verdict.outcome(), Outcome::InfraError);
    assert_eq!(result.verdict.reward(), None);
}

#[tokio::test]
async fn what_could_not_be_taken_whole_is_not_judged_in_part() {
    fn but_one(sandbox: &mut FakeSandbox) {
        assert!(!sandbox.id.ends_with("-tests"), "nothing is to be tested");
        sandbox.started();
        let problem = CollectProblem {
            path: "big.bin".to_owned(),
            reason: "has 9 bytes, 1 are left of the cap".to_owned(),
        };
        changes_but(sandbox, vec![problem]);
    }
    let result = run(but_one, task("task")).await;
    let verdict = &result.verdict;
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert!(
        verdict.reason.contains("big.bin: has 9 bytes"),
        "{verdict:?}"
    );
    assert!(result.files_missing.is_empty(), "nobody asked for it");
}
