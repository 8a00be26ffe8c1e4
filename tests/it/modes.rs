//! The three grades of confinement side by side: root, an ordinary user with namespaces, one without.
//! Each has a home of its own and brings its daemon along for one command.

use std::path::Path;
use std::process::Command;

use crate::nobody::Nobody;
use crate::skips;
use crate::user::User;
use crate::world::{Spoken, speak};

/// Somebody in one of the grades.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) user: User,
    /// In memory, as on hosts where people log in: some disks take milliseconds for each file.
    run: tempfile::TempDir,
}

impl Mode {
    /// All grades that this host has; what is missing is told and counted. The ids are for those
    /// without root.
    pub(crate) fn all(test: &str, rootless: Nobody, lowest: Nobody) -> Vec<Self> {
        if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
            return Vec::new();
        }
        let names = [
            ("root", 0),
            ("rootless", rootless.id()),
            ("landlock", lowest.id()),
        ];
        let mut modes = Vec::new();
        for (name, id) in names {
            let user = User::new(id);
            if name == "landlock" {
                user.lowest();
            }
            let mode = Self {
                name,
                run: runtime_folder(user.id),
                user,
            };
            let found = mode.say(&["doctor", "--json"]).json()["mode"].clone();
            if found == name {
                modes.push(mode);
            } else {
                skips::skip(
                    &format!("{test}/{name}"),
                    &format!("this host gives {found}"),
                );
            }
        }
        modes
    }

    /// The `rollcage` command, which starts a daemon of its own.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.user.command("lowest.toml");
        command
            .env("ROLLCAGE_STATE_DIR", self.user.path("state"))
            .env("XDG_RUNTIME_DIR", self.run.path());
        command.arg("--embedded");
        command
    }

    /// Runs the command to its end.
    pub(crate) fn say(&self, arguments: &[&str]) -> Spoken {
        speak(self.command().args(arguments), b"")
    }

    /// Where the daemon keeps what does not outlive a boot (not root's, which is the host's own).
    pub(crate) fn runtime_dir(&self) -> std::path::PathBuf {
        self.run.path().join("rollcage")
    }

    /// Fails the test when a sandbox or an instance left a folder.
    #[track_caller]
    pub(crate) fn nothing_is_left(&self) {
        let instances = std::fs::read_dir(self.runtime_dir());
        let entries = instances.into_iter().flatten().flatten();
        let is_instance = |entry: &std::fs::DirEntry| {
            let name = entry.file_name();
            entry.path().is_dir() && name.to_string_lossy().starts_with("instance-")
        };
        let left: Vec<_> = entries.filter(is_instance).collect();
        assert!(left.is_empty(), "{}: {left:?}", self.name);
    }
}

fn runtime_folder(id: u32) -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    let folder = folder.expect("a runtime folder");
    std::os::unix::fs::chown(folder.path(), Some(id), Some(id)).expect("give it away");
    folder
}
