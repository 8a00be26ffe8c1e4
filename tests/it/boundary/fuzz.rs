//! A captured api that has gone mad: whatever it sends, the launcher grants nothing beyond its own
//! ceilings, never hangs, and leaves nothing.
//!
//! Two kinds of noise: frames that are well formed and ask for anything (a good frame of which any
//! leaf is replaced), and bytes that are no frame at all, which end a launcher in order. The seed is
//! printed; `ROLLCAGE_FUZZ_SEED` repeats it, `ROLLCAGE_FUZZ_SECONDS` gives it more time.

mod noise;
mod seen;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use confine::packet;
use confine::plan::Plan;
use confine::wire::{FRAME_BYTES_MAX, FromInit, FromLauncher, SandboxToken, ToLauncher};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};

use super::launched::Launched;
use noise::Random;

/// Sandboxes at once: few, so that ranges and tokens meet.
const SANDBOXES_MAX: &str = "6";
const ORDERS_PER_LAUNCHER: usize = 150;
/// An order that is not answered by then is not answered.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// What a round came to.
#[derive(Debug, Default)]
struct Tally {
    launchers: usize,
    orders: usize,
    started: usize,
    refused: usize,
    failed: usize,
    looked_at: usize,
    noise: usize,
}

/// One launcher and what its api knows of it.
struct Captured {
    launched: Launched,
    good: Plan,
    /// Our ends of channels, by token: of sandboxes that live, or are asked for.
    channels: BTreeMap<u64, OwnedFd>,
    live: BTreeMap<u64, i32>,
    /// Starts that were asked for and not answered.
    pending: usize,
    tally: Tally,
}

impl Captured {
    fn start(test: &str) -> Option<Self> {
        let launched = Launched::start(test, &["--sandboxes-max", SANDBOXES_MAX])?;
        let good = launched.plan();
        Some(Self {
            launched,
            good,
            channels: BTreeMap::new(),
            live: BTreeMap::new(),
            pending: 0,
            tally: Tally::default(),
        })
    }

    /// Sends bytes with descriptors; takes answers while the launcher's queue is full. False when
    /// the launcher has ended.
    fn send(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
        let raw: Vec<i32> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let control: &[ControlMessage<'_>] = if raw.is_empty() { &[] } else { &rights };
        let until = Instant::now() + ANSWER_MAX;
        loop {
            let iov = [std::io::IoSlice::new(bytes)];
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            let api = self.launched.api().as_raw_fd();
            match sendmsg::<UnixAddr>(api, &iov, control, flags, None) {
                Ok(_) => return true,
                Err(Errno::EAGAIN) => {
                    assert!(
                        Instant::now() < until,
                        "the launcher takes no orders any more"
                    );
                    self.take(20);
                }
                Err(Errno::EPIPE | Errno::ECONNRESET) => return false,
                // Longer than the socket takes: nothing was sent.
                Err(Errno::EMSGSIZE) => return true,
                Err(errno) => panic!("send {} bytes: {errno}", bytes.len()),
            }
        }
    }

    /// Takes every answer that is there, and waits for the first one at most so long.
    fn take(&mut self, wait_ms: u16) {
        let mut wait_ms = wait_ms;
        loop {
            let api = self.launched.api().as_fd();
            if !packet::wait_readable(api, wait_ms).expect("wait for an answer") {
                return;
            }
            wait_ms = 0;
            match packet::receive::<FromLauncher>(api, true) {
                Ok(Some((frame, fds))) => self.heard(frame, fds.len()),
                Ok(None) => return,
                Err(error) if error.errno() == Errno::EAGAIN => return,
                Err(error) if error.errno() == Errno::ECONNRESET => return,
                Err(error) => panic!("the launcher sent what is no frame: {error}"),
            }
        }
    }

    fn heard(&mut self, frame: FromLauncher, descriptors: usize) {
        match frame {
            FromLauncher::Started {
                token,
                pid,
                uid_base,
                fds,
                ..
            } => {
                assert_eq!(descriptors, fds.len(), "descriptors that nobody named");
                let first = self.launched.instance().first_id();
                let lease = first..first + 256 * 65_536;
                assert!(lease.contains(&uid_base), "{uid_base:#x} is no lease");
                let again = self.live.insert(token.0, pid);
                assert_eq!(again, None, "token {} lives twice", token.0);
                self.tally.started += 1;
                self.answered();
            }
            FromLauncher::StartFailed { token, refused, .. } => {
                self.answered();
                if refused {
                    self.tally.refused += 1;
                } else {
                    self.tally.failed += 1;
                }
                if !self.live.contains_key(&token.0) {
                    self.channels.remove(&token.0);
                }
            }
            FromLauncher::Reaped {
                token, leftovers, ..
            } => {
                assert_eq!(leftovers, Vec::<String>::new());
                assert!(self.live.remove(&token.0).is_some(), "reaped without life");
                self.channels.remove(&token.0);
            }
            // One look answers all who asked while it was being made.
            FromLauncher::Inspected { .. } => {}
            FromLauncher::Hello { .. } => panic!("a second greeting"),
        }
        assert!(self.live.len() <= 6, "{:?}", self.live);
    }

    fn answered(&mut self) {
        self.pending = self.pending.checked_sub(1).expect("an answer to nothing");
    }

    /// One well-formed order with any content.
    fn order(&mut self, random: &mut Random) -> bool {
        self.tally.orders += 1;
        let token = SandboxToken(random.below(8));
        match random.below(10) {
            0 => return self.send(&encoded(&ToLauncher::Kill { token }), &[]),
            1 => return self.send(&encoded(&ToLauncher::Inspect { token }), &[]),
            2 => return self.trouble_a_sandbox(random),
            _ => {}
        }
        let id = noise::id(random);
        let plan = Box::new(noise::plan(&self.good, random));
        let bytes = encoded(&ToLauncher::Start {
            token,
            id,
            plan,
            group: noise::group(random),
        });
        let (ours, theirs) = packet::pair().expect("a pair");
        let spare = packet::pair().expect("a pair");
        let null = std::fs::File::open("/dev/null").expect("/dev/null");
        let root = std::fs::File::open("/").expect("/");
        let fds: Vec<BorrowedFd<'_>> = match random.below(12) {
            0 => Vec::new(),
            1 => vec![theirs.as_fd(), spare.0.as_fd()],
            2 => vec![theirs.as_fd(); 16],
            3 => vec![null.as_fd()],
            4 => vec![root.as_fd()],
            _ => vec![theirs.as_fd()],
        };
        let is_channel = fds.len() == 1 && fds[0].as_raw_fd() == theirs.as_raw_fd();
        let sent = self.send(&bytes, &fds);
        self.pending += usize::from(sent && noise::is_start(&bytes));
        if is_channel && !self.live.contains_key(&token.0) {
            self.channels.entry(token.0).or_insert(ours);
        }
        // Mostly it listens between two orders; else they pile up.
        if random.below(4) > 0 {
            self.take(20);
        }
        sent
    }

    /// Noise, a frame, or the end of its channel for one that lives.
    fn trouble_a_sandbox(&mut self, random: &mut Random) -> bool {
        let tokens: Vec<u64> = self.live.keys().copied().collect();
        let Some(token) = random.pick(&tokens).copied() else {
            return true;
        };
        if random.below(3) == 0 {
            self.channels.remove(&token);
        } else if let Some(channel) = self.channels.get(&token) {
            let bytes = random.bytes(400);
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            // A sandbox that is gone takes nothing, which is no matter here.
            if nix::sys::socket::send(channel.as_raw_fd(), &bytes, flags).is_err() {}
        }
        true
    }

    /// Looks from the host at every sandbox that came to be.
    fn look(&mut self) {
        self.take(50);
        for (token, pid) in self.live.clone() {
            let Some(channel) = self.channels.get(&token) else {
                continue;
            };
            // Before its first word it is still on its way in.
            if packet::wait_readable(channel.as_fd(), 2_000).expect("wait for pid 1")
                && let Ok(Some((FromInit::Entered { .. }, fds))) =
                    packet::receive::<FromInit>(channel.as_fd(), true)
            {
                assert!(fds.is_empty());
                let first = self.launched.instance().first_id();
                if seen::is_within(pid, first, self.launched.instance().number) {
                    self.tally.looked_at += 1;
                }
            }
        }
    }

    /// Ends every sandbox, once every order is answered; the launcher then still does its work.
    fn settle(&mut self) {
        let until = Instant::now() + ANSWER_MAX;
        while self.pending > 0 || !self.live.is_empty() {
            let (pending, live) = (self.pending, &self.live);
            assert!(
                Instant::now() < until,
                "{pending} unanswered, alive: {live:?}"
            );
            for token in self.live.keys().copied().collect::<Vec<_>>() {
                let token = SandboxToken(token);
                assert!(self.send(&encoded(&ToLauncher::Kill { token }), &[]));
            }
            self.take(100);
        }
        self.channels.clear();
        let groups = self.launched.instance().sandbox_groups();
        assert_eq!(groups, Vec::<std::path::PathBuf>::new());
        assert_eq!(self.launched.instance().leased_processes(), []);
        let token = SandboxToken(1_000);
        let channel = self.launched.ask(token, "sane", self.good.clone());
        self.pending += 1;
        while self.pending > 0 {
            assert!(Instant::now() < until, "a good order is not answered");
            self.take(100);
        }
        let said = self.launched.command(&channel, &["echo", "still", "here"]);
        assert_eq!(said, "still here\n");
        while !self.live.is_empty() {
            assert!(Instant::now() < until, "{:?} are not reaped", self.live);
            self.take(100);
        }
    }

    /// Bytes that are no frame: the launcher ends in order, or takes them for a frame after all.
    fn noise(&mut self, random: &mut Random) {
        self.tally.noise += 1;
        let (one, other) = packet::pair().expect("a pair");
        let bytes = noise::bytes(&self.good, random);
        let fds = [one.as_fd(), other.as_fd()];
        let count = usize::try_from(random.below(3)).expect("small");
        if self.send(&bytes, &fds[..count]) {
            self.send(&encoded(&ToLauncher::Stop), &[]);
        }
        let status = self.launched.ended_while(|api| {
            packet::wait_readable(api, 20).unwrap_or(false)
                && matches!(packet::receive::<FromLauncher>(api, true), Ok(Some(_)))
        });
        // 0: told to stop, 1: a protocol error. A panic is 101, a crash a signal.
        assert!(matches!(status.code(), Some(0 | 1)), "{status}: {bytes:x?}");
        let left = self.launched.instance().leftovers_at_end();
        assert_eq!(left, Vec::<String>::new(), "after {bytes:x?}");
    }
}

fn encoded(order: &ToLauncher) -> Vec<u8> {
    noise::encode(order)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text:?}")),
    )
}

#[test]
fn a_captured_api_gets_nothing_by_any_frame() {
    const TEST: &str = "a_captured_api_gets_nothing_by_any_frame";
    let seed = number("ROLLCAGE_FUZZ_SEED").unwrap_or_else(noise::new_seed);
    let seconds = number("ROLLCAGE_FUZZ_SECONDS").unwrap_or(5);
    println!("ROLLCAGE_FUZZ_SEED={seed} ROLLCAGE_FUZZ_SECONDS={seconds}");
    let mut random = Random::new(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut sum = Tally::default();
    while sum.launchers < 2 || Instant::now() < until {
        let Some(mut captured) = Captured::start(TEST) else {
            return;
        };
        for order in 0..ORDERS_PER_LAUNCHER {
            if !captured.order(&mut random) {
                panic!("seed {seed}: the launcher ended by order {order}, which is a frame");
            }
            if order % 25 == 24 {
                captured.look();
            }
        }
        captured.settle();
        captured.order(&mut random);
        captured.noise(&mut random);
        let tally = captured.tally;
        sum = Tally {
            launchers: sum.launchers + 1,
            orders: sum.orders + tally.orders,
            started: sum.started + tally.started,
            refused: sum.refused + tally.refused,
            failed: sum.failed + tally.failed,
            looked_at: sum.looked_at + tally.looked_at,
            noise: sum.noise + tally.noise,
        };
    }
    println!("{sum:?}");
    // Neither all refused nor all granted: the noise is near enough to what is asked in earnest.
    assert!(
        sum.started > 0 && sum.refused > 0 && sum.looked_at > 0,
        "{sum:?}"
    );
}

#[test]
fn an_api_that_asks_and_does_not_listen_gets_every_answer_later() {
    const TEST: &str = "an_api_that_asks_and_does_not_listen_gets_every_answer_later";
    const ORDERS: u64 = 2_000;
    let Some(mut captured) = Captured::start(TEST) else {
        return;
    };
    let plan = Box::new(captured.good.clone());
    let id = "../no-name".to_owned();
    let token = SandboxToken(1);
    let group = None;
    let start = encoded(&ToLauncher::Start {
        token,
        id,
        plan,
        group,
    });
    let mut refused = 0;
    for order in 0..ORDERS {
        assert!(captured.send(&start, &[]), "order {order}");
        captured.pending += 1;
        let token = SandboxToken(order);
        assert!(captured.send(&encoded(&ToLauncher::Inspect { token }), &[]));
    }
    let until = Instant::now() + ANSWER_MAX;
    while refused < ORDERS && Instant::now() < until {
        captured.take(100);
        refused = u64::try_from(captured.tally.refused).expect("a number");
    }
    assert_eq!(refused, ORDERS);
    // Too long for a frame: the connection is over, in order.
    let long = vec![0; FRAME_BYTES_MAX + 1];
    captured.send(&long, &[]);
    let status = captured.launched.ended();
    assert_eq!(status.code(), Some(1), "{status}");
    assert_eq!(
        captured.launched.instance().leftovers_at_end(),
        Vec::<String>::new()
    );
}
