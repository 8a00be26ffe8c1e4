//! Tests of who is to blame for a timeout.

use super::*;
use crate::usage::Pressure;

fn wall_up() -> Ending {
    Ending::WallTimeUp {
        limit_ms: 4000,
        used_ms: 4000,
        throttled_ms: 0,
    }
}

/// A run of 4 s with `cpu_ms` of its own, told by `source`.
fn usage(cpu_ms: u64, throttled_ms: u64, pressure: Option<Pressure>) -> Usage {
    let mut usage = Usage {
        wall_ms: 4000,
        cpu_user_ms: cpu_ms,
        cpu_throttled_ms: throttled_ms,
        pressure,
        ..Usage::default()
    };
    usage.cpu_waited_ms = cpu_waited_ms(&usage);
    usage
}

fn sandbox(cpu_full_ms: u64) -> Option<Pressure> {
    Some(Pressure {
        source: PressureSource::Sandbox,
        cpu_some_us: cpu_full_ms * 1000 + 7,
        cpu_full_us: cpu_full_ms * 1000,
        ..Pressure::default()
    })
}

#[test]
fn a_program_that_was_ready_and_got_no_cpu_had_a_busy_host() {
    let found = contention(&wall_up(), &usage(900, 0, sandbox(3000)), 1000).unwrap();
    assert!(found.host_busy);
    assert_eq!((found.cpu_ms, found.cpu_share_ms), (900, 4000));
    assert_eq!(found.cpu_waited_ms, Some(3000));
    assert_eq!(found.source, Some(PressureSource::Sandbox));
}

#[test]
fn a_sleeper_and_one_that_its_own_rate_held_back_did_not() {
    let sleeper = contention(&wall_up(), &usage(3, 0, sandbox(1)), 1000).unwrap();
    assert!(!sleeper.host_busy);
    let held_back = contention(&wall_up(), &usage(400, 3500, sandbox(3600)), 100).unwrap();
    assert_eq!(held_back.cpu_waited_ms, Some(100));
    assert!(!held_back.host_busy);
    assert_eq!(held_back.cpu_share_ms, 400);
}

#[test]
fn of_the_hosts_own_figure_only_what_the_run_did_not_compute_counts() {
    let host = |cpu_some_ms: u64| {
        Some(Pressure {
            source: PressureSource::Host,
            cpu_some_us: cpu_some_ms * 1000,
            ..Pressure::default()
        })
    };
    assert_eq!(usage(3800, 0, host(4000)).cpu_waited_ms, Some(200));
    assert_eq!(usage(1000, 0, host(500)).cpu_waited_ms, Some(500));
    assert_eq!(usage(1000, 2900, host(4000)).cpu_waited_ms, Some(100));
}

#[test]
fn what_is_not_known_is_not_claimed() {
    let found = contention(&wall_up(), &usage(900, 0, None), 1000).unwrap();
    assert!(!found.host_busy);
    assert_eq!((found.cpu_waited_ms, found.source), (None, None));
    let exited = Ending::Exited { code: 0 };
    assert_eq!(
        contention(&exited, &usage(900, 0, sandbox(3000)), 1000),
        None
    );
    let json = serde_json::to_value(found).unwrap();
    assert_eq!(
        json.as_object().map(serde_json::Map::len),
        Some(3),
        "{json}"
    );
}
