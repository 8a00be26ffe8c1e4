//! A sandbox that behaves beside four that do not: both sides end as they should. How long the first
//! one takes is printed, not judged.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::{join, join_all};
use sandbox_client::Client;
use serde_json::{Value, json};
use verdict::Ending;

use crate::world::{Outcome, World, limited, message, python};

const RUNS: usize = 20;

/// What each bad neighbour does, and how that may end.
type Bad = (&'static str, Value, fn(&Outcome) -> bool);

fn bad_neighbours() -> [Bad; 4] {
    let fork = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n";
    let hog = "held = []\nwhile True: held.append(bytearray(1 << 20))\n";
    let fill = "with open('x', 'wb') as file:\n    while True: file.write(bytes(1 << 20))\n";
    let flood = "import os\nwhile True: os.write(1, b'x' * 65536)\n";
    let wall = json!({ "wall_ms_max": 2_000, "memory_bytes_max": 128 << 20 });
    let disk = json!({ "wall_ms_max": 20_000, "disk_bytes_max": 32 << 20 });
    [
        (
            "fork bomb",
            limited(python(fork), wall.clone()),
            |outcome| {
                // Time first, or memory; a bomb that is refused forks goes on.
                let by_limit = matches!(
                    outcome.ending,
                    Ending::WallTimeUp { .. }
                        | Ending::CpuTimeUp { .. }
                        | Ending::MemoryUp { .. }
                        | Ending::PidsUp { .. }
                );
                by_limit && outcome.usage().pids_peak <= 64
            },
        ),
        ("memory hog", limited(python(hog), wall), |outcome| {
            matches!(
                outcome.ending,
                Ending::MemoryUp { .. } | Ending::WallTimeUp { .. }
            )
        }),
        (
            "disk filler",
            limited(python(fill), disk.clone()),
            |outcome| {
                matches!(
                    outcome.ending,
                    Ending::DiskUp { .. } | Ending::WallTimeUp { .. }
                )
            },
        ),
        ("output flood", limited(python(flood), disk), |outcome| {
            matches!(
                outcome.ending,
                Ending::OutputUp { .. } | Ending::WallTimeUp { .. }
            )
        }),
    ]
}

async fn run(client: &Client, request: &Value) -> Outcome {
    Outcome::new(client.run(message(request)).await.expect("a result"))
}

/// Runs the good program again and again and gives its sorted times in milliseconds.
async fn good_runs(client: &Client) -> Vec<u128> {
    let mut times = Vec::new();
    for number in 0..RUNS {
        let request = python(&format!("print(sum(range(100_000)) + {number})"));
        let start = Instant::now();
        let outcome = run(client, &request).await;
        times.push(start.elapsed().as_millis());
        let sum = 4_999_950_000u64 + number as u64;
        assert_eq!(outcome.exited(0).stdout(), format!("{sum}\n"));
    }
    times.sort_unstable();
    times
}

/// Is bad as long as it is not stopped, once at least; gives how often.
async fn be_bad(client: &Client, (name, request, right): &Bad, stop: &AtomicBool) -> u32 {
    let mut count = 0;
    while count == 0 || !stop.load(Ordering::Relaxed) {
        let outcome = run(client, request).await;
        assert!(right(&outcome), "{name}: {:?}", outcome.ending);
        count += 1;
    }
    count
}

#[test]
fn a_good_sandbox_ends_well_beside_bad_ones() {
    let test = "a_good_sandbox_ends_well_beside_bad_ones";
    let Some(world) = World::with_config(test, "[runs]\nsandboxes_max = 8\n") else {
        return;
    };
    let client = world.client();
    let alone = world.wait(good_runs(&client));
    let bad = bad_neighbours();
    let stop = AtomicBool::new(false);
    let good = async {
        let times = good_runs(&client).await;
        stop.store(true, Ordering::Relaxed);
        times
    };
    let others = join_all(bad.iter().map(|one| be_bad(&client, one, &stop)));
    let (beside, counts) = world.wait(join(good, others));
    let names: Vec<&str> = bad.iter().map(|(name, ..)| *name).collect();
    let show = |times: &[u128]| {
        format!(
            "p50 {} ms, longest of {RUNS} {} ms",
            times[RUNS / 2],
            times[RUNS - 1]
        )
    };
    println!("alone: {}", show(&alone));
    println!("beside {names:?}, {counts:?} times each: {}", show(&beside));
    // The daemon and the sandboxes' own files are as before.
    assert!(world.instance().leased_processes().is_empty());
    world.python("print(1)").exited(0);
}
