//! How each attempt is made, by subject, under the names of the battery.

mod files;
mod kernel;
mod limits;
mod listings;
mod namespaces;
mod origin;
mod proc;
mod processes;
mod sockets;
mod state;
mod written;

use std::ffi::CStr;

use nix::errno::Errno;

use crate::sys::{Arg, HERE, call, raw};
use crate::told::{Told, Word, worked};

pub(crate) use origin::Origin;

/// An attempt. It runs in a child of its own and may leave that in any state.
pub(crate) type Act = fn(&Origin) -> Told;

/// Acts by subject.
const SUBJECTS: &[&[(&str, Act)]] = &[
    files::ACTS,
    proc::ACTS,
    listings::ACTS,
    namespaces::ACTS,
    sockets::ACTS,
    kernel::ACTS,
    processes::ACTS,
    state::ACTS,
    written::ACTS,
    limits::ACTS,
];

/// The act of a row.
pub(crate) fn named(name: &str) -> Option<Act> {
    let mut all = SUBJECTS.iter().flat_map(|acts| acts.iter());
    all.find(|(own, _)| *own == name).map(|(_, act)| *act)
}

/// Opens a path.
fn open(path: &CStr, flags: i32) -> Result<u64, Errno> {
    let flags = u64::from(flags.unsigned_abs()) | u64::from(libc::O_CLOEXEC.unsigned_abs());
    let mut arguments = [Arg::N(HERE), Arg::S(path), Arg::N(flags), Arg::N(0o600)];
    call(libc::SYS_openat, &mut arguments)
}

/// Opens a path for reading, without waiting.
fn readable(path: &CStr) -> Result<u64, Errno> {
    open(path, libc::O_RDONLY | libc::O_NONBLOCK)
}

/// Opens a path for writing, without waiting.
fn writable(path: &CStr) -> Result<u64, Errno> {
    open(path, libc::O_WRONLY | libc::O_NONBLOCK)
}

/// Reads once from a descriptor.
fn read(descriptor: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
    let length = bytes.len() as u64;
    let mut arguments = [Arg::N(descriptor), Arg::O(bytes), Arg::N(length)];
    let count = call(libc::SYS_read, &mut arguments)?;
    usize::try_from(count).map_err(|_wide| Errno::EOVERFLOW)
}

/// Whether there is anything to read; an empty file is no secret.
fn first_byte(path: &CStr) -> Told {
    match read(readable(path)?, &mut [0])? {
        0 => Err(Errno::ENODATA),
        _ => Ok(Word::ok()),
    }
}

/// Makes a system call with numbers alone.
fn numbers(number: libc::c_long, words: &[u64]) -> Told {
    let mut six = [0u64; 6];
    for (place, word) in six.iter_mut().zip(words) {
        *place = *word;
    }
    worked(raw(number, six))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_one_act_and_every_act_a_row() {
        let acts: Vec<&str> = SUBJECTS
            .iter()
            .flat_map(|acts| acts.iter().map(|(name, _)| *name))
            .collect();
        let named: BTreeSet<&str> = acts.iter().copied().collect();
        let rows: BTreeSet<&str> = probe::BATTERY.iter().map(|row| row.name).collect();
        assert_eq!(named, rows);
        assert_eq!(acts.len(), named.len(), "an act stands twice");
    }
}
