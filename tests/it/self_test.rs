//! The product's own proof: a daemon tests its host before it serves, keeps what was right until
//! the next boot, shows it to whoever asks, and serves nothing where a probe gave a wrong answer.

mod wrong;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, has_landlock};
use crate::wait;
use crate::world::{World, shell};

/// Time for a line of the log.
const LOG_MAX: Duration = Duration::from_secs(10);
/// Users of no account on the host.
const ORDINARY: u32 = Nobody::SelfTested.id();
const LOWEST: u32 = Nobody::SelfTestedLowest.id();

/// Rows that are asked of each plan at least. Some few depend on the host; a family of rows that is
/// silently not asked any more goes below.
const ROOT_MIN: usize = 355;
const ROOTLESS_MIN: usize = 350;
const LANDLOCK_MIN: usize = 295;

/// A folder of one test's own, in which its daemons keep their proofs.
fn proof_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .prefix("rollcage-it-")
        .tempdir()
        .expect("a folder");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("open the folder");
    folder
}

fn proof_config(folder: &Path) -> String {
    format!("[self_test]\ncache_dir = {:?}\n", folder.join("proof"))
}

/// The policies of a reply, each with its rows.
#[track_caller]
fn policies(reply: &Value) -> &Vec<Value> {
    reply["policies"].as_array().expect("policies")
}

fn rows(policy: &Value) -> &[Value] {
    policy["rows"].as_array().map_or(&[], Vec::as_slice)
}

/// Fails unless everything that was asked is right under every policy, and much was asked.
#[track_caller]
fn all_right(reply: &Value, asked_min: usize) {
    for policy in policies(reply) {
        let name = &policy["policy"];
        let wrong: Vec<&Value> = rows(policy)
            .iter()
            .filter(|row| row["right"] == false)
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        assert_eq!(policy["state"], "right", "{name}: {}", policy["trouble"]);
        let asked = rows(policy).iter().filter(|row| row["right"] == true);
        let asked = asked.count();
        assert!(asked >= asked_min, "{name}: only {asked} rows were asked");
    }
    assert_eq!(reply["holds"], true);
}

/// Whether each policy's outcome was found before this daemon.
fn cached(reply: &Value) -> BTreeSet<bool> {
    policies(reply)
        .iter()
        .map(|policy| policy["from_cache"] == true)
        .collect()
}

fn outcome_of(world: &World) -> Value {
    world.cli(&["doctor", "--self-test", "--json"]).json()
}

#[test]
fn a_daemon_proves_its_host_once_and_the_next_one_takes_that_over() {
    const TEST: &str = "a_daemon_proves_its_host_once_and_the_next_one_takes_that_over";
    let folder = proof_folder();
    let config = proof_config(folder.path());
    let Some(mut world) = World::with_config(TEST, &config) else {
        return;
    };
    let first = outcome_of(&world);
    all_right(&first, ROOT_MIN);
    assert_eq!(cached(&first), BTreeSet::from([false]));
    let names: BTreeSet<&str> = policies(&first)
        .iter()
        .filter_map(|policy| policy["policy"].as_str())
        .collect();
    for name in [
        "base", "build", "node", "python", "shell", "task", "(judge)",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    recorded(&world);
    manifest_is_proved(&world);

    // Only the outcome is kept, for its owner alone.
    let proof = folder.path().join("proof");
    let kept: Vec<fs::DirEntry> = fs::read_dir(&proof).expect("the cache").flatten().collect();
    assert!(!kept.is_empty());
    for file in &kept {
        let mode = file.metadata().expect("its data").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
    }

    world.stop();
    world.boot();
    let second = outcome_of(&world);
    all_right(&second, ROOT_MIN);
    assert_eq!(cached(&second), BTreeSet::from([true]));
    let fresh = [
        "doctor",
        "--self-test",
        "--json",
        "--policy",
        "python",
        "--fresh",
    ];
    let fresh = world.cli(&fresh).ended(0).json();
    assert_eq!(cached(&fresh), BTreeSet::from([false]));
    assert_eq!(policies(&fresh).len(), 1);

    // A file that somebody else could have written is not believed.
    world.stop();
    for file in &kept {
        let open = fs::Permissions::from_mode(0o666);
        fs::set_permissions(file.path(), open).expect("open a file of the cache");
    }
    world.boot();
    world.allow_log("an outcome of a self-test is not used");
    assert!(cached(&outcome_of(&world)).contains(&false));
}

/// The audit log tells of the self-test, and its runs stand out.
fn recorded(world: &World) {
    let tested = world.cli(&["audit", "query", "--event", "self_tested", "--json"]);
    let text = tested.ended(0).stdout();
    let line: Value = serde_json::from_str(text.lines().next().expect("a record")).expect("JSON");
    let record = line.get("record").unwrap_or(&line);
    assert_eq!(record["data"]["occasion"], "start", "{line}");
    let plans = record["data"]["plans"].as_array().expect("plans");
    assert!(plans.iter().all(|plan| plan["wrong"] == 0), "{line}");
    let runs = world.cli(&["audit", "query", "--event", "run_admitted", "--json"]);
    let runs = runs.ended(0).stdout();
    assert!(runs.contains("\"daemon/self-test\""), "{runs}");
    assert!(runs.contains("self_test"), "{runs}");
}

/// What is enforced says which probes have shown it, and when.
fn manifest_is_proved(world: &World) {
    let result = world.run(&shell("true")).result;
    let controls = [
        "root_tree",
        "pivot",
        "user_namespace",
        "capabilities",
        "seccomp",
        "landlock",
        "memory",
        "pids",
    ];
    for name in controls {
        let row = result.manifest.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} is not in the manifest"));
        let proof = row.proof();
        assert!(proof.contains(" at 20"), "{name}: {proof:?}");
    }
}

#[test]
fn other_programs_are_tested_anew() {
    const TEST: &str = "other_programs_are_tested_anew";
    let folder = proof_folder();
    let init = folder.path().join("sandbox-init");
    fs::copy(skips::bin_dir().join("sandbox-init"), &init).expect("copy a program");
    let config = format!("init = {init:?}\n{}", proof_config(folder.path()));
    let Some(mut world) = World::with_config(TEST, &config) else {
        return;
    };
    assert_eq!(cached(&outcome_of(&world)), BTreeSet::from([false]));
    world.stop();
    world.boot();
    assert_eq!(
        cached(&outcome_of(&world)),
        BTreeSet::from([true]),
        "the control"
    );
    world.stop();
    // One byte behind the end of the program: it does the same.
    let mut bytes = fs::read(&init).expect("read the program");
    bytes.push(0);
    fs::remove_file(&init).expect("remove the program");
    fs::write(&init, bytes).expect("write the program");
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).expect("make it a program");
    world.boot();
    let outcome = outcome_of(&world);
    all_right(&outcome, ROOT_MIN);
    assert_eq!(cached(&outcome), BTreeSet::from([false]));
}

#[test]
fn a_daemon_that_does_not_test_itself_says_so_and_proves_nothing() {
    const TEST: &str = "a_daemon_that_does_not_test_itself_says_so_and_proves_nothing";
    let folder = proof_folder();
    let config = format!("{}at_start = false\n", proof_config(folder.path()));
    let Some(world) = World::with_config(TEST, &config) else {
        return;
    };
    world.allow_log("self_test.at_start is false");
    // Another thread reads the log.
    wait::until_it_holds("the log says so", LOG_MAX, || {
        world.log().contains("self_test.at_start is false")
    });
    let plain = world.cli(&["doctor"]).ended(0).stdout();
    assert!(plain.contains("self-test: not made"), "{plain}");
    let proofs = |world: &World| {
        let result = world.run(&shell("true")).result;
        let proved = result.manifest.iter().filter(|row| !row.proof().is_empty());
        proved.count()
    };
    assert_eq!(proofs(&world), 0);
    // Asked, it tests, and from then on knows.
    let outcome = outcome_of(&world);
    all_right(&outcome, ROOT_MIN);
    assert!(proofs(&world) > 0);
    let plain = world.cli(&["doctor"]).ended(0).stdout();
    assert!(plain.contains("self-test: holds"), "{plain}");
}

/// Green as an ordinary user, with and without namespaces; the second command finds the proof.
#[test]
fn users_without_root_prove_their_host_too() {
    const TEST: &str = "users_without_root_prove_their_host_too";
    if !skips::is_root(TEST) {
        return;
    }
    let user = User::new(ORDINARY);
    let test = ["doctor", "--self-test", "--json"];
    let outcome = user.say(&test).json();
    if outcome["mode"] == "landlock" {
        skips::skip(TEST, "this host gives users no namespaces");
        return;
    }
    assert_eq!(outcome["mode"], "rootless", "{outcome}");
    all_right(&outcome, ROOTLESS_MIN);
    assert_eq!(cached(&outcome), BTreeSet::from([false]));
    assert_eq!(
        cached(&user.say(&test).ended(0).json()),
        BTreeSet::from([true])
    );
    let run = user.say(&["run", "--json", "--", "true"]).ended(0).json();
    let rows = run["manifest"].as_array().expect("a manifest");
    let seccomp = rows.iter().find(|row| row["name"] == "seccomp");
    assert!(
        seccomp.is_some_and(|row| row["proof"].as_str().is_some_and(|proof| !proof.is_empty())),
        "{run}"
    );
}

#[test]
fn the_lowest_grade_proves_what_it_promises() {
    const TEST: &str = "the_lowest_grade_proves_what_it_promises";
    if !skips::is_root(TEST) {
        return;
    }
    let user = User::new(LOWEST);
    user.lowest();
    let doctor = user.say_with("lowest.toml", &["doctor", "--json"]).json();
    if !has_landlock(&doctor) {
        skips::skip(TEST, "the kernel has no Landlock");
        return;
    }
    let test = ["doctor", "--self-test", "--json"];
    let say = || user.say_with("lowest.toml", &test);
    let outcome = say().json();
    assert_eq!(outcome["mode"], "landlock", "{outcome}");
    all_right(&outcome, LANDLOCK_MIN);
    // What it does not promise is not asked, with the reason.
    let python = policies(&outcome)
        .iter()
        .find(|policy| policy["policy"] == "python");
    let unasked = rows(python.expect("python"))
        .iter()
        .filter(|row| row["right"].is_null());
    let unasked: Vec<&Value> = unasked.collect();
    assert!(!unasked.is_empty());
    for row in unasked {
        let why = row["expected"].as_str().unwrap_or_default();
        assert!(why.starts_with("not asked: "), "{row}");
    }
    assert_eq!(cached(&say().ended(0).json()), BTreeSet::from([true]));
}
