//! Every system call by its number, with arguments of zero, each in a child of its own: what comes
//! back tells whether a filter let it through. Numbers by x32 (`x`) and by the 32-bit ABI (`i`) too.

use std::ffi::OsStr;
use std::path::Path;

use nix::errno::Errno;
use probe::Finding;
use probe::lists::{CALL_DENIED, CALL_LAST, CALLS_LEFT_OUT};

use crate::run::{self, Place};
use crate::sys::{self, Arg, call};

/// From this bit on a call comes through the x32 ABI.
const X32: libc::c_long = 0x4000_0000;

/// Tries all numbers under the filter in `file`, if there is one.
///
/// # Errors
/// The filter cannot be read, or a child cannot be made.
pub(crate) fn all(file: Option<&OsStr>) -> std::io::Result<()> {
    let filter = match file {
        Some(file) => Some(std::fs::read(Path::new(file))?),
        None => None,
    };
    let filter = filter.as_deref();
    for number in 0..=CALL_LAST {
        let left_out = CALLS_LEFT_OUT.iter().any(|(left, _)| *left == number);
        if left_out {
            tell(format!("n{number}"), "not called".to_owned())?;
        } else {
            let number_wide = libc::c_long::from(number);
            tell(format!("n{number}"), under(filter, || raw(number_wide))?)?;
        }
        let wide = X32 | libc::c_long::from(number);
        tell(format!("x{number}"), under(filter, || raw(wide))?)?;
        tell(format!("i{number}"), under(filter, || by_int80(number))?)?;
    }
    Ok(())
}

fn tell(name: String, result: String) -> std::io::Result<()> {
    run::tell(&Finding { name, result })
}

fn under(filter: Option<&[u8]>, act: impl FnOnce() -> String) -> Result<String, Errno> {
    run::in_child(Place::Here, || {
        if let Some(filter) = filter
            && let Err(errno) = install(filter)
        {
            return format!("no filter: {errno:?}");
        }
        act()
    })
}

/// `struct sock_fprog`: a length and an address.
fn install(filter: &[u8]) -> Result<(), Errno> {
    const NO_NEW_PRIVS: u64 = 38;
    const SET_MODE_FILTER: u64 = 1;
    let length = u16::try_from(filter.len() / 8).map_err(|_long| Errno::E2BIG)?;
    let mut program = [0u8; 16];
    program[..2].copy_from_slice(&length.to_ne_bytes());
    program[8..].copy_from_slice(&(filter.as_ptr().addr() as u64).to_ne_bytes());
    sys::raw(libc::SYS_prctl, [NO_NEW_PRIVS, 1, 0, 0, 0, 0])?;
    let mut arguments = [Arg::N(SET_MODE_FILTER), Arg::N(0), Arg::B(&program)];
    call(libc::SYS_seccomp, &mut arguments)?;
    Ok(())
}

/// `denied`, the errno by name, or `ok`.
fn raw(number: libc::c_long) -> String {
    let own = std::process::id();
    let result = sys::raw(number, [0; 6]);
    let raw_errno = Errno::last_raw();
    if std::process::id() != own {
        // The child of a call that forks.
        sys::exit_now(0);
    }
    match result {
        Ok(_) => "ok".to_owned(),
        Err(_) if raw_errno == CALL_DENIED => "denied".to_owned(),
        Err(errno) => format!("{errno:?}"),
    }
}

fn by_int80(number: u32) -> String {
    match sys::by_int80(number) {
        value @ -4095..0 if value == -CALL_DENIED => "denied".to_owned(),
        value @ -4095..0 => format!("{:?}", Errno::from_raw(value.saturating_neg())),
        _ => "ok".to_owned(),
    }
}
