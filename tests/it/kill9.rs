//! The daemon killed at random moments under load, fifty times, each followed by a start: what was
//! left is cleaned up, every result that was given stands in the log, and none is invented.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{Client, pb};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::audit;
use crate::host::{self, Instance};
use crate::wait;
use crate::world::{World, message};

/// Rounds, if `ROLLCAGE_CHAOS_ROUNDS` does not say.
const ROUNDS: u64 = 50;
/// Runs at once.
const LOAD: u64 = 6;
/// Nothing of a dead daemon is left this long after the next one is ready.
const DEADLINE: Duration = Duration::from_secs(10);

/// Numbers that look random, from a seed that is printed.
pub(crate) struct Random(u64);

impl Random {
    /// Seeded by `ROLLCAGE_TEST_SEED`, else by the clock.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("ROLLCAGE_TEST_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = std::time::SystemTime::UNIX_EPOCH
                .elapsed()
                .expect("a clock");
            u64::from(now.subsec_nanos()) + now.as_secs()
        });
        println!("ROLLCAGE_TEST_SEED={seed}");
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// How many rounds, or kills, of chaos.
pub(crate) fn rounds(default: u64) -> u64 {
    let given = std::env::var("ROLLCAGE_CHAOS_ROUNDS").ok();
    given.map_or(default, |text| text.parse().expect("ROLLCAGE_CHAOS_ROUNDS"))
}

/// One of the runs of the load. Its id tells what its result may be.
pub(crate) fn request(round: u64, worker: u64, number: u64) -> Value {
    let id = |kind: &str| format!("{kind}-{round}-{worker}-{number}");
    let judged = |kind: &str, body: &str| {
        json!({
            "id": id(kind), "policy": "python", "argv": [],
            "files": { "s.py": format!("def f(): return {body}\n") },
            "verify": { "kind": "asserts", "file": "s.py", "code": "assert f() == 1" },
        })
    };
    let plain = |kind: &str, code: &str| {
        json!({
            "id": id(kind), "policy": "shell", "argv": ["sh", "-c", code],
            "limits": { "wall_ms_max": 3_000 }, "idempotency_key": id(kind),
        })
    };
    match (worker + number) % 6 {
        0 => plain("zero", "true"),
        1 => plain("seven", "exit 7"),
        2 => judged("right", "1"),
        3 => judged("wrong", "2"),
        4 => plain("long", "setsid sleep 60 & sleep 60"),
        _ => plain(
            "forks",
            "for i in 1 2 3 4 5; do sleep 60 & done; kill -9 $$",
        ),
    }
}

/// Whether a result is one that this request can have: its own, or the host's fault.
pub(crate) fn is_possible(result: &pb::RunResult) -> bool {
    let ending = result.ending.as_ref().expect("an ending");
    let verdict = result.verdict.as_ref().expect("a verdict");
    let kind = result.id.split('-').next().unwrap_or_default();
    if matches!(
        ending.kind(),
        pb::EndingKind::SandboxFailed | pb::EndingKind::Cancelled
    ) {
        let unscored = matches!(
            verdict.outcome(),
            pb::Outcome::InfraError | pb::Outcome::Unjudged
        );
        return unscored && verdict.reward.is_none();
    }
    let outcome = verdict.outcome();
    match kind {
        "zero" => ending.code == Some(0),
        "seven" => ending.code == Some(7),
        // The judge may have met the host's fault where the solution did not.
        "right" => matches!(outcome, pb::Outcome::Passed | pb::Outcome::InfraError),
        "wrong" => matches!(outcome, pb::Outcome::Failed | pb::Outcome::InfraError),
        "long" => ending.kind() == pb::EndingKind::WallTimeUp,
        "forks" => ending.signal == Some(9),
        _ => false,
    }
}

/// Runs one request after the other until the daemon is gone. Gives what it answered.
async fn load(client: Client, round: u64, worker: u64) -> Vec<pb::RunResult> {
    let mut results = Vec::new();
    for number in 0.. {
        match client.run(message(&request(round, worker, number))).await {
            Ok(result) => results.push(result),
            Err(_gone) => break,
        }
    }
    results
}

/// Which process is killed, and how the daemon ends by it.
fn victim(world: &World, random: &mut Random) -> (&'static str, i32) {
    let family = host::descendants(world.pid());
    let of = |part: &str| {
        let found = family
            .iter()
            .find(|process| process.command_line.contains(part));
        found.map(|process| process.pid)
    };
    // No sandbox runs yet: what the launcher has started are its forkers.
    let forker = family
        .iter()
        .find(|process| process.parent == world.instance().launcher_pid);
    match random.below(10) {
        3 => ("forker", forker.expect("a forker").pid),
        0 | 1 => ("launcher", world.instance().launcher_pid),
        2 => (
            "audit writer",
            of("audit-writer").expect("the audit writer"),
        ),
        _ => ("api", world.pid()),
    }
}

/// What a killed daemon was.
struct Dead {
    instance: Instance,
    /// Pid and command line of each of its processes.
    family: Vec<(i32, String)>,
    /// Whether its callers were told that records cannot be written, and may try again.
    told_unavailable: bool,
}

impl Dead {
    /// Whether somebody else's daemon on this host has its number by now: then what goes by that
    /// number is theirs.
    fn is_taken_over(&self) -> bool {
        let all = host::processes();
        let is_daemon = |pid: i32| {
            let found = all.iter().find(|one| one.pid == pid);
            found.is_some_and(|one| {
                let known = (one.pid, one.command_line.clone());
                one.name == "sandboxd" && !self.family.contains(&known)
            })
        };
        let mut holders = all.iter().filter(|one| self.instance.is_held_by(one.pid));
        holders.any(|holder| is_daemon(holder.parent))
    }

    /// What is left of it. Once another launcher has its number, its processes tell.
    fn left(&self, now: &Instance) -> Vec<String> {
        let mut left = Vec::new();
        if now.number != self.instance.number && !self.is_taken_over() {
            left = self.instance.leftovers();
        }
        let alive = host::processes()
            .into_iter()
            .map(|one| (one.pid, one.command_line));
        left.extend(
            alive
                .filter(|one| self.family.contains(one))
                .map(|one| format!("{one:?}")),
        );
        left
    }
}

/// One round: load, a kill, the end. Gives results and the dead daemon.
fn round(world: &mut World, number: u64, random: &mut Random) -> (Vec<pb::RunResult>, Dead) {
    let client = world.client();
    let delay = Duration::from_millis(random.below(450));
    let (name, pid) = victim(world, random);
    let family = host::descendants(world.pid()).into_iter();
    let family = family.map(|one| (one.pid, one.command_line)).collect();
    let results = world.wait(async {
        let mut workers = JoinSet::new();
        for worker in 0..LOAD {
            workers.spawn(load(client.clone(), number, worker));
        }
        tokio::time::sleep(delay).await;
        kill(Pid::from_raw(pid), Signal::SIGKILL).expect("kill it");
        drop(client);
        let all = tokio::time::timeout(Duration::from_secs(30), workers.join_all()).await;
        all.expect("every call ends when the daemon does").concat()
    });
    let instance = world.crashed();
    println!(
        "round {number}: {name} killed after {} ms, {} results",
        delay.as_millis(),
        results.len()
    );
    (
        results,
        Dead {
            instance,
            family,
            told_unavailable: name == "audit writer",
        },
    )
}

#[test]
fn fifty_kills_leave_nothing_and_no_result_is_invented() {
    const TEST: &str = "kill9::fifty_kills_leave_nothing_and_no_result_is_invented";
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    let mut random = Random::seeded();
    let start = Instant::now();
    let mut results = Vec::new();
    let mut told_unavailable = BTreeSet::new();
    let rounds = rounds(ROUNDS);
    for number in 0..rounds {
        let (given, dead) = round(&mut world, number, &mut random);
        results.extend(given);
        if dead.told_unavailable {
            told_unavailable.insert(number);
        }
        world.boot();
        is_clean(&world, &dead, number);
    }
    for result in &results {
        assert!(is_possible(result), "an invented result: {result:?}");
    }
    let recorded = recorded(&world, &results);
    // The last start tells what the last kill left.
    world.allow_log("runs were active when the daemon ended before");
    again(&world, &recorded, &told_unavailable);
    println!(
        "{rounds} kills in {:.1} s, {} results given, {} runs admitted",
        start.elapsed().as_secs_f64(),
        results.len(),
        recorded.len()
    );
    world.stop();
}

/// Nothing of the dead daemon is left, and nothing of a sandbox under the new one.
fn is_clean(world: &World, dead: &Dead, number: u64) {
    let (left, waited) = wait::until(DEADLINE, &Vec::<String>::new(), || {
        let own = world.instance();
        let mut left = dead.left(own);
        left.extend(
            own.sandbox_groups()
                .iter()
                .map(|group| format!("group {}", group.display())),
        );
        left.extend(
            own.leased_processes()
                .iter()
                .map(|process| format!("{process:?}")),
        );
        left
    });
    assert!(
        left.is_empty(),
        "round {number}: left after {waited:?}:\n{}",
        left.join("\n")
    );
}

/// Every result that was given stands in the log, which holds. Gives how often each id was admitted.
pub(crate) fn recorded(world: &World, results: &[pb::RunResult]) -> BTreeMap<String, usize> {
    let records = audit::records(world);
    let ends: BTreeMap<u64, &Value> = records
        .iter()
        .filter(|record| record["event"] == "run_ended")
        .map(|record| (record["seq"].as_u64().expect("a number"), record))
        .collect();
    for result in results {
        let receipt = result.audit.as_ref().expect("a receipt");
        let end = ends
            .get(&receipt.seq)
            .unwrap_or_else(|| panic!("no record of {result:?}"));
        assert_eq!(end["sha256"], json!(receipt.sha256), "{result:?}");
        assert_eq!(end["run_id"], json!(result.run_id));
    }
    let sandboxes = |event: &str| -> BTreeSet<&str> {
        let of = records.iter().filter(|record| record["event"] == event);
        of.filter_map(|record| record["sandbox_id"].as_str())
            .collect()
    };
    // A crash may come between the making of a sandbox and the record that it was asked for.
    let made = sandboxes("sandbox_spawned");
    let asked = sandboxes("sandbox_requested");
    println!(
        "{} sandboxes made, {} of them with nothing but the launcher's word",
        made.len(),
        made.difference(&asked).count()
    );
    let verified = world.cli(&["audit", "verify"]);
    println!("{}", verified.ended(0).stdout().trim_end());
    let mut admitted: BTreeMap<String, usize> = BTreeMap::new();
    for record in records
        .iter()
        .filter(|record| record["event"] == "run_admitted")
    {
        *admitted
            .entry(record["data"]["id"].as_str().expect("an id").to_owned())
            .or_default() += 1;
    }
    admitted
}

/// The same keys once more: what a crash met in flight is never run a second time.
fn again(world: &World, admitted: &BTreeMap<String, usize>, told_unavailable: &BTreeSet<u64>) {
    assert!(
        admitted.values().all(|count| *count == 1),
        "run twice: {admitted:?}"
    );
    let numbers = |id: &str| -> Vec<u64> {
        id.split('-')
            .skip(1)
            .map(|number| number.parse().expect("a number"))
            .collect()
    };
    let keyed: Vec<&String> = admitted
        .keys()
        .filter(|id| id.starts_with("seven-") && !told_unavailable.contains(&numbers(id)[0]))
        .take(20)
        .collect();
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    for id in &keyed {
        let numbers = numbers(id);
        let outcome = world.run(&request(numbers[0], numbers[1], numbers[2]));
        assert_eq!(&outcome.result.id, *id);
        assert!(is_possible(&outcome.result), "{outcome:?}");
        kinds.insert(outcome.ending.kind().to_owned());
    }
    let after = recorded(world, &[]);
    let twice: Vec<&String> = after
        .keys()
        .filter(|id| after.get(*id) != admitted.get(*id))
        .collect();
    assert!(twice.is_empty(), "run again: {twice:?}");
    println!(
        "{} keys asked again, none ran again: {kinds:?}",
        keyed.len()
    );
}
