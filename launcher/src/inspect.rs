//! Looks at a sandbox from outside, for the self-test: at what the kernel shows of its pid 1 and its
//! groups, not at what was done. It changes nothing and judges nothing.

use std::fs;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

use confine::plan::LimitPlan;
use confine::wire::Fact;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};

use crate::cgroup::SandboxGroups;
use crate::instance::IDS_PER_SANDBOX;

/// Namespaces by the name of their link in `/proc/PID/ns`.
const NAMESPACES: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];
/// Said where the kernel shows nothing.
const UNKNOWN: &str = "unknown";

/// The facts, each by the name of its row: of pid 1, whose host pid is given, with the first id of
/// its lease. A forker calls this: it takes the right to look into other users' processes.
pub(crate) fn facts(pid: i32, uid_base: u32) -> Vec<Fact> {
    let proc = format!("/proc/{pid}");
    let mut facts: Vec<Fact> = NAMESPACES
        .iter()
        .map(|kind| Fact::new(&format!("host:ns_{kind}"), namespace(&proc, kind)))
        .collect();
    let status = fs::read_to_string(format!("{proc}/status")).unwrap_or_default();
    facts.extend([
        Fact::new("host:init_capabilities", capabilities(&status)),
        Fact::new("host:init_no_new_privs", field(&status, "NoNewPrivs:")),
        Fact::new("host:init_sealed", sealed(&proc)),
        Fact::new("host:init_files", owner_of_files(&proc)),
        Fact::new("host:ids", ids(&proc, uid_base)),
    ]);
    facts
}

/// The facts of its groups, for the launcher to add.
pub(crate) fn group_facts(groups: &SandboxGroups, limits: &LimitPlan) -> Vec<Fact> {
    let found = groups.limits_in_force(limits).into_iter();
    found.map(|(name, found)| Fact::new(name, found)).collect()
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(UNKNOWN, str::trim)
}

fn namespace(proc: &str, kind: &str) -> &'static str {
    let of = |process: &str| fs::read_link(format!("{process}/ns/{kind}"));
    match (of(proc), of("/proc/self")) {
        (Ok(its), Ok(ours)) if its == ours => "the_launchers",
        (Ok(_), Ok(_)) => "own",
        _ => UNKNOWN,
    }
}

/// All sets in one mask: what pid 1 has or could get back.
fn capabilities(status: &str) -> String {
    let sets = ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"];
    let mut all = 0;
    for set in sets {
        match u64::from_str_radix(field(status, set), 16) {
            Ok(mask) => all |= mask,
            Err(_missing) => return UNKNOWN.to_owned(),
        }
    }
    format!("{all:x}")
}

/// Whether the file that pid 1 runs from can be written by whoever gets at it.
fn sealed(proc: &str) -> &'static str {
    let seals = File::open(format!("{proc}/exe"))
        .map_err(|_closed| nix::errno::Errno::EACCES)
        .and_then(|file| fcntl(&file, FcntlArg::F_GET_SEALS));
    match seals.map(SealFlag::from_bits_retain) {
        Ok(seals) if seals.contains(SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SEAL) => "yes",
        Ok(_) => "no",
        Err(_errno) => UNKNOWN,
    }
}

/// The kernel gives the files of a process that must not be traced to root.
fn owner_of_files(proc: &str) -> &'static str {
    match fs::metadata(format!("{proc}/environ")).map(|file| file.uid()) {
        Ok(0) => "root",
        Ok(_) => "its_own",
        Err(_error) => UNKNOWN,
    }
}

/// Which ids of the host it stands for.
fn ids(proc: &str, uid_base: u32) -> &'static str {
    let lease = [0, u64::from(uid_base), u64::from(IDS_PER_SANDBOX)];
    let own = u64::from(nix::unistd::geteuid().as_raw());
    let map = |file: &str| -> Option<Vec<u64>> {
        let text = fs::read_to_string(format!("{proc}/{file}")).ok()?;
        text.split_whitespace()
            .map(|word| word.parse().ok())
            .collect()
    };
    match (map("uid_map"), map("gid_map")) {
        (Some(uids), Some(gids)) if uids == lease && gids == lease => "leased",
        (Some(uids), Some(_)) if own != 0 && uids.len() == 3 && uids[1..] == [own, 1] => "one",
        (Some(_), Some(_)) => "others",
        _ => UNKNOWN,
    }
}
