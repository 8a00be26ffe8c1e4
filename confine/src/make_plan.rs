//! Policy and host facts to a [`Plan`]: pure, printable, and the place where a host that cannot
//! do what the policy asks refuses.

use policies::{EffectiveLimits, Enforcement, NetworkMode, Policy, SyscallProfile};

use crate::host::HostFacts;
use crate::plan::{FilePlan, LimitPlan, Mode, NetworkPlan, Plan, ProcView, SyscallPlan};

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The host lacks something that the policy does not allow to be missing.
    #[error("this host cannot enforce `{control}`: {why}; fix: {fix}")]
    HostCannot {
        /// Name of the control, as listed in `enforcement.degradable`.
        control: &'static str,
        /// What is missing.
        why: String,
        /// What an operator can do.
        fix: String,
    },
    /// The policy asks for something this build has no mechanism for.
    #[error("this build cannot enforce `{field}`: {why}")]
    NotBuilt {
        /// Policy field.
        field: &'static str,
        /// What is missing.
        why: &'static str,
    },
}

/// A control that a host may lack.
struct Control {
    name: &'static str,
    present: bool,
    why: &'static str,
    fix: &'static str,
}

/// Makes the plan of a sandbox under `policy` with `limits` on this host.
pub fn make_plan(
    policy: &Policy,
    limits: &EffectiveLimits,
    host: &HostFacts,
) -> Result<Plan, PlanError> {
    if host.mode == Mode::Landlock && !host.landlock_mode_accepted {
        return Err(PlanError::HostCannot {
            control: "namespaces",
            why: host.mode_reason.clone(),
            fix: format!(
                "{}; or accept the lowest grade with `accept_landlock_mode = true` in the daemon's \
                 configuration (ROLLCAGE_CONFIG names the file)",
                host.mode_fix
            ),
        });
    }
    let degradable = missing_controls(policy, host)?;
    let network = match policy.network.mode {
        NetworkMode::Sealed => NetworkPlan::Sealed,
        NetworkMode::None => NetworkPlan::Loopback,
        NetworkMode::Allowlist => {
            return Err(PlanError::NotBuilt {
                field: "network.mode",
                why: "the egress proxy is not part of this build",
            });
        }
    };
    let proc = match policy.syscalls.profile {
        SyscallProfile::Strict => ProcView::PidsOnly,
        SyscallProfile::Compat | SyscallProfile::Debug => ProcView::Masked,
    };
    Ok(Plan {
        mode: host.mode,
        image: "host".to_owned(),
        hostname: "sandbox".to_owned(),
        limits: LimitPlan {
            memory_bytes_max: limits.memory_bytes_max,
            pids_max: limits.pids_max,
            cpu_millicores_max: limits.cpu_millicores_max,
            disk_bytes_max: limits.disk_bytes_max,
            files_max: limits.files_max,
            open_files_max: limits.open_files_max,
            cpu_ms_max: limits.cpu_ms_max,
        },
        files: FilePlan {
            read: policy.files.read.clone(),
            write: policy.files.write.clone(),
            execute: policy.files.execute.clone(),
            writable_noexec: policy.files.writable_noexec,
        },
        proc,
        network,
        syscalls: SyscallPlan {
            profile: policy.syscalls.profile,
            allow: policy.syscalls.allow.clone(),
            deny_action: policy.syscalls.deny_action,
            notify: host.seccomp_notify,
        },
        degradable,
        own: None,
    })
}

/// Names of missing controls the policy lets go; an error for the first it does not.
fn missing_controls(policy: &Policy, host: &HostFacts) -> Result<Vec<String>, PlanError> {
    let mut degraded = Vec::new();
    for control in controls(host) {
        if control.present {
            continue;
        }
        let allowed = policy.enforcement.default == Enforcement::Degradable
            || policy
                .enforcement
                .degradable
                .iter()
                .any(|name| name == control.name);
        if !allowed {
            return Err(PlanError::HostCannot {
                control: control.name,
                why: control.why.to_owned(),
                fix: control.fix.to_owned(),
            });
        }
        degraded.push(control.name.to_owned());
    }
    Ok(degraded)
}

/// What a strict policy demands of the host. Landlock is asked for only where no other layer
/// does its work (decision 23): in root and rootless mode the mount namespace, the empty network
/// namespace and the pid namespace do.
fn controls(host: &HostFacts) -> Vec<Control> {
    let cgroup_fix = "run sandboxd as root, or under a user session with delegated cgroups, \
                      or list the control in enforcement.degradable";
    let namespaces = host.mode != Mode::Landlock;
    vec![
        Control {
            name: "namespaces",
            present: namespaces,
            why: "user namespaces cannot be made here",
            fix: "run `rollcage doctor` for the setting to change",
        },
        Control {
            name: "landlock",
            present: host.landlock_abi > 0 || namespaces,
            why: "the kernel has no Landlock and there is no mount namespace either",
            fix: "a kernel with Landlock enabled",
        },
        Control {
            name: "memory",
            present: host.cgroups.has("memory"),
            why: "no memory cgroup can be made; memory would only be polled",
            fix: cgroup_fix,
        },
        Control {
            name: "pids",
            present: host.cgroups.has("pids"),
            why: "no pids cgroup can be made; RLIMIT_NPROC alone counts per user",
            fix: cgroup_fix,
        },
        Control {
            name: "cpu",
            present: host.cgroups.has("cpu"),
            why: "no cpu cgroup can be made; only CPU time per process is limited",
            fix: cgroup_fix,
        },
    ]
}
