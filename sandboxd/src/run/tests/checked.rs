//! Runs whose files are checked first: what the check says, and records that cannot be written.

use std::io::Write;

use verdict::StaticCheck;

use super::fake::FakeSandbox;
use super::*;

const CLEAN: &str = "{\"checked\":1,\"skipped\":0}\n";
const BROKEN: &str = "{\"tool\":\"static-check\",\"severity\":\"error\",\"code\":\"syntax-error\",\
                      \"message\":\"m\",\"file\":\"main.py\",\"line\":4}\n{\"checked\":1}\n";

/// One command that writes `output` and exits with 0.
fn writes(sandbox: &mut FakeSandbox, output: &str) {
    sandbox.started();
    let (_archive, mut program) = sandbox.spawned();
    program.stdout.write_all(output.as_bytes()).unwrap();
    drop(program);
    sandbox.exited(0);
    sandbox.finished();
    sandbox.reaped();
}

fn clean(sandbox: &mut FakeSandbox) {
    let output = if sandbox.id.ends_with("-check") {
        CLEAN
    } else {
        "ran"
    };
    writes(sandbox, output);
}

fn broken(sandbox: &mut FakeSandbox) {
    assert!(sandbox.id.ends_with("-check"), "nothing else is started");
    writes(sandbox, BROKEN);
}

fn only_checked(sandbox: &mut FakeSandbox) {
    assert!(sandbox.id.ends_with("-check"), "nothing else is started");
    writes(sandbox, CLEAN);
}

fn to_be_checked() -> Request {
    Request {
        static_check: StaticCheck::Syntax,
        ..request(&["python3"])
    }
}

fn failing_for_programs() -> MemoryLog {
    MemoryLog {
        fails_for_programs: true,
        ..MemoryLog::default()
    }
}

#[tokio::test]
async fn what_is_clean_runs() {
    let house = house(clean).await;
    let run = house.engine.run(to_be_checked(), None, Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    assert_eq!(result.stdout.kept, b"ran");
}

#[tokio::test]
async fn what_is_broken_is_told_and_nothing_else_is_started() {
    let house = house(broken).await;
    let run = house.engine.run(to_be_checked(), None, Cancel::new());
    let result = run.await.unwrap();
    assert!(matches!(
        result.ending,
        Ending::NotStarted { code: 126, .. }
    ));
    assert_eq!(result.verdict.diagnostics[0].line, Some(4));
    assert_eq!(result.stdout.kept, b"", "the check's output is nobody's");
}

#[tokio::test]
async fn a_program_whose_record_cannot_be_written_is_not_started() {
    let house = house_with(only_checked, failing_for_programs(), 4).await;
    let run = house.engine.run(to_be_checked(), None, Cancel::new());
    let result = run.await.unwrap();
    match &result.ending {
        Ending::SandboxFailed { step, .. } => assert_eq!(step, "audit"),
        other => panic!("not sandbox_failed but {other:?}"),
    }
}

#[tokio::test]
async fn where_the_policy_lets_it_run_the_missing_record_is_told() {
    let house = house_with(clean, failing_for_programs(), 4).await;
    let mut lenient = to_be_checked();
    let mut policy = (*lenient.policy).clone();
    policy.audit.on_failure = policies::AuditFailure::Degrade;
    lenient.policy = Arc::new(policy);
    let run = house.engine.run(lenient, None, Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    let rows = result.manifest.iter().filter(|row| row.name == "audit");
    assert_eq!(rows.count(), 1);
}
