//! Processes of the judging killed from outside, as root can: pid 1 of either sandbox, and the judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{Client, pb};
use tokio::task::JoinSet;

use super::{Tally, judged, random, share};
use crate::host::Process;
use crate::world::{World, message};

/// Judgements at once.
const LOAD: u64 = 4;

/// Judges one solution after the other until told to stop; every one is answered with a result.
async fn load(client: Client, next: Arc<AtomicU64>, stop: Arc<AtomicBool>) -> Vec<pb::RunResult> {
    let mut results = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let asked = judged(next.fetch_add(1, Ordering::Relaxed));
        let answered = client.run(message(&asked)).await;
        results.push(answered.unwrap_or_else(|error| panic!("{asked}: {error:?}")));
    }
    results
}

/// Kills `faults` processes that `choose` picks while solutions are judged.
fn killed_while_judging(world: &World, faults: u64, choose: fn(&Process) -> bool) -> Tally {
    let mut random = random();
    // The run that compiles them ahead may be met too; the next judge compiles them itself.
    world.allow_log("the judge's programs");
    let client = world.client();
    let (stop, next) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let results = world.wait(async {
        let mut workers = JoinSet::new();
        for _ in 0..LOAD {
            workers.spawn(load(client.clone(), Arc::clone(&next), Arc::clone(&stop)));
        }
        let mut killed = 0;
        while killed < faults {
            tokio::time::sleep(Duration::from_millis(random.below(30))).await;
            assert!(!workers.is_empty(), "the load goes on");
            let mut there = world.instance().leased_processes();
            there.retain(choose);
            if there.is_empty() {
                continue;
            }
            let at = usize::try_from(random.below(there.len() as u64)).expect("a place");
            let victim = there.swap_remove(at);
            // It may have ended meanwhile, which is no fault.
            if kill(Pid::from_raw(victim.pid), Signal::SIGKILL).is_ok() {
                killed += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
        let all = tokio::time::timeout(Duration::from_secs(60), workers.join_all()).await;
        all.expect("every call ends").concat()
    });
    let mut tally = Tally::default();
    for result in &results {
        tally.count(result);
    }
    tally
}

/// Pid 1 of a sandbox has the first id of its range.
fn is_init(process: &Process) -> bool {
    process.uid & 0xffff == 0
}

fn is_judge(process: &Process) -> bool {
    !is_init(process) && process.command_line.contains("start.py judge")
}

#[test]
fn a_killed_sandbox_gives_no_number() {
    const TEST: &str = "faults::kills::a_killed_sandbox_gives_no_number";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let faults = share(50);
    let tally = killed_while_judging(&world, faults, is_init);
    tally.print("pid 1 of a sandbox killed", faults);
    assert!(tally.earned > 0, "{tally:?}");
}

#[test]
fn a_killed_judge_gives_no_number() {
    const TEST: &str = "faults::kills::a_killed_judge_gives_no_number";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let faults = share(30);
    let tally = killed_while_judging(&world, faults, is_judge);
    tally.print("the judge killed", faults);
    assert!(tally.earned > 0, "{tally:?}");
}
