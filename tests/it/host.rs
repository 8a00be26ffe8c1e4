//! What can be seen of processes, mounts and control groups from the host, and what must not be
//! seen any more. It looks, and changes nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// One process of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) uid: u32,
    pub(crate) name: String,
    pub(crate) command_line: String,
    pub(crate) is_orphan_zombie: bool,
}

/// All processes of the host.
pub(crate) fn processes() -> Vec<Process> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").expect("list /proc").flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // It may have ended meanwhile.
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else {
            continue;
        };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next())
                .unwrap_or("")
                .to_owned()
        };
        let command_line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let parent = field("PPid:").parse().unwrap_or(0);
        all.push(Process {
            pid,
            parent,
            is_orphan_zombie: parent == 1 && field("State:") == "Z",
            uid: field("Uid:").parse().unwrap_or(0),
            name: field("Name:"),
            command_line: String::from_utf8_lossy(&command_line).replace('\0', " "),
        });
    }
    all
}

/// `pid` and everything below it.
pub(crate) fn descendants(pid: i32) -> Vec<Process> {
    let all = processes();
    let mut family = BTreeSet::from([pid]);
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|one| family.contains(&one.parent))
                .map(|one| one.pid)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    all.into_iter()
        .filter(|one| family.contains(&one.pid))
        .collect()
}

/// Starts and ends of daemons of several tests come one after another: what is left of one is
/// looked at before the next may clean it up.
pub(crate) fn take_turn() -> Flock<File> {
    let path = std::env::temp_dir().join("rollcage-it.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path);
    let file = file.expect("open the lock of the tests");
    match Flock::lock(file, FlockArg::LockExclusive) {
        Ok(turn) => turn,
        Err((_, errno)) => panic!("lock the tests' lock: {errno}"),
    }
}

/// Host ids of one launcher, and the first one: `launcher/src/instance.rs`.
const FIRST_ID: u32 = 0x1000_0000;
const IDS_PER_INSTANCE: u32 = 256 * 65_536;

/// The launcher's number on this host: names its control groups, folder and host ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) number: u32,
    pub(crate) launcher_pid: i32,
    /// Its lock, in the folder that holds its own one.
    pub(crate) lock: PathBuf,
}

impl Instance {
    /// The instance of the launcher at or below `pid`.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        descendants(pid).into_iter().find_map(|process| {
            let open = fs::read_dir(format!("/proc/{}/fd", process.pid)).ok()?;
            open.flatten().find_map(|fd| {
                let lock = fs::read_link(fd.path()).ok()?;
                let name = lock.file_name()?.to_str()?;
                let number = name
                    .strip_prefix("instance-")?
                    .strip_suffix(".lock")?
                    .parse()
                    .ok()?;
                Some(Self {
                    number,
                    launcher_pid: process.pid,
                    lock,
                })
            })
        })
    }

    /// First host id of all that it may lease.
    pub(crate) fn first_id(&self) -> u32 {
        FIRST_ID + self.number * IDS_PER_INSTANCE
    }

    fn folder(&self) -> PathBuf {
        self.lock.with_extension("")
    }

    /// Control groups of this instance in all hierarchies.
    pub(crate) fn groups(&self) -> Vec<PathBuf> {
        let name = format!("rollcage-{}", self.number);
        let mut groups = Vec::new();
        find_groups(Path::new("/sys/fs/cgroup"), &name, 4, &mut groups);
        groups
    }

    /// Groups of single sandboxes.
    pub(crate) fn sandbox_groups(&self) -> Vec<PathBuf> {
        let below = |group: &PathBuf| {
            let entries = fs::read_dir(group).into_iter().flatten().flatten();
            let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            dirs.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        self.groups().iter().flat_map(below).collect()
    }

    /// Processes that run under ids leased by this instance. One that is dead and waits for the
    /// host's own pid 1 to reap it runs no more, and is not ours to reap.
    pub(crate) fn leased_processes(&self) -> Vec<Process> {
        let first = FIRST_ID + self.number * IDS_PER_INSTANCE;
        let leased = first..first + IDS_PER_INSTANCE;
        let runs = |process: &Process| leased.contains(&process.uid) && !process.is_orphan_zombie;
        processes().into_iter().filter(runs).collect()
    }

    /// Whether a process has its lock open.
    pub(crate) fn is_held_by(&self, pid: i32) -> bool {
        let open = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten();
        open.flatten()
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|file| file == self.lock))
    }

    /// What is left of it after its end. Looked at under its own lock, so that no other launcher has
    /// its number meanwhile.
    pub(crate) fn leftovers_at_end(&self) -> Vec<String> {
        let Ok(file) = File::open(&self.lock) else {
            return self.leftovers();
        };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(_held) => self.leftovers(),
            // Another launcher has the number already: it swept before it took it.
            Err(_) => Vec::new(),
        }
    }

    /// What there is of it; nothing after an orderly end.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let mut left = Vec::new();
        let groups = self.groups();
        left.extend(
            groups
                .iter()
                .map(|group| format!("control group {}", group.display())),
        );
        left.extend(
            self.leased_processes()
                .iter()
                .map(|process| format!("process {process:?}")),
        );
        left.extend(
            mounts_with(&self.folder())
                .into_iter()
                .map(|mount| format!("mount {mount}")),
        );
        if self.folder().exists() {
            left.push(format!("folder {}", self.folder().display()));
        }
        left
    }
}

fn find_groups(folder: &Path, name: &str, depth: u32, found: &mut Vec<PathBuf>) {
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if entry.file_name() == name {
            found.push(entry.path());
        } else {
            find_groups(&entry.path(), name, depth - 1, found);
        }
    }
}

/// Mounts of our own mount namespace that mention `path`.
pub(crate) fn mounts_with(path: &Path) -> Vec<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").expect("read mountinfo");
    let path = path.to_string_lossy();
    let mentions = |line: &&str| {
        line.split(' ')
            .any(|word| word == path || word.starts_with(&format!("{path}/")))
    };
    text.lines().filter(mentions).map(str::to_owned).collect()
}
