//! Where users really start it: in containers with and without privileges, as a plain user there, and
//! where user namespaces are off. Each time it serves in the mode it can, or says exactly what to
//! change. Asked through the command, which brings its own daemon.

mod surroundings;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, control, row};
use crate::world::Spoken;

/// Users of no account on the host, one for each test.
const IN_DOCKER: u32 = Nobody::InDocker.id();
const IN_A_CONTAINER: u32 = Nobody::InAContainer.id();
const WITHOUT_NAMESPACES: u32 = Nobody::WithoutNamespaces.id();
const ACCEPTING: &str = "accepting.toml";

/// What a test needs of the machine.
fn can_run(test: &str) -> bool {
    skips::is_root(test)
        && ["/usr/bin/python3", "/usr/bin/setpriv", "/usr/bin/unshare"]
            .iter()
            .all(|file| skips::has_file(test, file))
}

/// Runs the command within `around`, with the configuration of this name if there is one.
fn say(user: &User, around: &[String], configuration: &str, arguments: &[&str]) -> Spoken {
    user.say_within(around, configuration, (arguments, ""))
}

/// That a run there is refused, in words that hold all of `parts`.
#[track_caller]
fn is_told(user: &User, around: &[String], parts: &[&str]) {
    let spoken = say(user, around, "none", &["run", "--", "true"]);
    let words = spoken.ended(125).stderr();
    for part in parts {
        assert!(words.contains(part), "no `{part}` in: {words}");
    }
}

/// That a run there is done in the lowest grade once that is accepted, and shows it.
#[track_caller]
fn lowest_grade_serves(user: &User, around: &[String]) {
    let file = user.path(ACCEPTING);
    fs::write(&file, "accept_landlock_mode = true\n").expect("write a configuration");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("open it");
    let doctor = say(user, around, ACCEPTING, &["doctor", "--json"])
        .ended(0)
        .json();
    assert_eq!(doctor["mode"], "landlock", "{doctor}");
    let code = "import os\n\
                try: open('/etc/shadow').read()\n\
                except OSError as error: print(6 * 7, error.errno)\n";
    let words = ["run", "--json", "--", "python3", "-c", code];
    let result = say(user, around, ACCEPTING, &words).ended(0).json();
    assert_eq!(result["stdout"], "42 13\n", "{result}");
    for name in ["landlock", "seccomp", "session_keyring", "no_new_privs"] {
        assert_eq!(control(&result, name), "enforced", "{name}: {result}");
    }
    for name in ["private_mounts", "pivot", "user_namespace"] {
        assert_eq!(control(&result, name), "degraded", "{name}: {result}");
    }
}

#[test]
fn root_of_a_container_without_privileges_is_told_the_fix() {
    if !can_run("root_of_a_container_without_privileges_is_told_the_fix") {
        return;
    }
    let user = User::new(0);
    let told = [
        "CAP_SYS_ADMIN",
        "--privileged",
        "docker run --user 1000:1000",
    ];
    is_told(&user, &surroundings::docker(), &told);
}

#[test]
fn a_user_of_a_container_without_privileges_gets_the_lowest_grade_or_the_fix() {
    if !can_run("a_user_of_a_container_without_privileges_gets_the_lowest_grade_or_the_fix") {
        return;
    }
    let user = User::new(IN_DOCKER);
    let around = surroundings::docker_user(IN_DOCKER);
    let told = [
        "a system call filter",
        "--security-opt seccomp=unconfined",
        "accept_landlock_mode = true",
    ];
    is_told(&user, &around, &told);
    lowest_grade_serves(&user, &around);
    user.is_gone();
}

#[test]
fn a_user_of_a_container_with_namespaces_is_served_without_root() {
    let test = "a_user_of_a_container_with_namespaces_is_served_without_root";
    if !can_run(test) {
        return;
    }
    let user = User::new(IN_A_CONTAINER);
    let around = surroundings::unfiltered(IN_A_CONTAINER);
    let doctor = say(&user, &around, "none", &["doctor", "--json"])
        .ended(0)
        .json();
    if doctor["mode"] != "rootless" {
        let found = &doctor["mode"];
        skips::skip(test, &format!("this host gives users mode {found}"));
        return;
    }
    let words = ["run", "--json", "--", "sh", "-c", "echo $$"];
    let result = say(&user, &around, "none", &words).ended(0).json();
    assert_eq!(control(&result, "pivot"), "enforced", "{result}");
    assert_eq!(control(&result, "user_namespace"), "enforced", "{result}");
    // Where parts of /proc are hidden the kernel gives no other one, and that is told.
    let hidden = surroundings::with_hidden_proc(IN_A_CONTAINER);
    is_told(&user, &hidden, &["/proc", "systempaths=unconfined"]);
    user.is_gone();
}

#[test]
fn root_of_a_privileged_container_serves_in_full() {
    if !can_run("root_of_a_privileged_container_serves_in_full") {
        return;
    }
    let user = User::new(0);
    let around = surroundings::privileged();
    let doctor = say(&user, &around, "none", &["doctor", "--json"])
        .ended(0)
        .json();
    assert_eq!(doctor["mode"], "root", "{doctor}");
    let hog = "held = []\nwhile True: held.append(bytearray(1 << 20))";
    let words = [
        "run", "--json", "--memory", "48M", "--", "python3", "-c", hog,
    ];
    let result: Value = say(&user, &around, "none", &words).json();
    assert_eq!(result["ending"]["kind"], "memory_up", "{result}");
    assert_eq!(result["ending"]["source"], "cgroup", "{result}");
    for name in ["memory", "pids", "cpu", "pivot", "identity"] {
        assert_eq!(control(&result, name), "enforced", "{name}: {result}");
    }
    let ids = row(&result, "user_namespace")["applied"].as_str();
    assert!(
        ids.is_some_and(|ids| ids.starts_with("host ids ")),
        "{result}"
    );
}

#[test]
fn where_user_namespaces_are_off_the_setting_is_named() {
    if !can_run("where_user_namespaces_are_off_the_setting_is_named") {
        return;
    }
    const SETTING: &str = "/proc/sys/user/max_user_namespaces";
    let before = fs::read_to_string(SETTING).expect("read the host's setting");
    let user = User::new(WITHOUT_NAMESPACES);
    let around = surroundings::without_namespaces(WITHOUT_NAMESPACES);
    let told = [
        "user namespaces are off (user.max_user_namespaces is 0)",
        "sysctl user.max_user_namespaces=65536",
        "accept_landlock_mode = true",
    ];
    is_told(&user, &around, &told);
    lowest_grade_serves(&user, &around);
    user.is_gone();
    // A root in a namespace only is none, and is not given a lower mode either.
    let root = User::new(0);
    let told = ["root of a user namespace only", "as an ordinary user"];
    is_told(&root, &surroundings::without_namespaces(0), &told);
    let after = fs::read_to_string(SETTING).expect("read the host's setting");
    assert_eq!(before, after, "the host's own setting is left alone");
}
