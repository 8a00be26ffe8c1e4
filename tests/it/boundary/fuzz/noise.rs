//! Where the noise comes from: a small generator with a seed, good frames with any leaf replaced,
//! and bytes.

use confine::plan::Plan;
use confine::wire::{FRAME_BYTES_MAX, SandboxToken, ToLauncher};
use serde_json::{Value, json};

/// A xorshift generator: the same seed gives the same noise.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // It stands still at 0.
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            return None;
        }
        from.get(usize::try_from(self.below(from.len() as u64)).expect("an index"))
    }

    pub(super) fn bytes(&mut self, length_max: u64) -> Vec<u8> {
        let length = self.below(length_max) + 1;
        (0..length).map(|_| self.next().to_le_bytes()[3]).collect()
    }
}

/// One that differs from run to run.
pub(super) fn new_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |since| {
        u64::from(since.subsec_nanos()) << 20 | since.as_secs() & 0xf_ffff
    })
}

const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    7,
    8,
    4_095,
    4_096,
    65_536,
    1 << 20,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 63,
    u64::MAX,
];
const WORDS: &[&str] = &[
    "",
    "/",
    ".",
    "..",
    "host",
    "/etc/shadow",
    "/workspace",
    "/workspace/../etc",
    "/tmp/x",
    "/proc/self/root",
    "/proc/1/root",
    "/dev/mem",
    "/usr",
    "/.probe",
    "mount",
    "ptrace",
    "io_uring_setup",
    "splice",
    "shmget",
    "namespaces",
    "landlock",
    "memory",
    "seccomp",
    "root",
    "rootless",
    "strict",
    "compat",
    "debug",
    "loopback",
    "sealed",
    "errno",
    "kill",
    "masked",
    "pids_only",
    "a\0b",
    "a\nb",
    "%s%n",
    "\u{202e}",
];

/// A good plan with some leaves replaced by anything; in a form that is still a plan.
pub(super) fn plan(good: &Plan, random: &mut Random) -> Plan {
    let whole = serde_json::to_value(good).expect("a plan is data");
    // Some are asked in earnest.
    let changes = [0, 0, 1, 1, 2, 4];
    let changes = *random.pick(&changes).expect("a number");
    let mut plan = good.clone();
    let mut value = whole;
    for _ in 0..changes {
        let mut changed = value.clone();
        replace_a_leaf(&mut changed, random);
        // Another type than the field's: no plan, and so no frame.
        if let Ok(next) = serde_json::from_value(changed.clone()) {
            plan = next;
            value = changed;
        }
    }
    plan
}

fn replace_a_leaf(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = random.pick(&keys).expect("a key");
            replace_a_leaf(map.get_mut(key).expect("its value"), random);
        }
        Value::Array(list) => {
            let word = json!(random.pick(WORDS).expect("a word"));
            match (random.below(5), list.is_empty()) {
                (0, _) => list.clear(),
                (1, _) => list.extend(vec![word; 300]),
                (2, false) => {
                    let index = random.below(list.len() as u64);
                    let index = usize::try_from(index).expect("an index");
                    replace_a_leaf(&mut list[index], random);
                }
                _ => list.push(word),
            }
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(_) => *value = json!(random.pick(NUMBERS).expect("a number")),
        _ => {
            *value = if random.below(8) == 0 {
                json!("x".repeat(5_000))
            } else {
                json!(random.pick(WORDS).expect("a word"))
            }
        }
    }
}

/// A name: mostly one of a few good ones, so that they meet.
pub(super) fn id(random: &mut Random) -> String {
    match random.below(8) {
        0 => (*random.pick(WORDS).expect("a word")).to_owned(),
        1 => String::from_utf8_lossy(&random.bytes(90)).into_owned(),
        _ => format!("s{}", random.below(9)),
    }
}

pub(super) fn encode(order: &ToLauncher) -> Vec<u8> {
    let (ours, theirs) = confine::packet::pair().expect("a pair");
    // The wire's own form, by sending it to ourselves.
    use std::os::fd::{AsFd, AsRawFd};
    match confine::packet::send(ours.as_fd(), order, &[]) {
        Ok(()) => {}
        // Longer than a frame can be: it cannot be sent by anybody who keeps to the form.
        Err(_too_long) => {
            return encode(&ToLauncher::Kill {
                token: SandboxToken(0),
            });
        }
    }
    let mut bytes = vec![0; FRAME_BYTES_MAX];
    let flags = nix::sys::socket::MsgFlags::empty();
    let length = nix::sys::socket::recv(theirs.as_raw_fd(), &mut bytes, flags);
    bytes.truncate(length.expect("its bytes"));
    bytes
}

/// Whether these bytes ask for a sandbox: one too long for a frame became another order.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0)
}

/// Bytes that are most likely no frame: noise, a good frame that was cut, bent or grown, a packet
/// beyond the maximum.
pub(super) fn bytes(good: &Plan, random: &mut Random) -> Vec<u8> {
    let token = SandboxToken(random.below(8));
    let plan = Box::new(plan(good, random));
    let id = id(random);
    let group = group(random);
    let mut frame = encode(&ToLauncher::Start {
        token,
        id,
        plan,
        group,
    });
    let at = usize::try_from(random.below(frame.len() as u64)).expect("an index");
    match random.below(6) {
        0 => random.bytes(2_000),
        1 => vec![0xff; FRAME_BYTES_MAX + 1],
        2 => {
            frame.truncate(at.max(1));
            frame
        }
        3 => {
            let more = random.bytes(64);
            frame.splice(at..at, more);
            frame
        }
        4 => {
            // A length that is not there.
            frame.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x0f]);
            frame
        }
        _ => {
            for _ in 0..=random.below(8) {
                let at = usize::try_from(random.below(frame.len() as u64)).expect("an index");
                frame[at] ^= random.bytes(1)[0];
            }
            frame
        }
    }
}

/// A sandbox to be put beside, mostly none.
pub(super) fn group(random: &mut Random) -> Option<u64> {
    (random.below(4) == 0).then(|| *random.pick(NUMBERS).expect("a number"))
}
