//! Processes of sandboxes killed from outside, at random moments under load, while the daemon lives:
//! every call gets its answer, each is one that its program can have or says that the sandbox
//! failed, and the daemon serves on. (`kill9` kills the daemon's own processes.)

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{Client, pb};
use tokio::task::JoinSet;

use crate::host::Process;
use crate::kill9::{Random, is_possible, recorded, request, rounds};
use crate::wait;
use crate::world::{World, message, shell};

/// Kills, if `ROLLCAGE_CHAOS_ROUNDS` does not say.
const KILLS: u64 = 25;
/// Runs at once.
const LOAD: u64 = 6;
/// Whatever is waited for here comes at once on an idle machine.
const SOON: Duration = Duration::from_secs(20);

/// Pid 1 of a sandbox has the first id of its range.
fn is_init(process: &Process) -> bool {
    process.uid & 0xffff == 0
}

/// Runs one request after the other until told to stop; every one must be answered with a result.
async fn load(client: Client, worker: u64, stop: Arc<AtomicBool>) -> Vec<pb::RunResult> {
    let mut results = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let asked = request(0, worker, number);
        let answered = client.run(message(&asked)).await;
        results.push(answered.unwrap_or_else(|error| panic!("{asked}: {error:?}")));
    }
    results
}

/// Kills processes that `choose` picks, under load. Gives the results and how many were killed.
fn kills(world: &World, choose: fn(&Process) -> bool) -> (Vec<pb::RunResult>, usize) {
    let mut random = Random::seeded();
    // The run that compiles them ahead may be met too; the next judge compiles them itself.
    world.allow_log("the judge's programs");
    let client = world.client();
    let stop = Arc::new(AtomicBool::new(false));
    world.wait(async {
        let mut workers = JoinSet::new();
        for worker in 0..LOAD {
            workers.spawn(load(client.clone(), worker, Arc::clone(&stop)));
        }
        let (wanted, mut killed) = (rounds(KILLS), 0);
        while killed < usize::try_from(wanted).expect("a number") {
            tokio::time::sleep(Duration::from_millis(random.below(60))).await;
            assert!(!workers.is_empty(), "the load goes on");
            let there = world.instance().leased_processes();
            let mut there: Vec<Process> = there.into_iter().filter(choose).collect();
            if there.is_empty() {
                continue;
            }
            let at = usize::try_from(random.below(there.len() as u64)).expect("a place");
            let victim = there.swap_remove(at);
            // It may have ended meanwhile, which is no kill.
            if kill(Pid::from_raw(victim.pid), Signal::SIGKILL).is_ok() {
                killed += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
        let all = tokio::time::timeout(Duration::from_secs(60), workers.join_all()).await;
        (all.expect("every call ends").concat(), killed)
    })
}

/// Nothing of the killed ones is left, the records hold, and a run is as it always was.
fn serves_on(world: &World, results: &[pb::RunResult]) {
    wait::until_it_holds("nothing of a sandbox is left", SOON, || {
        let own = world.instance();
        own.sandbox_groups().is_empty() && own.leased_processes().is_empty()
    });
    recorded(world, results);
    world.run(&shell("exit 3")).exited(3);
}

fn is_infra(result: &pb::RunResult) -> bool {
    let verdict = result.verdict.as_ref().expect("a verdict");
    let ending = result.ending.as_ref().expect("an ending");
    ending.kind() == pb::EndingKind::SandboxFailed || verdict.outcome() == pb::Outcome::InfraError
}

#[test]
fn a_killed_pid_1_is_the_hosts_fault_and_no_result_is_lost() {
    const TEST: &str = "chaos::a_killed_pid_1_is_the_hosts_fault_and_no_result_is_lost";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let (results, killed) = kills(&world, is_init);
    for result in &results {
        assert!(is_possible(result), "an invented result: {result:?}");
    }
    let infra = results.iter().filter(|result| is_infra(result)).count();
    println!(
        "{killed} killed, {} results, {infra} of them the host's fault",
        results.len()
    );
    assert!(
        infra >= 1 && infra <= killed,
        "{infra} faults by {killed} kills"
    );
    serves_on(&world, &results);
}

#[test]
fn a_program_killed_from_outside_was_killed_and_nothing_else() {
    const TEST: &str = "chaos::a_program_killed_from_outside_was_killed_and_nothing_else";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let (results, killed) = kills(&world, |process| !is_init(process));
    let mut other = 0;
    for result in results.iter().filter(|result| !is_possible(result)) {
        // The kernel says that a signal ended it, not whose: no more than that is told.
        other += 1;
        let ending = result.ending.as_ref().expect("an ending");
        let verdict = result.verdict.as_ref().expect("a verdict");
        let signalled = ending.signal == Some(9);
        // Shells tell of a child that was killed by their own exit code.
        let by_child = ending.code == Some(137);
        let failed = verdict.outcome() == pb::Outcome::Failed && verdict.reward == Some(0.0);
        let no_tests = verdict.outcome() == pb::Outcome::NoTests && verdict.reward == Some(0.0);
        assert!(signalled || by_child || failed || no_tests, "{result:?}");
        assert_ne!(verdict.outcome(), pb::Outcome::Passed, "{result:?}");
    }
    println!(
        "{killed} killed, {} results, {other} met by it",
        results.len()
    );
    assert!(other <= killed, "{other} results changed by {killed} kills");
    serves_on(&world, &results);
}
