//! Probes that give a wrong answer. The program that tells it is a shell script in the probe's
//! place: it repeats what the true one found, but for one row.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::{outcome_of, policies, proof_config, proof_folder, rows};
use crate::skips;
use crate::wait;
use crate::world::{Spoken, World, rollcage, shell, speak};

/// The row that comes out wrong, and what is said of it.
const ROW: &str = "core_pattern";
const FOUND: &str = "got_through";
const RELOAD_MAX: Duration = Duration::from_secs(60);

/// A folder with our programs, the probe replaced by a script.
struct Programs {
    folder: tempfile::TempDir,
}

impl Programs {
    /// The script says `FOUND` of `ROW` where `when` holds in the sandbox.
    fn new(outcome: &Value, when: &str) -> Self {
        let folder = proof_folder();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        for name in ["rollcage", "sandboxd", "sandbox-launcher", "sandbox-init"] {
            fs::copy(skips::bin_dir().join(name), bin.join(name)).expect("copy a program");
        }
        let probe = bin.join("sandbox-probe");
        fs::write(&probe, script(outcome, when)).expect("write a script");
        fs::set_permissions(&probe, fs::Permissions::from_mode(0o755)).expect("make it a program");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The keys of a configuration that has only its probe from here.
    fn probe(&self) -> String {
        format!("probe = {:?}\n", self.path("bin/sandbox-probe"))
    }

    /// `rollcage` with all programs from here, and a daemon of its own.
    fn say(&self, arguments: &[&str]) -> Spoken {
        let mut command = rollcage(self.folder.path());
        command
            .env("ROLLCAGE_BIN_DIR", self.path("bin"))
            .env("ROLLCAGE_CONFIG", self.path("sandboxd.toml"))
            .env("ROLLCAGE_STATE_DIR", self.path("state"))
            .env_remove("ROLLCAGE_SOCKET")
            .args(arguments)
            .arg("--embedded");
        speak(&mut command, b"")
    }
}

/// One policy of each plan, and how a shell tells that it is in its sandbox; the last is the rest.
const PLANS: [(&str, &str); 3] = [
    ("python", "[ ! -e /proc/meminfo ]"),
    (
        "base",
        "echo true > /tmp/x && chmod 700 /tmp/x && /tmp/x 2>/dev/null",
    ),
    ("node", "true"),
];

/// Tells each row as it was found under the policy of the sandbox that it runs in; one of a run of
/// its own only when asked for it.
fn script(outcome: &Value, when: &str) -> String {
    let mut text =
        "#!/bin/sh\nfound() {\n  echo \"{\\\"name\\\":\\\"$1\\\",\\\"result\\\":\\\"$2\\\"}\"\n}\n"
            .to_owned();
    for (number, (policy, is_here)) in PLANS.into_iter().enumerate() {
        let word = if number == 0 { "if" } else { "elif" };
        text += &format!("{word} {is_here}; then\n{}", told_under(outcome, policy));
    }
    text + &format!(
        "fi\n[ \"$1\" = row ] && exit 0\n# So long that it can be looked at from outside.\nsleep 1\nif {when}; then\n  found {ROW} {FOUND}\nelse\n  found {ROW} \
         \"$right\"\nfi\nexit 0\n"
    )
}

/// The lines that tell what was found under a policy.
fn told_under(outcome: &Value, policy: &str) -> String {
    let policy = policies(outcome).iter().find(|one| one["policy"] == policy);
    let tried: Vec<(&str, &str, bool)> = rows(policy.expect("the policy"))
        .iter()
        .filter_map(|row| {
            let name = row["name"].as_str()?;
            let known = probe::row_named(name)?;
            Some((name, row["found"].as_str()?, known.alone))
        })
        .collect();
    let line = |name: &str, found: &str| format!("    found {name} '{found}'\n");
    let mut text = "  if [ \"$1\" = row ]; then\n    case \"$2\" in\n".to_owned();
    for (name, found, _) in tried.iter().filter(|row| row.2) {
        text += &format!("    {name}) {};;\n", line(name, found).trim());
    }
    text += "    esac\n  else\n";
    for (name, found, _) in tried.iter().filter(|row| !row.2) {
        if *name == ROW {
            text += &format!("    right='{found}'\n");
        } else {
            text += &line(name, found);
        }
    }
    text + "  fi\n"
}

/// What the true probe finds on this host.
fn true_outcome(test: &str) -> Option<Value> {
    let world = World::start(test)?;
    Some(outcome_of(&world))
}

/// Fails unless a text names the row, what was found and what was expected.
#[track_caller]
fn names_the_row(text: &str, expected: &str) {
    for part in [ROW, FOUND, expected] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// The right answers of the row.
fn expected(outcome: &Value) -> String {
    let row = rows(&policies(outcome)[0])
        .iter()
        .find(|row| row["name"] == ROW);
    let row = row.unwrap_or_else(|| panic!("{ROW} is not in the battery"));
    row["expected"].as_str().expect("words").to_owned()
}

#[test]
fn a_daemon_with_a_wrong_probe_serves_nothing_and_names_it() {
    const TEST: &str = "a_daemon_with_a_wrong_probe_serves_nothing_and_names_it";
    let Some(outcome) = true_outcome(TEST) else {
        return;
    };
    let expected = expected(&outcome);
    // The control: the script is believed as long as it says what is right.
    let right = Programs::new(&outcome, "false");
    let text = proof_config(right.folder.path());
    fs::write(right.path("sandboxd.toml"), text).expect("write the configuration");
    right
        .say(&["run", "--policy", "python", "--", "true"])
        .ended(0);

    let wrong = Programs::new(&outcome, "true");
    let text = format!(
        "socket = {:?}\n{}",
        wrong.path("s.sock"),
        proof_config(wrong.folder.path())
    );
    fs::write(wrong.path("sandboxd.toml"), text).expect("write the configuration");
    let served = Command::new(wrong.path("bin/sandboxd"))
        .arg("serve")
        .env("ROLLCAGE_CONFIG", wrong.path("sandboxd.toml"))
        .env("ROLLCAGE_STATE_DIR", wrong.path("daemon"))
        .env_remove("ROLLCAGE_SOCKET")
        .stdin(Stdio::null())
        .output()
        .expect("start a daemon");
    let said = String::from_utf8_lossy(&served.stderr);
    assert_eq!(served.status.code(), Some(1), "{said}");
    names_the_row(&said, &expected);
    assert!(said.contains("nothing is served"), "{said}");
    assert!(!said.contains("serving socket="), "{said}");
    recorded(&wrong.path("daemon"), &expected);
    assert!(
        fs::read_dir(wrong.path("proof")).is_ok_and(|kept| kept.count() == 0),
        "a wrong outcome is kept"
    );

    let run = wrong.say(&["run", "--", "true"]);
    names_the_row(&run.ended(125).stderr(), &expected);
    let doctor = wrong.say(&["doctor", "--self-test"]);
    let table = doctor.ended(1).stdout();
    names_the_row(&table, &expected);
    assert!(table.contains("WRONG core_pattern"), "{table}");
    let doctor = wrong.say(&["doctor", "--self-test", "--json"]);
    let reply = doctor.ended(1).json();
    assert_eq!(reply["holds"], false);
    assert_eq!(policies(&reply)[0]["state"], "wrong");
    // Without the option it says so in a line.
    let line = wrong.say(&["doctor"]).ended(0).stdout();
    assert!(line.contains("self-test: FAILED"), "{line}");
}

/// The log of a daemon that did not serve holds, and tells why.
fn recorded(state: &Path, expected: &str) {
    let mut command = rollcage(state);
    let log = state.join("audit");
    command.args(["audit", "verify"]).arg(&log);
    speak(&mut command, b"").ended(0);
    let mut told = String::new();
    for file in fs::read_dir(&log).expect("the log").flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        let lines = text.lines().filter(|line| line.contains("\"self_tested\""));
        told.extend(lines);
    }
    names_the_row(&told, expected);
}

/// A policy of the site whose sandboxes can be told from the others' by a shell: its `/tmp` is
/// closed.
const NARROW: &str = "name = \"narrow\"\ndescription = \"No /tmp.\"\nextends = \"python\"\n\
                      [files]\nwrite = [\"/workspace\"]\n";
const IN_NARROW: &str = "! echo x 2>/dev/null > /tmp/x";

fn signal(world: &World, signal: Signal) {
    kill(Pid::from_raw(world.pid()), signal).expect("signal the daemon");
}

#[test]
fn a_policy_with_a_wrong_probe_is_refused_and_the_others_are_served() {
    const TEST: &str = "a_policy_with_a_wrong_probe_is_refused_and_the_others_are_served";
    let Some(outcome) = true_outcome(TEST) else {
        return;
    };
    let programs = Programs::new(&outcome, IN_NARROW);
    let config = programs.probe() + &proof_config(programs.folder.path());
    let Some(mut world) = World::with_config(TEST, &config) else {
        return;
    };
    world.allow_log("not served: the self-test failed");
    world.allow_log("policies not reloaded");
    fs::create_dir_all(world.policies_dir()).expect("a folder");
    fs::write(world.policies_dir().join("narrow.toml"), NARROW).expect("write a policy");

    // A reload with it is refused as a whole.
    signal(&world, Signal::SIGHUP);
    wait::until_it_holds("the reload is told", RELOAD_MAX, || {
        world.log().contains("policies not reloaded")
    });
    assert!(world.log().contains("narrow"), "{}", world.log());
    let unknown = world.try_run(&under_narrow()).expect_err("no such policy");
    assert!(unknown.to_string().contains("narrow"), "{unknown}");
    let reloads = world.cli(&["audit", "query", "--event", "policy_reloaded", "--json"]);
    names_the_row(&reloads.ended(0).stdout(), "");
    world.run(&shell("true")).exited(0);

    // A start with it serves the others.
    world.stop();
    world.boot();
    world.run(&shell("true")).exited(0);
    let refused = world.try_run(&under_narrow()).expect_err("a refusal");
    let shown = format!("{refused:?}");
    names_the_row(&shown, "");
    assert!(shown.contains("PROBE_FAILED"), "{shown}");
    assert!(shown.contains("failed_precondition"), "{shown}");
    assert!(refused.to_string().contains("narrow"), "{refused}");
    let client = world.client();
    let listed = world.wait(client.list_policies()).expect("a list");
    for policy in listed {
        let wrong = policy.self_test() == sandbox_client::pb::SelfTestState::Wrong;
        assert_eq!(wrong, policy.name == "narrow", "{policy:?}");
    }
    let capabilities = world.wait(client.capabilities()).expect("an answer");
    let summary = capabilities.self_test.expect("a summary");
    names_the_row(&summary.trouble, "");
    assert_eq!(summary.wrong, 1, "{summary:?}");
    let refusals = world.cli(&["audit", "query", "--event", "run_refused", "--json"]);
    assert!(refusals.ended(0).stdout().contains("PROBE_FAILED"));
}

fn under_narrow() -> Value {
    serde_json::json!({ "policy": "narrow", "argv": ["true"] })
}
