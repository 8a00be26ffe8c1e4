//! Tests of the conclusions: evidence put together, denials, manifest.

use std::time::Duration;

use confine::wire::KernelCounters;
use policies::limits::MINIMUMS;
use verdict::ending::Kill;

use super::super::launcher_link::Reaped;
use super::*;

fn ran(counters: KernelCounters, program: ProgramEnd) -> Ran {
    let mut ran = Ran::never();
    ran.facts = Facts {
        spawned_at: Some(Duration::from_millis(100)),
        ended_at: Some(Duration::from_millis(350)),
        over_at: Some(Duration::from_millis(360)),
        program: Some(program),
        reaped: Some(Reaped {
            init_status: 0,
            counters,
            leftovers: Vec::new(),
        }),
        ..Facts::default()
    };
    ran
}

fn concluded(ran: &Ran, deny: DenyAction) -> Concluded {
    conclude(ran, &MINIMUMS, deny, 5)
}

#[test]
fn usage_is_in_its_units() {
    let counters = KernelCounters {
        cpu_user_us: 12_999,
        cpu_throttled_us: 3_000,
        pressure: Some(Stalls {
            cpu_full_us: 103_000,
            io_full_us: 4,
            ..Stalls::default()
        }),
        ..KernelCounters::default()
    };
    let ran = ran(counters, ProgramEnd::Exited { code: 0 });
    let usage = concluded(&ran, DenyAction::Errno).usage;
    assert_eq!(
        (usage.wall_ms, usage.cpu_user_ms, usage.cpu_throttled_ms),
        (250, 12, 3)
    );
    assert_eq!((usage.queue_ms, usage.pressure.unwrap().io_full_us), (5, 4));
    // Less what the rate held back.
    assert_eq!(usage.cpu_waited_ms, Some(100));
}

#[test]
fn a_filter_kill_is_named_where_the_policy_kills() {
    let sigsys = || ProgramEnd::Signalled {
        signal: SIGSYS,
        core_dumped: false,
    };
    let mut ran = ran(KernelCounters::default(), sigsys());
    ran.facts.denials.last = Some(165);
    let ending = concluded(&ran, DenyAction::Kill).ending;
    assert!(matches!(&ending, Ending::SyscallDenied { syscall, .. } if syscall == "mount"));
    let ending = concluded(&ran, DenyAction::Errno).ending;
    assert!(matches!(ending, Ending::Signalled { signal: SIGSYS, .. }));
}

#[test]
fn limits_that_were_hit_are_denials_with_a_fix() {
    let counters = KernelCounters {
        pids_limit_hits: 3,
        oom_kills: 1,
        memory_limit_hits: 9,
        ..KernelCounters::default()
    };
    let mut ran = ran(counters, ProgramEnd::Exited { code: 0 });
    ran.facts.disk = Some(DiskUse {
        bytes: 10,
        bytes_max: 10,
        inodes: 1,
        inodes_max: 2,
    });
    let denials = concluded(&ran, DenyAction::Errno).denials;
    let acts: Vec<&str> = denials.iter().map(|denial| denial.act.as_str()).collect();
    assert_eq!(acts, ["fork", "allocate memory", "write"]);
    assert!(denials.iter().all(|denial| denial.fix.contains("limits.")));
}

#[test]
fn a_disk_that_could_not_be_looked_at_is_not_full() {
    let mut ran = ran(KernelCounters::default(), ProgramEnd::Exited { code: 1 });
    ran.facts.disk = Some(DiskUse::default());
    let concluded = concluded(&ran, DenyAction::Errno);
    assert_eq!(concluded.ending, Ending::Exited { code: 1 });
    assert!(concluded.denials.is_empty());
}

#[test]
fn dropped_bytes_of_both_streams_are_in_the_ending() {
    let mut ran = ran(KernelCounters::default(), ProgramEnd::NotReported);
    ran.facts.ended_at = None;
    ran.facts.kills = vec![Kill {
        cause: KillCause::Output { dropped_bytes: 0 },
        at_ms: 1,
    }];
    (ran.stdout.dropped_bytes, ran.stderr.dropped_bytes) = (4, 5);
    let ending = concluded(&ran, DenyAction::Errno).ending;
    assert!(matches!(
        ending,
        Ending::OutputUp {
            dropped_bytes: 9,
            ..
        }
    ));
}

#[test]
fn what_is_killed_before_it_is_executed_is_no_ending_of_the_program() {
    let killed = || ProgramEnd::Signalled {
        signal: 9,
        core_dumped: false,
    };
    let mut early = ran(KernelCounters::default(), killed());
    early.facts.spawned_at = None;
    let ending = concluded(&early, DenyAction::Errno).ending;
    assert!(
        matches!(&ending, Ending::SandboxFailed { step, .. } if step == "spawn"),
        "{ending:?}"
    );
    // The sandbox's own memory limit is the request's affair, however early it strikes.
    let counters = KernelCounters {
        oom_kills: 1,
        memory_peak_bytes: MINIMUMS.memory_bytes_max,
        ..KernelCounters::default()
    };
    let mut small = ran(counters, killed());
    small.facts.spawned_at = None;
    let ending = concluded(&small, DenyAction::Errno).ending;
    assert!(matches!(ending, Ending::MemoryUp { .. }), "{ending:?}");
    // Once it ran, a signal is what ended it.
    let late = ran(KernelCounters::default(), killed());
    let ending = concluded(&late, DenyAction::Errno).ending;
    assert!(
        matches!(ending, Ending::Signalled { signal: 9, .. }),
        "{ending:?}"
    );
}

#[test]
fn an_unwatched_cpu_time_is_degraded_in_the_manifest() {
    let ran = ran(KernelCounters::default(), ProgramEnd::Exited { code: 0 });
    let manifest = concluded(&ran, DenyAction::Errno).manifest;
    let row = manifest.iter().find(|row| row.name == "cpu_time").unwrap();
    assert_eq!(row.status, ControlStatus::Degraded);
    assert!(!row.reason.is_empty());
}

#[test]
fn a_step_that_nobody_reported_shows_in_the_manifest() {
    let mut ran = ran(KernelCounters::default(), ProgramEnd::Exited { code: 0 });
    let steps: Vec<StepReport> = confine::sequence::explain()
        .into_iter()
        .filter(|(name, ..)| *name != "seccomp")
        .map(|(name, layer, _why)| StepReport {
            step: name.to_owned(),
            layer,
            status: Status::Enforced,
            applied: String::new(),
        })
        .collect();
    ran.facts.steps = steps;
    let manifest = concluded(&ran, DenyAction::Errno).manifest;
    let degraded: Vec<&ManifestRow> = manifest
        .iter()
        .filter(|row| row.status == ControlStatus::Degraded && row.name != "cpu_time")
        .collect();
    assert_eq!(degraded.len(), 1, "{degraded:?}");
    assert_eq!(degraded[0].name, "seccomp");
    assert_eq!(degraded[0].asked, "required");
}

#[test]
fn a_peak_at_the_limit_is_evidence_where_the_kernel_counts_no_hits() {
    let killed = || ProgramEnd::Signalled {
        signal: 9,
        core_dumped: false,
    };
    let with_peak = |memory_peak_bytes| KernelCounters {
        oom_kills: 1,
        memory_peak_bytes,
        ..KernelCounters::default()
    };
    let at_limit = ran(with_peak(MINIMUMS.memory_bytes_max), killed());
    let ending = concluded(&at_limit, DenyAction::Errno).ending;
    assert!(matches!(ending, Ending::MemoryUp { .. }), "{ending:?}");
    let below = ran(with_peak(MINIMUMS.memory_bytes_max - PAGE_BYTES), killed());
    let ending = concluded(&below, DenyAction::Errno).ending;
    assert!(matches!(ending, Ending::SandboxFailed { .. }), "{ending:?}");
}
