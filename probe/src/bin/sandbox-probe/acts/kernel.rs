//! Calls that reach deep into the kernel or change the host. Where they would work they are made
//! with arguments that name nothing, so that nothing happens.

use nix::errno::Errno;

use super::{Act, numbers};
use crate::sys::{self, Arg, MINUS_ONE, call};
use crate::told::{Told, Word, word, worked};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("uring_enter", |_| numbers(libc::SYS_io_uring_enter, &[MINUS_ONE])),
    ("uring_register", |_| numbers(libc::SYS_io_uring_register, &[MINUS_ONE])),
    ("load_module_file", |_| numbers(libc::SYS_finit_module, &[MINUS_ONE])),
    ("unload_module", |_| worked(call(libc::SYS_delete_module, &mut [Arg::S(c"no_such_module"), Arg::N(0o4000)]))),
    ("load_kernel_file", |_| numbers(libc::SYS_kexec_file_load, &[MINUS_ONE, MINUS_ONE])),
    ("set_clock", |_| numbers(libc::SYS_clock_settime, &[0, 0])),
    ("adjust_clock", |_| numbers(libc::SYS_adjtimex, &[0])),
    ("adjust_one_clock", |_| numbers(libc::SYS_clock_adjtime, &[0, 0])),
    ("set_domain_name", |_| worked(call(libc::SYS_setdomainname, &mut [Arg::B(b"probe"), Arg::N(5)]))),
    ("swap_off", |_| worked(call(libc::SYS_swapoff, &mut [Arg::S(c"/nonexistent")]))),
    ("quota_by_file", |_| numbers(libc::SYS_quotactl_fd, &[MINUS_ONE])),
    ("hang_up", |_| numbers(libc::SYS_vhangup, &[])),
    ("sync_all", |_| numbers(libc::SYS_sync, &[])),
    ("sync_one", |_| numbers(libc::SYS_syncfs, &[MINUS_ONE])),
    ("fan_mark", |_| numbers(libc::SYS_fanotify_mark, &[MINUS_ONE])),
    ("watch", |_| numbers(libc::SYS_inotify_init1, &[0])),
    ("async_io", |_| worked(call(libc::SYS_io_setup, &mut [Arg::N(1), Arg::O(&mut [0; 8])]))),
    ("message_queue", |_| queue(libc::SYS_msgget, &[0, 0o1600], libc::SYS_msgctl)),
    ("semaphores", |_| queue(libc::SYS_semget, &[0, 1, 0o1600], libc::SYS_semctl)),
    ("posix_queue", |_| posix_queue()),
    ("tee_pipe", |_| tee_pipe()),
    ("gift_pages", |_| gift_pages()),
    ("memory_policy", |_| numbers(libc::SYS_set_mempolicy, &[0, 0, 0])),
    ("move_pages", |_| numbers(libc::SYS_move_pages, &[0])),
    ("migrate_pages", |_| numbers(libc::SYS_migrate_pages, &[0])),
    ("compare_kernel", |_| numbers(libc::SYS_kcmp, &[std::process::id().into(), std::process::id().into(), 0, 0, 0])),
    ("advise_others", |_| numbers(libc::SYS_process_madvise, &[MINUS_ONE])),
    ("release_others", |_| numbers(libc::SYS_process_mrelease, &[MINUS_ONE])),
    ("scheduling_by_pointer", |_| numbers(libc::SYS_sched_setattr, &[0, 0, 0])),
    ("round_robin", |_| real_time(2)),
    ("secret_memory", |_| numbers(libc::SYS_memfd_secret, &[0])),
    ("futex_wait_many", |_| numbers(libc::SYS_futex_waitv, &[0])),
    ("futex_requeue", |_| numbers(456, &[0])),
    ("attributes_at", |_| numbers(463, &[MINUS_ONE])),
    ("next_new_call", |_| numbers(599, &[])),
    ("read_implies_exec", |_| numbers(libc::SYS_personality, &[0x40_0000])),
    ("share_core", |_| numbers(libc::SYS_prctl, &[62, 1, 0, 0, 0])),
    ("merge_memory", |_| numbers(libc::SYS_prctl, &[67, 1, 0, 0, 0])),
    ("unknown_option", |_| numbers(libc::SYS_prctl, &[0x7fff_0001, 0, 0, 0, 0])),
    ("folder_signals", |_| numbers(libc::SYS_fcntl, &[folder()?, 1026, 1])),
    ("terminal_input_high", |_| terminal(1 << 32 | 0x5412)),
    ("terminal_console", |_| terminal(0x541c)),
    ("terminal_discipline", |_| terminal(0x5423)),
    ("terminal_redirect", |_| terminal(0x541d)),
    ("session_keys", |_| session_keys()),
    ("persistent_keys", |_| numbers(libc::SYS_keyctl, &[22, MINUS_ONE, (-3i64).cast_unsigned()])),
    ("x32_execute", |_| numbers(0x4000_0000 | 520, &[])),
    ("int80_socket", |_| by_int80(102)),
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
    ("real_time", |_| real_time(1)),
    ("splice_pipe", |_| splice_pipe()),
    ("shared_memory", |_| shared_memory()),
    ("listener", |_| listener()),
    ("secure_bits", |_| numbers(libc::SYS_prctl, &[28, 1])),
    ("fake_memory_map", |_| numbers(libc::SYS_prctl, &[35, 14, 0, 0, 0])),
    ("terminal_input", |_| terminal(0x5412)),
    ("memfd_executable", |_| memfd(0x10)),
    ("memfd_plain", |_| memfd(0)),
    ("memfd_sealed", |_| memfd(8)),
    ("int80", |_| by_int80(20)),
    ("x32", |_| numbers(0x4000_0000 | libc::SYS_getpid, &[])),
];

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

fn real_time(class: u64) -> Told {
    let priority = 1i32.to_ne_bytes();
    let mut arguments = [Arg::N(0), Arg::N(class), Arg::B(&priority)];
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

/// A number that is no error shows that the call was made.
fn by_int80(number: u32) -> Told {
    match sys::by_int80(number) {
        value @ -4095..0 => Err(Errno::from_raw(value.saturating_neg())),
        _ => Ok(Word::ok()),
    }
}

fn folder() -> Result<u64, Errno> {
    super::readable(c"/usr")
}

/// Made, and removed again where it could be: it would outlive this process.
fn queue(make: libc::c_long, words: &[u64], control: libc::c_long) -> Told {
    let mut three = [0u64; 6];
    for (place, word) in three.iter_mut().zip(words) {
        *place = *word;
    }
    let made = sys::raw(make, three)?;
    // The command is the second word, and the third for semaphores.
    numbers(control, &[made, 0, 0])
}

fn posix_queue() -> Told {
    let open = u64::from((libc::O_CREAT | libc::O_RDWR).unsigned_abs());
    let mut arguments = [
        Arg::S(c"rollcage-probe"),
        Arg::N(open),
        Arg::N(0o600),
        Arg::N(0),
    ];
    call(libc::SYS_mq_open, &mut arguments)?;
    worked(call(libc::SYS_mq_unlink, &mut [Arg::S(c"rollcage-probe")]))
}

fn tee_pipe() -> Told {
    let (from, to) = (pipe()?, pipe()?);
    call(
        libc::SYS_write,
        &mut [Arg::N(from.1), Arg::B(b"x"), Arg::N(1)],
    )?;
    numbers(libc::SYS_tee, &[from.0, to.1, 1, 0])
}

fn gift_pages() -> Told {
    let to = pipe()?;
    let bytes = [1u8; 16];
    let mut vector = [0u8; 16];
    vector[..8].copy_from_slice(&(bytes.as_ptr().addr() as u64).to_ne_bytes());
    vector[8] = 16;
    let mut arguments = [Arg::N(to.1), Arg::B(&vector), Arg::N(1), Arg::N(0)];
    worked(call(libc::SYS_vmsplice, &mut arguments))
}

/// What the session's key ring holds: nothing, where it is one of our own.
fn session_keys() -> Told {
    const READ: u64 = 11;
    const SESSION: u64 = (-3i64).cast_unsigned();
    let mut keys = [0u8; 256];
    let mut arguments = [
        Arg::N(READ),
        Arg::N(SESSION),
        Arg::O(&mut keys),
        Arg::N(256),
    ];
    match call(libc::SYS_keyctl, &mut arguments)? {
        0 => word("no keys"),
        bytes => word(&format!("{} keys", bytes / 4)),
    }
}
