//! Places for a daemon in which something of the test's own runs out: a control group, a small disk,
//! a command that becomes the daemon. Dropped, they leave nothing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};

use crate::host;
use crate::skips;
use crate::world::{Place, speak};

/// Numbers that launchers take on a host: `launcher/src/instance.rs`.
const NUMBERS: u32 = 112;

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A shell that does `before` and then becomes what follows.
pub(super) fn becomes(before: &str) -> Vec<String> {
    words(&["sh", "-c", &format!("{before} && exec \"$@\""), "sh"])
}

/// Runs a command of the test that has to succeed.
#[track_caller]
pub(super) fn must(command: &[&str]) {
    let output = Command::new(command[0]).args(&command[1..]).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
}

/// A control group of the test, for the daemon to be started in.
pub(super) struct OwnGroup {
    folder: PathBuf,
    is_v2: bool,
}

impl OwnGroup {
    /// A group of `controller`, at the top of its hierarchy.
    pub(super) fn make(controller: &str) -> Self {
        let v1 = Path::new("/sys/fs/cgroup").join(controller);
        let is_v2 = !v1.is_dir();
        let top = if is_v2 {
            PathBuf::from("/sys/fs/cgroup")
        } else {
            v1
        };
        let folder = top.join(format!("rollcage-it-{}", std::process::id()));
        fs::create_dir(&folder).expect("make a control group");
        Self { folder, is_v2 }
    }

    /// The shell words by which a process goes in.
    pub(super) fn enter(&self) -> String {
        format!("echo $$ > {}", self.folder.join("cgroup.procs").display())
    }

    pub(super) fn number(&self, file: &str) -> u64 {
        let text = fs::read_to_string(self.folder.join(file)).expect("read a group's number");
        text.trim().parse().expect("a number")
    }

    pub(super) fn set(&self, file: &str, value: &str) {
        // v1 writes "no limit" as -1, v2 as max.
        let value = match value {
            "-1" if self.is_v2 => "max",
            value => value,
        };
        fs::write(self.folder.join(file), value).expect("set a group's limit");
    }

    pub(super) fn memory_max(&self) -> &'static str {
        if self.is_v2 {
            "memory.max"
        } else {
            "memory.limit_in_bytes"
        }
    }

    pub(super) fn memory_now(&self) -> &'static str {
        if self.is_v2 {
            "memory.current"
        } else {
            "memory.usage_in_bytes"
        }
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // The daemon is gone by now, but the kernel may take a moment to see the group empty.
        let (removed, _) = crate::wait::until(std::time::Duration::from_secs(10), &true, || {
            fs::remove_dir(&self.folder).is_ok()
        });
        if !removed {
            eprintln!("{} is left", self.folder.display());
        }
    }
}

/// A disk of a few MiB, mounted for the test.
pub(crate) struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    pub(crate) fn mount(mib: u64) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-it-disk-")
            .tempdir()
            .expect("a folder");
        let size = format!("size={mib}m,mode=755");
        let path = folder.path().to_string_lossy().into_owned();
        must(&["mount", "-t", "tmpfs", "-o", &size, "rollcage-it", &path]);
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes until nothing more fits.
    pub(crate) fn fill(&self) {
        use std::io::Write;
        let mut file = File::create(self.path().join("filler")).expect("make a file");
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
    }

    /// Gives the space back.
    pub(crate) fn empty(&self) {
        fs::remove_file(self.path().join("filler")).expect("remove a file");
    }

    pub(crate) fn make_read_only(&self) {
        let path = self.path().to_string_lossy().into_owned();
        must(&["mount", "-o", "remount,ro", &path]);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a test that failed may still have a process in it.
        let status = Command::new("umount").arg("-l").arg(self.path()).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("{} is still mounted", self.path().display());
        }
    }
}

/// Takes every number that a launcher could take below `folder`, until dropped.
pub(super) fn take_all_numbers(folder: &Path) -> Vec<Flock<File>> {
    let take = |number| {
        let path = folder.join(format!("instance-{number}.lock"));
        let file = File::create(path).expect("make a lock");
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => held,
            Err((_, errno)) => panic!("take number {number}: {errno}"),
        }
    };
    (0..NUMBERS).map(take).collect()
}

/// Starts a daemon that has to refuse to serve, and gives what it said.
#[track_caller]
pub(super) fn refused_start(place: &Place) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("state");
    let state = place.state.as_ref().unwrap_or(&own);
    let socket = folder.path().join("s.sock");
    let file = folder.path().join("sandboxd.toml");
    let text = format!(
        "socket = {socket:?}\nstate_dir = {state:?}\n{}",
        place.config
    );
    fs::write(&file, text).expect("write the configuration");
    let mut words = place.under.clone();
    let program = skips::bin_dir().join("sandboxd");
    words.push(program.to_string_lossy().into_owned());
    let _turn = host::take_turn();
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .arg("serve")
        .env("ROLLCAGE_CONFIG", &file)
        .env_remove("ROLLCAGE_SOCKET")
        .env_remove("ROLLCAGE_STATE_DIR");
    let spoken = speak(&mut command, b"");
    let said = spoken.stderr();
    assert_ne!(spoken.code, Some(0), "it served: {said}");
    assert!(spoken.code.is_some(), "a signal ended it: {said}");
    said
}
