//! Each rule: arguments that pass, and changes of them that must not.

use crate::seccomp::interpret::{Call, interpret};
use crate::seccomp::table::number_of;
use crate::seccomp::{ARCH_X86_64, FilterSpec, Network, Profile, Verdict, compile};

const PROFILES: [Profile; 3] = [Profile::Strict, Profile::Compat, Profile::Debug];

/// A call that passes, and changes of it that must not.
struct Case {
    name: &'static str,
    passes: &'static [[u64; 3]],
    refused: &'static [([u64; 3], u16)],
}

const EPERM: u16 = 1;

fn check(profile: Profile, network: Network, cases: &[Case]) {
    let spec = FilterSpec::new(profile, network);
    let program = compile(&spec).unwrap().program;
    let value = |name, [a, b, c]: [u64; 3]| {
        let call = Call {
            arch: ARCH_X86_64,
            nr: number_of(name).unwrap(),
            args: [a, b, c, 0, 0, 0],
        };
        interpret(&program, &call).unwrap()
    };
    for case in cases {
        for &args in case.passes {
            let allowed = Verdict::Allow.return_value();
            assert_eq!(value(case.name, args), allowed, "{} {args:x?}", case.name);
        }
        for &(args, errno) in case.refused {
            let refused = Verdict::Errno(errno).return_value();
            assert_eq!(value(case.name, args), refused, "{} {args:x?}", case.name);
        }
    }
}

#[test]
fn clone_makes_processes_and_threads_but_no_namespaces() {
    const THREAD: u64 = 0x3d_0f00;
    let cases = [Case {
        name: "clone",
        passes: &[
            [17, 0, 0],
            [THREAD, 0, 0],
            [0x0120_0011, 0, 0],
            [0x4111, 0, 0],
        ],
        refused: &[
            ([0x0002_0011, 0, 0], EPERM),
            ([0x0200_0011, 0, 0], EPERM),
            ([0x0400_0011, 0, 0], EPERM),
            ([0x0800_0011, 0, 0], EPERM),
            ([0x1000_0011, 0, 0], EPERM),
            ([0x2000_0011, 0, 0], EPERM),
            ([0x4000_0011, 0, 0], EPERM),
            ([0x0000_0091, 0, 0], EPERM),
            ([THREAD | 0x1000_0000, 0, 0], EPERM),
        ],
    }];
    for profile in PROFILES {
        check(profile, Network::Sealed, &cases);
    }
}

#[test]
fn sockets_without_network() {
    check(
        Profile::Strict,
        Network::Sealed,
        &[
            Case {
                name: "socket",
                passes: &[
                    [1, 1, 0],
                    [1, 0x8_0002, 0],
                    [1, 5, 0],
                    [16, 3, 0],
                    [16, 0x8_0002, 0],
                ],
                refused: &[
                    ([2, 1, 0], 97),
                    ([10, 2, 17], 97),
                    ([16, 3, 12], 93),
                    ([16, 3, 9], 93),
                    ([38, 5, 0], 97),
                    ([40, 1, 0], 97),
                    ([17, 3, 0], 97),
                    ([0, 1, 0], 97),
                    ([0xffff_ffff, 1, 0], 97),
                ],
            },
            Case {
                name: "socketpair",
                passes: &[[1, 1, 0], [1, 5, 0], [1, 0x8_0801, 0]],
                refused: &[
                    ([1, 2, 0], 94),
                    ([1, 0x8_0002, 0], 94),
                    ([1, 3, 0], 94),
                    ([2, 1, 0], 97),
                    ([30, 1, 0], 97),
                    ([40, 1, 0], 97),
                ],
            },
        ],
    );
}

#[test]
fn sockets_with_loopback() {
    check(
        Profile::Compat,
        Network::Loopback,
        &[Case {
            name: "socket",
            passes: &[
                [1, 1, 0],
                [2, 1, 0],
                [2, 0x8_0801, 6],
                [10, 2, 17],
                [10, 0x8_0002, 0],
                [16, 3, 0],
                // The kernel drops the upper half of an int, and so do we.
                [0xffff_ffff_0000_0002, 1, 0],
            ],
            refused: &[
                ([2, 1, 262], 93),
                ([2, 2, 1], 93),
                ([2, 2, 136], 93),
                ([2, 1, 132], 93),
                ([2, 3, 1], EPERM),
                ([10, 0x8_0003, 255], EPERM),
                ([2, 10, 0x300], EPERM),
                ([2, 5, 132], 94),
                ([2, 0, 0], 94),
                ([16, 3, 12], 93),
                ([38, 5, 0], 97),
                ([40, 1, 0], 97),
                ([33, 2, 0], 97),
                ([44, 3, 0], 97),
            ],
        }],
    );
}

#[test]
fn only_ones_own_limits_are_changed() {
    let cases = [Case {
        name: "prlimit64",
        // The kernel drops the upper half of a pid.
        passes: &[[0, 7, 0x7f00_0000_1000], [0xffff_ffff_0000_0000, 7, 0]],
        refused: &[
            ([1, 0, 0x7f00_0000_1000], EPERM),
            ([4000, 7, 0], EPERM),
            ([0xffff_ffff, 7, 0], EPERM),
        ],
    }];
    for profile in PROFILES {
        check(profile, Network::Loopback, &cases);
        check(profile, Network::Sealed, &cases);
    }
}

#[test]
fn no_folder_is_watched() {
    let cases = [Case {
        name: "fcntl",
        passes: &[[3, 1, 0], [3, 1024, 0], [3, 1030, 0], [3, 4, 0x800]],
        refused: &[
            ([3, 1026, 1], 22),
            ([3, 0xffff_ffff_0000_0402, 0x8000_0001], 22),
        ],
    }];
    for profile in PROFILES {
        check(profile, Network::Loopback, &cases);
    }
    for name in [
        "inotify_init",
        "inotify_init1",
        "inotify_add_watch",
        "syncfs",
    ] {
        let cases = [Case {
            name,
            passes: &[],
            refused: &[([3, 0, 0], EPERM)],
        }];
        for profile in [Profile::Strict, Profile::Compat] {
            check(profile, Network::Loopback, &cases);
        }
    }
}

#[test]
fn socket_options() {
    let cases = [Case {
        name: "setsockopt",
        passes: &[
            [3, 1, 2],
            [3, 6, 1],
            [3, 0, 1],
            [3, 41, 26],
            [3, 17, 103],
            [3, 270, 1],
        ],
        refused: &[
            ([3, 6, 31], EPERM),
            ([3, 6, 19], EPERM),
            ([3, 0x1_0000_0006, 31], EPERM),
            ([3, 6, 0x1_0000_001f], EPERM),
            ([3, 1, 26], EPERM),
            ([3, 1, 50], EPERM),
            ([3, 17, 100], EPERM),
            ([3, 0, 64], EPERM),
            ([3, 0, 17], EPERM),
            ([3, 41, 64], EPERM),
            ([3, 41, 35], EPERM),
            ([3, 279, 1], 92),
            ([3, 282, 1], 92),
        ],
    }];
    for profile in PROFILES {
        check(profile, Network::Loopback, &cases);
    }
}

#[test]
fn terminals_cannot_be_fed_whatever_the_upper_half_says() {
    let cases = [Case {
        name: "ioctl",
        passes: &[
            [0, 0x5401, 0],
            [0, 0x5413, 0],
            [0, 0x541B, 0],
            [0, 0x5421, 0],
        ],
        refused: &[
            ([0, 0x5412, 0], EPERM),
            ([0, 0x1_0000_5412, 0], EPERM),
            ([0, 0xffff_ffff_0000_5412, 0], EPERM),
            ([0, 0x541C, 0], EPERM),
            ([0, 0x8000_0000_0000_541C, 0], EPERM),
            ([0, 0x541D, 0], EPERM),
            ([0, 0x5423, 0], EPERM),
        ],
    }];
    for profile in PROFILES {
        check(profile, Network::Sealed, &cases);
    }
}

#[test]
fn personality_by_profile() {
    let base = Case {
        name: "personality",
        passes: &[
            [0, 0, 0],
            [8, 0, 0],
            [0x2_0000, 0, 0],
            [0x2_0008, 0, 0],
            [0xffff_ffff, 0, 0],
        ],
        refused: &[
            ([0x4_0000, 0, 0], EPERM),
            ([0x40_0000, 0, 0], EPERM),
            ([1, 0, 0], EPERM),
        ],
    };
    check(
        Profile::Strict,
        Network::Sealed,
        std::slice::from_ref(&base),
    );
    check(Profile::Compat, Network::Sealed, &[base]);
    let debug = Case {
        name: "personality",
        passes: &[[0, 0, 0], [0x4_0000, 0, 0]],
        refused: &[([0x4_0008, 0, 0], EPERM), ([0x40_0000, 0, 0], EPERM)],
    };
    check(Profile::Debug, Network::Sealed, &[debug]);
}

#[test]
fn memory_files_by_profile() {
    let strict = Case {
        name: "memfd_create",
        passes: &[[0, 8, 0], [0, 9, 0], [0, 0xb, 0]],
        refused: &[
            ([0, 0, 0], EPERM),
            ([0, 1, 0], EPERM),
            ([0, 0x10, 0], EPERM),
            ([0, 0x18, 0], EPERM),
        ],
    };
    check(Profile::Strict, Network::Sealed, &[strict]);
    let compat = Case {
        name: "memfd_create",
        passes: &[[0, 0, 0], [0, 1, 0], [0, 9, 0]],
        refused: &[
            ([0, 0x10, 0], EPERM),
            ([0, 0x11, 0], EPERM),
            ([0, 0x18, 0], EPERM),
        ],
    };
    check(Profile::Compat, Network::Sealed, &[compat]);
}

#[test]
fn process_options_scheduling_listeners_and_nodes() {
    let cases = [
        Case {
            name: "prctl",
            passes: &[
                [15, 0, 0],
                [38, 1, 0],
                [4, 0, 0],
                [0x5356_4d41, 0, 0],
                [22, 2, 0],
            ],
            refused: &[
                ([35, 0, 0], EPERM),
                ([62, 1, 0], EPERM),
                ([28, 0, 0], EPERM),
                ([999, 0, 0], 22),
            ],
        },
        Case {
            name: "sched_setscheduler",
            passes: &[
                [0, 0, 0],
                [0, 3, 0],
                [0, 5, 0],
                [0, 0x4000_0000, 0],
                [0, 0x4000_0005, 0],
            ],
            refused: &[
                ([0, 1, 0], EPERM),
                ([0, 2, 0], EPERM),
                ([0, 6, 0], EPERM),
                ([0, 0x4000_0001, 0], EPERM),
            ],
        },
        Case {
            name: "seccomp",
            passes: &[[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0]],
            refused: &[
                ([1, 8, 0], 16),
                ([1, 9, 0], 16),
                ([0x1_0000_0001, 8, 0], 16),
            ],
        },
        Case {
            name: "mknod",
            passes: &[
                [0, 0o644, 0],
                [0, 0x81a4, 0],
                [0, 0x11a4, 0],
                [0, 0xc1a4, 0],
            ],
            refused: &[
                ([0, 0x2180, 0], EPERM),
                ([0, 0x6180, 0], EPERM),
                ([0, 0x4180, 0], EPERM),
            ],
        },
        Case {
            name: "mknodat",
            passes: &[[0, 0, 0x81a4], [0, 0, 0x11a4]],
            refused: &[([0, 0, 0x2180], EPERM), ([0, 0, 0x6180], EPERM)],
        },
    ];
    for profile in PROFILES {
        check(profile, Network::Sealed, &cases);
    }
}
