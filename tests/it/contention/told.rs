//! What a result says of a busy host: what was held back, by whom, and what a timeout is worth.

use std::path::Path;

use sandbox_client::pb;
use serde_json::{Value, json};
use verdict::Ending;

use super::load::Load;
use crate::world::{Outcome, World, limited, shell};

const BUSY: &str = "while True: pass";

/// A judged run: exit code 0 is asked, so that a timeout is one of the verdict.
fn judged(code: &str, limits: Value) -> Value {
    let request = json!({
        "policy": "python",
        "argv": ["python3", "-c", code],
        "verify": { "kind": "exit_code" },
    });
    limited(request, limits)
}

fn contention(outcome: &Outcome) -> Option<pb::Contention> {
    let verdict = outcome.result.verdict.as_ref().expect("a verdict");
    verdict.evidence.as_ref().expect("evidence").contention
}

/// Whose pressure this host tells: of a group wherever there is a v2 hierarchy with totals.
fn told_by() -> Option<pb::PressureSource> {
    let of_groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let of_groups = of_groups.map(|folder| Path::new(folder).join("cgroup.pressure"));
    if of_groups.iter().any(|file| file.exists()) {
        return Some(pb::PressureSource::Sandbox);
    }
    let host = std::fs::read_to_string("/proc/pressure/cpu");
    host.is_ok().then_some(pb::PressureSource::Host)
}

#[test]
fn what_the_rate_held_back_is_told_apart_from_what_others_took() {
    let name = "what_the_rate_held_back_is_told_apart_from_what_others_took";
    let Some(world) = World::start(name) else {
        return;
    };
    // 400 ms of CPU time for four processes, at a tenth of a CPU.
    let code = "import multiprocessing, time\ndef burn():\n    end = time.process_time() + 0.1\n    \
                while time.process_time() < end: pass\nall = [multiprocessing.Process(target=burn) \
                for _ in range(4)]\nfor one in all: one.start()\nfor one in all: one.join()\n";
    let outcome = world.run(&judged(code, json!({ "cpu_millicores_max": 100 })));
    outcome.exited(0);
    let usage = outcome.usage();
    assert!(usage.cpu_throttled_ms > 500, "{usage:?}");
    let pressure = usage.pressure.as_ref();
    assert_eq!(pressure.map(pb::Pressure::source), told_by(), "{usage:?}");
    assert_eq!(usage.cpu_waited_ms.is_some(), pressure.is_some());
    if let Some(pressure) = pressure {
        // They waited for each other, too.
        assert!(pressure.cpu_some_us > 0, "{usage:?}");
        assert!(pressure.cpu_some_us >= pressure.cpu_full_us, "{usage:?}");
    }
    // No timeout: nothing is said about one.
    assert_eq!(outcome.verdict(), pb::Outcome::Passed);
    assert_eq!(contention(&outcome), None);
    let told = world
        .cli(&["explain", &outcome.result.run_id])
        .ended(0)
        .stdout();
    assert!(told.contains("pressure: "), "{told}");
    assert!(!told.contains("contention: "), "{told}");
}

/// The same and the counts with little to compute: also on an emulated host with groups of v2.
#[test]
fn a_shell_counts_its_cpus_and_is_told_what_held_it_back() {
    let name = "a_shell_counts_its_cpus_and_is_told_what_held_it_back";
    let Some(world) = World::start(name) else {
        return;
    };
    let code = "nproc; read -r list < /sys/devices/system/cpu/online; \
                [ -d \"/sys/devices/system/cpu/cpu$list\" ] && echo one; \
                burn() { n=0; while [ $n -lt 30000 ]; do n=$((n + 1)); done; }; \
                burn & burn & wait";
    let limits = json!({ "cpu_millicores_max": 200, "wall_ms_max": 200_000 });
    let outcome = world.run(&limited(shell(code), limits));
    assert_eq!(outcome.exited(0).stdout(), "1\none\n");
    let usage = outcome.usage();
    assert!(usage.cpu_throttled_ms > 0, "{usage:?}");
    let source = usage.pressure.as_ref().map(pb::Pressure::source);
    assert_eq!(source, told_by(), "{usage:?}");
    assert_eq!(usage.cpu_waited_ms.is_some(), source.is_some(), "{usage:?}");
    let rows = &outcome.result.manifest;
    for name in ["cpu_view", "cpu_lease"] {
        let row = rows.iter().find(|row| row.name == name).expect("a row");
        assert_eq!(row.status(), pb::ControlStatus::Enforced, "{row:?}");
        assert_eq!(row.asked.as_deref(), Some("1 CPU"), "{row:?}");
    }
}

#[test]
fn a_timeout_says_whether_the_host_was_busy() {
    let Some(world) = World::start("a_timeout_says_whether_the_host_was_busy") else {
        return;
    };
    let known = told_by().is_some();
    let load = Load::per_cpu(2);
    // It computes and gets a third of a CPU; the wall-clock limit comes first.
    let starved = world.run(&judged(BUSY, json!({ "wall_ms_max": 2000 })));
    // On the same host: it waits for nothing but the clock.
    let sleeper = "import time\ntime.sleep(60)";
    let sleeper = world.run(&judged(sleeper, json!({ "wall_ms_max": 2000 })));
    // This one gets what it may use, and that is less than others leave.
    let held_back = json!({ "wall_ms_max": 2000, "cpu_millicores_max": 20 });
    let held_back = world.run(&judged(BUSY, held_back));
    // Judged by CPU time, load makes it late and nothing else.
    let by_cpu = world.run(&judged(BUSY, json!({ "cpu_ms_max": 300 })));
    drop(load);

    for outcome in [&starved, &sleeper, &held_back, &by_cpu] {
        assert_eq!(
            outcome.verdict(),
            pb::Outcome::Timeout,
            "{:?}",
            outcome.ending
        );
        let found = contention(outcome).expect("a timeout tells of the host's part");
        assert_eq!(found.cpu_waited_ms.is_some(), known, "{found:?}");
        assert_eq!(found.source.is_some(), known, "{found:?}");
    }
    let is_wall = |outcome: &Outcome| matches!(outcome.ending, Ending::WallTimeUp { .. });
    assert!(is_wall(&starved) && is_wall(&sleeper) && is_wall(&held_back));
    assert!(
        matches!(by_cpu.ending, Ending::CpuTimeUp { .. }),
        "{:?}",
        by_cpu.ending
    );
    let found = contention(&starved).expect("contention");
    assert_eq!(found.host_busy, known, "{found:?}");
    assert!(found.cpu_ms < found.cpu_share_ms, "{found:?}");
    // It was run again with nothing of ours beside it; the load is not ours, and went on.
    assert_eq!(found.rerun_alone, known, "{found:?}");
    let attempts = |outcome: &Outcome| outcome.result.earlier_attempts.len();
    assert_eq!(attempts(&starved), usize::from(known));
    assert_eq!(attempts(&by_cpu), 0);
    assert_eq!(
        contention(&held_back).map(|found| found.cpu_share_ms < 60),
        Some(true)
    );
    let told = |outcome: &Outcome| {
        let told = world.cli(&["explain", &outcome.result.run_id]);
        told.ended(0).stdout()
    };
    let text = told(&starved);
    assert_eq!(
        text.contains("contention: the host was busy"),
        known,
        "{text}"
    );
    // A figure of the host cannot tell a sleeper from one that is starved.
    if told_by() == Some(pb::PressureSource::Sandbox) {
        let found = contention(&sleeper).expect("contention");
        assert!(!found.host_busy, "{found:?} {:?}", sleeper.usage());
        let usage = held_back.usage();
        assert!(
            usage.cpu_waited_ms < starved.usage().cpu_waited_ms,
            "{usage:?}"
        );
        assert!(told(&sleeper).contains("contention: none"));
    }
}
