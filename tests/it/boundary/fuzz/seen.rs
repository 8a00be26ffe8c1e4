//! What the host shows of a sandbox, against what no launcher may grant.

use std::fs;
use std::path::Path;

const IDS_PER_INSTANCE: u32 = 256 * 65_536;

/// Checks a sandbox by the host pid of its pid 1; false if it was gone before it could be seen.
pub(super) fn is_within(pid: i32, first_id: u32, instance: u32) -> bool {
    let proc = format!("/proc/{pid}");
    let read = |file: &str| fs::read_to_string(format!("{proc}/{file}")).ok();
    let (Some(uids), Some(gids), Some(mounts), Some(status), Some(groups)) = (
        read("uid_map"),
        read("gid_map"),
        read("mountinfo"),
        read("status"),
        read("cgroup"),
    ) else {
        return false;
    };
    // A dead one shows empty files.
    if mounts.is_empty() || status.contains("State:\tZ") {
        return false;
    }
    for map in [&uids, &gids] {
        let numbers: Vec<u32> = map
            .split_whitespace()
            .map(|word| word.parse().expect("a number"))
            .collect();
        let leased = first_id..first_id + IDS_PER_INSTANCE;
        let fits = matches!(numbers[..], [0, first, 65_536] if leased.contains(&first));
        assert!(fits, "ids of {pid}: {map:?}");
    }
    // It began as root of the host for the mounts; it is that no more.
    let uid = field(&status, "Uid:");
    let uid: u32 = uid
        .split_whitespace()
        .next()
        .expect("a uid")
        .parse()
        .expect("a number");
    assert!(uid >= first_id, "{pid} runs as host uid {uid}");
    for lock in [("NoNewPrivs:", "1"), ("Seccomp:", "2")] {
        assert_eq!(field(&status, lock.0), lock.1, "{}", lock.0);
    }
    check_mounts(pid, &mounts);
    check_namespaces(pid);
    assert!(
        groups.contains(&format!("/rollcage-{instance}/")) || !has_groups(instance),
        "{groups}"
    );
    check_limits(instance);
    true
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim()
}

/// Nothing of the host can be written through a mount of the sandbox.
fn check_mounts(pid: i32, mounts: &str) {
    for line in mounts.lines() {
        let (mount, system) = line.split_once(" - ").expect("a mount");
        let kind = system.split(' ').next().expect("its kind");
        let options = mount.split(' ').nth(5).expect("its options");
        let own = ["tmpfs", "proc", "devpts", "mqueue"].contains(&kind);
        let read_only = options.split(',').any(|option| option == "ro");
        assert!(own || read_only, "{pid} can write {line}");
        let point = mount.split(' ').nth(4).expect("its place");
        assert!(!point.starts_with("/sys"), "{pid} sees {line}");
        assert!(!mount.contains("/var/lib/rollcage"), "{pid} sees {line}");
    }
}

fn check_namespaces(pid: i32) {
    for kind in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"] {
        let of = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/{kind}"));
        // It may have ended since.
        let Ok(its) = of(&pid.to_string()) else {
            return;
        };
        assert_ne!(its, of("self").expect("our own"), "{pid} shares our {kind}");
    }
}

fn has_groups(instance: u32) -> bool {
    Path::new(&format!("/sys/fs/cgroup/unified/rollcage-{instance}")).is_dir()
        || Path::new(&format!("/sys/fs/cgroup/rollcage-{instance}")).is_dir()
}

/// Every limit of every group of this instance is a number that a ceiling allows.
fn check_limits(instance: u32) {
    let total = memory_bytes_total();
    let top = |hierarchy: &str| format!("/sys/fs/cgroup/{hierarchy}/rollcage-{instance}");
    for (hierarchy, file, max) in [
        ("memory", "memory.limit_in_bytes", total),
        ("pids", "pids.max", 16_384),
    ] {
        for entry in fs::read_dir(top(hierarchy)).into_iter().flatten().flatten() {
            // Groups come and go; a limit is written before anybody is in.
            let members = fs::read_to_string(entry.path().join("tasks")).unwrap_or_default();
            let limit = fs::read_to_string(entry.path().join(file)).unwrap_or_default();
            if members.is_empty() || limit.is_empty() {
                continue;
            }
            let limit = limit.trim();
            let within = limit.parse().is_ok_and(|limit: u64| limit <= max);
            assert!(within, "{}: {limit}", entry.path().display());
        }
    }
}

fn memory_bytes_total() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").expect("/proc/meminfo");
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB"));
    kib.expect("MemTotal")
        .trim()
        .parse::<u64>()
        .expect("a number")
        * 1024
}
