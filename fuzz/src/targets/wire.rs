//! Frames and sealed values between our own processes: what decodes encodes the same, and no length
//! in a frame makes a decoder allocate what is not there.
//!
//! The first byte of an input picks the type; the rest is the frame.

use confine::boot::{Boot, FromBoot, RootOp, ToBoot};
use confine::plan::Plan;
use confine::wire::{
    Archive, ArchiveFile, CollectSpec, CollectedFile, CommandToken, DeniedCall, DiskUse, FdKind,
    FromInit, FromLauncher, KernelCounters, SandboxToken, SpawnSpec, ToInit, ToLauncher,
};
use policies::{Catalog, EffectiveLimits};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory;

/// Beside the values themselves: what a decoder may set aside for lists whose length it believes,
/// at most 1 MiB for each list that is open at one time.
const ASIDE_BYTES_MAX: usize = 6 << 20;
/// Bytes in memory for each byte of a frame: an empty text is one byte there and a header here,
/// and a list that grows exists twice.
const BYTES_PER_BYTE_MAX: usize = 256;

/// Decodes `bytes` as `T` and holds what it gives against the promises.
pub(super) fn frame<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (decoded, peak) = memory::peak_bytes(|| postcard::from_bytes::<T>(bytes));
    let allowed = ASIDE_BYTES_MAX + BYTES_PER_BYTE_MAX * bytes.len();
    let length = bytes.len();
    assert!(peak <= allowed, "{peak} bytes for a frame of {length}");
    let decoded = decoded.ok()?;
    let printed = encode(&decoded);
    let again: T = postcard::from_bytes(&printed).expect("what we encode decodes");
    assert!(encode(&again) == printed, "another value comes back");
    Some(decoded)
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("a frame can be encoded")
}

fn seed<T: Serialize>(kind: u8, value: &T) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(encode(value));
    bytes
}

/// A plan of the built-in policy for Python on this host, if it can serve it.
fn plan() -> Option<Plan> {
    let catalog = Catalog::builtin().expect("the built-in policies resolve");
    let policy = &catalog.get("python").expect("a built-in policy").policy;
    let limits: EffectiveLimits = policy
        .effective_limits(&policies::RequestedLimits::default())
        .expect("its own limits");
    confine::make_plan(policy, &limits, &confine::host::inspect()).ok()
}

pub(super) fn launcher(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => drop(frame::<ToLauncher>(rest)),
        Some((_, rest)) => drop(frame::<FromLauncher>(rest)),
        None => {}
    }
}

pub(super) fn launcher_seeds() -> Vec<Vec<u8>> {
    let token = SandboxToken(7);
    let mut seeds = vec![
        seed(0, &ToLauncher::Kill { token }),
        seed(0, &ToLauncher::Stop),
        seed(
            1,
            &FromLauncher::Hello {
                host: Box::new(confine::host::inspect()),
                image_sha256: "ab".repeat(32),
            },
        ),
        seed(
            1,
            &FromLauncher::Started {
                token,
                pid: 4_321,
                uid_base: 0x1000_0000,
                controls: Vec::new(),
                fds: vec![FdKind::CgroupKill, FdKind::CpuUsage],
            },
        ),
        seed(
            1,
            &FromLauncher::StartFailed {
                token,
                step: "clone".to_owned(),
                reason: "no ids".to_owned(),
                refused: true,
            },
        ),
        seed(
            1,
            &FromLauncher::Reaped {
                token,
                init_status: -9,
                counters: Box::new(KernelCounters::default()),
                leftovers: vec!["a group".to_owned()],
            },
        ),
    ];
    if let Some(plan) = plan() {
        let start = ToLauncher::Start {
            token,
            id: "sb-1".to_owned(),
            plan: Box::new(plan),
            group: Some(3),
        };
        seeds.push(seed(0, &start));
    }
    seeds
}

pub(super) fn init(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => drop(frame::<ToInit>(rest)),
        Some((1, rest)) => drop(frame::<SpawnSpec>(rest)),
        Some((2, rest)) => drop(frame::<CollectSpec>(rest)),
        Some((3, rest)) => drop(frame::<Archive>(rest)),
        Some((4, rest)) => drop(frame::<CollectedFile>(rest)),
        Some((_, rest)) => drop(frame::<FromInit>(rest)),
        None => {}
    }
}

pub(super) fn init_seeds() -> Vec<Vec<u8>> {
    let command = CommandToken(1);
    let spawn = SpawnSpec {
        argv: vec![b"python3".to_vec(), b"main.py".to_vec()],
        env: vec![(b"HOME".to_vec(), b"/workspace".to_vec())],
        cwd: "/workspace".to_owned(),
    };
    let archive = Archive {
        files: vec![ArchiveFile {
            path: "a/b.py".to_owned(),
            mode: 0o644,
            content: b"print(1)\n".to_vec(),
        }],
    };
    let denied = FromInit::Denied {
        calls: vec![DeniedCall {
            number: 41,
            first_arg: 2,
            errno: 97,
            count: 3,
        }],
        suppressed: 1,
    };
    let exited = FromInit::Exited {
        command,
        code: Some(3),
        signal: None,
        core_dumped: false,
    };
    let failed = FromInit::SpawnFailed {
        command,
        step: "landlock".to_owned(),
        errno: 1,
        reason: "restrict".to_owned(),
    };
    vec![
        seed(0, &ToInit::Stage),
        seed(
            0,
            &ToInit::Spawn {
                command,
                last: true,
            },
        ),
        seed(0, &ToInit::Signal { command, signal: 9 }),
        seed(0, &ToInit::Finish),
        seed(1, &spawn),
        seed(
            2,
            &CollectSpec {
                patterns: vec!["**/*.txt".to_owned()],
                bytes_max: 1 << 20,
                files_max: 100,
            },
        ),
        seed(3, &archive),
        seed(
            4,
            &CollectedFile {
                path: b"out.txt".to_vec(),
                mode: 0o600,
                content: b"x".to_vec(),
            },
        ),
        seed(5, &FromInit::Staged { files: 1, bytes: 9 }),
        seed(5, &denied),
        seed(5, &exited),
        seed(5, &failed),
        seed(
            5,
            &FromInit::Finished {
                disk: DiskUse::default(),
                polled: None,
            },
        ),
    ]
}

pub(super) fn boot(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => drop(frame::<ToBoot>(rest)),
        Some((1, rest)) => drop(frame::<FromBoot>(rest)),
        Some((_, rest)) => {
            if let Some(boot) = frame::<Boot>(rest) {
                for path in ["/workspace/a", "/tmp", "/dev/shm/x", "/etc/passwd", ""] {
                    let outside = boot.workspace.is_none();
                    assert!(!outside || boot.host_path(path) == path);
                }
            }
        }
        None => {}
    }
}

pub(super) fn boot_seeds() -> Vec<Vec<u8>> {
    let root = vec![
        RootOp::Dir {
            path: "usr".to_owned(),
            mode: 0o755,
        },
        RootOp::Bind {
            source: "/usr".to_owned(),
            target: "usr".to_owned(),
            devices: false,
            executable: true,
        },
    ];
    vec![
        seed(0, &ToBoot::Start),
        seed(0, &ToBoot::Mapped),
        seed(1, &FromBoot::NeedMaps),
        // The beginning of boot orders; mutations find the rest.
        seed(2, &(plan(), root)),
    ]
}
