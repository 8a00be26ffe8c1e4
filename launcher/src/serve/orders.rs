//! What pid 1 of a sandbox is told: the plan with its filter compiled.

use confine::boot::{Boot, CpuView};
use confine::plan::{Mode, NetworkPlan, Plan};
use confine::seccomp::{self, FilterSpec};

use super::{Launcher, Own, StartFault, fault, private_folder};

impl Launcher {
    pub(super) fn boot(
        &mut self,
        id: &str,
        plan: Plan,
        uid_base: u32,
        cpus: CpuView,
    ) -> Result<Boot, StartFault> {
        let spec = filter_spec(&plan, self.host.landlock_abi).map_err(|reason| StartFault {
            step: "seccomp",
            reason: reason.to_string(),
            refused: true,
        })?;
        let filter = self.filter(&spec)?;
        let home = match self.host.mode {
            Mode::Landlock => {
                Some(private_folder::make(self.instance.dir(), id).map_err(fault("workspace"))?)
            }
            Mode::Root | Mode::Rootless => None,
        };
        let asked = |own: &&Own| Some(own.program) == plan.own;
        let own = self.own.iter().find(asked);
        let mut root = self.image.ops.clone();
        root.extend(own.iter().flat_map(|own| own.ops.clone()));
        Ok(Boot {
            own: own.map(|own| own.path.clone()),
            user_processes_max: home
                .is_some()
                .then(|| private_folder::user_processes().saturating_add(plan.limits.pids_max)),
            workspace: home,
            plan,
            root,
            filter,
            filter_spec: spec,
            cpus,
            landlock_abi: self.host.landlock_abi,
            uid_base,
            outer_uid: nix::unistd::geteuid().as_raw(),
            outer_gid: nix::unistd::getegid().as_raw(),
        })
    }

    /// Compiled filters are kept: there are as many as policies differ in their system calls.
    fn filter(
        &mut self,
        spec: &FilterSpec,
    ) -> Result<Vec<seccomp::program::SockFilter>, StartFault> {
        const KEPT_MAX: usize = 64;
        if let Some((_, filter)) = self.filters.iter().find(|(known, _)| known == spec) {
            return Ok(filter.clone());
        }
        let compiled = seccomp::compile(spec).map_err(|error| StartFault {
            step: "seccomp",
            reason: format!("syscalls.allow: {error}"),
            // Only a failure to assemble our own tables is ours.
            refused: !matches!(error, seccomp::CompileError::Assemble { .. }),
        })?;
        let compiled = compiled.program;
        if self.filters.len() >= KEPT_MAX {
            self.filters.remove(0);
        }
        self.filters.push((spec.clone(), compiled.clone()));
        Ok(compiled)
    }
}

/// A name in `syscalls.allow` that is no system call.
#[derive(Debug, thiserror::Error)]
#[error("syscalls.allow names {name:?}, which is no system call")]
struct UnknownCall {
    name: String,
}

fn filter_spec(plan: &Plan, landlock_abi: u32) -> Result<FilterSpec, UnknownCall> {
    use policies::policy::{DenyAction, SyscallProfile};
    let profile = match plan.syscalls.profile {
        SyscallProfile::Strict => seccomp::Profile::Strict,
        SyscallProfile::Compat => seccomp::Profile::Compat,
        SyscallProfile::Debug => seccomp::Profile::Debug,
    };
    // Without a network namespace of its own (landlock mode) a sandbox gets no IP sockets.
    let network = match plan.network {
        NetworkPlan::Loopback if plan.mode != Mode::Landlock => seccomp::Network::Loopback,
        NetworkPlan::Loopback | NetworkPlan::Sealed => seccomp::Network::Sealed,
    };
    let mut spec = FilterSpec::new(profile, network);
    spec.notify = plan.syscalls.notify;
    // A filter that kills does not say for which call. Where pid 1 is told of each, it kills.
    spec.deny_action = match plan.syscalls.deny_action {
        DenyAction::Kill if !spec.notify => seccomp::DenyAction::Kill,
        DenyAction::Kill | DenyAction::Errno => seccomp::DenyAction::Errno,
    };
    if plan.mode == Mode::Landlock {
        spec.extra_deny.extend(shared_host_calls(landlock_abi));
        spec.sealed_signals = landlock_abi < SIGNALS_ABI;
    }
    if plan.degradable.iter().any(|name| name == "memory") {
        // Where memory is polled it is looked for in processes: none may lie outside of them.
        let hoards = ["memfd_create", "shmget"];
        spec.extra_deny
            .extend(hoards.into_iter().filter_map(seccomp::table::number_of));
    }
    for name in &plan.syscalls.allow {
        let number =
            seccomp::table::number_of(name).ok_or_else(|| UnknownCall { name: name.clone() })?;
        spec.extra_allow.push(number);
    }
    Ok(spec)
}

/// From this ABI on Landlock keeps signals in.
const SIGNALS_ABI: u32 = 6;

/// In landlock mode the payload shares the host's namespaces: sockets would reach its services,
/// priorities could be set for all processes of the user, and where Landlock cannot scope signals
/// (before ABI 6) they would reach those processes.
fn shared_host_calls(landlock_abi: u32) -> Vec<u32> {
    let signals: &[&str] = if landlock_abi >= SIGNALS_ABI {
        &[]
    } else {
        &[
            "kill",
            "tkill",
            "tgkill",
            "pidfd_send_signal",
            "rt_sigqueueinfo",
            "rt_tgsigqueueinfo",
        ]
    };
    let names = [
        "socket",
        "shmget",
        "shmat",
        "shmctl",
        "semget",
        "semop",
        "semtimedop",
        "semctl",
        "msgget",
        "msgsnd",
        "msgrcv",
        "msgctl",
        "mq_open",
        "mq_unlink",
        "setpriority",
        "ioprio_set",
        "sched_setaffinity",
        "sched_setscheduler",
        "sched_setparam",
    ];
    names
        .iter()
        .chain(signals)
        .filter_map(|name| seccomp::table::number_of(name))
        .collect()
}
