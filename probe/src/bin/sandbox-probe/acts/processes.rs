//! Other processes, and what a process may become.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, pipe, read};

use super::{Act, numbers, writable};
use crate::sys::{self, Arg, call};
use crate::told::{Told, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("trace_child", |_| trace_child()),
    ("read_memory", |_| memory_of(std::process::id())),
    ("steal_descriptor", |_| descriptor_of(std::process::id())),
    ("become_root", |_| worked(call(libc::SYS_setuid, &mut [Arg::N(0)]))),
    ("become_group", |_| worked(call(libc::SYS_setgid, &mut [Arg::N(0)]))),
    ("set_groups", |_| worked(call(libc::SYS_setgroups, &mut [Arg::N(1), Arg::B(&[0; 4])]))),
    ("raise_files", |_| raise_files()),
    ("raise_priority", |_| worked(call(libc::SYS_setpriority, &mut [Arg::N(0), Arg::N(0), Arg::N((-5i64).cast_unsigned())]))),
    ("adjust_oom", |_| adjust_oom()),
    ("change_groups_back", |_| change_back()),
    ("raise_capability", |_| raise_capability()),
    ("ambient_capability", |_| ambient_capability()),
    ("signal_supervisor", |origin| numbers(libc::SYS_kill, &[origin.parent.into(), 0])),
    ("trace_supervisor", |origin| numbers(libc::SYS_ptrace, &[SEIZE, origin.parent.into(), 0, 0])),
    ("memory_of_supervisor", |origin| memory_of(origin.parent)),
    ("limits_of_supervisor", |origin| worked(call(libc::SYS_prlimit64, &mut [Arg::N(origin.parent.into()), Arg::N(7), Arg::N(0), Arg::O(&mut [0; 16])]))),
    ("descriptor_of_supervisor", |origin| descriptor_of(origin.parent)),
    ("signal_child", |_| signal_child()),
];

/// `PTRACE_SEIZE`, which unlike attaching does not stop what it takes.
const SEIZE: u64 = 0x4206;

/// Of a child that waits for the end of a pipe: signals may be refused.
fn trace_child() -> Told {
    let (end, keep) = pipe()?;
    let Some(child) = sys::fork()? else {
        drop(keep);
        read(&end, &mut [0])?;
        sys::exit_now(0);
    };
    let number = u64::from(child.unsigned_abs());
    let traced = call(
        libc::SYS_ptrace,
        &mut [Arg::N(SEIZE), Arg::N(number), Arg::N(0), Arg::N(0)],
    );
    drop(keep);
    worked(traced)
}

/// At an address of our own: that of another process is not known.
fn memory_of(process: u32) -> Told {
    let from = [7u8];
    let mut to = [0u8];
    let vector = |address: usize| {
        let mut words = [0u8; 16];
        words[..8].copy_from_slice(&(address as u64).to_ne_bytes());
        words[8] = 1;
        words
    };
    let (local, remote) = (vector(to.as_mut_ptr().addr()), vector(from.as_ptr().addr()));
    let mut arguments = [
        Arg::N(process.into()),
        Arg::B(&local),
        Arg::N(1),
        Arg::B(&remote),
        Arg::N(1),
        Arg::N(0),
    ];
    worked(call(libc::SYS_process_vm_readv, &mut arguments))
}

fn descriptor_of(process: u32) -> Told {
    let handle = call(
        libc::SYS_pidfd_open,
        &mut [Arg::N(process.into()), Arg::N(0)],
    )?;
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

/// To the ids that pid 1 has: saved ones would let us.
fn change_back() -> Told {
    numbers(libc::SYS_setresgid, &[0, 0, 0])?;
    numbers(libc::SYS_setresuid, &[0, 0, 0])
}

/// Version 3 of the structure, this thread.
const HEADER: [u8; 8] = [0x22, 0x05, 0x08, 0x20, 0, 0, 0, 0];

/// `cap_sys_admin` in the permitted and effective sets.
fn raise_capability() -> Told {
    let mut sets = [0u8; 24];
    let admin = (1u32 << 21).to_ne_bytes();
    sets[..4].copy_from_slice(&admin);
    sets[4..8].copy_from_slice(&admin);
    worked(call(
        libc::SYS_capset,
        &mut [Arg::B(&HEADER), Arg::B(&sets)],
    ))
}

fn ambient_capability() -> Told {
    const AMBIENT: u64 = 47;
    const RAISE: u64 = 2;
    numbers(libc::SYS_prctl, &[AMBIENT, RAISE, 21, 0, 0])
}

fn signal_child() -> Told {
    let Some(child) = sys::fork()? else {
        return Err(call(libc::SYS_pause, &mut []).err().unwrap_or(Errno::EINTR));
    };
    worked(kill(Pid::from_raw(child), Signal::SIGKILL))
}
