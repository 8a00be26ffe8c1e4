//! A thousand runs, most of them small, some of them killed: afterwards nothing of them is left on
//! the host, and the daemon's own processes hold what they held before.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::batch;
use crate::host;
use crate::wait;
use crate::world::World;

/// "Leaves nothing" means: nothing after this long. Network namespaces die late.
const DEADLINE: Duration = Duration::from_secs(20);
const RUNS: usize = 1_000;

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

fn request(number: usize) -> Value {
    let (argv, limits) = match number % 50 {
        0 => (json!(["sleep", "60"]), json!({ "wall_ms_max": 60 })),
        10 => (json!(["sh", "-c", "kill -11 $$"]), json!({})),
        20 => (json!(["/no/such/program"]), json!({})),
        // Something is left running when it ends.
        30 => (json!(["sh", "-c", "setsid sleep 60 & exit 3"]), json!({})),
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

#[test]
fn a_thousand_runs_leave_nothing() {
    const TEST: &str = "leaks::a_thousand_runs_leave_nothing";
    let Some(world) = World::start(TEST) else {
        return;
    };
    // What is made once and kept (threads, caches, connections of this test) is made before.
    let warm: Vec<Value> = (0..100).map(request).collect();
    batch::run(&world, &warm);
    let before = settled(&world);

    let start = Instant::now();
    let requests: Vec<Value> = (0..RUNS).map(request).collect();
    let results = batch::run(&world, &requests);
    let took = start.elapsed().as_secs_f64();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for result in results.values() {
        let kind = result["ending"]["kind"].as_str().unwrap_or("refused");
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    println!(
        "{RUNS} runs in {took:.1} s ({:.0} a second): {kinds:?}",
        RUNS as f64 / took
    );
    for kind in ["wall_time_up", "signalled", "not_started", "output_up"] {
        assert_eq!(kinds.get(kind), Some(&(RUNS / 50)), "{kind}: {kinds:?}");
    }
    assert!(
        !kinds.contains_key("sandbox_failed") && !kinds.contains_key("refused"),
        "{kinds:?}"
    );

    let (after, waited) = wait::until(DEADLINE, &before, || Held::now(&world));
    assert_eq!(before, after, "still different after {waited:?}");
    println!("nothing left after {} ms: {after:?}", waited.as_millis());
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
