//! What a program is refused is told: which call, by which layer, and what would allow it.

use sandbox_client::pb;
use serde_json::json;
use verdict::Ending;

use crate::world::{Outcome, World};

/// Makes system calls by number, so that no library stands between.
const CALLS: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    answer = libc.syscall(number, *arguments)
    print(number, ctypes.get_errno() if answer < 0 else "done", flush=True)
"#;

fn denial<'a>(outcome: &'a Outcome, act: &str) -> &'a pb::Denial {
    let denials = &outcome.result.denials;
    let found = denials.iter().find(|denial| denial.act == act);
    found.unwrap_or_else(|| panic!("no denial of {act} in {denials:?}"))
}

#[test]
fn refused_calls_are_listed_with_rule_count_and_fix() {
    let Some(world) = World::start("refused_calls_are_listed_with_rule_count_and_fix") else {
        return;
    };
    let outcome = world.python(&format!(
        "{CALLS}\n\
         for n in range(3): call(272, 0x10000000)\n\
         call(101, 16, 1, 0, 0)\n\
         call(41, 17, 3, 0)\n\
         call(39)\n",
    ));
    // unshare(NEWUSER), ptrace(ATTACH), socket(AF_PACKET), and getpid as the control.
    let lines: Vec<String> = outcome
        .exited(0)
        .stdout()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        lines,
        ["272 1", "272 1", "272 1", "101 1", "41 97", "39 done"]
    );
    let unshare = denial(&outcome, "unshare");
    assert_eq!(
        (unshare.layer(), unshare.count, unshare.errno),
        (pb::DenialLayer::Seccomp, 3, 1)
    );
    assert!(
        unshare.rule.as_deref().is_some_and(|rule| !rule.is_empty()),
        "{unshare:?}"
    );
    let ptrace = denial(&outcome, "ptrace");
    assert_eq!((ptrace.count, ptrace.errno), (1, 1));
    assert!(
        ptrace
            .fix
            .as_deref()
            .is_some_and(|fix| fix.contains("debug")),
        "{ptrace:?}"
    );
    let socket = denial(&outcome, "socket");
    assert_eq!((socket.count, socket.errno), (1, 97));
    assert!(
        outcome
            .result
            .denials
            .iter()
            .all(|denial| denial.act != "getpid")
    );
    // A well-behaved program is refused nothing.
    let outcome = world
        .python("import json, subprocess, threading; print(subprocess.check_output(['ls', '/']))");
    outcome.exited(0);
    assert!(
        outcome.result.denials.is_empty(),
        "{:?}",
        outcome.result.denials
    );
}

#[test]
fn a_policy_that_kills_on_a_refused_call_names_it() {
    let Some(world) = World::start("a_policy_that_kills_on_a_refused_call_names_it") else {
        return;
    };
    let document = "name = \"deadly\"\nextends = \"python\"\n[syscalls]\ndeny_action = \"kill\"\n";
    let request = |code: &str| {
        json!({
            "policy_document": document,
            "files": { "main.py": format!("{CALLS}\n{code}") },
            "argv": ["python3", "main.py"],
        })
    };
    let outcome = world.run(&request(
        "call(39)\ncall(272, 0x10000000)\nprint('survived')\n",
    ));
    match &outcome.ending {
        Ending::SyscallDenied { syscall, rule } => {
            assert_eq!(syscall, "unshare");
            assert!(!rule.is_empty());
        }
        other => panic!("{other:?}: {}", outcome.stderr()),
    }
    assert_eq!(outcome.stdout(), "39 done\n");
    // Any thread of the program, and the last call of several kinds.
    let outcome = world.run(&request(
        "import threading\n\
         def work():\n    call(101, 0, 0, 0, 0)\n\
         thread = threading.Thread(target=work)\n\
         thread.start()\n\
         thread.join()\n\
         call(39)\n",
    ));
    assert!(
        matches!(&outcome.ending, Ending::SyscallDenied { syscall, .. } if syscall == "ptrace"),
        "{:?}",
        outcome.ending
    );
    assert_eq!(outcome.stdout(), "");
    // A child that is killed for it does not end its parent, but shows.
    let outcome = world.run(&request(
        "if os.fork() == 0:\n    call(272, 0x10000000)\n    print('survived')\n    os._exit(0)\n\
         print(os.WIFSIGNALED(os.wait()[1]))\n",
    ));
    assert_eq!(outcome.exited(0).stdout(), "True\n");
    assert_eq!(denial(&outcome, "unshare").count, 1);
    // Judged, it is a violation of the policy.
    let mut judged = request("call(272, 0x10000000)\n");
    judged["verify"] = json!({ "kind": "exit_code" });
    assert_eq!(world.run(&judged).verdict(), pb::Outcome::PolicyViolation);
    // The control: the same policy lets a plain program live.
    assert_eq!(
        world.run(&request("call(39)")).exited(0).stdout(),
        "39 done\n"
    );
}
