//! Landlock mode has no pid namespace: everything below this process is found by walking the
//! tree of children, which is complete because it adopts all orphans (subreaper).

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Rounds after which a tree that keeps growing is left to the launcher's own sweep.
const ROUNDS_MAX: usize = 10_000;

/// Stops, then kills, all descendants until there are none.
pub(super) fn kill_descendants() {
    for _round in 0..ROUNDS_MAX {
        let found = descendants();
        if found.is_empty() {
            return;
        }
        // Stop all first, so that a fork bomb does not outrun us between two kills.
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for pid in &found {
                // A process that is gone already is what we want.
                if kill(Pid::from_raw(*pid), signal).is_err() {}
            }
        }
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            if status == nix::sys::wait::WaitStatus::StillAlive {
                break;
            }
        }
    }
}

/// All descendants of this process.
pub(super) fn descendants() -> Vec<i32> {
    let mut found = Vec::new();
    collect(std::process::id(), &mut found);
    found
}

fn collect(pid: u32, found: &mut Vec<i32>) {
    // Each thread has children of its own.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    for thread in threads.into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            if let (Ok(number), Ok(raw)) = (child.parse::<u32>(), child.parse::<i32>()) {
                found.push(raw);
                collect(number, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    fn children_of_every_thread_are_found() {
        let parent = std::thread::spawn(|| {
            let mut child = Command::new("sleep").arg("60").spawn().expect("starts");
            // This thread lives while the look is taken; a dead one's children are another's.
            let found = super::descendants();
            child.kill().expect("kills");
            child.wait().expect("waits");
            (found, child.id())
        });
        let (found, pid) = parent.join().expect("ends");
        assert!(found.contains(&i32::try_from(pid).expect("a pid")));
    }
}
