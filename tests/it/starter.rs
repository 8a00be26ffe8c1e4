//! What whoever starts the daemon leaves to its processes: an execution domain, priorities, limits,
//! signals that are ignored. None of it reaches a program, and none of it makes a run fail.

use std::process::Command;

use crate::skips;
use crate::user::User;
use crate::world::{Place, World, shell, speak};

/// The C library's own signals (32 and up) are left out. Says of the shell itself what a program may have from others, one thing a line.
const REPORT: &str = "\
    echo domain $(cat /proc/self/personality)
    echo nice and policy $(sed 's/.*) //' /proc/self/stat | cut -d' ' -f17,39)
    echo stack $(ulimit -s)
    echo slack $(cat /proc/self/timerslack_ns)
    grep THP_enabled /proc/self/status
    echo ignored $((0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & 0x7fffffff))";

const ORDINARY: [&str; 6] = [
    "domain 00000000",
    "nice and policy 0 0",
    "stack 8192",
    "slack 50000",
    "THP_enabled:\t1",
    "ignored 0",
];

/// PR_SET_TIMERSLACK and PR_SET_THP_DISABLE, kept over an exec.
const OPTIONS: &str = "import ctypes, os, sys
own = ctypes.CDLL(None)
assert own.prctl(29, 1000000, 0, 0, 0) == 0 and own.prctl(41, 1, 0, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])";

/// A command that leaves all of it to what follows.
fn unusual() -> Vec<String> {
    let shell = "trap '' INT QUIT HUP USR1 CHLD && exec \"$@\"";
    [
        &["setarch", "x86_64", "-R", "nice", "-n", "10"][..],
        &["chrt", "-i", "0", "ionice", "-c", "3"],
        &["prlimit", "--stack=1048576:"],
        &["python3", "-c", OPTIONS],
        &["sh", "-c", shell, "sh"],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect()
}

#[test]
fn what_the_starter_left_does_not_reach_programs() {
    let test = "what_the_starter_left_does_not_reach_programs";
    let place = Place {
        under: unusual(),
        ..Place::default()
    };
    let Some(world) = World::in_place(test, place) else {
        return;
    };
    // The control: any other program that is started so has all of it.
    let words = unusual();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["sh", "-c", REPORT]);
    let outside = speak(&mut command, b"").ended(0).stdout();
    let outside: Vec<&str> = outside.lines().collect();
    assert_eq!(outside.len(), ORDINARY.len(), "{outside:?}");
    for (found, ordinary) in outside.iter().zip(ORDINARY) {
        assert_ne!(*found, ordinary, "{outside:?}");
    }
    let outcome = world.run(&shell(REPORT));
    outcome.exited(0);
    let inside = outcome.stdout();
    assert_eq!(inside.lines().collect::<Vec<_>>(), ORDINARY);
}

#[test]
fn a_starter_that_ignores_ended_children_gets_its_result() {
    let test = "a_starter_that_ignores_ended_children_gets_its_result";
    if !skips::is_root(test) {
        return;
    }
    let user = User::new(0);
    let around = ["sh", "-c", "trap '' CHLD && exec \"$@\"", "sh"].map(str::to_owned);
    let arguments = [
        "--embedded",
        "run",
        "--policy",
        "shell",
        "--",
        "sh",
        "-c",
        "true; exit 3",
    ];
    let spoken = user.say_within(&around, "no-configuration", (&arguments, ""));
    spoken.ended(3);
    assert!(!spoken.stderr().contains("wait for"), "{}", spoken.stderr());
}
