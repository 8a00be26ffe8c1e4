//! What a sandbox's program cannot see of its own confinement, and others can: the launcher from
//! outside, over `/proc` and the control groups, and pid 1 of itself. Rows like those of the
//! battery, but nothing is tried: something is looked at.

use crate::judge::{Judged, judge_row};
use crate::row::{Class, Expectation, Row, Want, row};
use crate::{Finding, Setting};

/// Why much is not asked in landlock mode.
const NO_NAMESPACES: &str = "landlock mode has no namespaces";
const OWN: Want = Want::Namespaced(&["own"], NO_NAMESPACES);

/// KILL, SETGID, SETUID and SETPCAP; where memory is polled SYS_PTRACE too.
fn capabilities(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.cgroup_memory) {
        (false, _) => Expectation::NotAsked(NO_NAMESPACES),
        (true, true) => Expectation::any(&["1e0"]),
        (true, false) => Expectation::any(&["801e0"]),
    }
}

fn files(setting: &Setting) -> Expectation {
    if setting.leased_ids {
        Expectation::any(&["root"])
    } else {
        Expectation::NotAsked("they are the user's own either way")
    }
}

fn ids(setting: &Setting) -> Expectation {
    match (setting.own_namespaces, setting.leased_ids) {
        (false, _) => Expectation::NotAsked(NO_NAMESPACES),
        (true, true) => Expectation::any(&["leased"]),
        (true, false) => Expectation::any(&["one"]),
    }
}

fn memory(setting: &Setting) -> Expectation {
    limit(setting.cgroup_memory)
}

fn processes(setting: &Setting) -> Expectation {
    limit(setting.cgroup_pids)
}

fn limit(by_group: bool) -> Expectation {
    if by_group {
        Expectation::any(&["as_asked"])
    } else {
        Expectation::NotAsked("this host has no such control group for us")
    }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("host:ns_user", Class::Escape, "whether pid 1 is in the launcher's user namespace", &["user_namespace", "ns_user"], OWN),
    row("host:ns_mnt", Class::Escape, "whether pid 1 is in the launcher's mount namespace", &["ns_mnt", "user_namespace"], OWN),
    row("host:ns_pid", Class::Escape, "whether pid 1 is in the launcher's pid namespace", &["ns_pid"], OWN),
    row("host:ns_net", Class::Exfiltration, "whether pid 1 is in the launcher's network namespace", &["ns_net"], OWN),
    row("host:ns_ipc", Class::Lateral, "whether pid 1 is in the launcher's IPC namespace", &["ns_ipc"], OWN),
    row("host:ns_uts", Class::HostLeak, "whether pid 1 is in the launcher's UTS namespace", &["ns_uts"], OWN),
    row("host:ns_cgroup", Class::HostLeak, "whether pid 1 is in the launcher's cgroup namespace", &["ns_cgroup"], OWN),
    row("host:ids", Class::Escape, "which ids of the host the sandbox's stand for", &["lease", "user_namespace", "maps"], Want::By(ids)),
    row("host:init_capabilities", Class::InternalEscalation, "which capabilities pid 1 has or could get back", &["init_privileges"], Want::By(capabilities)),
    row("host:init_no_new_privs", Class::InternalEscalation, "whether pid 1 could gain privileges", &["init_privileges", "no_new_privs"], Want::Always(&["1"])),
    row("host:init_sealed", Class::Escape, "whether the file that pid 1 runs from can be written", &["seal_init"], Want::Namespaced(&["yes"], "the kernel hides the file of a process that must not be traced from its own user")),
    row("host:init_files", Class::InternalEscalation, "whom the kernel gives the files of pid 1 to", &["init_guard"], Want::By(files)),
    row("host:cgroup_memory", Class::HostDos, "which memory limit the kernel shows", &["cgroup_memory"], Want::By(memory)),
    row("host:cgroup_pids", Class::HostDos, "which limit of processes the kernel shows", &["cgroup_pids"], Want::By(processes)),
    row("host:cgroup_cpu", Class::PeerDos, "which CPU quota the kernel shows", &["cgroup_cpu"], Want::Always(&["as_asked", "absent"])),
    row("host:cgroup_devices", Class::Escape, "whether the kernel has a list of devices", &["cgroup_devices"], Want::Always(&["listed", "absent"])),
    row("host:ceilings", Class::Escape, "whether the launcher grants more than its own ceilings", &["ceilings"], Want::Always(&["refused"])),
    row("init:keyring", Class::Lateral, "whether pid 1 has the launcher's session keyring", &["session_keyring"], Want::Always(&["own", "none"])),
    row("init:traceable", Class::InternalEscalation, "whether others of its id may trace pid 1", &["init_guard"], Want::Always(&["no"])),
    row("init:launcher_dies", Class::HostDos, "what becomes of pid 1 when the launcher dies", &["init_guard"], Want::Always(&["killed"])),
];

const COUNT: usize = ROWS.len();

/// None of them is a row of the battery's own run: a program that tells of one is wrong.
const ALL: [Row; COUNT] = {
    let mut all = [ROWS[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = ROWS[at].varies().by_itself();
        at += 1;
    }
    all
};

/// Every row.
pub const WITNESSED: &[Row] = &ALL;

/// Judges what pid 1 and the launcher tell of one sandbox; what they do not tell is wrong.
#[must_use]
pub fn judge_witnessed(facts: &[Finding], setting: &Setting) -> Vec<Judged> {
    WITNESSED
        .iter()
        .map(|row| {
            let told = facts.iter().find(|fact| fact.name == row.name);
            judge_row(row, told.map(|fact| fact.result.as_str()), setting)
        })
        .collect()
}

#[cfg(test)]
mod tests;
