//! Tests of the state machine: order, deadlines, bounds, and who is to blame.

use confine::report::{Layer, Status, StepReport};
use confine::wire::{CollectProblem, DeniedCall, DiskUse, Fact};

use super::super::facts::{DENIALS_MAX, PROBLEMS_MAX, STEPS_MAX, TEXT_BYTES_MAX, WITNESSED_MAX};
use super::*;

const LIMITS: WatchLimits = WatchLimits {
    wall: Duration::from_secs(1),
    cpu_us: 500_000,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn spawned() -> Input {
    Input::Init(Some(FromInit::Spawned {
        command: MAIN,
        pid: 2,
        steps: Vec::new(),
        spawn_us: 10,
    }))
}

fn exited(code: i32) -> Input {
    Input::Init(Some(FromInit::Exited {
        command: MAIN,
        code: Some(code),
        signal: None,
        core_dumped: false,
    }))
}

fn finished() -> Input {
    finished_with(None)
}

fn finished_with(polled: Option<Polled>) -> Input {
    let disk = DiskUse::default();
    Input::Init(Some(FromInit::Finished { disk, polled }))
}

fn reaped() -> Input {
    Input::Launcher(Some(LauncherEvent::Reaped(Reaped {
        init_status: 0,
        counters: Default::default(),
        leftovers: Vec::new(),
    })))
}

fn running() -> Watch {
    let mut watch = Watch::new(LIMITS, false);
    watch.on(spawned(), ms(100));
    assert!(watch.is_running());
    watch
}

fn step(watch: &Watch) -> Option<&str> {
    watch
        .facts()
        .fault
        .as_ref()
        .map(|fault| fault.step.as_str())
}

#[test]
fn a_run_by_the_book() {
    let mut watch = running();
    assert_eq!(watch.deadline(), ms(1100));
    watch.on(exited(3), ms(400));
    assert_eq!(watch.deadline(), ms(400) + FINISH_MAX);
    watch.on(finished(), ms(410));
    watch.on(Input::Init(None), ms(411));
    assert!(!watch.is_over());
    watch.on(reaped(), ms(420));
    assert!(watch.is_over());
    assert_eq!(watch.take_kill(), None);
    let facts = watch.into_facts();
    assert_eq!(facts.program, Some(ProgramEnd::Exited { code: 3 }));
    assert_eq!(facts.ran_ms(facts.ended_at.unwrap()), 300);
    assert_eq!(facts.fault, None);
}

#[test]
fn every_wait_has_an_end() {
    let mut watch = Watch::new(LIMITS, false);
    assert_eq!(watch.deadline(), START_MAX);
    watch.on(Input::Time, START_MAX - ms(1));
    assert_eq!(watch.take_kill(), None, "too early");
    watch.on(Input::Time, START_MAX);
    assert_eq!(watch.take_kill(), Some(KillBy::Cgroup));
    assert_eq!(step(&watch), Some("start"));
    let escalation = START_MAX + KILL_MAX;
    assert_eq!(watch.deadline(), escalation);
    watch.on(Input::Time, escalation);
    assert_eq!(watch.take_kill(), Some(KillBy::Launcher));
    assert_eq!(watch.deadline(), START_MAX + REAP_MAX);
    watch.on(Input::Time, START_MAX + REAP_MAX);
    assert!(watch.is_over());
    assert_eq!(step(&watch), Some("start"), "the first fault is the cause");
}

#[test]
fn wall_time_runs_from_the_exec() {
    let mut watch = running();
    watch.on(Input::Time, ms(1100));
    assert_eq!(watch.take_kill(), Some(KillBy::Cgroup));
    assert_eq!(watch.take_kill(), None, "once");
    let kill = &watch.facts().kills[0];
    assert_eq!((&kill.cause, kill.at_ms), (&KillCause::WallTime, 1000));
}

#[test]
fn cpu_time_ends_a_running_program_only() {
    let mut watch = running();
    watch.on(Input::CpuUsed { us: 499_999 }, ms(200));
    assert_eq!(watch.take_kill(), None);
    watch.on(Input::CpuUsed { us: 500_000 }, ms(300));
    assert_eq!(watch.take_kill(), Some(KillBy::Cgroup));
    let mut watch = running();
    watch.on(exited(0), ms(200));
    watch.on(Input::CpuUsed { us: 600_000 }, ms(300));
    assert_eq!(watch.take_kill(), None);
}

#[test]
fn a_kill_after_the_end_is_later_in_the_ledger() {
    let mut watch = running();
    watch.on(exited(0), ms(200));
    let by = "uid:1".to_owned();
    watch.on(Input::Cancelled { by }, ms(250));
    let facts = watch.facts();
    assert_eq!(facts.kills[0].at_ms, 150);
    assert_eq!(facts.ran_ms(facts.ended_at.unwrap()), 100);
}

#[test]
fn a_limit_that_init_polled_is_why_the_program_ended() {
    let mut watch = running();
    watch.on(exited(0), ms(200));
    let polled = |over| {
        Some(Polled {
            memory_peak_bytes: 77,
            cpu_ms: 5,
            over,
        })
    };
    watch.on(finished_with(polled(Some(PolledLimit::Memory))), ms(300));
    let facts = watch.facts();
    assert_eq!(facts.polled_peak_bytes, 77);
    assert_eq!(
        facts.kills[0].cause,
        KillCause::MemoryPolled { rss_bytes: 77 }
    );
    assert_eq!(facts.kills[0].at_ms, facts.ran_ms(facts.ended_at.unwrap()));
    let mut watch = running();
    watch.on(finished_with(polled(Some(PolledLimit::Cpu))), ms(300));
    assert_eq!(watch.facts().kills[0].cause, KillCause::CpuTime);
    assert_eq!(watch.facts().polled_cpu_ms, 5);
    let mut watch = running();
    watch.on(finished_with(polled(None)), ms(300));
    assert!(watch.facts().kills.is_empty());
}

#[test]
fn init_that_does_not_finish_is_killed_without_blame() {
    let mut watch = running();
    watch.on(exited(0), ms(200));
    watch.on(Input::Time, ms(200) + FINISH_MAX);
    assert_eq!(watch.take_kill(), Some(KillBy::Cgroup));
    assert!(watch.facts().kills.is_empty());
    assert_eq!(watch.facts().fault, None);
}

#[test]
fn frames_out_of_order_are_a_breach() {
    let breaches: [fn() -> Vec<Input>; 4] = [
        || vec![spawned(), spawned()],
        || vec![spawned(), exited(0), exited(0)],
        || {
            let (command, signal) = (CommandToken(9), Some(9));
            vec![
                spawned(),
                Input::Init(Some(FromInit::Exited {
                    command,
                    code: None,
                    signal,
                    core_dumped: false,
                })),
            ]
        },
        || {
            vec![
                spawned(),
                Input::Init(Some(FromInit::NotStarted {
                    command: MAIN,
                    code: 127,
                    errno: 2,
                    path: String::new(),
                })),
            ]
        },
    ];
    for breach in breaches {
        let mut watch = Watch::new(LIMITS, false);
        for input in breach() {
            watch.on(input, ms(10));
        }
        assert_eq!(step(&watch), Some("protocol"));
        assert_eq!(watch.take_kill(), Some(KillBy::Cgroup));
    }
}

#[test]
fn an_exit_before_the_exec_is_no_exit_of_the_program() {
    let mut watch = Watch::new(LIMITS, false);
    watch.on(exited(0), ms(10));
    assert_eq!(step(&watch), Some("spawn"));
    assert_eq!(watch.facts().program, None);
}

#[test]
fn collecting_comes_between_the_end_and_the_finish() {
    let mut watch = Watch::new(LIMITS, true);
    watch.on(spawned(), ms(100));
    watch.on(exited(0), ms(200));
    assert_eq!(watch.take_order(), Some(Order::Collect));
    assert_eq!(watch.deadline(), ms(200) + COLLECT_MAX);
    let problems = vec![
        CollectProblem {
            path: "x".repeat(5000),
            reason: "gone".to_owned(),
        };
        2000
    ];
    watch.on(
        Input::Init(Some(FromInit::Collected { files: 0, problems })),
        ms(300),
    );
    assert_eq!(watch.take_order(), Some(Order::Finish));
    assert_eq!(watch.deadline(), ms(300) + FINISH_MAX);
    let problems = &watch.facts().problems;
    assert_eq!(
        (problems.len(), problems[0].path.len()),
        (PROBLEMS_MAX, TEXT_BYTES_MAX)
    );
}

#[test]
fn collecting_that_does_not_end_is_told() {
    let mut watch = Watch::new(LIMITS, true);
    watch.on(spawned(), ms(100));
    watch.on(exited(0), ms(200));
    assert_eq!(watch.take_order(), Some(Order::Collect));
    watch.on(Input::Time, ms(200) + COLLECT_MAX);
    let facts = watch.into_facts();
    assert_eq!(facts.program, Some(ProgramEnd::Exited { code: 0 }));
    assert!(facts.problems[0].reason.contains("did not end"));
}

#[test]
fn what_init_says_is_bounded() {
    let mut watch = running();
    let steps = vec![
        StepReport {
            step: "é".repeat(2000),
            layer: Layer::Semantics,
            status: Status::Enforced,
            applied: String::new(),
        };
        1000
    ];
    watch.on(
        Input::Init(Some(FromInit::Entered {
            steps,
            state: Vec::new(),
        })),
        ms(10),
    );
    assert_eq!(watch.facts().steps.len(), STEPS_MAX);
    assert!(watch.facts().steps[0].step.len() <= TEXT_BYTES_MAX);
    let call = |number| DeniedCall {
        number,
        first_arg: 0,
        errno: 1,
        count: 2,
    };
    let calls: Vec<DeniedCall> = (0..1000).chain([0]).map(call).collect();
    let frame = FromInit::Denied {
        calls,
        suppressed: 5,
    };
    watch.on(Input::Init(Some(frame)), ms(20));
    let denials = &watch.facts().denials;
    assert_eq!(denials.calls.len(), DENIALS_MAX);
    assert_eq!(denials.calls[&(0, 1)].count, 4);
    let beyond = 1000 - DENIALS_MAX as u64;
    assert_eq!(denials.suppressed, 5 + 2 * beyond);
    assert_eq!(denials.last, Some(0));
}

#[test]
fn after_the_end_nothing_changes() {
    let mut watch = running();
    watch.on(reaped(), ms(200));
    watch.on(exited(0), ms(300));
    watch.on(Input::OutputExceeded, ms(300));
    assert_eq!(watch.take_kill(), None);
    assert_eq!(watch.facts().program, None);
}

#[test]
fn a_launcher_that_is_gone_ends_it_at_once() {
    let mut watch = running();
    watch.on(Input::Launcher(None), ms(200));
    assert!(watch.is_over());
    assert_eq!(step(&watch), Some("launcher"));
}

#[test]
fn only_a_self_tests_sandbox_is_looked_at_and_what_is_seen_is_bounded() {
    let entered = || {
        let fact = Fact::new("init:keyring", "own");
        Input::Init(Some(FromInit::Entered {
            steps: Vec::new(),
            state: vec![fact, Fact::new("host:ids", "leased")],
        }))
    };
    let mut watch = Watch::new(LIMITS, false);
    watch.on(entered(), ms(10));
    assert_eq!(watch.take_order(), None);
    assert!(watch.facts().witnessed.is_empty());

    let mut watch = Watch::new(LIMITS, false).inspecting(true);
    watch.on(entered(), ms(10));
    assert_eq!(watch.take_order(), Some(Order::Inspect));
    assert_eq!(watch.take_order(), None);
    let seen = vec![Fact::new(&format!("host:{}", "é".repeat(2000)), "x".repeat(5000)); 1000];
    let seen = [vec![Fact::new("init:traceable", "no")], seen].concat();
    let event = LauncherEvent::Inspected(seen);
    watch.on(Input::Launcher(Some(event)), ms(20));
    let witnessed = &watch.facts().witnessed;
    assert_eq!(witnessed[0], Fact::new("init:keyring", "own"));
    assert_eq!(witnessed.len(), WITNESSED_MAX);
    let of_others = ["host:ids", "init:traceable"];
    assert!(
        witnessed
            .iter()
            .all(|fact| !of_others.contains(&&*fact.name))
    );
    assert!(
        witnessed
            .iter()
            .all(|fact| fact.name.len() <= TEXT_BYTES_MAX && fact.found.len() <= TEXT_BYTES_MAX)
    );
}
