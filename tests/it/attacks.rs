//! Attacks on what stands around a program rather than on its cell: the helpers that run as its own
//! user, pid 1's limits, the evidence of its end, the files it shares with the host.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::{Value, json};
use verdict::Ending;

use crate::nobody::Nobody;
use crate::skips;
use crate::world::{Spoken, World, limited, python, shell, speak};

/// Tries everything that one process may do to another of its user, for as long as files are being
/// collected, on every pid but its own and its parent's; writes what worked to `log`.
const AGAINST_HELPERS: &str = r#"
import os, resource, signal, time
main = os.getpid()
if os.fork() == 0:
    os.setsid()
    for fd in (0, 1, 2): os.close(fd)
    log = os.open("/workspace/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    tries = {
        "limit": lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, 1000)),
        "stop": lambda pid: os.kill(pid, signal.SIGSTOP),
        "memory": lambda pid: open(f"/proc/{pid}/mem", "r+b", 0),
        "descriptors": lambda pid: os.listdir(f"/proc/{pid}/fd"),
        "environment": lambda pid: open(f"/proc/{pid}/environ").read(),
    }
    seen = set()
    end = time.time() + 5
    while time.time() < end:
        for pid in range(1, 20):
            if pid in (os.getpid(), main): continue
            for name, attempt in tries.items():
                try:
                    attempt(pid)
                    worked = "worked"
                except ProcessLookupError: continue
                except FileNotFoundError: continue
                except OSError: worked = "refused"
                if (pid, name) not in seen:
                    seen.add((pid, name))
                    os.write(log, f"{pid} {name} {worked}\n".encode())
time.sleep(0.3)
for number in range(2000): open(f"/workspace/f{number}", "w").write("x")
"#;

#[test]
fn helpers_that_read_a_programs_files_are_out_of_its_reach() {
    let Some(world) = World::start("helpers_that_read_a_programs_files_are_out_of_its_reach")
    else {
        return;
    };
    let mut request = python(AGAINST_HELPERS);
    request["collect"] = json!(["f*", "log"]);
    let outcome = world.run(&request);
    outcome.exited(0);
    let files = &outcome.result.files;
    assert_eq!(files.len(), 2001, "{:?}", outcome.result.files_missing);
    let log = files.iter().find(|file| file.path == "log").expect("a log");
    let log = String::from_utf8_lossy(&log.content);
    // The control: it did meet pid 1 and the helper.
    assert!(log.lines().any(|line| line.starts_with("1 ")), "{log}");
    assert!(log.lines().any(|line| !line.starts_with("1 ")), "{log}");
    assert!(!log.contains("worked"), "{log}");
}

#[test]
fn what_the_host_and_others_execute_is_not_told() {
    let Some(world) = World::start("what_the_host_and_others_execute_is_not_told") else {
        return;
    };
    let code = "import ctypes, fcntl, os\n\
                libc = ctypes.CDLL(None)\n\
                assert libc.inotify_init() == -1 and libc.inotify_init1(0) == -1\n\
                folder = os.open('/usr/bin', os.O_RDONLY)\n\
                for events in (1, 0x80000021):\n    try:\n        \
                fcntl.fcntl(folder, fcntl.F_NOTIFY, ctypes.c_int(events).value)\n    \
                except OSError as error:\n        assert error.errno == 22, error\n    \
                else:\n        raise SystemExit('a folder of the host is watched')\n\
                assert libc.syncfs(folder) == -1\n";
    for policy in ["python", "node", "build"] {
        let argv = json!(["python3", "-c", code]);
        world
            .run(&json!({ "policy": policy, "argv": argv }))
            .exited(0);
    }
}

/// Out-of-memory events are counted by a descriptor that forgets what was read.
#[test]
fn a_neighbours_start_takes_no_evidence_away() {
    let Some(world) = World::start("a_neighbours_start_takes_no_evidence_away") else {
        return;
    };
    // A child is killed for memory; the program dies in the same way a while later, when others came
    // and went: without the count it would look like a shortage of the host, which is nobody's fault.
    let victim = "import os, time\n\
                  pid = os.fork()\n\
                  if pid == 0:\n    held = []\n    while True: held.append(bytearray(1 << 20))\n\
                  os.waitpid(pid, 0)\n\
                  time.sleep(1.5)\n\
                  os.kill(os.getpid(), 9)\n";
    let victim = limited(python(victim), json!({ "memory_bytes_max": 64 << 20 }));
    let mut requests = vec![victim];
    for _neighbour in 0..6 {
        requests.push(shell("sleep 0.2"));
    }
    let outcomes = world.run_at_once(&requests);
    let ending = &outcomes.first().expect("an outcome").ending;
    assert!(matches!(ending, Ending::MemoryUp { .. }), "{ending:?}");
}

/// An ordinary user with the six programs; `None`, told and counted, where that gives no namespaces.
fn as_user(test: &str, nobody: Nobody) -> Option<impl Fn(&str) -> Spoken> {
    let id = nobody.id();
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
        return None;
    }
    let home = tempfile::tempdir().expect("a home");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path(), open).expect("open the home");
    chown(home.path(), Some(id), Some(id)).expect("give the home away");
    // A folder of its own: the daemon's is called `rollcage`, as the program beside it.
    let runtime = home.path().join("run");
    fs::create_dir(&runtime).expect("a runtime folder");
    chown(&runtime, Some(id), Some(id)).expect("give the runtime folder away");
    for name in [
        "rollcage",
        "sandboxd",
        "sandbox-launcher",
        "sandbox-init",
        "sandbox-probe",
    ] {
        let from = skips::bin_dir().join(name);
        fs::copy(from, home.path().join(name)).expect("copy a program");
    }
    let say = move |arguments: &[&str]| {
        let mut command = Command::new(home.path().join("rollcage"));
        command
            .current_dir(home.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", &runtime)
            .uid(id)
            .gid(id)
            .args(arguments);
        speak(&mut command, b"")
    };
    let mode = say(&["doctor", "--json"]).json()["mode"].clone();
    if mode != "rootless" {
        skips::skip(test, &format!("this host gives users mode {mode}"));
        return None;
    }
    let words = [
        "run",
        "--json",
        "--memory",
        "64M",
        "--cpu-time",
        "3s",
        "--policy",
        "python",
    ];
    Some(move |code: &str| say(&[&words[..], &["--", "python3", "-c", code]].concat()))
}

fn ending(spoken: &Spoken) -> Value {
    spoken.json()["ending"]["kind"].clone()
}

#[test]
fn without_privileges_no_process_hides_from_the_limits() {
    let Some(run) = as_user(
        "without_privileges_no_process_hides_from_the_limits",
        Nobody::Hiding,
    ) else {
        return;
    };
    let fill = "for at in range(0, len(held), 4096): held[at] = 1\nimport time\ntime.sleep(2)\n";
    for held in [
        // Not dumpable: hidden from whoever may not trace it.
        "import ctypes\nassert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0\n\
         held = bytearray(300 << 20)\n",
        // Shared: not a process's own.
        "import mmap\nheld = mmap.mmap(-1, 300 << 20)\n",
    ] {
        assert_eq!(
            ending(&run(&format!("{held}{fill}"))),
            "memory_up",
            "{held}"
        );
    }
    // In no process at all: there is no such place.
    let file = "import os\ntry: os.memfd_create('x', 0x9)\nexcept PermissionError: pass\n\
                else: raise SystemExit(1)\n";
    assert_eq!(ending(&run(file)), "exited");
    assert_eq!(run(file).json()["ending"]["code"], 0);
}

#[test]
fn without_privileges_children_that_nobody_waits_for_cost_their_time() {
    let test = "without_privileges_children_that_nobody_waits_for_cost_their_time";
    let Some(run) = as_user(test, Nobody::ChildrenUnwaited) else {
        return;
    };
    // The kernel adds the time of such a child to nobody's. Few at a time, so that on a busy machine
    // neither memory nor the number of processes comes first.
    let code = "import os, resource, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                end = time.time() + 30\nwhile time.time() < end:\n    \
                for _ in range(3):\n        if os.fork() == 0:\n            \
                busy = time.process_time() + 0.3\n            \
                while time.process_time() < busy: pass\n            os._exit(0)\n    \
                time.sleep(0.8)\n";
    assert_eq!(ending(&run(code)), "cpu_time_up");
}

#[test]
fn without_privileges_pid_1_keeps_its_own_limits() {
    let Some(run) = as_user(
        "without_privileges_pid_1_keeps_its_own_limits",
        Nobody::Pid1,
    ) else {
        return;
    };
    let code = "import resource\nfor name in ('NOFILE', 'CPU', 'AS'):\n    try:\n        \
                resource.prlimit(1, getattr(resource, 'RLIMIT_' + name), (0, 0))\n    \
                except PermissionError: pass\n    else: raise SystemExit(1)\n";
    let spoken = run(code);
    let result = spoken.json();
    assert_eq!(result["ending"]["kind"], "exited", "{result}");
    assert_eq!(result["ending"]["code"], 0, "{result}");
}
