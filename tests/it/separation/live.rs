//! One live process as the kernel shows it to root: its status, its filters, its threads.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use confine::seccomp::program::SockFilter;
use confine::sys::seccomp::carried_filter;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::skips;
use crate::world::speak;

/// Lines of a status file that say what a process may.
#[derive(Debug, Clone)]
pub(super) struct Status {
    pub(super) pid: i32,
    pub(super) uids: [u32; 4],
    pub(super) gids: [u32; 4],
    pub(super) groups: Vec<u32>,
    pub(super) inheritable: u64,
    pub(super) permitted: u64,
    pub(super) effective: u64,
    pub(super) bounding: u64,
    pub(super) ambient: u64,
    pub(super) no_new_privs: bool,
    pub(super) seccomp: u32,
    /// How many filters.
    pub(super) filters: u64,
}

impl Status {
    /// Of a process or thread; `None` if there is none.
    pub(super) fn of(pid: i32) -> Option<Self> {
        Self::read(pid, &format!("/proc/{pid}/status"))
    }

    fn read(pid: i32, path: &str) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                .map(str::trim)
        };
        let numbers = |name: &str| -> Option<Vec<u32>> {
            let words = field(name)?.split_whitespace();
            words.map(|word| word.parse().ok()).collect()
        };
        let set = |name: &str| u64::from_str_radix(field(name)?, 16).ok();
        Some(Self {
            pid,
            uids: numbers("Uid")?.try_into().ok()?,
            gids: numbers("Gid")?.try_into().ok()?,
            groups: numbers("Groups")?,
            inheritable: set("CapInh")?,
            permitted: set("CapPrm")?,
            effective: set("CapEff")?,
            bounding: set("CapBnd")?,
            ambient: set("CapAmb")?,
            no_new_privs: field("NoNewPrivs")? == "1",
            seccomp: field("Seccomp")?.parse().ok()?,
            filters: field("Seccomp_filters")?.parse().ok()?,
        })
    }
}

/// All threads of a process.
pub(super) fn threads(pid: i32) -> Vec<Status> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
    tasks
        .flatten()
        .filter_map(|task| {
            let path = task.path().join("status");
            Status::read(pid, path.to_str().expect("a path"))
        })
        .collect()
}

/// Who owns its `/proc` files: root if it is not dumpable, else its own user.
pub(super) fn owner_of_memory(pid: i32) -> u32 {
    let memory = fs::metadata(format!("/proc/{pid}/mem"));
    memory.expect("its memory").uid()
}

pub(super) fn signal(pid: i32, signal: Signal) {
    nix::sys::signal::kill(Pid::from_raw(pid), signal).expect("signal it");
}

/// The filters of one process, the first one installed first.
pub(super) type Filters = Vec<Vec<SockFilter>>;

/// Which processes a copy of this test program is to look at, and how it says what it found.
const READ: &str = "ROLLCAGE_IT_READ_FILTERS";
const MARK: &str = "FILTERS ";

/// Reads the filters of live processes; `None`, told and counted, where that cannot be. A copy of
/// this program does it: here another thread waits for the daemon, and would take its stops for
/// its end.
pub(super) fn filters(test: &str, pids: &[i32]) -> Option<BTreeMap<i32, Filters>> {
    let own = std::env::current_exe().expect("own path");
    let pids = serde_json::to_string(pids).expect("a list");
    let mut command = Command::new(own);
    command
        .args([test, "--exact", "--nocapture"])
        .env(READ, pids);
    let spoken = speak(&mut command, b"");
    let stdout = spoken.stdout();
    let line = stdout
        .lines()
        .find_map(|line| Some(line.split_once(MARK)?.1));
    let line = line.unwrap_or_else(|| panic!("no answer\n{stdout}\n{}", spoken.stderr()));
    let found: Result<BTreeMap<i32, Filters>, i32> = serde_json::from_str(line).expect("an answer");
    match found {
        Ok(filters) => Some(filters),
        Err(errno) => {
            let errno = Errno::from_raw(errno);
            let reason = format!("filters of live processes cannot be read here: {errno}");
            skips::skip(test, &reason);
            None
        }
    }
}

/// Whether this is that copy; then it has answered.
pub(super) fn as_reader() -> bool {
    let Ok(pids) = std::env::var(READ) else {
        return false;
    };
    let pids: Vec<i32> = serde_json::from_str(&pids).expect("a list of pids");
    let read = |pid: i32| read(pid).map(|filters| (pid, filters));
    let found: Result<BTreeMap<i32, Filters>, Errno> = pids.into_iter().map(read).collect();
    let found = found.map_err(|errno| errno as i32);
    let answer = serde_json::to_string(&found).expect("an answer");
    println!("\n{MARK}{answer}");
    true
}

/// Stops the process for a moment and reads them.
fn read(raw: i32) -> Result<Filters, Errno> {
    let pid = Pid::from_raw(raw);
    ptrace::seize(pid, ptrace::Options::empty())?;
    ptrace::interrupt(pid)?;
    waitpid(pid, Some(WaitPidFlag::__WALL))?;
    let mut filters = Vec::new();
    let read = loop {
        match carried_filter(raw, filters.len()) {
            Ok(Some(filter)) => filters.push(filter),
            Ok(None) => break Ok(()),
            // What the kernel says of a process that has none at all.
            Err(Errno::EINVAL) if filters.is_empty() => break Ok(()),
            Err(errno) => break Err(errno),
        }
    };
    ptrace::detach(pid, None)?;
    read.map(|()| filters)
}
