//! An ordinary user in a control group of his own (v2), as a service manager delegates one: limits are
//! the kernel's, as for root, and the group is left as it was found.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, control, row};
use crate::world::Spoken;

const TOP: &str = "/sys/fs/cgroup";
const DELEGATED: u32 = Nobody::Delegated.id();
/// What a service manager gives to a user with `Delegate=yes`, beside the folder itself.
const GIVEN: [&str; 2] = ["cgroup.procs", "cgroup.subtree_control"];
/// Enters the group `$0` as root and becomes the user `$1` for the rest.
const ENTER: &str = "group=$0 id=$1; shift; echo $$ > $group/cgroup.procs; \
                     exec setpriv --reuid $id --regid $id --clear-groups -- \"$@\"";

/// A group that belongs to a user; removed at the end, which is only possible when it is empty.
struct Group {
    path: PathBuf,
}

impl Group {
    fn new(user: u32) -> Self {
        fs::write(
            format!("{TOP}/cgroup.subtree_control"),
            "+cpu +memory +pids",
        )
        .expect("pass the controllers on");
        let path = Path::new(TOP).join(format!("rollcage-it-{}", std::process::id()));
        fs::create_dir(&path).expect("make a group");
        chown(&path, Some(user), Some(user)).expect("give the group away");
        for name in GIVEN {
            chown(path.join(name), Some(user), Some(user)).expect("give its files away");
        }
        Self { path }
    }

    /// Everything that was made in it, and what is on below it.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).expect("list the group").flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut left: Vec<String> = folders
            .map(|entry| entry.path().display().to_string())
            .collect();
        for name in GIVEN {
            let text = fs::read_to_string(self.path.join(name)).expect("read a file of it");
            left.extend(
                text.split_whitespace()
                    .map(|word| format!("{name}: {word}")),
            );
        }
        left
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.path) {
            eprintln!("remove {}: {error}", self.path.display());
        }
    }
}

fn has_v2() -> bool {
    fs::read_to_string(format!("{TOP}/cgroup.controllers"))
        .is_ok_and(|text| text.split_whitespace().any(|name| name == "memory"))
}

#[test]
fn a_user_with_a_group_of_his_own_gets_hard_limits() {
    let test = "a_user_with_a_group_of_his_own_gets_hard_limits";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return;
    }
    if !has_v2() {
        skips::skip(
            test,
            "the memory controller is not on control groups v2 here",
        );
        return;
    }
    let user = User::new(DELEGATED);
    let group = Group::new(DELEGATED);
    let around = [
        "/bin/sh".to_owned(),
        "-c".to_owned(),
        ENTER.to_owned(),
        group.path.display().to_string(),
        DELEGATED.to_string(),
    ];
    let say = |arguments: &[&str]| user.say_within(&around, "none", (arguments, ""));
    let doctor = say(&["doctor", "--json"]).ended(0).json();
    assert_eq!(doctor["mode"], "rootless", "{doctor}");
    for name in ["cgroup_memory", "cgroup_pids", "cgroup_cpu"] {
        let features = doctor["features"].as_array().expect("features");
        let feature = features.iter().find(|feature| feature["name"] == name);
        assert_eq!(
            feature.expect("a row")["available"],
            true,
            "{name}: {doctor}"
        );
    }
    limits_are_the_kernels(&user, &around);
    // The control: the same user outside of the group.
    let soft = user.run(&["--", "true"]);
    for name in ["memory", "pids", "cpu"] {
        assert_eq!(control(&soft, name), "degraded", "{name}: {soft}");
    }
    assert_eq!(group.left(), Vec::<String>::new());
    user.is_gone();
}

fn limits_are_the_kernels(user: &User, around: &[String]) {
    let batch = |code: &str, limits: Value| -> Value {
        let request = json!({ "id": "one", "policy": "python", "limits": limits,
                              "argv": ["python3", "-c", code] });
        let spoken: Spoken = user.say_within(around, "none", (&["batch"], &format!("{request}\n")));
        let result = spoken.ended(0).json();
        for name in ["memory", "pids", "cpu"] {
            assert_eq!(control(&result, name), "enforced", "{name}: {result}");
            let applied = row(&result, name)["applied"].as_str().expect("what");
            assert!(applied.ends_with("(cgroup v2)"), "{name}: {applied}");
        }
        result
    };
    let hog = "held = []\nwhile True: held.append(bytearray(1 << 20))";
    let result = batch(hog, json!({ "memory_bytes_max": 48 << 20 }));
    assert_eq!(result["ending"]["kind"], "memory_up", "{result}");
    assert_eq!(result["ending"]["source"], "cgroup", "{result}");
    let bomb = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)\n";
    let result = batch(bomb, json!({ "pids_max": 20, "wall_ms_max": 20_000 }));
    assert_eq!(result["ending"]["kind"], "pids_up", "{result}");
    let busy = "import time\nend = time.process_time() + 0.3\n\
                while time.process_time() < end: pass\n";
    let result = batch(busy, json!({ "cpu_millicores_max": 200 }));
    assert_eq!(result["ending"]["kind"], "exited", "{result}");
    let throttled = &result["usage"]["cpu_throttled_ms"];
    assert!(throttled.as_u64().is_some_and(|ms| ms > 100), "{result}");
    let loops = "while True: pass";
    let result = batch(loops, json!({ "cpu_ms_max": 500 }));
    assert_eq!(result["ending"]["kind"], "cpu_time_up", "{result}");
}
