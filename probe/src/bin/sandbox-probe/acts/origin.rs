//! What this process was given at its start: looked at before anything else happens, because later
//! descriptors are our own and a fork forgets the rest.

use crate::sys::{Arg, call};

/// The start of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// Open descriptors above 2.
    pub(crate) descriptors: Vec<u64>,
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
        }
    }
}
