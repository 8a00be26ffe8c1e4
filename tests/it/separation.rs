//! The daemon's own processes as the kernel shows them: who they are, what they may, and which
//! filters they really carry, read from the live processes and compared with the tables.

mod live;

use std::collections::BTreeMap;
use std::fs;
use std::thread::JoinHandle;
use std::time::Duration;

use confine::own::OwnProcess;
use confine::seccomp::interpret::{Call, interpret};
use confine::seccomp::table::number_of;
use confine::seccomp::{ARCH_X86_64, own::OwnVerdict};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::host;
use crate::wait;
use crate::world::{Spoken, World, speak};
use live::{Filters, Status};

const SOON: Duration = Duration::from_secs(20);
const API: u32 = 64_810;
const AUDIT_WRITER: u32 = 64_811;
/// All capabilities of a set that has none.
const NONE: u64 = 0;

/// The processes of a daemon with one sandbox in it.
struct Processes {
    api: Status,
    audit_writer: Status,
    launcher: Status,
    forkers: Vec<Status>,
    /// Pid 1 of the sandbox, and the program.
    init: Status,
    program: Status,
}

/// Starts a program that stays, and looks at everybody.
fn look(world: &World) -> Processes {
    let world_pid = world.pid();
    let launcher_pid = world.instance().launcher_pid;
    let mut found = None;
    wait::until_it_holds("a program runs", SOON, || {
        found = found_now(world_pid, launcher_pid);
        found.is_some()
    });
    found.expect("all processes")
}

/// A program that stays until [`end`] ends it.
fn sleeping(world: &World) -> JoinHandle<Spoken> {
    let mut command = world.rollcage();
    std::thread::spawn(move || {
        speak(
            command.args(["run", "--time", "100s", "--", "sleep", "100"]),
            b"",
        )
    })
}

fn end(run: JoinHandle<Spoken>, program: &Status) {
    const TERMINATED: i32 = 128 + 15;
    live::signal(program.pid, Signal::SIGTERM);
    run.join().expect("the command").ended(TERMINATED);
}

fn found_now(api: i32, launcher: i32) -> Option<Processes> {
    let family = host::descendants(api);
    let all: BTreeMap<i32, Status> = family
        .iter()
        .filter_map(|process| Some((process.pid, Status::of(process.pid)?)))
        .collect();
    let children = |parent: i32| {
        family
            .iter()
            .filter(move |process| process.parent == parent && process.pid != parent)
    };
    let audit_writer = children(api).find(|process| process.pid != launcher)?.pid;
    let (inits, forkers): (Vec<_>, Vec<_>) =
        children(launcher).partition(|process| process.command_line.starts_with("sandbox-init"));
    let program = inits
        .iter()
        .flat_map(|init| children(init.pid))
        .find(|process| process.name == "sleep")?;
    Some(Processes {
        api: all.get(&api)?.clone(),
        audit_writer: all.get(&audit_writer)?.clone(),
        launcher: all.get(&launcher)?.clone(),
        forkers: forkers
            .iter()
            .filter_map(|forker| all.get(&forker.pid).cloned())
            .collect(),
        init: all.get(&program.parent)?.clone(),
        program: all.get(&program.pid)?.clone(),
    })
}

/// Fails unless a process is this user, alone, with these capabilities and locks.
#[track_caller]
fn is_locked(who: &str, status: &Status, uid: u32, capabilities: u64, filters: u64) {
    assert_eq!(status.uids, [uid; 4], "{who}: {status:?}");
    assert_eq!(status.gids, [uid; 4], "{who}: {status:?}");
    assert!(status.groups.is_empty(), "{who}: {status:?}");
    assert_eq!(status.inheritable, NONE, "{who}: {status:?}");
    assert_eq!(status.ambient, NONE, "{who}: {status:?}");
    for set in [status.permitted, status.effective, status.bounding] {
        assert_eq!(set, capabilities, "{who}: {set:#x} in {status:?}");
    }
    assert!(status.no_new_privs, "{who}: {status:?}");
    assert_eq!((status.seccomp, status.filters), (2, filters), "{who}");
}

#[test]
fn every_process_is_only_what_it_has_to_be() {
    let Some(world) = World::start("every_process_is_only_what_it_has_to_be") else {
        return;
    };
    let before = fs::read_to_string("/proc/self/status").expect("own status");
    assert!(
        !before.contains("CapEff:\t0000000000000000"),
        "the daemon was started with nothing to give up: {before}"
    );
    let run = sleeping(&world);
    let found = look(&world);
    is_locked("api", &found.api, API, NONE, 1);
    is_locked("audit writer", &found.audit_writer, AUDIT_WRITER, NONE, 1);
    let kept = OwnProcess::Launcher.capability_mask();
    is_locked("launcher", &found.launcher, 0, kept, 1);
    assert_eq!(found.forkers.len(), 2);
    for forker in &found.forkers {
        let kept = OwnProcess::Forker.capability_mask();
        is_locked("forker", forker, 0, kept, 1);
    }
    // Pid 1 has the forkers' filter; the program besides it its policy's own one.
    assert_eq!((found.init.seccomp, found.init.filters), (2, 1));
    assert!(found.init.no_new_privs, "{:?}", found.init);
    let program = &found.program;
    assert!(program.uids[0] >= 0x1000_0000, "{program:?}");
    is_locked("program", program, program.uids[0], NONE, 2);
    // Every thread, not only the first.
    let threads = live::threads(world.pid());
    assert!(threads.len() > 1, "the api has threads");
    for thread in &threads {
        is_locked("a thread of the api", thread, API, NONE, 1);
    }
    // Nobody of the same user looks into their memory: it belongs to root, whoever they are.
    for (who, pid) in [
        ("api", world.pid()),
        ("audit writer", found.audit_writer.pid),
        ("launcher", found.launcher.pid),
        ("forker", found.forkers[0].pid),
        ("other forker", found.forkers[1].pid),
        ("pid 1", found.init.pid),
    ] {
        assert_eq!(live::owner_of_memory(pid), 0, "{who}");
    }
    // The control: that of a program belongs to whoever runs it.
    assert_eq!(live::owner_of_memory(program.pid), program.uids[0]);
    end(run, &found.program);
}

/// A call with arguments that a filter may look at.
type Row = (&'static str, [u64; 6]);

const NO_ARGUMENTS: [u64; 6] = [0; 6];
const IN_NAMESPACE: [u64; 6] = [0x1000_0011, 0, 0, 0, 0, 0];
const EXECUTABLE: [u64; 6] = [0, 4096, 5, 0x22, u64::MAX, 0];

/// What nobody of the daemon but forkers may do, whoever has taken it over.
const CLOSED: &[Row] = &[
    ("execve", NO_ARGUMENTS),
    ("execveat", NO_ARGUMENTS),
    ("fork", NO_ARGUMENTS),
    ("vfork", NO_ARGUMENTS),
    ("clone", [17, 0, 0, 0, 0, 0]),
    ("clone", IN_NAMESPACE),
    ("clone3", NO_ARGUMENTS),
    ("ptrace", [0x10, 1, 0, 0, 0, 0]),
    ("process_vm_readv", NO_ARGUMENTS),
    ("process_vm_writev", NO_ARGUMENTS),
    ("pidfd_getfd", NO_ARGUMENTS),
    ("mount", NO_ARGUMENTS),
    ("umount2", NO_ARGUMENTS),
    ("move_mount", NO_ARGUMENTS),
    ("open_tree", NO_ARGUMENTS),
    ("fsopen", NO_ARGUMENTS),
    ("pivot_root", NO_ARGUMENTS),
    ("chroot", NO_ARGUMENTS),
    ("unshare", IN_NAMESPACE),
    ("setns", NO_ARGUMENTS),
    ("bpf", NO_ARGUMENTS),
    ("io_uring_setup", NO_ARGUMENTS),
    ("perf_event_open", NO_ARGUMENTS),
    ("userfaultfd", NO_ARGUMENTS),
    ("keyctl", NO_ARGUMENTS),
    ("add_key", NO_ARGUMENTS),
    ("init_module", NO_ARGUMENTS),
    ("finit_module", NO_ARGUMENTS),
    ("kexec_load", NO_ARGUMENTS),
    ("reboot", NO_ARGUMENTS),
    ("setuid", NO_ARGUMENTS),
    ("setresuid", NO_ARGUMENTS),
    ("setgroups", NO_ARGUMENTS),
    ("capset", NO_ARGUMENTS),
    ("socket", [2, 1, 0, 0, 0, 0]),
    ("socket", [1, 1, 0, 0, 0, 0]),
    ("socket", [40, 1, 0, 0, 0, 0]),
    ("connect", NO_ARGUMENTS),
    ("bind", NO_ARGUMENTS),
    ("listen", NO_ARGUMENTS),
    ("mmap", EXECUTABLE),
    ("mprotect", EXECUTABLE),
    ("memfd_create", [0, 0x10, 0, 0, 0, 0]),
    ("prctl", [4, 1, 0, 0, 0, 0]),
    ("mknod", [0, 0x2000, 0, 0, 0, 0]),
    ("chown", NO_ARGUMENTS),
    ("symlink", NO_ARGUMENTS),
    ("link", NO_ARGUMENTS),
];

/// What not even forkers and pid 1 may do.
const CLOSED_EVERYWHERE: &[Row] = &[
    ("bpf", NO_ARGUMENTS),
    ("io_uring_setup", NO_ARGUMENTS),
    ("io_uring_enter", NO_ARGUMENTS),
    ("perf_event_open", NO_ARGUMENTS),
    ("userfaultfd", NO_ARGUMENTS),
    ("init_module", NO_ARGUMENTS),
    ("finit_module", NO_ARGUMENTS),
    ("delete_module", NO_ARGUMENTS),
    ("kexec_load", NO_ARGUMENTS),
    ("kexec_file_load", NO_ARGUMENTS),
    ("settimeofday", NO_ARGUMENTS),
    ("clock_settime", NO_ARGUMENTS),
    ("swapon", NO_ARGUMENTS),
    ("reboot", NO_ARGUMENTS),
    ("syslog", NO_ARGUMENTS),
    ("acct", NO_ARGUMENTS),
    ("quotactl", NO_ARGUMENTS),
    ("add_key", NO_ARGUMENTS),
    ("request_key", NO_ARGUMENTS),
    ("keyctl", [11, 0, 0, 0, 0, 0]),
    ("setns", NO_ARGUMENTS),
    ("open_by_handle_at", NO_ARGUMENTS),
    ("pidfd_getfd", NO_ARGUMENTS),
    ("socket", [38, 5, 0, 0, 0, 0]),
    ("socket", [40, 1, 0, 0, 0, 0]),
    ("socket", [17, 3, 0, 0, 0, 0]),
    ("mknod", [0, 0x2000, 0, 0, 0, 0]),
    ("ptrace", [0x4206, 1, 0, 0x80, 0, 0]),
    ("ptrace", [0x4200, 1, 0, 0x80, 0, 0]),
];

fn call((name, args): Row) -> Call {
    Call {
        arch: ARCH_X86_64,
        nr: number_of(name).unwrap_or_else(|| panic!("{name} is no system call")),
        args,
    }
}

/// `BPF_JMP | BPF_JEQ | BPF_K`.
const IF_EQUAL: u16 = 0x15;

/// Compares the live filter of one process with its table: these rows, and every number.
fn compare(who: OwnProcess, pid: i32, carried: &Filters, closed: &[Row]) {
    let program = carried.first().expect("a filter");
    let mut wanted = who.filter().expect("its filter").program;
    // A process may signal its own threads: its number stands where ours does in a filter made here.
    for instruction in &mut wanted {
        if instruction.code == IF_EQUAL && instruction.k == std::process::id() {
            instruction.k = pid.unsigned_abs();
        }
    }
    assert_eq!(
        program, &wanted,
        "{who:?} does not carry what its table says"
    );
    for row in closed {
        let found = interpret(program, &call(*row)).expect("an answer");
        let refused = match who {
            OwnProcess::Forker => OwnVerdict::Absent.return_value() == found,
            _ => [1, 38]
                .map(|errno| OwnVerdict::Errno(errno).return_value())
                .contains(&found),
        };
        assert!(refused, "{who:?} {row:x?}: {found:#x}");
    }
    for nr in 0..=500 {
        let args = NO_ARGUMENTS;
        let asked = Call {
            nr,
            args,
            ..call(("read", args))
        };
        let expected = who.verdict_of(nr, args).return_value();
        assert_eq!(interpret(program, &asked), Ok(expected), "{who:?} {nr}");
    }
    let foreign = Call {
        arch: 0x4000_0003,
        ..call(("read", NO_ARGUMENTS))
    };
    let killed = OwnVerdict::Kill.return_value();
    assert_eq!(interpret(program, &foreign), Ok(killed), "{who:?}");
}

#[test]
fn the_filters_in_force_are_those_of_the_tables() {
    const TEST: &str = "separation::the_filters_in_force_are_those_of_the_tables";
    if live::as_reader() {
        return;
    }
    let Some(world) = World::start(TEST) else {
        return;
    };
    let run = sleeping(&world);
    let found = look(&world);
    let rows = [
        (OwnProcess::Api, &found.api, CLOSED),
        (OwnProcess::AuditWriter, &found.audit_writer, CLOSED),
        (OwnProcess::Launcher, &found.launcher, CLOSED),
        (OwnProcess::Forker, &found.forkers[0], CLOSED_EVERYWHERE),
        (OwnProcess::Forker, &found.init, CLOSED_EVERYWHERE),
        (OwnProcess::Forker, &found.program, CLOSED_EVERYWHERE),
    ];
    let pids = rows.map(|(_, status, _)| status.pid);
    if let Some(filters) = live::filters(TEST, &pids) {
        for (who, status, closed) in rows {
            compare(who, status.pid, &filters[&status.pid], closed);
        }
    }
    end(run, &found.program);
}

#[test]
fn a_debugger_works_under_the_filter_that_programs_inherit() {
    let test = "a_debugger_works_under_the_filter_that_programs_inherit";
    let Some(world) = World::start(test) else {
        return;
    };
    // A tracer with the plain calls of a debugger, and one that would undo a filter's answers.
    let code = r#"
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.ptrace.restype = ctypes.c_long
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(7)
os.waitpid(child, 0)
def options(bits):
    ctypes.set_errno(0)
    done = libc.ptrace(0x4200, child, 0, bits)
    return "ok" if done == 0 else os.strerror(ctypes.get_errno())
print("tracesysgood", options(1))
print("traceseccomp", options(0x80))
libc.ptrace(7, child, 0, 0)
print("exit", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;
    let run = |policy: &str| {
        let files = json!({ "main.py": code });
        world.run(&json!({ "policy": policy, "files": files, "argv": ["python3", "main.py"] }))
    };
    // Only a policy of the site has that profile. Landlock lets the api read it after its start.
    let base = include_str!("../../policies/catalog/base.toml");
    let policy = base
        .replace("name = \"base\"", "name = \"debugged\"")
        .replace("profile = \"compat\"", "profile = \"debug\"");
    fs::create_dir_all(world.policies_dir()).expect("a folder of policies");
    fs::write(world.policies_dir().join("debugged.toml"), policy).expect("write a policy");
    live::signal(world.pid(), Signal::SIGHUP);
    wait::until_it_holds("the policy is there", SOON, || {
        world.cli(&["policy", "show", "debugged"]).code == Some(0)
    });
    let outcome = run("debugged");
    outcome.exited(0);
    assert_eq!(
        outcome.stdout(),
        "tracesysgood ok\ntraceseccomp Function not implemented\nexit 7\n"
    );
}
