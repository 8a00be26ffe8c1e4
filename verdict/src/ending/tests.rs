//! The whole table of endings, row by row.

use super::{
    Counters, DiskAtEnd, Ending, KernelEvidence, Kill, KillCause, Limits, MemorySource, ProgramEnd,
    SandboxFault, SignalSent, decide_ending,
};

const MIB: u64 = 1 << 20;

/// A run that exited 0 after 50 ms, with every limit set and none hit.
fn quiet() -> KernelEvidence {
    KernelEvidence {
        program: ProgramEnd::Exited { code: 0 },
        ended_at_ms: Some(50),
        kills: Vec::new(),
        signals_sent: Vec::new(),
        limits: Limits {
            wall_ms: Some(1000),
            cpu_ms: Some(500),
            memory_bytes: Some(64 * MIB),
            pids: Some(16),
            disk_bytes: Some(8 * MIB),
            output_bytes_total: Some(MIB),
        },
        counters: Counters {
            wall_ms: 50,
            cpu_ms: 10,
            throttled_ms: 2,
            memory_peak_bytes: 9 * MIB,
            ..Counters::default()
        },
        disk: Some(DiskAtEnd {
            free_bytes: 8 * MIB,
            free_inodes: 100,
        }),
        fault: None,
    }
}

fn with(change: impl FnOnce(&mut KernelEvidence)) -> Ending {
    let mut evidence = quiet();
    change(&mut evidence);
    decide_ending(&evidence)
}

fn signalled(signal: i32) -> ProgramEnd {
    ProgramEnd::Signalled {
        signal,
        core_dumped: false,
    }
}

fn killed(evidence: &mut KernelEvidence, cause: KillCause, at_ms: u64) {
    evidence.program = signalled(9);
    evidence.ended_at_ms = Some(at_ms + 1);
    evidence.kills.push(Kill { cause, at_ms });
}

fn exited(code: i32) -> Ending {
    Ending::Exited { code }
}

fn host_oom() -> Ending {
    Ending::SandboxFailed {
        step: "run".to_owned(),
        reason: "host_oom".to_owned(),
    }
}

#[test]
fn exits_and_signals_are_what_init_reported() {
    for code in [0, 1, 2, 124, 126, 127, 137, 255] {
        assert_eq!(
            with(|e| e.program = ProgramEnd::Exited { code }),
            exited(code)
        );
    }
    for signal in [6, 9, 11, 15] {
        let expected = Ending::Signalled {
            signal,
            core_dumped: false,
            sent_by: None,
        };
        assert_eq!(with(|e| e.program = signalled(signal)), expected);
    }
    assert_eq!(
        with(|e| e.program = ProgramEnd::Signalled {
            signal: 11,
            core_dumped: true
        }),
        Ending::Signalled {
            signal: 11,
            core_dumped: true,
            sent_by: None
        }
    );
}

#[test]
fn a_signal_sent_for_somebody_names_them() {
    let ending = with(|e| {
        e.program = signalled(15);
        e.signals_sent = vec![SignalSent {
            signal: 15,
            by: "uid 1000".to_owned(),
        }];
    });
    let sent_by = Some("uid 1000".to_owned());
    assert_eq!(
        ending,
        Ending::Signalled {
            signal: 15,
            core_dumped: false,
            sent_by
        }
    );
    let other = with(|e| {
        e.program = signalled(11);
        e.signals_sent = vec![SignalSent {
            signal: 15,
            by: "uid 1000".to_owned(),
        }];
    });
    assert_eq!(
        other,
        Ending::Signalled {
            signal: 11,
            core_dumped: false,
            sent_by: None
        }
    );
}

#[test]
fn each_kill_of_ours_has_its_ending() {
    assert_eq!(
        with(|e| {
            killed(e, KillCause::WallTime, 1000);
            e.counters.wall_ms = 1003;
        }),
        Ending::WallTimeUp {
            limit_ms: 1000,
            used_ms: 1003,
            throttled_ms: 2
        }
    );
    assert_eq!(
        with(|e| {
            killed(e, KillCause::CpuTime, 600);
            e.counters.cpu_ms = 507;
        }),
        Ending::CpuTimeUp {
            limit_ms: 500,
            used_ms: 507,
            throttled_ms: 2
        }
    );
    assert_eq!(
        with(|e| killed(e, KillCause::Output { dropped_bytes: 77 }, 10)),
        Ending::OutputUp {
            cap_bytes: MIB,
            dropped_bytes: 77
        }
    );
    assert_eq!(
        with(|e| killed(
            e,
            KillCause::Cancel {
                by: "uid 7".to_owned()
            },
            10
        )),
        Ending::Cancelled {
            by: "uid 7".to_owned()
        }
    );
    assert_eq!(
        with(|e| killed(
            e,
            KillCause::MemoryPolled {
                rss_bytes: 70 * MIB
            },
            10
        )),
        Ending::MemoryUp {
            limit_bytes: 64 * MIB,
            peak_bytes: 70 * MIB,
            source: MemorySource::RssPoll
        }
    );
    let fault = SandboxFault {
        step: "audit".to_owned(),
        reason: "disk full".to_owned(),
    };
    assert_eq!(
        with(|e| killed(e, KillCause::Fault(fault), 10)),
        Ending::SandboxFailed {
            step: "audit".to_owned(),
            reason: "disk full".to_owned()
        }
    );
}

#[test]
fn the_first_kill_wins_over_later_kills_and_later_deeds() {
    let ending = with(|e| {
        killed(e, KillCause::Cancel { by: "x".to_owned() }, 1200);
        killed(e, KillCause::WallTime, 1000);
        e.ended_at_ms = Some(1300);
    });
    assert_eq!(ending.kind(), "wall_time_up");
    // It exits 0 on its way out, or init never tells: the kill stands.
    for program in [ProgramEnd::Exited { code: 0 }, ProgramEnd::NotReported] {
        let ending = with(|e| {
            killed(e, KillCause::WallTime, 1000);
            e.program = program;
        });
        assert_eq!(ending.kind(), "wall_time_up");
    }
    let ending = with(|e| {
        killed(e, KillCause::WallTime, 1000);
        e.ended_at_ms = None;
    });
    assert_eq!(ending.kind(), "wall_time_up");
}

#[test]
fn a_kill_after_the_end_only_cleaned_up() {
    let ending = with(|e| {
        e.kills.push(Kill {
            cause: KillCause::WallTime,
            at_ms: 1000,
        });
    });
    assert_eq!(ending, exited(0));
}

#[test]
fn memory_up_needs_signal_9_and_oom_kill_and_limit_hit() {
    // (program, oom kills, limit hits) -> ending
    let memory_up = Ending::MemoryUp {
        limit_bytes: 64 * MIB,
        peak_bytes: 64 * MIB,
        source: MemorySource::Cgroup,
    };
    let sigkill = Ending::Signalled {
        signal: 9,
        core_dumped: false,
        sent_by: None,
    };
    let rows = [
        (signalled(9), 1, 5, memory_up.clone()),
        (ProgramEnd::NotReported, 1, 5, memory_up),
        (signalled(9), 1, 0, host_oom()),
        (signalled(9), 0, 5, sigkill.clone()),
        (signalled(9), 0, 0, sigkill),
        // A child was killed: the parent's own end stands, the count is in the usage.
        (ProgramEnd::Exited { code: 0 }, 1, 5, exited(0)),
        (ProgramEnd::Exited { code: 137 }, 1, 5, exited(137)),
        (ProgramEnd::Exited { code: 137 }, 0, 0, exited(137)),
        (ProgramEnd::Exited { code: 0 }, 1, 0, host_oom()),
    ];
    for (program, oom_kills, hits, expected) in rows {
        let label = format!("{program:?} oom_kills={oom_kills} hits={hits}");
        let ending = with(|e| {
            e.program = program;
            e.counters.oom_kills = oom_kills;
            e.counters.memory_limit_hits = hits;
            e.counters.memory_peak_bytes = 64 * MIB;
        });
        assert_eq!(ending, expected, "{label}");
    }
}

#[test]
fn an_oom_kill_before_our_wall_kill_stays_memory_up() {
    let ending = with(|e| {
        e.program = signalled(9);
        e.ended_at_ms = Some(400);
        e.kills.push(Kill {
            cause: KillCause::WallTime,
            at_ms: 1000,
        });
        e.counters.oom_kills = 1;
        e.counters.memory_limit_hits = 1;
    });
    assert_eq!(ending.kind(), "memory_up");
}

#[test]
fn sigxcpu_at_the_limit_is_cpu_time_up_and_below_it_is_a_signal() {
    let ending = with(|e| {
        e.program = signalled(24);
        e.counters.cpu_ms = 500;
    });
    assert_eq!(
        ending,
        Ending::CpuTimeUp {
            limit_ms: 500,
            used_ms: 500,
            throttled_ms: 2
        }
    );
    assert_eq!(with(|e| e.program = signalled(24)).kind(), "signalled");
}

#[test]
fn a_refused_write_counts_only_if_the_run_failed_and_the_disk_is_full() {
    let full = [
        DiskAtEnd {
            free_bytes: 0,
            free_inodes: 10,
        },
        DiskAtEnd {
            free_bytes: 4095,
            free_inodes: 10,
        },
        DiskAtEnd {
            free_bytes: MIB,
            free_inodes: 0,
        },
    ];
    for disk in full {
        for program in [ProgramEnd::Exited { code: 1 }, signalled(7)] {
            let ending = with(|e| {
                e.program = program;
                e.disk = Some(disk);
            });
            assert!(matches!(ending, Ending::DiskUp { limit_bytes, .. } if limit_bytes == 8 * MIB));
        }
        assert_eq!(with(|e| e.disk = Some(disk)), exited(0), "it managed");
        // A filter that kills has its reason in the call, not in the disk.
        let killed = with(|e| {
            e.program = signalled(31);
            e.disk = Some(disk);
        });
        assert!(matches!(killed, Ending::Signalled { signal: 31, .. }));
    }
    for disk in [
        None,
        Some(DiskAtEnd {
            free_bytes: 4096,
            free_inodes: 1,
        }),
    ] {
        let ending = with(|e| {
            e.program = ProgramEnd::Exited { code: 1 };
            e.disk = disk;
        });
        assert_eq!(ending, exited(1));
    }
}

#[test]
fn a_refused_fork_counts_only_if_the_run_failed() {
    let failed = with(|e| {
        e.program = ProgramEnd::Exited { code: 1 };
        e.counters.pids_limit_hits = 3;
    });
    let first_refusal = "fork refused 3 times".to_owned();
    assert_eq!(
        failed,
        Ending::PidsUp {
            limit: 16,
            first_refusal
        }
    );
    assert_eq!(with(|e| e.counters.pids_limit_hits = 3), exited(0));
    let unlimited = with(|e| {
        e.program = ProgramEnd::Exited { code: 1 };
        e.counters.pids_limit_hits = 3;
        e.limits.pids = None;
    });
    assert_eq!(unlimited, exited(1));
}

#[test]
fn exec_errors_are_126_and_127() {
    for (errno, code) in [(2, 127), (20, 127), (13, 126), (8, 126), (1, 126), (7, 126)] {
        let ending = with(|e| {
            e.program = ProgramEnd::ExecFailed {
                errno,
                path: "/workspace/x".to_owned(),
                reason: "why".to_owned(),
            };
        });
        let (path, reason) = ("/workspace/x".to_owned(), "why".to_owned());
        assert_eq!(ending, Ending::NotStarted { code, path, reason });
    }
}

#[test]
fn filter_kill_fault_and_silence() {
    let (syscall, rule) = ("ptrace".to_owned(), "strict".to_owned());
    let denied = with(|e| {
        e.program = ProgramEnd::SyscallKilled {
            syscall: syscall.clone(),
            rule: rule.clone(),
        };
    });
    assert_eq!(denied, Ending::SyscallDenied { syscall, rule });
    let fault = SandboxFault {
        step: "mounts".to_owned(),
        reason: "EPERM".to_owned(),
    };
    let failed = with(|e| {
        e.fault = Some(fault);
        killed(e, KillCause::WallTime, 1000);
    });
    let (step, reason) = ("mounts".to_owned(), "EPERM".to_owned());
    assert_eq!(failed, Ending::SandboxFailed { step, reason });
    let silent = with(|e| e.program = ProgramEnd::NotReported);
    assert!(matches!(silent, Ending::SandboxFailed { step, .. } if step == "report"));
}

#[test]
fn json_has_the_contracts_shape_and_shell_codes() {
    let json = serde_json::to_string(&exited(0)).expect("serializes");
    assert_eq!(json, r#"{"kind":"exited","code":0}"#);
    let up = Ending::MemoryUp {
        limit_bytes: 1,
        peak_bytes: 2,
        source: MemorySource::RssPoll,
    };
    let json = serde_json::to_string(&up).expect("serializes");
    assert_eq!(
        json,
        r#"{"kind":"memory_up","limit_bytes":1,"peak_bytes":2,"source":"rss_poll"}"#
    );
    assert_eq!(
        serde_json::from_str::<Ending>(&json).expect("reads back"),
        up
    );
    assert_eq!(
        (
            exited(3).shell_code(),
            up.shell_code(),
            host_oom().shell_code()
        ),
        (3, 137, 125)
    );
    let timed = Ending::WallTimeUp {
        limit_ms: 1,
        used_ms: 1,
        throttled_ms: 0,
    };
    assert_eq!((timed.kind(), timed.shell_code()), ("wall_time_up", 124));
}
