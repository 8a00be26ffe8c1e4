//! Each field of a plan, one step beyond its ceiling.

use confine::plan::{
    FilePlan, LimitPlan, Mode, NetworkPlan, OwnProgram, Plan, ProcView, SyscallPlan,
};

use super::{Ceilings, check_id};

fn ceilings() -> Ceilings {
    Ceilings {
        mode: Mode::Root,
        memory_bytes_max: 1 << 30,
        missing: vec!["cpu".into()],
        own: vec![OwnProgram::Probe],
    }
}

fn plan() -> Plan {
    Plan {
        mode: Mode::Root,
        image: "host".into(),
        hostname: "sandbox".into(),
        limits: LimitPlan {
            memory_bytes_max: 1 << 29,
            pids_max: 64,
            cpu_millicores_max: 1000,
            disk_bytes_max: 1 << 28,
            files_max: 1000,
            open_files_max: 256,
            cpu_ms_max: 10_000,
        },
        files: FilePlan {
            read: vec!["/usr".into()],
            write: vec!["/workspace".into(), "/tmp/x".into()],
            execute: vec!["/usr".into()],
            writable_noexec: true,
        },
        proc: ProcView::PidsOnly,
        network: NetworkPlan::Loopback,
        syscalls: SyscallPlan {
            profile: policies::policy::SyscallProfile::Strict,
            allow: Vec::new(),
            deny_action: policies::policy::DenyAction::Errno,
            notify: true,
        },
        degradable: Vec::new(),
        own: None,
    }
}

fn refused(change: impl FnOnce(&mut Plan)) -> &'static str {
    let mut plan = plan();
    change(&mut plan);
    ceilings().check(&plan).expect_err("over the ceiling").field
}

#[test]
fn a_modest_plan_passes() {
    ceilings().check(&plan()).expect("within the ceilings");
}

#[test]
fn every_field_has_a_ceiling() {
    assert_eq!(refused(|p| p.mode = Mode::Landlock), "mode");
    assert_eq!(refused(|p| p.image = "/etc".into()), "image");
    assert_eq!(refused(|p| p.hostname = "a/b".into()), "hostname");
    assert_eq!(
        refused(|p| p.limits.memory_bytes_max = 1 << 31),
        "limits.memory_bytes_max"
    );
    assert_eq!(
        refused(|p| p.limits.memory_bytes_max = 0),
        "limits.memory_bytes_max"
    );
    assert_eq!(refused(|p| p.limits.pids_max = 0), "limits.pids_max");
    assert_eq!(refused(|p| p.limits.pids_max = u64::MAX), "limits.pids_max");
    assert_eq!(
        refused(|p| p.limits.cpu_millicores_max = 0),
        "limits.cpu_millicores_max"
    );
    assert_eq!(
        refused(|p| p.limits.disk_bytes_max = u64::MAX),
        "limits.disk_bytes_max"
    );
    assert_eq!(refused(|p| p.limits.files_max = 0), "limits.files_max");
    assert_eq!(
        refused(|p| p.limits.open_files_max = 0),
        "limits.open_files_max"
    );
    assert_eq!(refused(|p| p.limits.cpu_ms_max = 0), "limits.cpu_ms_max");
    assert_eq!(
        refused(|p| p.files.write.push("/usr".into())),
        "files.write"
    );
    assert_eq!(
        refused(|p| p.files.write.push("/tmp/../etc".into())),
        "files.write"
    );
    assert_eq!(
        refused(|p| p.files.write.push("/tmpx".into())),
        "files.write"
    );
    assert_eq!(refused(|p| p.files.read.push("etc".into())), "files.read");
    assert_eq!(
        refused(|p| p.files.execute = vec!["/a".into(); 300]),
        "files.execute"
    );
    assert_eq!(
        refused(|p| p.degradable.push("seccomp".into())),
        "degradable"
    );
}

#[test]
fn ids_cannot_be_paths() {
    for id in ["", "..", "a/b", "a b", "a\0", &"x".repeat(65)] {
        assert!(check_id(id).is_err(), "{id:?}");
    }
    check_id("r-0123abc").expect("a plain id");
}
