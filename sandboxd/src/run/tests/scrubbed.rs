//! Runs whose git repositories are made anew first: what the program gets, and that nothing is
//! started where that came to nothing.

use std::io::Write;

use confine::wire::{CollectSpec, CollectedFile, FromInit, ToInit};
use verdict::verify::GitScrub;
use verdict::{Framework, HarnessSpec, Outcome, Phase, VerifySpec};

use super::fake::FakeSandbox;
use super::*;

const DONE: &str = r#"{"repositories": [{"path": ".git", "commits": 1, "objects": 3}]}"#;
const REFUSED: &str = r#"{"path": ".git", "refused": "HEAD is no commit that is there"}"#;

/// The scrub: it says `answer` and leaves one file.
fn scrubs(sandbox: &mut FakeSandbox, answer: &str, problems: &[&str]) {
    let (archive, mut program) = sandbox.spawned();
    let mut paths: Vec<&str> = archive.files.iter().map(|file| &*file.path).collect();
    paths.sort_unstable();
    let expected = [
        ".git/HEAD",
        ".git/logs/HEAD",
        ".rollcage/git.json",
        ".rollcage/git_scrub.py",
    ];
    assert_eq!(paths, expected, "its files and no others");
    program.stdout.write_all(answer.as_bytes()).unwrap();
    drop(program);
    sandbox.exited(0);
    let (frame, mut fds) = sandbox.hear().unwrap();
    assert!(matches!(frame, ToInit::Collect { .. }));
    let mut pipe = std::fs::File::from(fds.remove(1));
    let spec: CollectSpec = confine::packet::unseal(fds.remove(0)).unwrap();
    assert_eq!(spec.patterns, [".rollcage/git/**"]);
    let file = CollectedFile {
        path: b".rollcage/git/0/HEAD".to_vec(),
        mode: 0o100_644,
        content: b"new".to_vec(),
    };
    let bytes = postcard::to_stdvec(&file).unwrap();
    let length = u32::try_from(bytes.len()).unwrap();
    pipe.write_all(&length.to_le_bytes()).unwrap();
    pipe.write_all(&bytes).unwrap();
    drop(pipe);
    let problem = |path: &&str| confine::wire::CollectProblem {
        path: (*path).to_owned(),
        reason: "too large".to_owned(),
    };
    sandbox.say(&FromInit::Collected {
        files: 1,
        problems: problems.iter().map(problem).collect(),
    });
    assert!(matches!(sandbox.hear(), Some((ToInit::Finish, _))));
    sandbox.finished();
    sandbox.reaped();
}

fn done(sandbox: &mut FakeSandbox) {
    sandbox.started();
    if sandbox.id.ends_with("-git") {
        return scrubs(sandbox, DONE, &[]);
    }
    let (archive, program) = sandbox.spawned();
    let mut files: Vec<(&str, &[u8])> = (archive.files.iter())
        .map(|file| (&*file.path, &*file.content))
        .collect();
    files.sort_unstable();
    assert_eq!(files[0], (".git/HEAD", &b"new"[..]));
    assert!(!files.iter().any(|(path, _)| *path == ".git/logs/HEAD"));
    drop(program);
    sandbox.exited(3);
    sandbox.finished();
    sandbox.reaped();
}

fn only(sandbox: &mut FakeSandbox, answer: &str, problems: &[&str]) {
    sandbox.started();
    assert!(sandbox.id.ends_with("-git"), "nothing else is started");
    scrubs(sandbox, answer, problems);
}

fn refused(sandbox: &mut FakeSandbox) {
    only(sandbox, REFUSED, &[]);
}

fn cut(sandbox: &mut FakeSandbox) {
    only(sandbox, DONE, &[".rollcage/git/0/objects/pack/pack-1.pack"]);
}

fn not_had(sandbox: &mut FakeSandbox) {
    assert!(sandbox.id.ends_with("-git"), "nothing else is started");
    sandbox.tell(&confine::wire::FromLauncher::StartFailed {
        token: sandbox.token,
        step: "clone".to_owned(),
        reason: "no memory".to_owned(),
        refused: false,
    });
}

fn to_be_scrubbed() -> Request {
    let mut request = request(&[]);
    let file = |path: &str| InputFile {
        path: path.to_owned(),
        content: b"old".to_vec(),
        mode: 0o644,
    };
    request.files.push(file(".git/HEAD"));
    request.files.push(file(".git/logs/HEAD"));
    request.verify = Some(VerifySpec::Harness(HarnessSpec {
        framework: Framework::Command,
        argv: vec!["true".to_owned()],
        phase: Phase {
            git: GitScrub::Scrub,
            ..Phase::default()
        },
        ..HarnessSpec::default()
    }));
    request
}

#[tokio::test]
async fn what_runs_gets_the_repositories_that_were_made() {
    let house = house(done).await;
    let run = house.engine.run(to_be_scrubbed(), None, Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 3 });
    // A command without a report of tests has none; that it ran is what matters here.
    assert_eq!(result.verdict.outcome(), Outcome::NoTests);
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
async fn where_a_repository_cannot_be_had_nothing_runs_and_nothing_counts() {
    for (script, outcome, why) in [
        (
            refused as fn(&mut FakeSandbox),
            Outcome::VerifierError,
            "HEAD is no",
        ),
        (cut, Outcome::VerifierError, "too large"),
        (not_had, Outcome::InfraError, "no memory"),
    ] {
        let result = run(script, to_be_scrubbed()).await;
        let verdict = &result.verdict;
        assert_eq!((verdict.outcome(), verdict.reward()), (outcome, None));
        assert!(verdict.reason.contains(why), "{verdict:?}");
        assert_eq!(result.stdout.kept, b"", "the scrub's output is nobody's");
    }
}
