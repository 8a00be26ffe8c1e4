//! Calls that reach deep into the kernel or change the host. Where they would work they are made
//! with arguments that name nothing, so that nothing happens.

use nix::errno::Errno;

use super::Act;
use crate::sys::{self, Arg, MINUS_ONE, call};
use crate::told::{Told, Word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("uring", |_| numbers(libc::SYS_io_uring_setup, &[1, 0])),
    ("bpf", |_| numbers(libc::SYS_bpf, &[0, 0, 0])),
    ("perf", |_| numbers(libc::SYS_perf_event_open, &[0, 0, MINUS_ONE, MINUS_ONE, 0])),
    ("userfault", |_| numbers(libc::SYS_userfaultfd, &[0])),
    ("key_control", |_| numbers(libc::SYS_keyctl, &[0, MINUS_ONE, 0])),
    ("key_add", |_| key_add()),
    ("key_request", |_| numbers(libc::SYS_request_key, &[0, 0, 0, 0])),
    ("load_module", |_| worked(call(libc::SYS_init_module, &mut [Arg::N(0), Arg::N(0), Arg::S(c"")]))),
    ("load_kernel", |_| numbers(libc::SYS_kexec_load, &[0, 0, 0, 0xffff])),
    ("read_log", |_| numbers(libc::SYS_syslog, &[10, 0, 0])),
    ("restart", |_| numbers(libc::SYS_reboot, &[0, 0, 0, 0])),
    ("set_time", |_| numbers(libc::SYS_settimeofday, &[0, 0])),
    ("set_name", |_| worked(call(libc::SYS_sethostname, &mut [Arg::B(b"probe"), Arg::N(5)]))),
    ("swap_on", |_| worked(call(libc::SYS_swapon, &mut [Arg::S(c"/nonexistent"), Arg::N(0)]))),
    ("account", |_| worked(call(libc::SYS_acct, &mut [Arg::S(c"/nonexistent")]))),
    ("quota", |_| numbers(libc::SYS_quotactl, &[0xffff, 0, 0, 0])),
    ("local_descriptors", |_| local_descriptors()),
    ("io_level", |_| numbers(libc::SYS_iopl, &[0])),
    ("io_ports", |_| numbers(libc::SYS_ioperm, &[0x80, 1, 0])),
    ("fan_notify", |_| numbers(libc::SYS_fanotify_init, &[0, 0])),
    ("domain", |_| numbers(libc::SYS_personality, &[0x4_0000])),
    ("real_time", |_| real_time()),
    ("splice_pipe", |_| splice_pipe()),
    ("shared_memory", |_| shared_memory()),
    ("listener", |_| listener()),
    ("secure_bits", |_| numbers(libc::SYS_prctl, &[28, 1])),
    ("fake_memory_map", |_| numbers(libc::SYS_prctl, &[35, 14, 0, 0, 0])),
    ("terminal_input", |_| terminal(0x5412)),
    ("memfd_executable", |_| memfd(0x10)),
    ("memfd_plain", |_| memfd(0)),
    ("memfd_sealed", |_| memfd(8)),
    ("int80", |_| int80()),
    ("x32", |_| numbers(0x4000_0000 | libc::SYS_getpid, &[])),
];

fn numbers(number: libc::c_long, words: &[u64]) -> Told {
    let mut six = [0u64; 6];
    for (place, word) in six.iter_mut().zip(words) {
        *place = *word;
    }
    worked(sys::raw(number, six))
}

/// Into the key ring of this process, which ends with it.
fn key_add() -> Told {
    let mut arguments = [
        Arg::S(c"user"),
        Arg::S(c"probe"),
        Arg::B(b"x"),
        Arg::N(1),
        Arg::N((-2i64).cast_unsigned()),
    ];
    worked(call(libc::SYS_add_key, &mut arguments))
}

fn local_descriptors() -> Told {
    let mut bytes = [0u8; 64];
    worked(call(
        libc::SYS_modify_ldt,
        &mut [Arg::N(0), Arg::O(&mut bytes), Arg::N(64)],
    ))
}

fn real_time() -> Told {
    let priority = 1i32.to_ne_bytes();
    let mut arguments = [Arg::N(0), Arg::N(1), Arg::B(&priority)];
    worked(call(libc::SYS_sched_setscheduler, &mut arguments))
}

fn pipe() -> Result<(u64, u64), Errno> {
    let mut ends = [0u8; 8];
    call(libc::SYS_pipe, &mut [Arg::O(&mut ends)])?;
    let [a, b, c, d, e, f, g, h] = ends;
    let end = |bytes| u64::from(u32::from_ne_bytes(bytes));
    Ok((end([a, b, c, d]), end([e, f, g, h])))
}

fn splice_pipe() -> Told {
    let (from, to) = (pipe()?, pipe()?);
    call(
        libc::SYS_write,
        &mut [Arg::N(from.1), Arg::B(b"x"), Arg::N(1)],
    )?;
    numbers(libc::SYS_splice, &[from.0, 0, to.1, 0, 1, 0])
}

fn shared_memory() -> Told {
    let segment = call(
        libc::SYS_shmget,
        &mut [Arg::N(0), Arg::N(4096), Arg::N(0o1600)],
    )?;
    numbers(libc::SYS_shmctl, &[segment, 0, 0])
}

/// A filter that allows all, with a listener.
fn listener() -> Told {
    numbers(libc::SYS_prctl, &[38, 1])?;
    let mut allow = [0u8; 8];
    allow[0] = 6;
    allow[4..].copy_from_slice(&0x7fff_0000u32.to_ne_bytes());
    let mut program = [0u8; 16];
    program[0] = 1;
    program[8..].copy_from_slice(&(allow.as_ptr().addr() as u64).to_ne_bytes());
    worked(call(
        libc::SYS_seccomp,
        &mut [Arg::N(1), Arg::N(8), Arg::B(&program)],
    ))
}

/// On standard input, whatever it is.
fn terminal(command: u64) -> Told {
    worked(call(
        libc::SYS_ioctl,
        &mut [Arg::N(0), Arg::N(command), Arg::S(c"x")],
    ))
}

fn memfd(flags: u64) -> Told {
    worked(call(
        libc::SYS_memfd_create,
        &mut [Arg::S(c"probe"), Arg::N(flags)],
    ))
}

fn int80() -> Told {
    const GETPID: u32 = 20;
    match sys::by_int80(GETPID) {
        1.. => Ok(Word::ok()),
        _ => Err(Errno::ENOSYS),
    }
}
