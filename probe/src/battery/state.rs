//! What the process itself is: ids, capabilities, filter, signals, session. Each tells of one step,
//! whatever other locks overlap with it.

use super::HOST_TREE;
use crate::row::{Class, Expectation, Row, Want, row};
use crate::setting::Setting;

const CAPABILITIES: &[&str] = &["capabilities"];
/// Sixteen digits, as the kernel shows a set.
const EMPTY: &str = "0000000000000000";
const NO_CAPABILITY: Want = Want::Always(&[EMPTY]);

fn groups(setting: &Setting) -> Expectation {
    if setting.leased_ids {
        Expectation::any(&["none"])
    } else {
        Expectation::NotAsked("a user cannot leave groups without privileges")
    }
}

fn attached(setting: &Setting) -> Expectation {
    match (setting.cgroup_memory, setting.cgroup_pids) {
        (true, true) => Expectation::any(&["memory,pids"]),
        (true, false) => Expectation::any(&["memory"]),
        (false, true) => Expectation::any(&["pids"]),
        (false, false) => Expectation::NotAsked("no control group can be made on this host"),
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("ordinary_user", Class::InternalEscalation, "be uid 0 in any of the four ids", &["identity", "user_namespace"], Want::Always(&["ordinary"])),
    row("user_ids", Class::InternalEscalation, "be another user than the payload's", &["identity", "user_namespace"], Want::Namespaced(&["1000"], HOST_TREE)),
    row("group_ids", Class::InternalEscalation, "be in another group than the payload's", &["identity", "user_namespace"], Want::Namespaced(&["1000"], HOST_TREE)),
    row("groups", Class::HostLeak, "be in further groups of the host", &["identity"], Want::By(groups)).varies(),
    row("inheritable_set", Class::InternalEscalation, "hold inheritable capabilities (CVE-2022-29162)", CAPABILITIES, NO_CAPABILITY).varies(),
    row("permitted_set", Class::InternalEscalation, "hold permitted capabilities", CAPABILITIES, NO_CAPABILITY),
    row("effective_set", Class::InternalEscalation, "hold effective capabilities", CAPABILITIES, NO_CAPABILITY),
    row("bounding_set", Class::InternalEscalation, "hold capabilities that a program could gain", &["bounding_set"], Want::Namespaced(&[EMPTY], "landlock mode cannot empty it; no_new_privs stands alone")),
    row("ambient_set", Class::InternalEscalation, "hold ambient capabilities", &["bounding_set", "capabilities"], NO_CAPABILITY).varies(),
    row("locked_securebits", Class::InternalEscalation, "change how ids and capabilities are tied", &["bounding_set"], Want::Namespaced(&["0xef"], "landlock mode has no privileges to set them")),
    row("no_new_privs", Class::InternalEscalation, "gain privileges by a set-uid program", &["no_new_privs", "init_privileges"], Want::Always(&["1"])),
    row("filter_mode", Class::InternalEscalation, "run without a filter", &["seccomp"], Want::Always(&["2"])),
    row("death_signal", Class::HostDos, "outlive the process that supervises", &["parent_death"], Want::Always(&["9"])),
    row("own_session", Class::Lateral, "share a session or a process group", &["session"], Want::Always(&["leader"])).varies(),
    row("blocked_signals", Class::InternalEscalation, "start with blocked signals", &["session"], Want::Always(&["none"])).varies(),
    row("ignored_signals", Class::InternalEscalation, "start with ignored signals", &["session"], Want::Always(&["none"])).varies(),
    row("new_file_mode", Class::HostLeak, "start with another umask", &["session"], Want::Always(&["022"])).varies(),
    row("execution_domain", Class::InternalEscalation, "start in another execution domain", &["session"], Want::Always(&["0x0"])).varies(),
    row("oom_score", Class::PeerDos, "be spared when the kernel kills for memory", &[], Want::Always(&["not lowered"])).varies(),
    row("niceness", Class::PeerDos, "start with a raised priority", &[], Want::Always(&["not raised"])).varies(),
    row("control_groups", Class::HostDos, "be counted in no control group of one's own", &["cgroups", "cgroup_memory", "cgroup_pids"], Want::By(attached)),
];
