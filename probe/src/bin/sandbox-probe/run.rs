//! One row: a child of its own, an alarm, a line. Nothing a row does reaches the next one.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, pipe2, setpgid};
use probe::Finding;

use crate::acts::{Act, Origin};
use crate::sys::{self, Arg};
use crate::told::text;

/// Seconds after which a row is ended: `signal 14`.
const ALARM_SECONDS: u64 = 10;

/// Where a row acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Here, as we are.
    Here,
    /// In mount, host name and IPC namespaces of its own, so that what works changes nothing here.
    Aside,
}

/// Acts in a child and gives what came of it.
pub(crate) fn finding(
    name: &str,
    act: Act,
    origin: &Origin,
    place: Place,
) -> Result<Finding, Errno> {
    let result = in_child(place, || text(&act(origin)))?;
    Ok(Finding {
        name: name.to_owned(),
        result,
    })
}

/// The text that a child leaves, or `signal N`; an empty text is an end without a word.
pub(crate) fn in_child(place: Place, act: impl FnOnce() -> String) -> Result<String, Errno> {
    let (reading, writing) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let Some(child) = sys::fork()? else {
        drop(reading);
        let told = match prepare(place) {
            Ok(()) => act(),
            Err(errno) => format!("not prepared: {errno:?}"),
        };
        let written = std::fs::File::from(writing).write_all(told.as_bytes());
        sys::exit_now(i32::from(written.is_err()));
    };
    drop(writing);
    let status = loop {
        match waitpid(Pid::from_raw(child), None) {
            Err(Errno::EINTR) => {}
            other => break other?,
        }
    };
    // Its own children, if it left any, are in its group. There may be none.
    match killpg(Pid::from_raw(child), Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => {}
        Err(errno) => return Err(errno),
    }
    match status {
        WaitStatus::Signaled(_, signal, _) => return Ok(format!("signal {}", signal as i32)),
        // Only a program that took the child's place ends otherwise than with 0.
        WaitStatus::Exited(_, code @ 1..) => return Ok(format!("exit {code}")),
        _ => {}
    }
    // Not to the end: a child of the child could hold the other side.
    let mut told = vec![0u8; 4096];
    let unblocked = nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK);
    nix::fcntl::fcntl(reading.as_fd(), unblocked)?;
    let count = std::fs::File::from(reading).read(&mut told).unwrap_or(0);
    told.truncate(count);
    let told = String::from_utf8_lossy(&told).into_owned();
    Ok(if told.is_empty() {
        "no word".to_owned()
    } else {
        told
    })
}

fn prepare(place: Place) -> Result<(), Errno> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    sys::call(libc::SYS_alarm, &mut [Arg::N(ALARM_SECONDS)])?;
    if place == Place::Here {
        return Ok(());
    }
    const ASIDE: i32 = libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC;
    const PRIVATE: u64 = libc::MS_REC | libc::MS_PRIVATE;
    sys::call(
        libc::SYS_unshare,
        &mut [Arg::N(ASIDE.unsigned_abs().into())],
    )?;
    let all = [
        Arg::N(0),
        Arg::S(c"/"),
        Arg::N(0),
        Arg::N(PRIVATE),
        Arg::N(0),
    ];
    sys::call(libc::SYS_mount, &mut { all })?;
    Ok(())
}

/// Writes a finding as a line.
pub(crate) fn tell(finding: &Finding) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(finding)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
