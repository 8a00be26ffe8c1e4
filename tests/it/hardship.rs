//! A host that has run out of something: disk, descriptors, processes, memory, ids, or whose clock
//! jumps. Each is a refusal or a fault with its reason, never a wrong verdict, and when it is over
//! the daemon serves as before. Only what the test itself has made runs out.

mod clock;
mod disk;
mod place;

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{ClientError, pb};

use crate::host;
use crate::kill9::{is_possible, recorded, request};
use crate::wait;
use crate::world::{Place, World, limited, message, shell};
pub(crate) use place::SmallDisk;
use place::{OwnGroup, becomes, refused_start, words};

/// Whatever is waited for here comes at once on an idle machine.
const SOON: Duration = Duration::from_secs(30);

/// What came of some runs at once.
#[derive(Debug, Default)]
struct Told {
    results: Vec<pb::RunResult>,
    refused: Vec<ClientError>,
}

impl Told {
    /// Every result is one that its program can have, or tells of the host's fault with its step
    /// and reason; every refusal has a reason too.
    fn is_honest(&self) {
        for result in &self.results {
            assert!(is_possible(result), "an invented result: {result:?}");
            let ending = result.ending.as_ref().expect("an ending");
            if ending.kind() == pb::EndingKind::SandboxFailed {
                assert!(!ending.reason().is_empty(), "without a reason: {result:?}");
            }
        }
        for error in &self.refused {
            assert!(!error.to_string().is_empty());
        }
    }

    fn faults(&self) -> usize {
        let failed = |result: &&pb::RunResult| {
            let ending = result.ending.as_ref().expect("an ending");
            ending.kind() == pb::EndingKind::SandboxFailed
        };
        self.results.iter().filter(failed).count()
    }

    fn print(&self, what: &str) {
        let mut reasons = std::collections::BTreeMap::<String, usize>::new();
        for result in &self.results {
            let ending = result.ending.as_ref().expect("an ending");
            if ending.kind() == pb::EndingKind::SandboxFailed {
                let reason = format!("{}: {}", ending.step(), ending.reason());
                *reasons.entry(reason).or_default() += 1;
            }
        }
        for error in &self.refused {
            *reasons.entry(error.to_string()).or_default() += 1;
        }
        println!(
            "{what}: {} results, {} of them faults, {} refused: {reasons:#?}",
            self.results.len(),
            self.faults(),
            self.refused.len()
        );
    }
}

/// `count` runs of the load at once, with `change` made to each.
fn at_once(world: &World, count: u64, change: impl Fn(&mut serde_json::Value)) -> Told {
    let client = world.client();
    let runs = (0..count).map(|number| {
        let mut asked = request(number, number, 0);
        change(&mut asked);
        let client = client.clone();
        async move { client.run(message(&asked)).await }
    });
    let mut told = Told::default();
    for answer in world.wait(futures::future::join_all(runs)) {
        match answer {
            Ok(result) => told.results.push(result),
            Err(error) => told.refused.push(error),
        }
    }
    told.is_honest();
    told
}

/// What is short is there again: runs succeed, and the log holds.
fn recovers(world: &World, results: &[pb::RunResult]) {
    wait::until_it_holds("a run succeeds again", SOON, || {
        let run = world.try_run(&shell("exit 3"));
        run.is_ok_and(|outcome| {
            outcome
                .result
                .ending
                .is_some_and(|ending| ending.code == Some(3))
        })
    });
    recorded(world, results);
}

#[test]
fn without_descriptors_runs_fail_with_a_reason() {
    let test = "without_descriptors_runs_fail_with_a_reason";
    let place = Place {
        config: "[runs]\nsandboxes_max = 40\n".to_owned(),
        under: becomes("ulimit -n 80"),
        ..Place::default()
    };
    let Some(world) = World::in_place(test, place) else {
        return;
    };
    world.allow_log("");
    let told = at_once(&world, 30, |_| {});
    told.print("80 descriptors for each process");
    recovers(&world, &told.results);
}

#[test]
fn without_processes_runs_fail_with_a_reason() {
    let test = "without_processes_runs_fail_with_a_reason";
    if !crate::skips::is_root(test) {
        return;
    }
    let group = OwnGroup::make("pids");
    let place = Place {
        under: becomes(&group.enter()),
        ..Place::default()
    };
    let Some(world) = World::in_place(test, place) else {
        return;
    };
    world.allow_log("");
    world.run(&shell("exit 3")).exited(3);
    let now = group.number("pids.current");
    group.set("pids.max", &(now + 1).to_string());
    let told = at_once(&world, 12, |_| {});
    told.print("one more process for all of the daemon");
    assert!(told.faults() + told.refused.len() > 0, "nothing ran out");
    group.set("pids.max", "max");
    recovers(&world, &told.results);
}

#[test]
fn without_memory_on_the_host_no_verdict_is_wrong() {
    let test = "without_memory_on_the_host_no_verdict_is_wrong";
    if !crate::skips::is_root(test) {
        return;
    }
    let group = OwnGroup::make("memory");
    let place = Place {
        under: becomes(&group.enter()),
        ..Place::default()
    };
    let Some(mut world) = World::in_place(test, place) else {
        return;
    };
    world.allow_log("");
    world.run(&shell("exit 3")).exited(3);
    let now = group.number(group.memory_now());
    group.set(group.memory_max(), &(now + (8 << 20)).to_string());
    let big = "x".repeat(6 << 20);
    let told = at_once(&world, 8, |asked| {
        asked["files"]["big"] = big.as_str().into();
    });
    told.print("8 MiB for 48 MiB of files");
    group.set(group.memory_max(), "-1");
    // What the kernel took may have been the daemon itself, or what it ends by.
    let process = std::path::PathBuf::from(format!("/proc/{}", world.pid()));
    let (is_there, _) = wait::until(Duration::from_secs(3), &false, || process.exists());
    if !is_there {
        println!("the kernel took a process of the daemon, which ended by it");
        world.crashed();
        world.boot();
    }
    recovers(&world, &told.results);
}

#[test]
fn a_full_house_is_told_and_nobody_waits_in_vain() {
    let test = "a_full_house_is_told_and_nobody_waits_in_vain";
    let config = "[runs]\nsandboxes_max = 2\nqueue_len_max = 1\n";
    let Some(world) = World::with_config(test, config) else {
        return;
    };
    let told = at_once(&world, 12, |asked| {
        let id = asked["id"].as_str().expect("an id");
        let (_, numbers) = id.split_once('-').expect("a kind and numbers");
        let id = format!("zero-{numbers}");
        let most = serde_json::json!({ "wall_ms_max": 20_000 });
        *asked = limited(shell("sleep 1"), most);
        asked["id"] = id.into();
    });
    told.print("two places and one to wait in");
    assert_eq!(told.results.len() + told.refused.len(), 12);
    assert!(told.results.len() >= 3 && told.faults() == 0, "{told:?}");
    for error in &told.refused {
        let ClientError::Busy(answer) = error else {
            panic!("not told as busy: {error:?}");
        };
        assert_eq!(answer.reason, "QUEUE_FULL", "{answer:?}");
        assert!(answer.retry_after.is_some(), "{answer:?}");
    }
    recovers(&world, &told.results);
}

#[test]
fn without_instance_numbers_a_daemon_says_so() {
    let test = "without_instance_numbers_a_daemon_says_so";
    if !crate::skips::is_root(test) {
        return;
    }
    // Numbers of a host of its own: what the launcher takes them from is covered by a folder.
    let folder = tempfile::tempdir().expect("a folder");
    let held = place::take_all_numbers(folder.path());
    let covered = format!(
        "mkdir -p /run/rollcage && mount --bind {} /run/rollcage",
        folder.path().display()
    );
    let under = words(&["unshare", "--mount"])
        .into_iter()
        .chain(becomes(&covered))
        .collect();
    let said = refused_start(&Place {
        under,
        ..Place::default()
    });
    assert!(said.contains("instance numbers are taken"), "{said}");
    drop(held);
}

#[test]
fn a_stopped_audit_writer_holds_results_back_and_loses_none() {
    let test = "a_stopped_audit_writer_holds_results_back_and_loses_none";
    let Some(world) = World::start(test) else {
        return;
    };
    let family = host::descendants(world.pid());
    let writer = family
        .iter()
        .find(|process| process.command_line.contains("audit-writer"))
        .expect("the audit writer");
    let send = |signal| kill(Pid::from_raw(writer.pid), signal).expect("signal the audit writer");
    send(Signal::SIGSTOP);
    let pause = Duration::from_millis(800);
    let start = Instant::now();
    let told = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait::pause(pause);
            send(Signal::SIGCONT);
        });
        at_once(&world, 6, |_| {})
    });
    assert!(start.elapsed() >= pause, "a result came before its record");
    assert_eq!(told.results.len(), 6, "{told:?}");
    assert_eq!(told.faults(), 0, "{told:?}");
    recovers(&world, &told.results);
}
