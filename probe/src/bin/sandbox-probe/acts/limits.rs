//! How much a sandbox may use.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use probe::lists::{MEMORY_TRIED_BYTES, PROCESSES_TRIED};

use super::Act;
use crate::sys::{self, call};
use crate::told::{Told, word};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("pids_limit", |_| pids_limit()),
    ("memory_limit", |_| memory_limit()),
];

/// Children that wait. All are ended and waited for here: the next row needs their place.
fn pids_limit() -> Told {
    let mut children = Vec::new();
    let mut refused = None;
    while refused.is_none() && (children.len() as u64) < PROCESSES_TRIED {
        match sys::fork() {
            Ok(Some(child)) => children.push(Pid::from_raw(child)),
            Ok(None) => {
                call(libc::SYS_pause, &mut [])?;
                sys::exit_now(0);
            }
            Err(errno) => refused = Some(errno),
        }
    }
    for child in &children {
        kill(*child, Signal::SIGKILL)?;
    }
    for child in children {
        waitpid(child, None)?;
    }
    match refused {
        Some(errno) => Err(errno),
        None => word(&format!("more than {PROCESSES_TRIED}")),
    }
}

/// Every page is written, so that all of it is there.
fn memory_limit() -> Told {
    const STEP: usize = 1 << 20;
    let mut held: Vec<Vec<u8>> = Vec::new();
    while ((held.len() * STEP) as u64) < MEMORY_TRIED_BYTES {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(STEP)
            .map_err(|_full| Errno::ENOMEM)?;
        bytes.resize(STEP, 1);
        held.push(bytes);
    }
    word(&format!("more than {} bytes", held.len() * STEP))
}
