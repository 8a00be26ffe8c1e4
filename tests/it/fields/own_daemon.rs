//! Probes of fields that say what happens where something is missing: they need a daemon that
//! lacks it. One is started by a user without control groups, the other loses its audit writer.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::{ClientError, pb};
use serde_json::Value;

use super::probes::under;
use crate::host;
use crate::skips::bin_dir;
use crate::world::{World, message, speak};

/// A user of no account on the host: no groups, no session, no delegated control group.
const USER: u32 = 61_020;

/// The built-in `base` under another name, with some lines exchanged.
fn changed_base(name: &str, changes: &[(&str, &str)]) -> String {
    let builtin = policies::Catalog::builtin().expect("the built-in policies");
    let mut document: toml::Table =
        toml::from_str(&builtin.get("base").expect("base").source).expect("base is TOML");
    document.insert("name".to_owned(), name.into());
    for (table, line) in changes {
        let change: toml::Table = toml::from_str(line).expect("TOML");
        let table = document.get_mut(*table).and_then(toml::Value::as_table_mut);
        table.expect("a table of base").extend(change);
    }
    document.to_string()
}

/// A host as an ordinary user finds it, in a folder that the user can reach.
struct Ordinary {
    folder: tempfile::TempDir,
}

impl Ordinary {
    fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-it-")
            .tempdir()
            .expect("a folder");
        let path = folder.path();
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("open the folder");
        for name in ["bin", "home", "policies"] {
            fs::create_dir(path.join(name)).expect("a folder");
        }
        // The programs may lie where only root gets to.
        for program in [
            "rollcage",
            "sandboxd",
            "sandbox-launcher",
            "sandbox-init",
            "sandbox-probe",
        ] {
            fs::copy(bin_dir().join(program), path.join("bin").join(program)).expect("copy");
        }
        chown(path.join("home"), Some(USER), Some(USER)).expect("give the home away");
        let config = format!("policies_dir = {:?}\n", path.join("policies"));
        fs::write(path.join("sandboxd.toml"), config).expect("write the configuration");
        Self { folder }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("write a file");
    }

    /// `rollcage run --json` of `true` as the user, with a daemon of its own.
    fn run(&self, policy: &[&str]) -> (Option<i32>, Value) {
        let path = |name: &str| self.folder.path().join(name);
        let mut command = Command::new(path("bin/rollcage"));
        command
            .args(["run", "--embedded", "--json"])
            .args(policy)
            .args(["--", "true"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", path("home"))
            .env("ROLLCAGE_BIN_DIR", path("bin"))
            .env("ROLLCAGE_CONFIG", path("sandboxd.toml"))
            .current_dir(path("home"))
            .uid(USER)
            .gid(USER);
        let spoken = speak(&mut command, b"");
        let (stdout, stderr) = (spoken.stdout(), spoken.stderr());
        let result = serde_json::from_str(&stdout);
        (
            spoken.code,
            result.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")),
        )
    }
}

/// Controls that a result calls degraded.
fn degraded(result: &Value) -> Vec<&str> {
    let rows = result["manifest"].as_array().expect("a manifest");
    let missing = rows.iter().filter(|row| row["status"] == "degraded");
    missing
        .map(|row| row["name"].as_str().expect("a name"))
        .collect()
}

/// `enforcement.default` and `enforcement.degradable`, where memory, pids and cpu are not to be had.
pub(super) fn enforcement() {
    let ordinary = Ordinary::new();
    let strict = "name = \"strict\"\nextends = \"base\"\n[enforcement]\ndegradable = []\n";
    ordinary.write("strict.toml", strict);
    let some =
        "name = \"some\"\nextends = \"base\"\n[enforcement]\ndegradable = [\"memory\", \"cpu\"]\n";
    ordinary.write("some.toml", some);
    let lenient = [("enforcement", "default = \"degradable\"\ndegradable = []")];
    ordinary.write("policies/lenient.toml", &changed_base("lenient", &lenient));
    let file = |name: &str| ordinary.folder.path().join(name).display().to_string();

    for (name, control) in [("strict.toml", "memory"), ("some.toml", "pids")] {
        let (code, result) = ordinary.run(&["--policy-file", &file(name)]);
        assert_eq!(code, Some(125), "{name}: {result}");
        assert_eq!(
            result["error"]["reason"], "HOST_CANNOT_ENFORCE",
            "{name}: {result}"
        );
        let message = result["error"]["message"].as_str().expect("a message");
        assert!(
            message.contains(&format!("`{control}`")),
            "{name}: {message}"
        );
    }
    // What may be missing is missing, and the manifest shows it.
    for policy in ["base", "lenient"] {
        let (code, result) = ordinary.run(&["--policy", policy]);
        assert_eq!(code, Some(0), "{policy}: {result}");
        let missing = degraded(&result);
        for control in ["memory", "pids", "cpu"] {
            assert!(
                missing.contains(&control),
                "{policy}: {control} is not told: {missing:?}"
            );
        }
    }
}

/// `audit.on_failure`: a result whose record cannot be written is not given, or given as such.
pub(super) fn audit_on_failure() {
    const TEST: &str = "fields::what_a_host_lacks_and_an_audit_that_fails_do_what_the_policy_says";
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    fs::create_dir_all(world.policies_dir()).expect("the policies folder");
    let lenient = [("audit", "on_failure = \"degrade\"")];
    let path = world.policies_dir().join("lenient.toml");
    fs::write(path, changed_base("lenient", &lenient)).expect("write a policy");
    world.stop();
    world.boot();
    let family = host::descendants(world.pid());
    let writer = family
        .iter()
        .find(|process| process.command_line.contains("audit-writer"));
    let writer = Pid::from_raw(writer.expect("the audit writer").pid);
    let client = world.client();
    let denying = message(&under("", &["sleep", "60"]));
    let mut lenient = denying.clone();
    (lenient.policy, lenient.policy_document) = ("lenient".to_owned(), None);

    let (denied, given) = world.wait(async {
        let both = async { tokio::join!(client.run(denying), client.run(lenient)) };
        let kill_writer = async {
            // Until both run: their sandboxes have processes.
            while world.instance().leased_processes().len() < 4 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            kill(writer, Signal::SIGKILL).expect("kill the audit writer");
        };
        tokio::join!(both, kill_writer).0
    });
    drop(client);
    match denied {
        Err(ClientError::Fault(answer)) => assert_eq!(answer.code, "unavailable", "{answer:?}"),
        other => panic!("deny: a result without its record: {other:?}"),
    }
    let result = given.expect("degrade: a result");
    let row = result
        .manifest
        .iter()
        .find(|row| row.name == "audit")
        .expect("a row about it");
    assert_eq!(row.status(), pb::ControlStatus::Degraded, "{row:?}");
    // The daemon does not go on without a log.
    let dead = world.crashed();
    assert_eq!(dead.leftovers(), Vec::<String>::new());
}
