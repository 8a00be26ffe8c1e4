//! Plain processes that compute without end: honest load, at the priority of everybody else.

use std::process::{Child, Command, Stdio};

/// Should the test be killed, the load ends by itself.
const SECONDS_MAX: u32 = 300;

/// Load for as long as it is held.
pub(super) struct Load(Vec<Child>);

impl Load {
    /// Starts `count` busy loops.
    pub(super) fn start(count: usize) -> Self {
        // Each in a session of its own: the kernel gives every session an equal part of the CPUs, and
        // all loops together would have only as much as one.
        let code = format!(
            "import os, time\nos.setsid()\nend = time.monotonic() + {SECONDS_MAX}\nwhile time.monotonic() < end: pass"
        );
        let one = || {
            Command::new("/usr/bin/python3")
                .args(["-c", &code])
                .stdin(Stdio::null())
                .spawn()
                .expect("start a busy loop")
        };
        Self((0..count).map(|_number| one()).collect())
    }

    /// That many for each CPU of this host.
    pub(super) fn per_cpu(count: usize) -> Self {
        Self::start(count * super::host_cpus())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().expect("end a busy loop");
            child.wait().expect("reap a busy loop");
        }
    }
}
