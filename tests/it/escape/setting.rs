//! The setting of a sandbox under a shipped policy, in each mode: made as the daemon makes its plans.

use confine::host::{CgroupLayout, HostFacts};
use confine::make_plan;
use confine::plan::{Mode, NetworkPlan, ProcView};
use policies::{Catalog, RequestedLimits};
use probe::Setting;

/// As root on this host.
pub(crate) fn in_root_mode(policy: &str, shown: &str) -> Setting {
    of(policy, shown, &confine::host::inspect())
}

/// As an ordinary user on this host, without control groups.
pub(crate) fn without_root(policy: &str, shown: &str, mode: Mode) -> Setting {
    let mut host = confine::host::inspect();
    host.mode = mode;
    host.landlock_mode_accepted = true;
    host.cgroups = CgroupLayout::None;
    of(policy, shown, &host)
}

fn of(policy: &str, shown: &str, host: &HostFacts) -> Setting {
    let catalog = Catalog::builtin().expect("the shipped policies");
    let policy = &catalog.get(policy).expect("a shipped policy").policy;
    let limits = policy
        .effective_limits(&RequestedLimits::default())
        .expect("the defaults");
    let plan = make_plan(policy, &limits, host).expect("a plan");
    let missing = |name: &str| plan.degradable.iter().any(|control| control == name);
    Setting {
        own_namespaces: plan.mode != Mode::Landlock,
        leased_ids: plan.mode == Mode::Root,
        profile: plan.syscalls.profile,
        proc_pids_only: plan.proc == ProcView::PidsOnly,
        loopback: plan.network == NetworkPlan::Loopback && plan.mode != Mode::Landlock,
        writable_noexec: plan.files.writable_noexec,
        landlock_abi: host.landlock_abi,
        cgroup_memory: !missing("memory"),
        cgroup_pids: !missing("pids"),
        pids_max: plan.limits.pids_max,
        memory_bytes_max: plan.limits.memory_bytes_max,
        disk_bytes_max: plan.limits.disk_bytes_max,
        files_max: plan.limits.files_max,
        open_files_max: plan.limits.open_files_max,
        cpu_ms_max: plan.limits.cpu_ms_max,
        extra_read_paths: vec![shown.to_owned()],
        execute: plan.files.execute.clone(),
        write: plan.files.write.clone(),
        allow: plan.syscalls.allow.clone(),
    }
}
