//! An ordinary user without any daemon: every kind of program runs in namespaces of that user, limits
//! end what goes beyond them, what is softer than for root is told, and nothing is left.

use std::path::Path;

use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, control, has_landlock};

/// Users of no account on the host, one for each test.
const ORDINARY: u32 = Nobody::Rootless.id();
const LOWEST: u32 = Nobody::Lowest.id();

#[test]
fn a_user_without_root_runs_every_kind_of_program() {
    let test = "a_user_without_root_runs_every_kind_of_program";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return;
    }
    let user = User::new(ORDINARY);
    let doctor = user.say(&["doctor", "--json"]).ended(0).json();
    if doctor["mode"] != "rootless" {
        skips::skip(
            test,
            &format!("this host gives users mode {}", doctor["mode"]),
        );
        return;
    }
    let shell = ["--policy", "shell", "--", "sh", "-c", "echo 42 | cat"];
    let python = ["--policy", "python", "--", "python3", "-c", "print(6 * 7)"];
    let node = ["--policy", "node", "--", "node", "-e", "console.log(6 * 7)"];
    let build = "printf 'int puts(const char *); int main(void) { puts(\"42\"); }' > a.c \
                 && gcc -o a a.c && ./a";
    let build = ["--policy", "build", "--", "sh", "-c", build];
    for (program, words) in [
        ("/bin/sh", &shell[..]),
        ("/usr/bin/python3", &python),
        ("/usr/bin/node", &node),
        ("/usr/bin/gcc", &build),
    ] {
        if !Path::new(program).exists() {
            skips::skip(&format!("{test}/{program}"), "it is not installed");
            continue;
        }
        let result = user.run(words);
        assert_eq!(result["stdout"], "42\n", "{result}");
        for name in [
            "private_mounts",
            "pivot",
            "user_namespace",
            "seccomp",
            "landlock",
        ] {
            assert_eq!(control(&result, name), "enforced", "{name}: {result}");
        }
    }
    cpus_are_counted(&user);
    limits_hold(&user);
    let verified = user.say(&["audit", "verify"]);
    assert!(verified.ended(0).stdout().starts_with("the log holds"));
    user.is_gone();
}

#[test]
fn the_lowest_grade_is_told_and_does_the_main_job() {
    let test = "the_lowest_grade_is_told_and_does_the_main_job";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return;
    }
    let user = User::new(LOWEST);
    user.lowest();
    let say = |arguments: &[&str]| user.say_with("lowest.toml", arguments);
    let doctor = say(&["doctor", "--json"]).ended(0).json();
    assert_eq!(doctor["mode"], "landlock", "{doctor}");
    if !has_landlock(&doctor) {
        skips::skip(test, "the kernel has no Landlock");
        return;
    }
    let shown = say(&["run", "--json", "--", "cat", "/etc/shadow"]).json();
    assert_eq!(shown["ending"]["code"], 1, "{shown}");
    for name in ["private_mounts", "pivot", "user_namespace", "identity"] {
        assert_eq!(control(&shown, name), "degraded", "{name}: {shown}");
    }
    for name in ["landlock", "seccomp", "no_new_privs", "descriptors"] {
        assert_eq!(control(&shown, name), "enforced", "{name}: {shown}");
    }
    // Nothing can be mounted, but whoever asks the kernel gets the right number.
    let counted = say(&["run", "--json", "--", "nproc"]).json();
    assert_eq!(counted["stdout"], "1\n", "{counted}");
    assert_eq!(control(&counted, "cpu_lease"), "enforced", "{counted}");
    assert_eq!(control(&counted, "cpu_view"), "degraded", "{counted}");
    let demo = say(&["demo", "--json"]);
    let tasks = demo.ended(0).json();
    assert!(tasks["tasks"].as_array().is_some_and(|all| all.len() > 20));
    user.is_gone();
}

/// A user's sandboxes have as many CPUs as their rate is worth, like those of root.
fn cpus_are_counted(user: &User) {
    let count = "nproc; cat /sys/devices/system/cpu/online | tr -d 0-9; \
                 grep -c ^processor /proc/cpuinfo";
    let result = user.run(&["--policy", "node", "--", "sh", "-c", count]);
    assert_eq!(result["stdout"], "1\n\n1\n", "{result}");
    for name in ["cpu_view", "cpu_lease"] {
        assert_eq!(control(&result, name), "enforced", "{name}: {result}");
    }
}

fn limits_hold(user: &User) {
    let hog = "x = bytearray(400 << 20); import time; time.sleep(20)";
    let result = user.run(&["--memory", "64M", "--", "python3", "-c", hog]);
    assert_eq!(result["ending"]["kind"], "memory_up", "{result}");
    // Where the user's session manages no control groups, memory is polled, and that is told.
    let polled = result["ending"]["source"] == "rss_poll";
    let status = if polled { "degraded" } else { "enforced" };
    assert_eq!(control(&result, "memory"), status, "{result}");
    let waits = user.say(&["run", "--time", "300ms", "--", "sleep", "20"]);
    waits.ended(124);
    let full = "dd if=/dev/zero of=x bs=1M count=64";
    let result = user.run(&["--disk", "8M", "--", "sh", "-c", full]);
    assert_eq!(result["ending"]["kind"], "disk_up", "{result}");
}
