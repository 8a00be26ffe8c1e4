//! A thousand runs of every kind: afterwards nothing of them is left on the host, the daemon's own
//! processes hold what they held before, and a small run takes as long as it did, beside a bare
//! fork and exec that are measured in between. `./x soak` does the same with 10,000 runs and more.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::batch;
use crate::host;
use crate::wait;
use crate::world::{World, message};

/// "Leaves nothing" means: nothing after this long. Network namespaces die late.
const DEADLINE: Duration = Duration::from_secs(20);
/// Runs in all, if `ROLLCAGE_SOAK_RUNS` does not say.
const RUNS: usize = 1_000;
/// Runs of one portion, after which the pace is told. The last of them are measured one by one.
const PORTION: usize = 500;
const MEASURED: usize = 50;

/// What the daemon and the host hold, as names that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    /// Open descriptors by process of the daemon.
    descriptors: BTreeMap<String, usize>,
    /// Processes of the daemon; a sandbox's are among them while it lives.
    processes: usize,
    /// Groups of single sandboxes.
    groups: usize,
    /// Processes under leased ids.
    leased: usize,
    /// Namespaces of any kind that some process is in, beyond our own.
    namespaces: usize,
    /// Mounts that any process of the daemon sees.
    mounts: BTreeMap<String, usize>,
    /// Files that do not grow with use: the instance's folder and what the daemon's users own
    /// where anybody may write.
    files: Vec<String>,
}

impl Held {
    fn now(world: &World) -> Self {
        let family = host::descendants(world.pid());
        let mut descriptors = BTreeMap::new();
        let mut mounts = BTreeMap::new();
        for process in &family {
            let name = format!("{} {}", process.pid, process.name);
            let open = fs::read_dir(format!("/proc/{}/fd", process.pid)).map_or(0, Iterator::count);
            let mounted = fs::read_to_string(format!("/proc/{}/mountinfo", process.pid));
            mounts.insert(name.clone(), mounted.unwrap_or_default().lines().count());
            descriptors.insert(name, open);
        }
        Self {
            descriptors,
            processes: family.len(),
            groups: world.instance().sandbox_groups().len(),
            leased: world.instance().leased_processes().len(),
            namespaces: namespaces(&family),
            mounts,
            files: files(world),
        }
    }
}

/// How many different namespaces these processes are in.
fn namespaces(family: &[host::Process]) -> usize {
    let mut found = std::collections::BTreeSet::new();
    for process in family {
        let folder = fs::read_dir(format!("/proc/{}/ns", process.pid));
        for entry in folder.into_iter().flatten().flatten() {
            found.extend(fs::read_link(entry.path()));
        }
    }
    found.len()
}

/// Every file of the instance's folder, and the daemon's users' files in folders for everybody.
fn files(world: &World) -> Vec<String> {
    let mut names = Vec::new();
    let instance = world.instance().lock.with_extension("");
    let mut folders = vec![instance, world.state_dir()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            names.push(entry.path().display().to_string());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    for folder in [std::env::temp_dir(), "/dev/shm".into(), "/var/tmp".into()] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let owner = entry.metadata().map_or(0, |file| file.uid());
            // The API, the audit writer, and every id that launchers lease.
            if [64_810, 64_811].contains(&owner) || owner >= 0x1000_0000 {
                names.push(entry.path().display().to_string());
            }
        }
    }
    names.sort();
    names
}

/// Kinds of runs that are not plain ones: which of fifty, and how they end.
const KINDS: [(usize, &str); 10] = [
    (0, "wall_time_up"),
    (5, "memory_up"),
    (10, "signalled"),
    (15, "pids_up"),
    (20, "not_started"),
    (25, "exited"),
    (30, "exited"),
    (35, "exited"),
    (40, "output_up"),
    (45, "disk_up"),
];

fn request(number: usize) -> Value {
    let (argv, limits) = match number % 50 {
        0 => (json!(["sleep", "60"]), json!({ "wall_ms_max": 60 })),
        5 => (
            json!(["sh", "-c", "exec tail /dev/zero"]),
            json!({ "memory_bytes_max": 16 << 20 }),
        ),
        10 => (json!(["sh", "-c", "kill -11 $$"]), json!({})),
        // Forks until no more can be had, then goes away and leaves them.
        15 => (
            json!([
                "sh",
                "-c",
                "(trap 'exit 0' EXIT; while sleep 60 & do :; done) 2>/dev/null; exit 4"
            ]),
            json!({ "pids_max": 16 }),
        ),
        20 => (json!(["/no/such/program"]), json!({})),
        25 => return judged(number),
        // Something is left running when it ends.
        30 => (json!(["sh", "-c", "setsid sleep 60 & exit 3"]), json!({})),
        // All of it is kept and sent.
        35 => (
            json!(["head", "-c", "900000", "/dev/zero"]),
            json!({ "output_bytes_max": 1 << 20 }),
        ),
        40 => (
            json!(["sh", "-c", "yes | head -c 3000000"]),
            json!({ "output_bytes_total_max": 65_536, "output_bytes_max": 4_096 }),
        ),
        45 => (
            json!(["dd", "if=/dev/zero", "of=/tmp/f", "bs=64k"]),
            json!({ "disk_bytes_max": 1_048_576 }),
        ),
        _ => (json!(["/bin/true"]), json!({})),
    };
    json!({ "id": format!("leak-{number}"), "policy": "shell", "argv": argv, "limits": limits })
}

fn judged(number: usize) -> Value {
    json!({
        "id": format!("leak-{number}"), "policy": "python", "argv": [],
        "files": { "s.py": "def f(): return 1\n" },
        "verify": { "kind": "asserts", "file": "s.py", "code": "assert f() == 1" },
    })
}

/// What one portion showed: medians in microseconds.
#[derive(Debug, Clone, Copy)]
struct Pace {
    run_us: u128,
    bare_us: u128,
}

impl Pace {
    fn ratio(self) -> f64 {
        self.run_us as f64 / self.bare_us.max(1) as f64
    }
}

/// Small runs one after the other, a bare fork and exec between each two.
fn measure(world: &World) -> Pace {
    let client = world.client();
    let mut runs = Vec::new();
    let mut bare = Vec::new();
    for _ in 0..MEASURED {
        let start = Instant::now();
        let status = Command::new("/bin/true")
            .status()
            .expect("a bare fork and exec");
        bare.push(start.elapsed().as_micros());
        assert!(status.success());
        let start = Instant::now();
        let result = world
            .wait(client.run(message(&request(1))))
            .expect("a result");
        runs.push(start.elapsed().as_micros());
        let ending = result.ending.expect("an ending");
        assert_eq!(ending.code, Some(0), "{ending:?}");
    }
    let median = |mut all: Vec<u128>| {
        all.sort_unstable();
        all[all.len() / 2]
    };
    Pace {
        run_us: median(runs),
        bare_us: median(bare),
    }
}

/// Resident memory in KiB of each of the daemon's processes.
fn resident(world: &World) -> BTreeMap<String, u64> {
    let of = |process: &host::Process| {
        let status = fs::read_to_string(format!("/proc/{}/status", process.pid));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|rest| rest.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    let family = host::descendants(world.pid());
    let named = family
        .iter()
        .map(|process| (format!("{} {}", process.pid, process.name), of(process)));
    named.collect()
}

/// One portion through `batch`, whose results are counted by kind, and then the pace.
fn portion(world: &World, first: usize) -> (BTreeMap<String, usize>, Pace) {
    let requests: Vec<Value> = (first..first + PORTION - MEASURED).map(request).collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (id, result) in batch::run(world, &requests) {
        let kind = result["ending"]["kind"].as_str().unwrap_or("refused");
        let number: usize = id["leak-".len()..].parse().expect("a number");
        let expected = KINDS.iter().find(|(of_fifty, _)| *of_fifty == number % 50);
        let expected = expected.map_or("exited", |(_, kind)| *kind);
        assert_eq!(kind, expected, "{result}");
        if number % 50 == 25 {
            assert_eq!(result["verdict"]["outcome"], "passed", "{result}");
        }
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    (kinds, measure(world))
}

#[test]
fn a_thousand_runs_leave_nothing() {
    const TEST: &str = "leaks::a_thousand_runs_leave_nothing";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let given = std::env::var("ROLLCAGE_SOAK_RUNS").ok();
    let runs = given.map_or(RUNS, |text| text.parse().expect("ROLLCAGE_SOAK_RUNS"));
    // What is made once and kept (threads, caches, connections of this test) is made before.
    let warm: Vec<Value> = (0..100).map(request).collect();
    batch::run(&world, &warm);
    let before = settled(&world);
    let resident_before = resident(&world);

    let start = Instant::now();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut paces = Vec::new();
    println!("    runs   run p50 us   bare p50 us   ratio");
    for first in (0..runs.max(2 * PORTION)).step_by(PORTION) {
        let (seen, pace) = portion(&world, first);
        for (kind, count) in seen {
            *kinds.entry(kind).or_default() += count;
        }
        let (run_us, bare_us) = (pace.run_us, pace.bare_us);
        println!(
            "{:>8} {run_us:>12} {bare_us:>13} {:>7.2}",
            first + PORTION,
            pace.ratio()
        );
        paces.push(pace);
    }
    let took = start.elapsed().as_secs_f64();
    let (first, last) = (paces[0].ratio(), paces[paces.len() - 1].ratio());
    let done = paces.len() * PORTION;
    println!("{done} runs in {took:.1} s: {kinds:?}");
    println!(
        "drift: ratio to bare at the end / at the start = {:.2}",
        last / first
    );

    let (after, waited) = wait::until(DEADLINE, &before, || Held::now(&world));
    assert_eq!(before, after, "still different after {waited:?}");
    println!("nothing left after {} ms: {after:?}", waited.as_millis());
    for (process, kib) in resident(&world) {
        let then = resident_before.get(&process).copied().unwrap_or(0);
        let open = after.descriptors.get(&process).copied().unwrap_or(0);
        println!("{process:32} resident {then:>7} -> {kib:>7} KiB, {open} descriptors as before");
    }
}

/// What is held when nothing has changed for a while.
fn settled(world: &World) -> Held {
    let start = Instant::now();
    let mut held = Held::now(world);
    loop {
        wait::pause(Duration::from_millis(500));
        let now = Held::now(world);
        if now == held || start.elapsed() > DEADLINE {
            return now;
        }
        held = now;
    }
}
