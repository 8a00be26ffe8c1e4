//! What the process itself is: ids, capabilities, filter, signals, session.

use std::fs;

use nix::errno::Errno;

use super::{Act, Origin};
use crate::sys::{self, Arg, call};
use crate::told::{Told, errno_of, word};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("ordinary_user", |_| ordinary_user()),
    ("user_ids", |_| ids("Uid")),
    ("group_ids", |_| ids("Gid")),
    ("groups", |_| groups()),
    ("inheritable_set", |_| status("CapInh")),
    ("permitted_set", |_| status("CapPrm")),
    ("effective_set", |_| status("CapEff")),
    ("bounding_set", |_| status("CapBnd")),
    ("ambient_set", |_| status("CapAmb")),
    ("locked_securebits", |_| number(libc::SYS_prctl, &[27, 0, 0, 0, 0], |bits| format!("{bits:#x}"))),
    ("no_new_privs", |_| number(libc::SYS_prctl, &[39, 0, 0, 0, 0], |set| set.to_string())),
    ("filter_mode", |_| status("Seccomp")),
    ("death_signal", |origin| word(&origin.death_signal.map_or_else(|| "unknown".to_owned(), |signal| signal.to_string()))),
    ("own_session", own_session),
    ("blocked_signals", |_| signals("SigBlk")),
    ("ignored_signals", |_| signals("SigIgn")),
    ("new_file_mode", |_| number(libc::SYS_umask, &[0], |mask| format!("{mask:03o}"))),
    ("execution_domain", |_| number(libc::SYS_personality, &[0xffff_ffff], |domain| format!("{domain:#x}"))),
    ("oom_score", |_| oom_score()),
    ("niceness", |_| number(libc::SYS_getpriority, &[0, 0], |nice| if nice <= 20 { "not raised".to_owned() } else { format!("raised by {}", nice - 20) })),
    ("control_groups", |_| control_groups()),
];

fn number(call_number: libc::c_long, words: &[u64], text: fn(u64) -> String) -> Told {
    let mut six = [0u64; 6];
    for (place, word) in six.iter_mut().zip(words) {
        *place = *word;
    }
    word(&text(sys::raw(call_number, six)?))
}

fn field(name: &str) -> Result<String, Errno> {
    let status = fs::read_to_string("/proc/self/status").map_err(errno_of)?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(line.ok_or(Errno::ENODATA)?.trim().to_owned())
}

fn status(name: &str) -> Told {
    word(&field(name)?)
}

/// The four ids, in one number where they are the same.
fn ids(name: &str) -> Told {
    let text = field(name)?;
    let mut all: Vec<&str> = text.split_whitespace().collect();
    all.dedup();
    word(&all.join(","))
}

fn ordinary_user() -> Told {
    let text = field("Uid")?;
    let root = text.split_whitespace().any(|id| id == "0");
    word(if root { "root" } else { "ordinary" })
}

fn groups() -> Told {
    match call(libc::SYS_getgroups, &mut [Arg::N(0), Arg::N(0)])? {
        0 => word("none"),
        count => word(&format!("{count} groups")),
    }
}

fn own_session(origin: &Origin) -> Told {
    word(if origin.session == (origin.process, origin.process) {
        "leader"
    } else {
        "of another"
    })
}

fn signals(name: &str) -> Told {
    /// 32 and 33 are the C library's own: what it spawns starts with them ignored.
    const INTERNAL: u64 = 0b11 << 31;
    let set = u64::from_str_radix(&field(name)?, 16).map_err(|_text| Errno::EPROTO)? & !INTERNAL;
    word(&if set == 0 {
        "none".to_owned()
    } else {
        format!("{set:x}")
    })
}

fn oom_score() -> Told {
    let text = fs::read_to_string("/proc/self/oom_score_adj").map_err(errno_of)?;
    let score: i32 = text.trim().parse().map_err(|_text| Errno::EPROTO)?;
    word(&if score >= 0 {
        "not lowered".to_owned()
    } else {
        format!("lowered to {score}")
    })
}

/// Which of memory and pids are counted in a group other than that of pid 1, which the namespace
/// shows as its root.
fn control_groups() -> Told {
    let text = fs::read_to_string("/proc/self/cgroup").map_err(errno_of)?;
    let lines: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once(':')?.1.split_once(':'))
        .collect();
    let versioned = lines
        .iter()
        .any(|(controllers, _)| *controllers == "memory");
    let own = |controller: &&str| {
        lines.iter().any(|(controllers, path)| {
            let here = controllers.split(',').any(|one| one == *controller);
            (here || !versioned && controllers.is_empty()) && *path != "/"
        })
    };
    let own: Vec<&str> = ["memory", "pids"]
        .into_iter()
        .filter(|name| own(name))
        .collect();
    word(&if own.is_empty() {
        "none".to_owned()
    } else {
        own.join(",")
    })
}
