//! What this process was given at its start: looked at before anything else happens, because later
//! descriptors are our own and a fork forgets the rest.

use crate::sys::{Arg, call};

/// The start of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// Open descriptors above 2.
    pub(crate) descriptors: Vec<u64>,
    /// The signal that the parent's end sends; `None` = could not be asked.
    pub(crate) death_signal: Option<i32>,
    /// Its number.
    pub(crate) process: u32,
    /// Its parent's.
    pub(crate) parent: u32,
    /// Its session and its process group.
    pub(crate) session: (u32, u32),
}

/// Descriptors above this are not looked for.
const DESCRIPTORS_MAX: u64 = 4096;

impl Origin {
    /// Looks.
    pub(crate) fn look() -> Self {
        let is_open = |descriptor: &u64| {
            let get = u64::from(libc::F_GETFD.unsigned_abs());
            call(libc::SYS_fcntl, &mut [Arg::N(*descriptor), Arg::N(get)]).is_ok()
        };
        Self {
            descriptors: (3..DESCRIPTORS_MAX).filter(is_open).collect(),
            death_signal: death_signal(),
            process: std::process::id(),
            parent: number(libc::SYS_getppid),
            session: (number(libc::SYS_getsid), number(libc::SYS_getpgid)),
        }
    }
}

/// Of the caller; 0 where it cannot be told.
fn number(call_number: libc::c_long) -> u32 {
    let told = call(call_number, &mut [Arg::N(0)]).unwrap_or(0);
    u32::try_from(told).unwrap_or(0)
}

fn death_signal() -> Option<i32> {
    let mut signal = [0u8; 4];
    let get = u64::from(libc::PR_GET_PDEATHSIG.unsigned_abs());
    call(libc::SYS_prctl, &mut [Arg::N(get), Arg::O(&mut signal)]).ok()?;
    Some(i32::from_ne_bytes(signal))
}
