//! The launcher's own word to the audit process: every spawn and every reap, over a socket that
//! the api does not have.

use std::io::{IoSlice, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use audit::frame::{self, Attestation};
use audit::record::{Draft, Event, Source};
use confine::wire::KernelCounters;
use nix::sys::socket::{MsgFlags, UnixAddr, sendmsg};
use serde_json::{Map, Value, json};

/// Sends numbered attestations; one that cannot be sent leaves a gap that the audit process sees.
#[derive(Debug)]
pub(crate) struct Attestor {
    socket: OwnedFd,
    number: u64,
}

impl Attestor {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket, number: 0 }
    }

    /// A sandbox exists.
    pub(crate) fn spawned(&mut self, sandbox_id: &str, pid: i32, uid_base: u32) {
        let data = json!({ "pid": pid, "uid_base": uid_base });
        self.send(Event::SandboxSpawned, sandbox_id, data);
    }

    /// A sandbox is gone.
    pub(crate) fn reaped(&mut self, sandbox_id: &str, status: i32, counters: &KernelCounters) {
        let data = json!({
            "init_status": status,
            "cpu_user_us": counters.cpu_user_us,
            "cpu_system_us": counters.cpu_system_us,
            "memory_peak_bytes": counters.memory_peak_bytes,
            "oom_kills": counters.oom_kills,
            "pids_peak": counters.pids_peak,
        });
        self.send(Event::SandboxReaped, sandbox_id, data);
    }

    fn send(&mut self, event: Event, sandbox_id: &str, data: Value) {
        self.number += 1;
        let mut draft = Draft::new(event, Source::Launcher);
        draft.sandbox_id = Some(sandbox_id.to_owned());
        draft.data = match data {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let attestation = Attestation {
            number: self.number,
            draft,
        };
        let failed = match frame::encode(&attestation) {
            Ok(bytes) => {
                let iov = [IoSlice::new(&bytes)];
                // A stalled audit process must not stall kills: what does not fit is a gap it records.
                let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
                sendmsg::<UnixAddr>(self.socket.as_raw_fd(), &iov, &[], flags, None)
                    .err()
                    .map(|errno| errno.to_string())
            }
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = failed {
            // The gap in the numbers is the record; this line is for the operator.
            warn(&format!(
                "attestation {} of {sandbox_id} not sent: {reason}",
                self.number
            ));
        }
    }
}

/// One line for the operator on stderr, which the daemon's log collects.
pub(crate) fn warn(message: &str) {
    let line = format!("sandbox-launcher: {message}\n");
    // Nothing can be done about a closed stderr.
    if std::io::stderr().write_all(line.as_bytes()).is_err() {}
}
