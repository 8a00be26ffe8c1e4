//! The filters of our own processes: the programs say what the tables say, the tables close what
//! they promise, and the one that programs inherit takes nothing from any profile.

use super::super::interpret::{Call, interpret};
use super::super::profiles::{ALLOWED, CLOSED, OPTIONAL};
use super::super::table::number_of;
use super::super::{ARCH_X86_64, FilterSpec, Verdict, verdict_of};
use super::*;

const NARROW: [OwnProcess; 3] = [
    OwnProcess::Api,
    OwnProcess::AuditWriter,
    OwnProcess::Launcher,
];

fn nr(name: &str) -> u32 {
    number_of(name).unwrap_or_else(|| panic!("{name} is no system call"))
}

/// Arguments at and beside what any rule compares with.
fn argument_sets() -> Vec<[u64; 6]> {
    const EDGES: &[u64] = &[
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        8,
        10,
        15,
        16,
        17,
        21,
        39,
        40,
        62,
        0x10,
        0x80,
        1026,
        0x4200,
        0x4206,
        0x5401,
        0x5412,
        0x5421,
        0x2000,
        0x6000,
        0x8000,
        0x1_0000,
        0x3d_0f00,
        0x1_0100,
        0x2_0000,
        0x20_0000,
        0x1000_0000,
        0x7E02_0000,
        0x5356_4d41,
        0xffff_ffff,
        0x1_0000_0001,
    ];
    let mut sets = vec![[0; 6], [u64::MAX; 6]];
    sets.push([u64::from(std::process::id()); 6]);
    for &edge in EDGES {
        sets.push([edge; 6]);
        for position in 0..4 {
            for other in EDGES.iter().take(4).chain(&[0x4200, 0x4206, 21]) {
                let mut args = [*other; 6];
                args[position] = edge;
                sets.push(args);
            }
        }
    }
    sets
}

fn numbers() -> impl Iterator<Item = u32> {
    (0..=600).chain([
        1000,
        X32_BIT - 1,
        X32_BIT,
        X32_BIT + 41,
        u32::MAX - 1,
        u32::MAX,
    ])
}

#[test]
fn programs_and_tables_agree_on_every_number() {
    let sets = argument_sets();
    for who in OwnProcess::ALL {
        let program = who.filter().expect("a filter").program;
        println!("{who:?}: {} instructions", program.len());
        for nr in numbers() {
            let ruled = matches!(who.meaning(nr), Meaning::Ruled(_));
            for &args in if ruled { &sets[..] } else { &sets[..3] } {
                let arch = ARCH_X86_64;
                let call = Call { arch, nr, args };
                let expected = who.verdict_of(nr, args).return_value();
                assert_eq!(
                    interpret(&program, &call),
                    Ok(expected),
                    "{who:?} {nr} {args:x?}"
                );
                let arch = 0x4000_0003;
                let foreign = interpret(&program, &Call { arch, ..call });
                assert_eq!(foreign, Ok(OwnVerdict::Kill.return_value()), "{who:?} {nr}");
            }
        }
    }
}

#[test]
fn every_name_is_a_call() {
    for who in OwnProcess::ALL {
        for name in who.needs().into_iter().flat_map(|group| group.names) {
            assert_eq!(
                who.verdict_of(nr(name), [0; 6]),
                OwnVerdict::Allow,
                "{name}"
            );
        }
    }
    for name in MAKES_SANDBOXES {
        assert!(
            CLOSED.iter().any(|group| group.names.contains(name)),
            "{name} is open anyway"
        );
    }
}

/// What no process with an allow list of ours may call, whatever the arguments.
#[rustfmt::skip]
const NEVER: &[&str] = &[
    "execve", "execveat", "fork", "vfork", "clone3", "ptrace", "process_vm_readv",
    "process_vm_writev", "pidfd_getfd", "kcmp", "mount", "umount2", "pivot_root", "chroot",
    "open_tree", "move_mount", "fsopen", "mount_setattr", "unshare", "setns", "bpf",
    "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "keyctl", "add_key",
    "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "socket", "bind", "listen", "connect", "setuid", "setresuid", "setgid",
    "setgroups", "capset", "seccomp", "mknod", "mknodat", "symlink", "symlinkat", "link",
    "linkat", "chown", "fchown", "fchownat", "lchown", "splice", "vmsplice", "reboot", "swapon",
    "settimeofday", "clock_settime", "syslog", "acct", "quotactl", "modify_ldt", "iopl",
    "ioperm", "open_by_handle_at", "fanotify_init", "inotify_init1", "personality",
    "process_madvise", "sched_setattr", "sched_setscheduler", "shmget", "semget", "msgget",
    "mq_open", "io_setup", "rt_sigqueueinfo", "setxattr",
];

#[test]
fn our_own_processes_cannot_become_anything_else() {
    for who in NARROW {
        for name in NEVER {
            for args in argument_sets() {
                let verdict = who.verdict_of(nr(name), args);
                let refused = matches!(verdict, OwnVerdict::Errno(EPERM | 38));
                assert!(refused, "{who:?} {name} {args:x?}: {verdict:?}");
            }
        }
        assert_eq!(who.verdict_of(470, [0; 6]), OwnVerdict::Errno(38));
    }
}

#[test]
fn arguments_decide_where_a_call_can_be_more_than_it_is_needed_for() {
    let allows = |who: OwnProcess, name, args| who.verdict_of(nr(name), args) == OwnVerdict::Allow;
    // Threads for the runtime of the api, processes for nobody; nobody's namespaces.
    let thread = [0x3d_0f00, 0, 0, 0, 0, 0];
    assert!(allows(OwnProcess::Api, "clone", thread));
    assert!(!allows(OwnProcess::Api, "clone", [17, 0, 0, 0, 0, 0]));
    let in_namespace = [0x3d_0f00 | 0x1000_0000, 0, 0, 0, 0, 0];
    assert!(!allows(OwnProcess::Api, "clone", in_namespace));
    assert!(!allows(OwnProcess::Launcher, "clone", thread));
    // No code that was not there at the start.
    for who in NARROW {
        assert!(allows(who, "mmap", [0, 4096, 3, 0x22, 0, 0]));
        assert!(!allows(who, "mmap", [0, 4096, 5, 0x22, 0, 0]));
        assert!(!allows(who, "mprotect", [0, 4096, 7, 0, 0, 0]));
        // Nor a way to be looked into again.
        assert!(!allows(who, "prctl", [4, 1, 0, 0, 0, 0]));
    }
    // Only who has to can signal, and only the api and the launcher make files of memory.
    for (who, kills, seals) in [
        (OwnProcess::Api, false, true),
        (OwnProcess::AuditWriter, false, false),
        (OwnProcess::Launcher, true, true),
    ] {
        assert_eq!(allows(who, "kill", [1, 9, 0, 0, 0, 0]), kills, "{who:?}");
        assert_eq!(allows(who, "pidfd_send_signal", [3, 9, 0, 0, 0, 0]), kills);
        assert_eq!(allows(who, "memfd_create", [0, 3, 0, 0, 0, 0]), seals);
        assert!(!allows(who, "memfd_create", [0, 0x13, 0, 0, 0, 0]));
    }
}

#[test]
fn what_programs_inherit_takes_nothing_from_any_profile() {
    let sets = argument_sets();
    let added: Vec<u32> = OPTIONAL
        .iter()
        .flat_map(|group| group.names)
        .map(|name| nr(name))
        .collect();
    for profile in [Profile::Strict, Profile::Compat, Profile::Debug] {
        for network in [Network::Sealed, Network::Loopback] {
            let mut spec = FilterSpec::new(profile, network);
            spec.notify = true;
            spec.extra_allow.clone_from(&added);
            for number in numbers() {
                // Elsewhere the forkers' filter does not look at arguments.
                let ruled = matches!(OwnProcess::Forker.meaning(number), Meaning::Ruled(_));
                let allowed = |sets: &[[u64; 6]]| {
                    sets.iter()
                        .any(|args| verdict_of(&spec, number, *args) == Verdict::Allow)
                };
                if !ruled && allowed(&sets) {
                    let verdict = OwnProcess::Forker.verdict_of(number, [0; 6]);
                    assert_eq!(verdict, OwnVerdict::Allow, "{profile:?} {number}");
                    continue;
                }
                for &args in if ruled { &sets[..] } else { &[] } {
                    if verdict_of(&spec, number, args) != Verdict::Allow {
                        continue;
                    }
                    let verdict = OwnProcess::Forker.verdict_of(number, args);
                    // The one exception: a debugger that would undo the filter's answers.
                    let undoes = number == nr("ptrace") && args[3] & 0x20_0080 != 0;
                    assert!(
                        verdict == OwnVerdict::Allow || undoes,
                        "{profile:?} {number} {args:x?}: {verdict:?}"
                    );
                }
            }
        }
    }
    // And what it closes is told all the same: a notification is stronger than its answer.
    let notified = Verdict::Notify(1).return_value();
    assert!(notified < OwnVerdict::Absent.return_value());
    assert!(ALLOWED.len() > 5);
}

#[test]
fn forkers_and_pid_1_keep_what_makes_a_sandbox_and_lose_the_rest() {
    let forker = |name: &str, args| OwnProcess::Forker.verdict_of(nr(name), args);
    for name in MAKES_SANDBOXES {
        assert_eq!(forker(name, [0; 6]), OwnVerdict::Allow, "{name}");
    }
    for name in ["clone", "execve", "execveat", "seccomp", "capset", "prctl"] {
        assert_eq!(forker(name, [0; 6]), OwnVerdict::Allow, "{name}");
    }
    let closed = [
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "init_module",
        "finit_module",
        "delete_module",
        "kexec_load",
        "kexec_file_load",
        "settimeofday",
        "clock_settime",
        "adjtimex",
        "swapon",
        "swapoff",
        "reboot",
        "syslog",
        "acct",
        "quotactl",
        "quotactl_fd",
        "open_by_handle_at",
        "name_to_handle_at",
        "fanotify_init",
        "setns",
        "chroot",
        "add_key",
        "request_key",
        "pidfd_getfd",
        "process_madvise",
        "modify_ldt",
        "iopl",
        "ioperm",
        "vhangup",
        "setdomainname",
        "sync",
        "sched_setattr",
    ];
    for name in closed {
        assert_eq!(forker(name, [0; 6]), OwnVerdict::Absent, "{name}");
    }
    let socket = |family| forker("socket", [family, 1, 0, 0, 0, 0]);
    for family in [1, 2, 10, 16] {
        assert_eq!(socket(family), OwnVerdict::Allow, "{family}");
    }
    for family in [17, 38, 40, 43, 44] {
        assert_eq!(socket(family), OwnVerdict::Absent, "{family}");
    }
    assert_eq!(forker("keyctl", [1, 0, 0, 0, 0, 0]), OwnVerdict::Allow);
    assert_eq!(forker("keyctl", [11, 0, 0, 0, 0, 0]), OwnVerdict::Absent);
    assert_eq!(forker("mknod", [0, 0x2000, 0, 0, 0, 0]), OwnVerdict::Absent);
    let seize = |options| forker("ptrace", [0x4206, 1, 0, options, 0, 0]);
    assert_eq!(
        [seize(0), seize(1), seize(0x80), seize(0x20_0000)],
        [
            OwnVerdict::Allow,
            OwnVerdict::Allow,
            OwnVerdict::Absent,
            OwnVerdict::Absent
        ]
    );
}
