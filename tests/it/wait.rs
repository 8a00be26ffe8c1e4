//! Waiting for what no event tells: the kernel's own cleaning up, seen by looking again.

use std::time::{Duration, Instant};

use nix::poll::{PollTimeout, poll};

/// Does nothing for a while.
pub(crate) fn pause(time: Duration) {
    let milliseconds = u16::try_from(time.as_millis()).expect("a short while");
    // Interrupted by a signal it is shorter, which no caller minds.
    if poll(&mut [], PollTimeout::from(milliseconds)).is_err() {}
}

/// Looks again and again until `found` is `wanted`, or `deadline` is over. Gives what was found last
/// and how long that took.
pub(crate) fn until<T: PartialEq>(
    deadline: Duration,
    wanted: &T,
    look: impl Fn() -> T,
) -> (T, Duration) {
    let start = Instant::now();
    loop {
        let found = look();
        let waited = start.elapsed();
        if found == *wanted || waited > deadline {
            return (found, waited);
        }
        pause(Duration::from_millis(20));
    }
}

/// Waits until `holds`, and fails the test with `what` when it does not in time.
#[track_caller]
pub(crate) fn until_it_holds(what: &str, deadline: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < deadline, "not in {deadline:?}: {what}");
        pause(Duration::from_millis(20));
    }
}
