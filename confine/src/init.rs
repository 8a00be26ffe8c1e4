//! `sandbox-init`, pid 1 of every sandbox: takes the session steps, then starts, signals and
//! reaps commands, and tells the api what happened.
//!
//! One thread, no clock but the monotonic one for start times, no files of the host. It trusts
//! its boot orders (from the launcher) and its channel (from the api); it trusts nothing that a
//! command does.

mod child;
mod denials;
mod files;
mod orders;
mod serve;
mod state;
mod tree;
mod usage;

use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use nix::errno::Errno;

use crate::boot::{BOOT_FD, Boot, CHANNEL_FD, ToBoot};
use crate::packet::{self, PacketError};
use crate::steps::session::Session;
use crate::wire::{EXTRA_FDS_MAX, FromInit};
use crate::{sequence, sys};

/// Descriptors below this are kept for commands: 0-2, the extra ones, and one to spare.
const RESERVED_FDS: i32 = 16;
const _: () = assert!(
    EXTRA_FDS_MAX + 3 < 16,
    "extra descriptors fit below the reserved range"
);

/// Runs pid 1 to its end.
pub fn run() -> ExitCode {
    match start() {
        Ok(mut init) => match init.serve() {
            Ok(()) => ExitCode::SUCCESS,
            // The channel is gone or broken: nobody is left to tell.
            Err(_error) => ExitCode::from(3),
        },
        Err(_error) => ExitCode::from(2),
    }
}

fn start() -> Result<serve::Init, PacketError> {
    let os = |doing| move |errno| PacketError::Os { doing, errno };
    let channel = sys::adopt_fd(CHANNEL_FD).map_err(os("adopt the channel"))?;
    let link = sys::adopt_fd(BOOT_FD).map_err(os("adopt the boot socket"))?;
    let channel = raise(channel)?;
    let link = raise(link)?;
    let (boot, cgroups) = match orders(&link) {
        Ok(orders) => orders,
        Err(error) => {
            let step = "boot_orders".to_owned();
            let (errno, reason) = (error.errno() as i32, error.to_string());
            packet::send(
                channel.as_fd(),
                &FromInit::EnterFailed {
                    step,
                    errno,
                    reason,
                },
                &[],
            )?;
            return Err(error);
        }
    };
    let mut session = Session::new(boot, link);
    let keyring = sys::session_keyring();
    match sequence::enter(sequence::SESSION, &mut session) {
        Ok(steps) => {
            let state = state::facts(keyring);
            packet::send(channel.as_fd(), &FromInit::Entered { steps, state }, &[])?;
            let Session { boot, rules, .. } = session;
            serve::Init::new(channel, boot, rules, cgroups)
        }
        Err((step, error)) => {
            let errno = error.errno as i32;
            let reason = format!("{error}: {}", error.errno.desc());
            packet::send(
                channel.as_fd(),
                &FromInit::EnterFailed {
                    step,
                    errno,
                    reason,
                },
                &[],
            )?;
            Err(PacketError::Os {
                doing: "enter the sandbox",
                errno: error.errno,
            })
        }
    }
}

/// Takes the orders and the cgroup files that commands attach to.
fn orders(link: &OwnedFd) -> Result<(Boot, Vec<OwnedFd>), PacketError> {
    reserve_low_fds()?;
    let Some((ToBoot::Start, mut fds)) = packet::receive::<ToBoot>(link.as_fd(), false)? else {
        return Err(PacketError::Malformed {
            what: "no boot orders",
        });
    };
    if fds.is_empty() {
        return Err(PacketError::Malformed {
            what: "no boot memfd",
        });
    }
    let cgroups = fds.split_off(1);
    let orders = fds.pop().ok_or(PacketError::Malformed {
        what: "no boot memfd",
    })?;
    Ok((packet::unseal(orders)?, cgroups))
}

/// Moves a descriptor above the reserved range and closes it where it was.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the old descriptor must be closed here"
)]
fn raise(fd: OwnedFd) -> Result<OwnedFd, PacketError> {
    use nix::fcntl::{FcntlArg, fcntl};
    let raised = fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(RESERVED_FDS))
        .and_then(sys::adopt_fd)
        .map_err(|errno| PacketError::Os {
            doing: "move a descriptor",
            errno,
        })?;
    Ok(raised)
}

/// Fills 0 up to the reserved range with /dev/null, so that whatever is opened later lies above
/// it and can never be overwritten when a command's descriptors are put in place.
fn reserve_low_fds() -> Result<(), PacketError> {
    let os = |doing| move |errno: Errno| PacketError::Os { doing, errno };
    let flags = nix::fcntl::OFlag::O_RDWR | nix::fcntl::OFlag::O_CLOEXEC;
    let null = nix::fcntl::open("/dev/null", flags, nix::sys::stat::Mode::empty())
        .map_err(os("open /dev/null"))?;
    let null = raise(null)?;
    for fd in 0..RESERVED_FDS {
        sys::dup_onto(null.as_fd(), fd).map_err(os("reserve a descriptor"))?;
    }
    Ok(())
}
