//! Programs that take all they can get of time, processes, disk and descriptors.

use serde_json::{Value, json};
use verdict::Ending;

use crate::world::{Outcome, World, limited, python, shell};

#[test]
fn a_wall_clock_limit_ends_what_waits() {
    let Some(world) = World::start("a_wall_clock_limit_ends_what_waits") else {
        return;
    };
    for argv in [
        json!(["sleep", "60"]),
        json!(["sh", "-c", "trap '' TERM INT; while :; do sleep 9; done"]),
    ] {
        let waits = json!({ "policy": "shell", "argv": argv, "limits": { "wall_ms_max": 400 } });
        let outcome = world.run(&waits);
        match outcome.ending {
            Ending::WallTimeUp {
                limit_ms: 400,
                used_ms,
                ..
            } => {
                assert!((400..10_000).contains(&used_ms), "{used_ms}");
            }
            ref other => panic!("{other:?}"),
        }
        assert!(outcome.usage().cpu_user_ms < 400, "{:?}", outcome.usage());
        assert!(world.instance().leased_processes().is_empty());
    }
}

#[test]
fn a_cpu_limit_ends_what_computes_alone_or_spread() {
    let Some(world) = World::start("a_cpu_limit_ends_what_computes_alone_or_spread") else {
        return;
    };
    for busy in [
        "while True: pass",
        // The limit is for all processes together, dead ones too.
        "import os\nwhile True:\n    if os.fork() == 0:\n        for n in range(300000): pass\n        os._exit(0)\n    os.wait()",
        "import os\nfor n in range(3): os.fork()\nwhile True: pass",
    ] {
        let outcome = world.run(&limited(python(busy), json!({ "cpu_ms_max": 600 })));
        match outcome.ending {
            Ending::CpuTimeUp {
                limit_ms: 600,
                used_ms,
                ..
            } => {
                assert!((600..5_000).contains(&used_ms), "{busy}: {used_ms}");
            }
            ref other => panic!("{busy}: {other:?}"),
        }
        let usage = outcome.usage();
        assert!(usage.cpu_user_ms + usage.cpu_system_ms >= 600, "{usage:?}");
        assert!(world.instance().leased_processes().is_empty());
    }
}

/// What a fork bomb may end as: at a limit, or by its own failure to fork.
#[track_caller]
fn is_contained(world: &World, outcome: &Outcome) {
    assert!(world.instance().leased_processes().is_empty());
    assert!(outcome.usage().pids_peak <= 40, "{:?}", outcome.usage());
    assert!(outcome.usage().pids_peak >= 30, "{:?}", outcome.usage());
}

#[test]
fn a_fork_bomb_is_contained() {
    let Some(world) = World::start("a_fork_bomb_is_contained") else {
        return;
    };
    let limits = json!({ "pids_max": 40, "wall_ms_max": 2500 });
    // One that fails when it cannot fork: that is what ended it.
    let fails = python("import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)\n");
    let outcome = world.run(&limited(fails, limits.clone()));
    assert!(
        matches!(outcome.ending, Ending::PidsUp { limit: 40, .. }),
        "{:?}",
        outcome.ending
    );
    is_contained(&world, &outcome);
    // One that goes on.
    let goes_on = python("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n");
    let outcome = world.run(&limited(goes_on, limits.clone()));
    let at_a_limit = matches!(
        outcome.ending,
        Ending::WallTimeUp { .. } | Ending::CpuTimeUp { .. }
    );
    assert!(at_a_limit, "{:?}", outcome.ending);
    is_contained(&world, &outcome);
    // The classic, and the machine works as before.
    let outcome = world.run(&limited(shell("f() { f | f & }; f; sleep 60"), limits));
    assert!(
        !matches!(outcome.ending, Ending::SandboxFailed { .. }),
        "{:?}",
        outcome.ending
    );
    is_contained(&world, &outcome);
    world.run(&shell("true")).exited(0);
}

#[test]
fn a_full_disk_is_told_when_it_ended_the_run() {
    let Some(world) = World::start("a_full_disk_is_told_when_it_ended_the_run") else {
        return;
    };
    let limits = json!({ "disk_bytes_max": 8 << 20, "files_max": 200 });
    for place in ["/workspace", "/tmp", "/dev/shm"] {
        let fill = format!("f = open('{place}/x', 'wb')\nwhile True: f.write(b'x' * 65536)\n");
        let outcome = world.run(&limited(python(&fill), limits.clone()));
        match &outcome.ending {
            Ending::DiskUp {
                limit_bytes,
                first_refusal,
            } => {
                assert_eq!(*limit_bytes, 8 << 20);
                assert!(!first_refusal.is_empty());
            }
            other => panic!("{place}: {other:?}"),
        }
        assert!(
            outcome.stderr().contains("No space left"),
            "{}",
            outcome.stderr()
        );
        let used = outcome.usage().disk_bytes;
        assert!((7 << 20..=8 << 20).contains(&used), "{used}");
    }
    // All inodes.
    let fill = "import itertools\nfor n in itertools.count(): open(f'/tmp/{n}', 'w').close()\n";
    let outcome = world.run(&limited(python(fill), limits.clone()));
    assert!(
        matches!(outcome.ending, Ending::DiskUp { .. }),
        "{:?}",
        outcome.ending
    );
    assert!(
        (190..=200).contains(&outcome.usage().inodes),
        "{:?}",
        outcome.usage()
    );
    // A program that copes with it ends as it likes.
    let copes = "try:\n    open('/tmp/x', 'wb').write(b'x' * (9 << 20))\nexcept OSError as e:\n    print(e.errno)\n";
    let outcome = world.run(&limited(python(copes), limits));
    assert_eq!(outcome.exited(0).stdout(), "28\n");
}

#[test]
fn descriptors_run_out_at_the_limit_and_hurt_nobody() {
    let Some(world) = World::start("descriptors_run_out_at_the_limit_and_hurt_nobody") else {
        return;
    };
    let exhaust = python(
        r#"
import os, resource
kept = []
try:
    while True:
        kept.append(os.dup(0))
except OSError as error:
    number = error.errno
highest = max(kept)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    number = "raised"
except (ValueError, PermissionError):
    pass
os.close(kept.pop())
print(number, highest)
"#,
    );
    let outcome = world.run(&limited(exhaust, json!({ "open_files_max": 50 })));
    assert_eq!(outcome.exited(0).stdout(), "24 49\n");
}

#[test]
fn twenty_sandboxes_with_sixty_four_threads_each_run_at_once() {
    let name = "twenty_sandboxes_with_sixty_four_threads_each_run_at_once";
    let Some(world) = World::with_config(name, "[runs]\nsandboxes_max = 20\n") else {
        return;
    };
    // The policy's own most: the main thread and 63 others, all alive at one moment.
    let threads = limited(
        python(
            r#"
import os, threading
everyone = threading.Barrier(64)
def work():
    everyone.wait()
    everyone.wait()
others = [threading.Thread(target=work) for _ in range(63)]
for thread in others: thread.start()
everyone.wait()
print(len(os.listdir("/proc/self/task")))
everyone.wait()
for thread in others: thread.join()
"#,
        ),
        json!({ "pids_max": 64, "memory_bytes_max": 128 << 20 }),
    );
    let outcomes = world.run_at_once(&vec![threads; 20]);
    assert_eq!(outcomes.len(), 20);
    for outcome in &outcomes {
        assert_eq!(outcome.exited(0).stdout(), "64\n");
        assert_eq!(outcome.usage().pids_peak, 64, "{:?}", outcome.usage());
    }
    let mut sandboxes: Vec<&str> = outcomes
        .iter()
        .map(|outcome| outcome.result.sandbox_id.as_str())
        .collect();
    sandboxes.sort_unstable();
    sandboxes.dedup();
    assert_eq!(sandboxes.len(), 20, "each has a sandbox of its own");
}

#[test]
fn a_cpu_rate_holds_back_and_is_told() {
    let Some(world) = World::start("a_cpu_rate_holds_back_and_is_told") else {
        return;
    };
    let busy: Value = python(
        "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n",
    );
    let outcome = world.run(&limited(busy, json!({ "cpu_millicores_max": 200 })));
    outcome.exited(0);
    let usage = outcome.usage();
    // 300 ms at a fifth of a CPU take at least a second.
    assert!(usage.wall_ms > 1_000, "{usage:?}");
    assert!(usage.cpu_throttled_ms > 100, "{usage:?}");
}
