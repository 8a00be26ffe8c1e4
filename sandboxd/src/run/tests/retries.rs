//! Runs that are done again: after a fault of ours or the host's, and alone after a time limit on a
//! busy host. Each at most once, each attempt with records of its own.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use audit::Event as Recorded;
use confine::wire::{FromLauncher, KernelCounters, Stalls};
use verdict::{ExitCodeSpec, Outcome, VerifySpec};

use super::fake::FakeSandbox;
use super::request::Why;
use super::*;

fn judged(argv: &[&str]) -> Request {
    let mut request = request(argv);
    request.verify = Some(VerifySpec::ExitCode(ExitCodeSpec { exit_code: 0 }));
    request.retries_infra = true;
    request
}

fn broken(sandbox: &mut FakeSandbox) {
    sandbox.tell(&FromLauncher::StartFailed {
        token: sandbox.token,
        step: "mount".to_owned(),
        reason: "no loop device".to_owned(),
        refused: false,
    });
}

fn well(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (_, program) = sandbox.spawned();
    drop(program);
    sandbox.exited(0);
    sandbox.finished();
    sandbox.reaped();
}

/// Runs until its time is up; others kept it from its CPUs all the while.
fn late(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (_, program) = sandbox.spawned();
    sandbox.wait_killed();
    drop(program);
    sandbox.reaped_with(KernelCounters {
        pressure: Some(Stalls {
            cpu_full_us: 60_000_000,
            cpu_some_us: 60_000_000,
            ..Stalls::default()
        }),
        ..KernelCounters::default()
    });
}

async fn run_in(house: &House, request: Request) -> RunResult {
    let run = house.engine.run(request, None, Cancel::new());
    let result = tokio::time::timeout(Duration::from_secs(20), run).await;
    result.unwrap().unwrap()
}

fn count(house: &House, event: Recorded) -> usize {
    let events = house.log.events();
    events.iter().filter(|found| **found == event).count()
}

#[tokio::test]
async fn a_fault_of_the_host_is_tried_once_more_on_another_sandbox() {
    static STARTS: AtomicU32 = AtomicU32::new(0);
    fn script(sandbox: &mut FakeSandbox) {
        match STARTS.fetch_add(1, Ordering::SeqCst) {
            0 => broken(sandbox),
            _ => well(sandbox),
        }
    }
    let house = house(script).await;
    let result = run_in(&house, judged(&["python3"])).await;
    assert_eq!(result.verdict.outcome(), Outcome::Passed);
    let [first] = result.earlier.as_slice() else {
        panic!("{:?}", result.earlier);
    };
    assert_eq!(first.why, Why::InfraError);
    assert_eq!(first.outcome, Outcome::InfraError);
    assert!(first.reason.contains("no loop device"), "{}", first.reason);
    assert_ne!(first.sandbox_id, result.sandbox_id);
    assert_ne!(first.audit.seq, result.audit.seq);
    assert_eq!(count(&house, Recorded::RunAdmitted), 2);
    assert_eq!(count(&house, Recorded::SandboxRequested), 2);
    assert_eq!(count(&house, Recorded::RunEnded), 2);
    let last = house.log.drafts.lock().unwrap().last().unwrap().clone();
    assert_eq!(serde_json::to_value(&last).unwrap()["data"]["attempt"], 2);
}

#[tokio::test]
async fn a_host_that_stays_broken_is_told_after_two_attempts() {
    let house = house(broken).await;
    let result = run_in(&house, judged(&["python3"])).await;
    assert_eq!(result.verdict.outcome(), Outcome::InfraError);
    assert_eq!(result.verdict.reward(), None);
    assert_eq!(result.earlier.len(), 1);
    assert_eq!(count(&house, Recorded::RunEnded), 2);
}

#[tokio::test]
async fn what_is_not_to_be_repeated_is_not() {
    // Nobody asked for it.
    let house = house(broken).await;
    let mut request = judged(&["python3"]);
    request.retries_infra = false;
    assert!(run_in(&house, request).await.earlier.is_empty());
    assert_eq!(count(&house, Recorded::RunEnded), 1);
    // The budget is used up.
    let none = RetryLimits {
        infra_max: 1,
        alone_max: 0,
    };
    let house = house_retrying(broken, MemoryLog::default(), 4, none).await;
    assert_eq!(run_in(&house, judged(&["python3"])).await.earlier.len(), 1);
    assert!(
        run_in(&house, judged(&["python3"]))
            .await
            .earlier
            .is_empty()
    );
    let house = house_retrying(late, MemoryLog::default(), 4, none).await;
    let mut request = judged(&["python3"]);
    request.limits.wall_ms_max = 50;
    let result = run_in(&house, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Timeout);
    assert!(result.earlier.is_empty());
    // The program did it.
    fn cancelled(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        sandbox.wait_killed();
        drop(program);
        sandbox.reaped();
    }
    let house = super::house(cancelled).await;
    let mut request = judged(&["python3"]);
    request.deadline_ms = 50;
    let result = run_in(&house, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::InfraError);
    assert!(result.earlier.is_empty());
    let mut request = judged(&["python3"]);
    request.limits.wall_ms_max = 50;
    let result = run_in(&house, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Timeout);
    assert!(result.earlier.is_empty(), "nobody was in its way");
}

#[tokio::test]
async fn a_timeout_on_a_busy_host_is_run_again_with_nothing_beside_it() {
    static LATE_STARTS: AtomicU32 = AtomicU32::new(0);
    static REPETITION_WAITS: AtomicBool = AtomicBool::new(false);
    static NEIGHBOUR_IS_OVER: AtomicBool = AtomicBool::new(false);
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        if program.spec.argv == [b"neighbour".to_vec()] {
            while !REPETITION_WAITS.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            NEIGHBOUR_IS_OVER.store(true, Ordering::SeqCst);
        } else if LATE_STARTS.fetch_add(1, Ordering::SeqCst) == 0 {
            sandbox.wait_killed();
            drop(program);
            sandbox.reaped_with(KernelCounters {
                pressure: Some(Stalls {
                    cpu_full_us: 60_000_000,
                    ..Stalls::default()
                }),
                ..KernelCounters::default()
            });
            return;
        } else {
            assert!(NEIGHBOUR_IS_OVER.load(Ordering::SeqCst), "it is not alone");
        }
        drop(program);
        sandbox.exited(0);
        sandbox.finished();
        sandbox.reaped();
    }
    let house = house(script).await;
    let mut request = judged(&["late"]);
    request.limits.wall_ms_max = 300;
    let waits = async {
        while house.engine.load().queued == 0 {
            tokio::task::yield_now().await;
        }
        REPETITION_WAITS.store(true, Ordering::SeqCst);
    };
    let (neighbour, result, ()) = tokio::join!(
        run_in(&house, judged(&["neighbour"])),
        run_in(&house, request),
        waits
    );
    assert_eq!(neighbour.verdict.outcome(), Outcome::Passed);
    assert_eq!(result.verdict.outcome(), Outcome::Passed, "{result:?}");
    assert_eq!(result.earlier[0].why, Why::HostBusy);
    assert_eq!(result.earlier[0].outcome, Outcome::Timeout);
    let contention = result.verdict.evidence.contention.unwrap();
    assert!(contention.rerun_alone && contention.host_busy);
}

#[tokio::test]
async fn what_is_late_alone_as_well_is_late() {
    let house = house(late).await;
    let mut request = judged(&["python3"]);
    request.limits.wall_ms_max = 50;
    let result = run_in(&house, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Timeout);
    assert_eq!(result.verdict.reward(), Some(0.0));
    assert_eq!(result.earlier.len(), 1);
    assert!(result.verdict.evidence.contention.unwrap().rerun_alone);
    assert_eq!(count(&house, Recorded::RunEnded), 2);
}

#[tokio::test]
async fn a_repetition_that_cannot_be_had_leaves_the_first_result() {
    let house = house(late).await;
    let mut request = judged(&["python3"]);
    request.limits.wall_ms_max = 100;
    request.deadline_ms = 150;
    let result = run_in(&house, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Timeout, "{result:?}");
    let reason = &result.verdict.reason;
    assert!(reason.contains("could not be had"), "{reason}");
    assert!(result.earlier.is_empty());
}
