//! How much a sandbox may use.

use nix::errno::Errno;
use nix::sys::statvfs::{Statvfs, statvfs};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pipe, read};
use probe::lists::{DESCRIPTORS_TRIED, MEMORY_TRIED_BYTES, PROCESSES_TRIED};

use super::Act;
use crate::sys::{self, Arg, call};
use crate::told::{Told, word};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("core_limit", |_| limit(4)),
    ("open_files_limit", |_| limit(7)),
    ("file_size_limit", |_| limit(1)),
    ("message_queue_limit", |_| limit(12)),
    ("locked_memory_limit", |_| limit(8)),
    ("pending_signals_limit", |_| limit(11)),
    ("real_time_limit", |_| limit(14)),
    ("niceness_limit", |_| limit(13)),
    ("cpu_limit", |_| limit(0)),
    ("disk_size", |_| size(|found| found.blocks().saturating_mul(found.fragment_size()))),
    ("inode_limit", |_| size(Statvfs::files)),
    ("open_files", |_| open_files()),
    ("pids_limit", |_| pids_limit()),
    ("memory_limit", |_| memory_limit()),
];

/// Children that wait. All are ended and waited for here: the next row needs their place. They end by
/// themselves, at the end of a pipe: where the kernel cannot tell a child from a stranger, signals are
/// refused.
fn pids_limit() -> Told {
    let (ends, keep) = pipe()?;
    let mut children = Vec::new();
    let mut refused = None;
    while refused.is_none() && (children.len() as u64) < PROCESSES_TRIED {
        match sys::fork() {
            Ok(Some(child)) => children.push(Pid::from_raw(child)),
            Ok(None) => {
                drop(keep);
                read(&ends, &mut [0])?;
                sys::exit_now(0);
            }
            Err(errno) => refused = Some(errno),
        }
    }
    drop(keep);
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
    const HOLD_MS: u64 = 5_000;
    let mut held: Vec<Vec<u8>> = Vec::new();
    while ((held.len() * STEP) as u64) < MEMORY_TRIED_BYTES {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(STEP)
            .map_err(|_full| Errno::ENOMEM)?;
        bytes.resize(STEP, 1);
        held.push(bytes);
    }
    // Where memory is polled, the answer comes some moments later.
    call(libc::SYS_poll, &mut [Arg::N(0), Arg::N(0), Arg::N(HOLD_MS)])?;
    word(&format!("more than {} bytes", held.len() * STEP))
}

/// The hard limit.
fn limit(resource: u64) -> Told {
    let mut bytes = [0u8; 16];
    let mut arguments = [Arg::N(resource), Arg::O(&mut bytes)];
    call(libc::SYS_getrlimit, &mut arguments)?;
    let [.., a, b, c, d, e, f, g, h] = bytes;
    word(&u64::from_ne_bytes([a, b, c, d, e, f, g, h]).to_string())
}

/// Of the file system behind all that can be written.
fn size(of: fn(&Statvfs) -> u64) -> Told {
    word(&of(&statvfs("/workspace").or_else(|_none| statvfs("/"))?).to_string())
}

/// Until there are no more.
fn open_files() -> Told {
    for _descriptor in 0..DESCRIPTORS_TRIED {
        call(libc::SYS_dup, &mut [Arg::N(0)])?;
    }
    word(&format!("more than {DESCRIPTORS_TRIED}"))
}
