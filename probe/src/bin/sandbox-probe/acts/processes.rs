//! Other processes, identity and what a process was given.

use std::fs;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Act, Origin, writable};
use crate::sys::{self, Arg, call};
use crate::told::{Told, Word, errno_of, word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("trace_child", |_| trace_child()),
    ("read_memory", |_| read_memory()),
    ("steal_descriptor", |_| steal_descriptor()),
    ("become_root", |_| worked(call(libc::SYS_setuid, &mut [Arg::N(0)]))),
    ("become_group", |_| worked(call(libc::SYS_setgid, &mut [Arg::N(0)]))),
    ("set_groups", |_| worked(call(libc::SYS_setgroups, &mut [Arg::N(1), Arg::B(&[0; 4])]))),
    ("raise_files", |_| raise_files()),
    ("raise_priority", |_| worked(call(libc::SYS_setpriority, &mut [Arg::N(0), Arg::N(0), Arg::N((-5i64).cast_unsigned())]))),
    ("adjust_oom", |_| adjust_oom()),
    ("extra_descriptors", extra_descriptors),
    ("capabilities", |_| capabilities()),
];

/// Of a child that waits.
fn trace_child() -> Told {
    const ATTACH: u64 = 16;
    let Some(child) = sys::fork()? else {
        return Err(call(libc::SYS_pause, &mut []).err().unwrap_or(Errno::EINTR));
    };
    let number = u64::from(child.unsigned_abs());
    let traced = call(
        libc::SYS_ptrace,
        &mut [Arg::N(ATTACH), Arg::N(number), Arg::N(0), Arg::N(0)],
    );
    kill(Pid::from_raw(child), Signal::SIGKILL)?;
    worked(traced)
}

/// One's own: the filter does not see whose it is.
fn read_memory() -> Told {
    let from = [7u8];
    let mut to = [0u8];
    let vector = |address: usize| {
        let mut words = [0u8; 16];
        words[..8].copy_from_slice(&(address as u64).to_ne_bytes());
        words[8] = 1;
        words
    };
    let (local, remote) = (vector(to.as_mut_ptr().addr()), vector(from.as_ptr().addr()));
    let own = u64::from(std::process::id());
    let mut arguments = [
        Arg::N(own),
        Arg::B(&local),
        Arg::N(1),
        Arg::B(&remote),
        Arg::N(1),
        Arg::N(0),
    ];
    worked(call(libc::SYS_process_vm_readv, &mut arguments))
}

fn steal_descriptor() -> Told {
    let own = u64::from(std::process::id());
    let handle = call(libc::SYS_pidfd_open, &mut [Arg::N(own), Arg::N(0)])?;
    worked(call(
        libc::SYS_pidfd_getfd,
        &mut [Arg::N(handle), Arg::N(1), Arg::N(0)],
    ))
}

fn raise_files() -> Told {
    const NOFILE: u64 = 7;
    let mut limit = [0u8; 16];
    call(
        libc::SYS_getrlimit,
        &mut [Arg::N(NOFILE), Arg::O(&mut limit)],
    )?;
    let [.., a, b, c, d, e, f, g, h] = limit;
    let hard = u64::from_ne_bytes([a, b, c, d, e, f, g, h]).saturating_add(1);
    limit[8..].copy_from_slice(&hard.to_ne_bytes());
    worked(call(
        libc::SYS_setrlimit,
        &mut [Arg::N(NOFILE), Arg::B(&limit)],
    ))
}

fn adjust_oom() -> Told {
    let file = writable(c"/proc/self/oom_score_adj")?;
    worked(call(
        libc::SYS_write,
        &mut [Arg::N(file), Arg::B(b"-1000"), Arg::N(5)],
    ))
}

fn extra_descriptors(origin: &Origin) -> Told {
    if origin.descriptors.is_empty() {
        Err(Errno::EBADF)
    } else {
        word(&format!("open: {:?}", origin.descriptors))
    }
}

/// The first thing that is not as it should be, or `none`.
fn capabilities() -> Told {
    let status = fs::read_to_string("/proc/self/status").map_err(errno_of)?;
    for line in status.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        let right = match name {
            "CapInh" | "CapPrm" | "CapEff" | "CapBnd" | "CapAmb" => {
                value.bytes().all(|digit| digit == b'0')
            }
            "NoNewPrivs" => value == "1",
            "Seccomp" => value == "2",
            _ => true,
        };
        if !right {
            return word(&format!("{name} {value}"));
        }
    }
    Ok(Word::of("none"))
}
