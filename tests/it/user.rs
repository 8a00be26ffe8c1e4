//! An ordinary user of no account (or root, as 0), with a home and programs of his own, and the `rollcage` command as
//! he calls it: straight, or from within surroundings that a test made.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::skips;
use crate::wait;
use crate::world::{Spoken, speak};

const PROGRAMS: [&str; 5] = [
    "rollcage",
    "sandboxd",
    "sandbox-launcher",
    "sandbox-init",
    "sandbox-probe",
];

/// How long the processes of a user may take to be gone.
const GONE_MAX: Duration = Duration::from_secs(10);

/// A home with the six programs in it: where they were built may be closed to others.
pub(crate) struct User {
    pub(crate) id: u32,
    home: tempfile::TempDir,
}

impl User {
    /// A new home for uid and gid `id`.
    pub(crate) fn new(id: u32) -> Self {
        let home = tempfile::tempdir().expect("a home");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(home.path(), open).expect("open the home");
        for name in ["bin", "run", "work"] {
            fs::create_dir(home.path().join(name)).expect("a folder");
            chown(home.path().join(name), Some(id), Some(id)).expect("give it away");
        }
        chown(home.path(), Some(id), Some(id)).expect("give the home away");
        for name in PROGRAMS {
            let to = home.path().join("bin").join(name);
            fs::copy(skips::bin_dir().join(name), to).expect("copy a program");
        }
        Self { id, home }
    }

    /// A file or folder of the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs the command as this user.
    pub(crate) fn say(&self, arguments: &[&str]) -> Spoken {
        self.say_with("no-configuration", arguments)
    }

    /// With the daemon's configuration in a file of this name in the home.
    pub(crate) fn say_with(&self, configuration: &str, arguments: &[&str]) -> Spoken {
        speak(self.command(configuration).args(arguments), b"")
    }

    /// The command as this user would start it, likewise.
    pub(crate) fn command(&self, configuration: &str) -> Command {
        let mut command = Command::new(self.path("bin/rollcage"));
        command.uid(self.id).gid(self.id);
        self.surround(&mut command, configuration);
        command
    }

    /// Writes `lowest.toml`, a configuration with which no namespaces are to be had, as on a host that
    /// gives users none.
    pub(crate) fn lowest(&self) {
        let launcher = self.path("bin/launcher.sh");
        let script = format!(
            "#!/bin/sh\nexec {} \"$@\" --force-landlock\n",
            self.path("bin/sandbox-launcher").display()
        );
        fs::write(&launcher, script).expect("write a script");
        let program = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&launcher, program).expect("make it a program");
        let text = format!("launcher = {launcher:?}\naccept_landlock_mode = true\n");
        fs::write(self.path("lowest.toml"), text).expect("write the configuration");
    }

    /// Runs the command as what `around` makes of it: a program that ends by executing what follows
    /// it, started as root.
    pub(crate) fn say_within(
        &self,
        around: &[String],
        configuration: &str,
        (arguments, stdin): (&[&str], &str),
    ) -> Spoken {
        let (program, rest) = around.split_first().expect("a program");
        let mut command = Command::new(program);
        command
            .args(rest)
            .arg(self.path("bin/rollcage"))
            .args(arguments);
        self.surround(&mut command, configuration);
        speak(&mut command, stdin.as_bytes())
    }

    fn surround(&self, command: &mut Command, configuration: &str) {
        command
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("ROLLCAGE_BIN_DIR", self.path("bin"));
        if self.id == 0 {
            // Else the host's own daemon and its state would be meant.
            command
                .env("ROLLCAGE_STATE_DIR", self.path("state"))
                .env("ROLLCAGE_SOCKET", self.path("nobody.sock"));
        }
        if self.path(configuration).exists() {
            command.env("ROLLCAGE_CONFIG", self.path(configuration));
        }
    }

    /// A run whose result is asked for as JSON.
    pub(crate) fn run(&self, arguments: &[&str]) -> Value {
        let spoken = self.say(&[&["run", "--json"], arguments].concat());
        spoken.json()
    }

    /// Fails the test when a process of this uid stays: the kernel may take a moment for the last ones.
    #[track_caller]
    pub(crate) fn is_gone(&self) {
        let (left, waited) = wait::until(GONE_MAX, &Vec::new(), || self.processes());
        assert_eq!(left, Vec::<String>::new(), "after {waited:?}");
    }

    /// Numbers of the processes that run under this uid.
    fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("/proc").flatten();
        entries
            .filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == self.id))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            .collect()
    }
}

/// Whether `doctor` found Landlock in the kernel.
pub(crate) fn has_landlock(doctor: &Value) -> bool {
    let features = doctor["features"].as_array().expect("features");
    let row = features.iter().find(|row| row["name"] == "landlock");
    row.is_some_and(|row| row["available"] == true)
}

/// A control's row in a result's manifest.
#[track_caller]
pub(crate) fn row<'a>(result: &'a Value, name: &str) -> &'a Value {
    let rows = result["manifest"].as_array();
    let found = rows.and_then(|rows| rows.iter().find(|row| row["name"] == name));
    found.unwrap_or_else(|| panic!("{name} is not in {result}"))
}

/// Status of a control in a result's manifest.
#[track_caller]
pub(crate) fn control<'a>(result: &'a Value, name: &str) -> &'a str {
    row(result, name)["status"].as_str().expect("a status")
}
