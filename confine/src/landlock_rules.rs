//! The Landlock ruleset of a sandbox, made once by pid 1 and laid on every command.
//!
//! The second lock on files (the mount namespace is the first), and on signals and abstract
//! sockets where the kernel has those scopes.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use nix::errno::Errno;

use crate::boot::Boot;
use crate::plan::NetworkPlan;
use crate::steps::{StepError, Taken};

/// Devices of the host in landlock mode, which has no folder of its own for them.
const HOST_DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// The first ABI that keeps signals and abstract sockets within a domain.
const SCOPES_ABI: u32 = 6;

/// The newest ABI whose rights are named here; a newer kernel is used up to this one.
const ABI_MAX: u32 = 7;

pub(crate) fn abi(level: u32) -> ABI {
    match level.min(ABI_MAX) {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}

pub(crate) fn failed<E: std::fmt::Display>(doing: &str) -> impl FnOnce(E) -> StepError {
    move |error| StepError {
        doing: format!("{doing}: {error}"),
        errno: Errno::EINVAL,
    }
}

/// What the rules amount to: what their ABI lacks is done by the namespaces, where there are any.
pub(crate) fn taken(boot: &Boot, namespaces: bool) -> Taken {
    let level = boot.landlock_abi;
    let others = match (level >= SCOPES_ABI, namespaces) {
        (true, _) => "",
        (false, true) => "; signals and abstract sockets by the namespaces alone",
        (false, false) => {
            return Taken::degraded(format!(
                "Landlock's ABI {level} has no scopes: signals reach this user's other processes"
            ));
        }
    };
    let own = match (boot.plan.own, &boot.own) {
        (Some(own), Some(_)) => format!(", {} may be read and executed", own.path()),
        _ => String::new(),
    };
    Taken::enforced(format!("ABI {level}{own}{others}"))
}

/// Builds the ruleset for a sandbox with everything the kernel's ABI `level` can handle.
pub(crate) fn build(boot: &Boot, level: u32) -> Result<RulesetCreated, StepError> {
    let abi = abi(level);
    let plan = &boot.plan;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(failed("handle file access"))?;
    if plan.network == NetworkPlan::Sealed && level >= 4 {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(abi))
            .map_err(failed("handle network access"))?;
    }
    if level >= SCOPES_ABI {
        ruleset = ruleset
            .scope(Scope::from_all(abi))
            .map_err(failed("scope signals and abstract sockets"))?;
    }
    let mut created = ruleset
        .create()
        .map_err(failed("create the ruleset"))?
        // A step of its own. Without it the kernel refuses these rules, and nothing starts.
        .no_new_privs(false);
    for (path, access) in grants(boot, abi) {
        let Ok(fd) = PathFd::new(&path) else {
            // Not in this image: nothing to grant. Denial is the default.
            continue;
        };
        let access = if Path::new(&path).is_dir() {
            access
        } else {
            access & AccessFs::from_file(abi)
        };
        created = created
            .add_rule(PathBeneath::new(fd, access))
            .map_err(failed(&format!("grant {path}")))?;
    }
    Ok(created)
}

/// Path, rights pairs; rights of nested paths add up.
fn grants(boot: &Boot, abi: ABI) -> Vec<(String, BitFlags<AccessFs>)> {
    let handled = AccessFs::from_all(abi);
    let plan = &boot.plan;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write =
        handled & !(BitFlags::from(AccessFs::Execute) | AccessFs::MakeChar | AccessFs::MakeBlock);
    // Names of folders are no secret: all there is in the tree was put there for the sandbox.
    let mut grants = Vec::new();
    if boot.workspace.is_none() {
        grants.push(("/".to_owned(), BitFlags::from(AccessFs::ReadDir)));
        // Our own few files, whatever the policy reads: they only say how many CPUs there are.
        grants.push(("/sys".to_owned(), read));
    }
    // The host's own /dev has others' terminals and shared memory in it: only the devices below.
    // A folder of the sandbox's own may lie below it all the same.
    let shown = |path: &String| {
        let on_disk = boot.host_path(path);
        let is_host_dev = boot.workspace.is_some() && on_disk == *path;
        (!(is_host_dev && Path::new(path).starts_with("/dev"))).then_some(on_disk)
    };
    for (paths, access) in [
        (&plan.files.read, read),
        (&plan.files.write, write),
        (&plan.files.execute, read | AccessFs::Execute),
    ] {
        grants.extend(paths.iter().filter_map(shown).map(|path| (path, access)));
    }
    // The one file, never its folder: in landlock mode that is the host's folder of programs.
    if let (Some(own), Some(_)) = (plan.own, &boot.own) {
        let access = AccessFs::ReadFile | AccessFs::Execute;
        grants.push((boot.host_path(own.path()), access));
    }
    // Devices can be used, not made, renamed or removed.
    let device = (read | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate) & handled;
    if boot.workspace.is_none() {
        grants.push(("/dev".to_owned(), device));
    } else {
        // The host's own folder: terminals and shared memory of the user are in it too.
        grants.extend(HOST_DEVICES.map(|path| (path.to_owned(), device)));
    }
    grants
}
