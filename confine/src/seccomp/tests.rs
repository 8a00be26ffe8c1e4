//! Whole filters: the program against the tables, and the tables against what they promise.

use super::interpret::{Call, interpret};
use super::table::number_of;
use super::*;

const PROFILES: [Profile; 3] = [Profile::Strict, Profile::Compat, Profile::Debug];
const NETWORKS: [Network; 2] = [Network::Sealed, Network::Loopback];

fn nr(name: &str) -> u32 {
    number_of(name).unwrap()
}

fn plain_specs() -> Vec<FilterSpec> {
    let of = |profile| NETWORKS.map(|network| FilterSpec::new(profile, network));
    PROFILES.iter().copied().flat_map(of).collect()
}

fn specs() -> Vec<FilterSpec> {
    let actions = [
        (DenyAction::Errno, false),
        (DenyAction::Errno, true),
        (DenyAction::Kill, true),
    ];
    let mut specs = Vec::new();
    for (plain, (deny_action, notify)) in plain_specs()
        .iter()
        .flat_map(|plain| actions.map(|action| (plain, action)))
    {
        let plain = FilterSpec {
            deny_action,
            notify,
            ..plain.clone()
        };
        let extra_deny = vec![nr("kill"), nr("splice")];
        let extra_allow = vec![nr("splice"), nr("tee"), nr("shmget")];
        specs.push(FilterSpec {
            extra_deny,
            extra_allow,
            ..plain.clone()
        });
        specs.push(FilterSpec {
            sealed_signals: true,
            ..plain.clone()
        });
        specs.push(plain);
    }
    specs
}

#[test]
fn files_signal_others_only_where_signals_are_kept_in() {
    let asks = [
        ("fcntl", [8, 10, 15].as_slice()),
        ("ioctl", &[0x8901, 0x8902]),
    ];
    for plain in plain_specs() {
        let sealed = FilterSpec {
            sealed_signals: true,
            ..plain.clone()
        };
        for (spec, expected) in [
            (&plain, Verdict::Allow),
            (&sealed, Verdict::Errno(profiles::EPERM)),
        ] {
            let filter = compile(spec).unwrap();
            for (name, commands) in asks {
                for &command in commands {
                    let args = [3, command, 1, 0, 0, 0];
                    let (arch, nr) = (ARCH_X86_64, nr(name));
                    let answer = interpret(&filter.program, &Call { arch, nr, args });
                    assert_eq!(answer, Ok(expected.return_value()), "{name} {command:#x}");
                }
                // F_GETFL and TCGETS go on.
                let (arch, nr, args) = (ARCH_X86_64, nr(name), [0, 3, 0, 0, 0, 0]);
                let usual = interpret(&filter.program, &Call { arch, nr, args });
                assert_eq!(usual, Ok(Verdict::Allow.return_value()), "{name}");
            }
        }
    }
}

/// Values at and beside everything that any rule compares with.
const EDGES: &[u64] = &[
    0x8901,
    0x8902,
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    11,
    12,
    15,
    16,
    17,
    19,
    26,
    28,
    31,
    35,
    38,
    40,
    41,
    44,
    62,
    64,
    67,
    80,
    97,
    100,
    262,
    270,
    279,
    0x80,
    0x0010,
    0x0018,
    0x0008,
    0x0800,
    0x1000,
    0x2000,
    0x4000,
    0x6000,
    0x8000,
    0xc000,
    0x2_0000,
    0x2_0008,
    0x4_0000,
    0x8_0001,
    0x5412,
    0x541C,
    0x541D,
    0x5423,
    0x5413,
    0x0200_0000,
    0x1000_0000,
    0x4000_0000,
    0x4000_0001,
    0x5356_4d41,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_5412,
    0xffff_ffff_0000_0001,
];

fn argument_sets() -> Vec<[u64; 6]> {
    let mut sets = vec![[0; 6], [u64::MAX; 6]];
    for &edge in EDGES {
        sets.push([edge; 6]);
        for position in 0..3 {
            for other in [0, 1, 2, 16] {
                let mut args = [other; 6];
                args[position] = edge;
                sets.push(args);
            }
        }
    }
    sets
}

fn check_call(spec: &FilterSpec, filter: &Filter, call: Call) {
    let expected = verdict_of(spec, call.nr, call.args).return_value();
    assert_eq!(
        interpret(&filter.program, &call),
        Ok(expected),
        "{spec:?} {call:x?}"
    );
    for arch in [0x4000_0003, 0, 0xC000_00B7] {
        let foreign = interpret(&filter.program, &Call { arch, ..call });
        assert_eq!(foreign, Ok(Verdict::Kill.return_value()), "{call:x?}");
    }
}

#[test]
fn program_and_tables_agree_on_every_number() {
    let sets = argument_sets();
    for spec in specs() {
        let filter = compile(&spec).unwrap();
        let numbers = (0..=600u32).chain([1000, X32_BIT - 1, X32_BIT, X32_BIT + 41, u32::MAX]);
        for nr in numbers.chain([u32::MAX - 1]) {
            let ruled = matches!(spec.meaning(nr), Meaning::Ruled(_));
            for &args in if ruled { &sets[..] } else { &sets[..3] } {
                check_call(
                    &spec,
                    &filter,
                    Call {
                        arch: ARCH_X86_64,
                        nr,
                        args,
                    },
                );
            }
        }
    }
}

#[test]
fn programs_stay_small() {
    for spec in specs() {
        let instructions = compile(&spec).unwrap().program.len();
        assert!(instructions <= 350, "{instructions} instructions: {spec:?}");
    }
    for spec in plain_specs() {
        let instructions = compile(&spec).unwrap().program.len();
        println!(
            "{:?} {:?}: {instructions} instructions",
            spec.profile, spec.network
        );
    }
}

#[test]
fn digests_name_programs() {
    let mut seen: Vec<([u8; 32], Vec<SockFilter>)> = Vec::new();
    for spec in specs() {
        let filter = compile(&spec).unwrap();
        assert_eq!(filter, compile(&spec).unwrap());
        for (sha256, program) in &seen {
            assert_eq!(*sha256 == filter.sha256, *program == filter.program);
        }
        seen.push((filter.sha256, filter.program));
    }
}

const EPERM: u16 = 1;

#[test]
fn escape_calls_are_refused_in_every_profile() {
    let closed = [
        "mount",
        "umount2",
        "pivot_root",
        "chroot",
        "unshare",
        "setns",
        "fsopen",
        "fsmount",
        "open_tree",
        "open_tree_attr",
        "move_mount",
        "mount_setattr",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "keyctl",
        "add_key",
        "request_key",
        "open_by_handle_at",
        "name_to_handle_at",
        "kexec_load",
        "kexec_file_load",
        "init_module",
        "finit_module",
        "delete_module",
        "pidfd_getfd",
        "fanotify_init",
        "reboot",
        "swapon",
        "settimeofday",
        "clock_settime",
        "modify_ldt",
        "iopl",
        "syslog",
    ];
    for profile in PROFILES {
        for network in NETWORKS {
            let spec = FilterSpec::new(profile, network);
            for name in closed {
                let verdict = verdict_of(&spec, nr(name), [0; 6]);
                assert_eq!(verdict, Verdict::Errno(EPERM), "{name} {profile:?}");
            }
            assert_eq!(verdict_of(&spec, nr("clone3"), [0; 6]), Verdict::Errno(38));
            assert_eq!(verdict_of(&spec, 470, [0; 6]), Verdict::Errno(38));
            assert_eq!(verdict_of(&spec, X32_BIT | 39, [0; 6]), Verdict::Kill);
        }
        let ptrace = verdict_of(
            &FilterSpec::new(profile, Network::Sealed),
            nr("ptrace"),
            [0; 6],
        );
        assert_eq!(ptrace == Verdict::Allow, profile == Profile::Debug);
    }
}

#[test]
fn actions_apply_to_denials_worth_a_record() {
    let plain = FilterSpec::new(Profile::Strict, Network::Sealed);
    let notify = FilterSpec {
        notify: true,
        ..plain.clone()
    };
    let kill = FilterSpec {
        deny_action: DenyAction::Kill,
        ..notify.clone()
    };
    let verdicts =
        |name, args| [&plain, &notify, &kill].map(|spec| verdict_of(spec, nr(name), args));
    let told = |errno| [Verdict::Errno(errno), Verdict::Notify(errno), Verdict::Kill];
    assert_eq!(verdicts("mount", [0; 6]), told(EPERM));
    assert_eq!(verdicts("socket", [40, 1, 0, 0, 0, 0]), told(97));
    assert_eq!(verdicts("clone3", [0; 6]), [Verdict::Errno(38); 3]);
    assert_eq!(
        verdicts("prctl", [999, 0, 0, 0, 0, 0]),
        [Verdict::Errno(22); 3]
    );
    assert_eq!(verdicts("read", [0; 6]), [Verdict::Allow; 3]);
}

#[test]
fn additions_are_checked() {
    let spec = |allow: &[u32], deny: &[u32]| FilterSpec {
        extra_allow: allow.to_vec(),
        extra_deny: deny.to_vec(),
        ..FilterSpec::new(Profile::Strict, Network::Sealed)
    };
    assert!(compile(&spec(&[nr("splice")], &[nr("kill")])).is_ok());
    for name in ["mount", "clone3", "clone", "unshare", "read"] {
        let error = compile(&spec(&[nr(name)], &[])).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.to_string().contains("splice"), "{error}");
    }
    for name in ["execve", "exit_group"] {
        assert_eq!(
            compile(&spec(&[], &[nr(name)])),
            Err(CompileError::Needed { name })
        );
    }
    let unknown = CompileError::UnknownNumber {
        field: "extra_deny",
        nr: 4000,
    };
    assert_eq!(compile(&spec(&[], &[4000])), Err(unknown));
    let both = spec(&[nr("splice")], &[nr("splice")]);
    assert_eq!(
        verdict_of(&both, nr("splice"), [0; 6]),
        Verdict::Errno(EPERM)
    );
}

#[test]
fn explanations_name_the_fix() {
    let spec = FilterSpec::new(Profile::Strict, Network::Sealed);
    let ip = explain(&spec, nr("socket"), [2, 1, 0, 0, 0, 0]).unwrap();
    assert_eq!((ip.name, ip.errno), ("socket", 97));
    assert!(ip.fix.contains("mode = \"none\""), "{}", ip.fix);
    assert!(
        explain(&spec, nr("ptrace"), [0; 6])
            .unwrap()
            .fix
            .contains("debug")
    );
    assert!(
        explain(&spec, nr("splice"), [0; 6])
            .unwrap()
            .fix
            .contains("compat")
    );
    assert_eq!(explain(&spec, nr("read"), [0; 6]), None);
    for number in 0..=600 {
        let refused = !matches!(spec.meaning(number), Meaning::Plain(Outcome::Allow));
        assert_eq!(explain_nr(number).is_some(), refused, "{number}");
    }
}
