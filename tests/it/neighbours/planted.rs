//! Keys, sockets, terminals, memory of the host's users: a program that knows every name and number
//! reaches none of them. The same program outside reaches all.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::modes::Mode;
use crate::nobody::Nobody;
use crate::world::speak;

const PLANTED: &str = include_str!("planted.py");
const REACH: &str = include_str!("reach.py");

/// What the lowest grade does not close: its programs see the host's file tree and processes, and the
/// kernel's Landlock has no rule on a file's metadata.
const OPEN_WITHOUT_NAMESPACES: [&str; 5] = [
    "command line",
    "descriptor list",
    "mode of a file",
    "name of the key",
    "whether a file is there",
];

/// All that there is to reach, as the control must.
const EVERYTHING: [&str; 39] = [
    "abstract socket",
    "command line",
    "container daemon",
    "datagram socket",
    "descriptor",
    "descriptor list",
    "environment",
    "file at home",
    "file at home by another name",
    "file at home for writing",
    "file at home through /proc",
    "file in tmp",
    "file in tmp by another name",
    "file in tmp for writing",
    "file in tmp through /proc",
    "key",
    "limits",
    "list of a folder",
    "memory",
    "memory of a process",
    "message bus",
    "mode of a file",
    "name in a folder",
    "name of the key",
    "own terminal",
    "pipe",
    "priority",
    "processors",
    "queue",
    "shared memory file",
    "shared memory file for writing",
    "shared memory file through /proc",
    "signal",
    "ssh agent",
    "ssh key",
    "ssh key through /proc",
    "tcp",
    "terminal",
    "whether a file is there",
];

#[test]
fn in_no_mode_is_a_neighbours_property_reached() {
    for (number, mode) in Mode::all(
        "in_no_mode_is_a_neighbours_property_reached",
        Nobody::Neighbour,
        Nobody::NeighbourLowest,
    )
    .into_iter()
    .enumerate()
    {
        for policy in ["python", "build"] {
            let place = mode.user.path(&format!("place-{number}-{policy}"));
            fs::create_dir(&place).expect("a folder");
            chown(&place, Some(mode.user.id), Some(mode.user.id)).expect("give it away");
            let told = told(&mode, policy, &place);
            check(&mode, policy, &told);
        }
    }
}

/// What `planted.py` tells of the control and of the run inside.
fn told(mode: &Mode, policy: &str, place: &std::path::Path) -> Value {
    let run = mode.command();
    let mut command = Command::new("/usr/bin/python3");
    command
        .args(["-c", PLANTED])
        .arg(place)
        .arg(REACH)
        .arg(run.get_program())
        .args(run.get_args())
        .args(["run", "--policy", policy, "--", "python3", "-c", REACH])
        .env_clear()
        .uid(mode.user.id)
        .gid(mode.user.id);
    for (name, value) in run.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    speak(&mut command, b"").ended(0).json()
}

#[track_caller]
fn check(mode: &Mode, policy: &str, told: &Value) {
    let what = format!("{} {policy}", mode.name);
    let reached = |side: &str| -> Vec<String> {
        assert_eq!(told[side]["code"], 0, "{what} {side}: {}", told[side]);
        let text = told[side]["stdout"].as_str().expect("output");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{what} {side}: {error}: {text}"))
    };
    let control = reached("control");
    let missed: Vec<&&str> = EVERYTHING
        .iter()
        .filter(|one| !control.iter().any(|by| by == **one))
        .collect();
    assert!(
        missed.is_empty(),
        "{what}: the control does not reach {missed:?}: {control:?}"
    );
    let inside = reached("inside");
    let known: &[&str] = match mode.name {
        "landlock" => &OPEN_WITHOUT_NAMESPACES,
        _ => &[],
    };
    assert_eq!(inside, known, "{what}");
    // Seen by those who were not reached, too.
    assert_eq!(told["accepted"], json!([]), "{what}: {}", told["accepted"]);
    assert_eq!(told["came"], json!([]), "{what}");
    assert_eq!(told["typed"], 0, "{what}: somebody typed in the terminal");
    let left = told["left"].as_object().expect("files");
    assert!(
        left.values().all(|text| text == "secret of the host"),
        "{what}: {left:?}"
    );
    println!(
        "{what}: {} reached outside, {} inside",
        control.len(),
        inside.len()
    );
}
