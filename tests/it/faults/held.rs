//! What keeps a judgement from its end without touching a process of it: no place in time, no disk
//! for the record, no daemon.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{Client, ClientError, pb};
use serde_json::Value;

use super::{Tally, judged, random, share};
use crate::hardship::SmallDisk;
use crate::wait;
use crate::world::{Place, World, message, shell};

const SOON: Duration = Duration::from_secs(30);

/// Requests at once; a refusal is counted and has its words.
fn at_once(world: &World, requests: &[Value], tally: &mut Tally) -> Vec<pb::RunResult> {
    let client = world.client();
    let runs = requests.iter().map(|asked| ask(client.clone(), asked));
    let mut results = Vec::new();
    for answer in world.wait(futures::future::join_all(runs)) {
        match answer {
            Ok(result) => results.push(result),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                tally.refused += 1;
            }
        }
    }
    results
}

async fn ask(client: Client, asked: &Value) -> Result<pb::RunResult, ClientError> {
    client.run(message(asked)).await
}

#[test]
fn time_up_in_the_queue_gives_no_number() {
    const TEST: &str = "faults::held::time_up_in_the_queue_gives_no_number";
    // Two places: one judgement at a time.
    let Some(world) = World::with_config(TEST, "[runs]\nsandboxes_max = 2\n") else {
        return;
    };
    let faults = share(8);
    let asked = |number: u64| {
        let mut asked = judged(number);
        asked["deadline_ms"] = 20.into();
        asked
    };
    let mut tally = Tally::default();
    while tally.unscored + tally.refused < faults {
        let requests: Vec<Value> = (0..8).map(asked).collect();
        for result in at_once(&world, &requests, &mut tally) {
            tally.count(&result);
        }
    }
    tally.print("time up before or while it runs", tally.unscored);
}

#[test]
fn a_full_disk_gives_no_number() {
    const TEST: &str = "faults::held::a_full_disk_gives_no_number";
    if !crate::skips::is_root(TEST) {
        return;
    }
    let disk = SmallDisk::mount(24);
    let place = Place {
        state: Some(disk.path().join("state")),
        ..Place::default()
    };
    let Some(world) = World::in_place(TEST, place) else {
        return;
    };
    world.allow_log("");
    world.run(&shell("exit 3")).exited(3);
    disk.fill();
    let faults = share(3);
    let mut tally = Tally::default();
    // The last of a page may still take a record or two, and then the result is whole.
    while tally.refused < faults {
        let requests: Vec<Value> = (0..6).map(judged).collect();
        for result in at_once(&world, &requests, &mut tally) {
            tally.count(&result);
        }
    }
    disk.empty();
    wait::until_it_holds("a run succeeds again", SOON, || {
        world.try_run(&judged(0)).is_ok()
    });
    tally.print("no disk for the record", tally.refused);
}

#[test]
fn a_daemon_that_dies_gives_no_number() {
    const TEST: &str = "faults::held::a_daemon_that_dies_gives_no_number";
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    world.allow_log("");
    let (mut random, mut tally, faults) = (random(), Tally::default(), share(1));
    for round in 0..faults {
        let client = world.client();
        let pid = Pid::from_raw(world.pid());
        let asked = |number: u64| {
            let mut asked = judged(number);
            let key = format!("{round}-{number}");
            asked["id"] = format!("{}-{round}", asked["id"].as_str().expect("an id")).into();
            asked["idempotency_key"] = key.into();
            asked
        };
        let requests: Vec<Value> = (0..4).map(asked).collect();
        let wait = Duration::from_millis(20 + random.below(120));
        let answers = world.wait(async {
            let killing = async {
                tokio::time::sleep(wait).await;
                kill(pid, Signal::SIGKILL).expect("the daemon can be killed");
            };
            let runs = requests.iter().map(|asked| ask(client.clone(), asked));
            tokio::join!(futures::future::join_all(runs), killing).0
        });
        for answer in answers {
            match answer {
                Ok(result) => tally.count(&result),
                Err(_gone) => tally.refused += 1,
            }
        }
        world.crashed();
        world.boot();
        // The same keys again: the kept result, or the host's fault, and never a number of its own.
        for result in at_once(&world, &requests, &mut tally) {
            tally.count(&result);
        }
    }
    tally.print("the daemon killed", faults);
}
