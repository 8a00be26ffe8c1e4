//! The status rules, one row for each ending and each trouble.

use proto::v1::{Contention, Evidence, Usage, Verdict};

use super::*;
use crate::testing::{ending, exited, ran};
use StageStatus::{Finished, TimeLimitExceeded};

fn answered(ending: Ending) -> (StageStatus, Option<i32>) {
    let told = told(&ran(ending, "out"), BusyTimeouts::Retry).unwrap();
    assert_eq!(told.answer.stdout, "out");
    (told.answer.status, told.answer.return_code)
}

#[test]
fn each_ending_of_a_program_has_its_answer() {
    let signalled = Ending {
        signal: Some(11),
        ..ending(EndingKind::Signalled)
    };
    assert_eq!(answered(exited(0)), (Finished, Some(0)));
    assert_eq!(answered(exited(3)), (Finished, Some(3)));
    assert_eq!(answered(signalled), (Finished, Some(-11)));
    let table = [
        (EndingKind::WallTimeUp, TimeLimitExceeded, None),
        (EndingKind::CpuTimeUp, TimeLimitExceeded, None),
        (EndingKind::MemoryUp, Finished, Some(KILLED)),
        (EndingKind::OutputUp, Finished, Some(KILLED)),
        (EndingKind::DiskUp, Finished, Some(FAILED)),
        (EndingKind::PidsUp, Finished, Some(FAILED)),
        (EndingKind::SyscallDenied, Finished, Some(BAD_SYSCALL)),
    ];
    for (kind, status, code) in table {
        assert_eq!(answered(ending(kind)), (status, code), "{kind:?}");
        let note = told(&ran(ending(kind), ""), BusyTimeouts::Retry)
            .unwrap()
            .note;
        assert!(note.is_some(), "{kind:?} says why");
    }
}

#[test]
fn what_is_not_the_program_s_doing_is_no_answer() {
    let kinds = [
        EndingKind::Unspecified,
        EndingKind::Cancelled,
        EndingKind::NotStarted,
        EndingKind::SandboxFailed,
    ];
    for kind in kinds {
        let trouble = told(&ran(ending(kind), ""), BusyTimeouts::Count);
        assert!(
            matches!(trouble, Err(Trouble::Fault { .. })),
            "{kind:?}: {trouble:?}"
        );
    }
    let from_outside = Ending {
        signal: Some(9),
        sent_by: Some("host".to_owned()),
        ..ending(EndingKind::Signalled)
    };
    assert!(told(&ran(from_outside, ""), BusyTimeouts::Count).is_err());
    let mut none = ran(exited(0), "");
    none.result.ending = None;
    assert!(told(&none, BusyTimeouts::Count).is_err());
}

#[test]
fn a_verdict_of_trouble_wins_over_every_ending() {
    for outcome in [Outcome::InfraError, Outcome::VerifierError] {
        let mut troubled = ran(exited(0), "");
        troubled.result.verdict = Some(Verdict {
            outcome: outcome.into(),
            reason: "the host was out of memory".to_owned(),
            ..Verdict::default()
        });
        let trouble = told(&troubled, BusyTimeouts::Count).unwrap_err();
        assert!(trouble.to_string().contains("out of memory"), "{trouble}");
    }
}

#[test]
fn a_turn_that_did_not_come_is_busy() {
    let late = Ending {
        by: Some("deadline".to_owned()),
        ..ending(EndingKind::Cancelled)
    };
    let trouble = told(&ran(late, ""), BusyTimeouts::Count).unwrap_err();
    assert!(matches!(trouble, Trouble::Busy { .. }), "{trouble:?}");
}

fn late(contention: Contention) -> Ran {
    let mut ran = ran(ending(EndingKind::WallTimeUp), "");
    ran.result.verdict = Some(Verdict {
        outcome: Outcome::Unjudged.into(),
        evidence: Some(Evidence {
            contention: Some(contention),
            ..Evidence::default()
        }),
        ..Verdict::default()
    });
    ran
}

#[test]
fn a_time_limit_on_a_busy_host_counts_only_where_that_is_chosen() {
    let busy = Contention {
        host_busy: true,
        ..Contention::default()
    };
    let trouble = told(&late(busy), BusyTimeouts::Retry).unwrap_err();
    assert!(matches!(trouble, Trouble::Busy { .. }), "{trouble:?}");
    let counted = told(&late(busy), BusyTimeouts::Count).unwrap();
    assert_eq!(counted.answer.status, TimeLimitExceeded);
    assert!(counted.note.unwrap().ends_with("on a busy host"));
    let alone = Contention {
        rerun_alone: true,
        ..busy
    };
    assert!(told(&late(alone), BusyTimeouts::Retry).is_ok());
    assert!(told(&late(Contention::default()), BusyTimeouts::Retry).is_ok());
}

#[test]
fn a_part_that_the_kernel_killed_is_no_success() {
    let mut half = ran(exited(0), "");
    half.result.usage = Some(Usage {
        oom_kills: 1,
        wall_ms: 1_500,
        cpu_user_ms: 200,
        cpu_system_ms: 50,
        ..Usage::default()
    });
    let told = told(&half, BusyTimeouts::Retry).unwrap();
    assert_eq!(told.answer.return_code, Some(KILLED));
    assert!(!told.answer.is_success());
    assert!((told.answer.execution_time - 1.5).abs() < 1e-9);
    assert!((told.answer.cpu_time - 0.25).abs() < 1e-9);
}
