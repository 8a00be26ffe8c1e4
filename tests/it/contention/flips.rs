//! The verdict-flip test: one program with a fair time limit, many runs, on a host as it is and on
//! one with four busy loops. `./x flips` runs the long form and prints its counts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::load::Load;
use crate::world::World;

/// Runs on each host where nobody says how many.
const RUNS: usize = 20;
/// Busy loops beside the runs.
const LOOPS: usize = 4;

/// 150 ms of CPU time or so, and a right answer at its end.
const CODE: &str = "total = 0\nfor n in range(1_500_000):\n    total += n * n % 7\nprint(total)\n";

/// A fair limit: several times what it needs, counted in CPU time. The wall clock is there for what
/// waits, far away.
fn request() -> Value {
    json!({
        "policy": "python",
        "files": { "main.py": CODE },
        "argv": ["python3", "main.py"],
        "limits": { "cpu_ms_max": 3_000, "wall_ms_max": 60_000 },
        "verify": { "kind": "stdout", "stdout": "2999999\n" },
    })
}

fn runs() -> usize {
    let given = std::env::var("ROLLCAGE_FLIP_RUNS");
    given.map_or(RUNS, |text| {
        text.parse().expect("ROLLCAGE_FLIP_RUNS: a whole number")
    })
}

/// Outcome and kind of ending, each with its count; and the CPU and wall times, sorted.
#[derive(Debug, Default)]
struct Seen {
    verdicts: BTreeMap<String, usize>,
    cpu_ms: Vec<u64>,
    wall_ms: Vec<u64>,
    waited_ms: Vec<u64>,
}

fn look(world: &World, count: usize) -> Seen {
    let mut seen = Seen::default();
    for _run in 0..count {
        let outcome = world.run(&request());
        let verdict = format!(
            "{} {}",
            outcome.verdict().as_str_name(),
            outcome.ending.kind()
        );
        *seen.verdicts.entry(verdict).or_insert(0) += 1;
        let usage = outcome.usage();
        seen.cpu_ms.push(usage.cpu_user_ms + usage.cpu_system_ms);
        seen.wall_ms.push(usage.wall_ms);
        seen.waited_ms.extend(usage.cpu_waited_ms);
    }
    for figures in [&mut seen.cpu_ms, &mut seen.wall_ms, &mut seen.waited_ms] {
        figures.sort_unstable();
    }
    seen
}

fn middle_and_last(figures: &[u64]) -> String {
    let middle = figures.get(figures.len() / 2);
    match (middle, figures.last()) {
        (Some(middle), Some(last)) => format!("{middle} ({last})"),
        _ => "not told".to_owned(),
    }
}

#[test]
fn load_flips_no_verdict_that_is_judged_by_cpu_time() {
    let Some(world) = World::start("load_flips_no_verdict_that_is_judged_by_cpu_time") else {
        return;
    };
    let count = runs();
    let quiet = look(&world, count);
    let load = Load::start(LOOPS);
    let loaded = look(&world, count);
    drop(load);
    println!(
        "{:8} {:>5}  {:32} median (most) ms of CPU, wall, kept waiting",
        "host", "runs", "verdicts"
    );
    let mut flips = 0;
    for (host, seen) in [("as it is", &quiet), ("loaded", &loaded)] {
        let passed = seen
            .verdicts
            .get("OUTCOME_PASSED exited")
            .copied()
            .unwrap_or(0);
        flips += count - passed;
        println!(
            "{host:8} {count:>5}  {:32} {}, {}, {}",
            format!("{:?}", seen.verdicts),
            middle_and_last(&seen.cpu_ms),
            middle_and_last(&seen.wall_ms),
            middle_and_last(&seen.waited_ms)
        );
    }
    println!("flips: {flips} of {}", 2 * count);
    assert_eq!(flips, 0, "{quiet:?}\n{loaded:?}");
}
