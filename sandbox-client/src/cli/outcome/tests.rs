//! Exit codes and sentences.

use super::*;

fn result(ending: pb::Ending) -> pb::RunResult {
    pb::RunResult {
        ending: Some(ending),
        ..pb::RunResult::default()
    }
}

fn ended(kind: pb::EndingKind) -> pb::Ending {
    pb::Ending {
        kind: kind.into(),
        code: None,
        limit_ms: Some(10_000),
        used_ms: Some(10_004),
        throttled_ms: Some(0),
        ..pb::Ending::default()
    }
}

#[test]
fn exit_codes_of_the_contract() {
    use pb::EndingKind as Kind;
    let code = |ending: pb::Ending| exit_code(&ending_of(&result(ending)).unwrap());
    let with_code = |kind: Kind, code| pb::Ending {
        code: Some(code),
        ..ended(kind)
    };
    for own in [0, 1, 42, 137, 255] {
        assert_eq!(i32::from(code(with_code(Kind::Exited, own))), own);
    }
    assert_eq!(code(ended(Kind::WallTimeUp)), 124);
    assert_eq!(code(ended(Kind::CpuTimeUp)), 124);
    let memory = pb::Ending {
        limit_bytes: Some(1),
        peak_bytes: Some(1),
        source: Some(pb::MemorySource::Cgroup.into()),
        ..ended(Kind::MemoryUp)
    };
    assert_eq!(code(memory), 137);
    let output = pb::Ending {
        cap_bytes: Some(1),
        dropped_bytes: Some(1),
        ..ended(Kind::OutputUp)
    };
    assert_eq!(code(output), 137);
    let refused = Some("fork".to_owned());
    let pids = pb::Ending {
        limit: Some(1),
        first_refusal: refused.clone(),
        ..ended(Kind::PidsUp)
    };
    assert_eq!(code(pids), 137);
    let disk = pb::Ending {
        limit_bytes: Some(1),
        first_refusal: refused,
        ..ended(Kind::DiskUp)
    };
    assert_eq!(code(disk), 137);
    let signal = pb::Ending {
        signal: Some(11),
        core_dumped: Some(false),
        ..ended(Kind::Signalled)
    };
    assert_eq!(code(signal), 128 + 11);
    for not_started in [126, 127] {
        let ending = pb::Ending {
            path: Some("x".into()),
            reason: Some("y".into()),
            ..with_code(Kind::NotStarted, not_started)
        };
        assert_eq!(i32::from(code(ending)), not_started);
    }
    let failed = pb::Ending {
        step: Some("mounts".into()),
        reason: Some("y".into()),
        ..ended(Kind::SandboxFailed)
    };
    assert_eq!(code(failed), 125);
    let cancelled = pb::Ending {
        by: Some("uid:0".into()),
        ..ended(Kind::Cancelled)
    };
    assert_eq!(code(cancelled), 130);
}

#[test]
fn a_plain_exit_needs_no_words() {
    for code in [0, 3] {
        let ending = pb::Ending {
            code: Some(code),
            ..ended(pb::EndingKind::Exited)
        };
        let result = result(ending);
        assert!(explain_lines(&ending_of(&result).unwrap(), &result).is_empty());
    }
}

#[test]
fn a_limit_is_named_with_use_and_fix() {
    let result = result(ended(pb::EndingKind::WallTimeUp));
    let lines = explain_lines(&ending_of(&result).unwrap(), &result);
    assert_eq!(
        lines,
        ["ended at the wall-clock limit: 10.0 s allowed, 10.0 s used; allow more with --time"]
    );
}

#[test]
fn a_killed_child_is_told_even_after_exit_0() {
    let mut result = result(pb::Ending {
        code: Some(0),
        ..ended(pb::EndingKind::Exited)
    });
    result.usage = Some(pb::Usage {
        oom_kills: 2,
        ..pb::Usage::default()
    });
    let lines = explain_lines(&ending_of(&result).unwrap(), &result);
    assert!(
        lines.len() == 1 && lines[0].contains("killed 2"),
        "{lines:?}"
    );
}

#[test]
fn refusals_are_told_with_their_fix_and_no_escape_sequence() {
    let mut result = result(pb::Ending {
        code: Some(1),
        ..ended(pb::EndingKind::Exited)
    });
    let denial = pb::Denial {
        layer: pb::DenialLayer::Seccomp.into(),
        act: "socket\u{1b}[2J".into(),
        count: 2,
        fix: Some("network.mode".into()),
        ..pb::Denial::default()
    };
    result.denials = vec![denial; 5];
    let lines = explain_lines(&ending_of(&result).unwrap(), &result);
    assert_eq!(lines.len(), DENIALS_SHOWN_MAX + 1);
    assert_eq!(
        lines[0],
        "refused: socket [2J, by seccomp, 2 times; to allow it: network.mode"
    );
}

#[test]
fn a_refusal_that_nothing_lifts_is_told_as_such() {
    let told = |fix: &str| {
        denial_sentence(&pb::Denial {
            layer: pb::DenialLayer::Seccomp.into(),
            act: "bpf".into(),
            count: 1,
            fix: Some(fix.into()),
            ..pb::Denial::default()
        })
    };
    assert_eq!(
        told("none: no policy allows this"),
        "refused: bpf, by seccomp; no policy allows this"
    );
    assert_eq!(
        told("none: use TCP or UDP"),
        "refused: bpf, by seccomp; no policy allows this: use TCP or UDP"
    );
    assert_eq!(told(""), "refused: bpf, by seccomp");
}

#[test]
fn labels() {
    let mut result = result(ended(pb::EndingKind::WallTimeUp));
    assert_eq!(label(&result), "wall_time_up");
    result.verdict = Some(pb::Verdict {
        outcome: pb::Outcome::NoTests.into(),
        ..pb::Verdict::default()
    });
    assert_eq!(label(&result), "no_tests");
    result.error = Some(pb::RunFault::default());
    assert_eq!(label(&result), "not_run");
}
