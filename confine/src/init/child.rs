//! The children of pid 1: how a command is started, and what it says on the way to its exec.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use landlock::RulesetCreated;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::boot::Boot;
use crate::packet::{self, PacketError};
use crate::plan::OwnProgram;
use crate::report::StepReport;
use crate::steps::command::{self, Command};
use crate::wire::{CollectProblem, SpawnSpec};
use crate::{sequence, sys};

/// Search path when the environment has none.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// What a child tells pid 1 over its report socket, which closes at exec.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildFrame {
    /// All late steps are taken. Beside it the notification descriptor, if there is one.
    Steps { steps: Vec<StepReport> },
    /// A late step failed.
    StepFailed {
        step: String,
        errno: i32,
        reason: String,
    },
    /// The exec failed.
    ExecFailed { code: u8, errno: i32, path: String },
    /// All files are written.
    Staged { files: u32, bytes: u64 },
    /// A file could not be written.
    StageFailed { path: String, errno: i32 },
    /// All files that could be read were sent.
    Collected {
        files: u32,
        problems: Vec<CollectProblem>,
    },
}

/// A started child.
#[derive(Debug)]
pub(super) struct Born {
    /// Its pid in the sandbox.
    pub(super) pid: i32,
    /// Our end of its report socket.
    pub(super) report: OwnedFd,
}

/// Forks; the child runs `body` with its end of the report socket and ends with what it returns.
pub(super) fn fork_child(body: impl FnOnce(BorrowedFd<'_>) -> i32) -> Result<Born, PacketError> {
    let (ours, theirs) = packet::pair()?;
    match sys::process::clone_process(sys::process::CloneFlags::default(), None) {
        Ok(sys::process::Fork::Child) => {
            drop(ours);
            let code = body(theirs.as_fd());
            sys::process::exit_now(code)
        }
        Ok(sys::process::Fork::Parent { pid, .. }) => Ok(Born { pid, report: ours }),
        Err(errno) => Err(PacketError::Os {
            doing: "fork a command",
            errno,
        }),
    }
}

/// The child's side of a spawn: descriptors, late steps, exec. Returns only on failure.
pub(super) fn become_command(
    mut command: Command,
    spec: &SpawnSpec,
    stdio: &[OwnedFd],
    report: BorrowedFd<'_>,
) -> i32 {
    let (stdio, report) = match clear_places(&mut command, stdio, report) {
        Ok(moved) => moved,
        Err(error) => {
            let errno = error.raw_os_error().map_or(Errno::EIO, Errno::from_raw);
            return tell_step(report, "descriptors", errno, "move a descriptor");
        }
    };
    let report = report.as_fd();
    for (target, fd) in (0i32..).zip(&stdio) {
        if let Err(errno) = sys::dup_onto(fd.as_fd(), target) {
            return tell_step(report, "descriptors", errno, "put a descriptor in place");
        }
    }
    command.keep_below = u32::try_from(stdio.len()).unwrap_or(3);
    let steps = match sequence::enter(sequence::COMMAND, &mut command) {
        Ok(steps) => steps,
        Err((step, error)) => {
            return tell_step(report, &step, error.errno, &error.to_string());
        }
    };
    let listener = command::hand_over(command.listener.as_ref());
    if packet::send(report, &ChildFrame::Steps { steps }, &listener).is_err() {
        // Pid 1 must know before the program runs; if it cannot, the program does not.
        return 125;
    }
    let cwd = command.boot.host_path(&spec.cwd);
    if let Err(errno) = enter_folder(&cwd) {
        return tell_exec(report, errno, &spec.cwd, errno == Errno::ENOENT);
    }
    exec(spec, &command.boot, report)
}

/// The kernel has no absolute name for a folder outside of the root, as a descriptor could lead to.
fn enter_folder(folder: &str) -> Result<(), Errno> {
    nix::unistd::chdir(folder)?;
    if nix::unistd::getcwd()?.is_absolute() {
        Ok(())
    } else {
        Err(Errno::EXDEV)
    }
}

/// Moves every descriptor that is still needed above those that the command is given, so that
/// putting these in place overwrites none of them.
fn clear_places(
    command: &mut Command,
    stdio: &[OwnedFd],
    report: BorrowedFd<'_>,
) -> std::io::Result<(Vec<OwnedFd>, OwnedFd)> {
    use nix::fcntl::{FcntlArg, fcntl};
    let count = i32::try_from(stdio.len()).unwrap_or(i32::MAX);
    // Every free place is taken, and stays so until the command's own descriptor comes there.
    while fcntl(report, FcntlArg::F_DUPFD_CLOEXEC(0))? < count {}
    let copies = |fds: &[OwnedFd]| {
        fds.iter()
            .map(OwnedFd::try_clone)
            .collect::<Result<Vec<_>, _>>()
    };
    let moved = (copies(stdio)?, report.try_clone_to_owned()?);
    let cgroups = copies(&command.cgroups)?;
    let rules = command
        .rules
        .as_ref()
        .map(RulesetCreated::try_clone)
        .transpose()?;
    // Only now: a place that is given up earlier would be taken by the next copy.
    command.cgroups = cgroups;
    command.rules = rules;
    Ok(moved)
}

fn exec(spec: &SpawnSpec, boot: &Boot, report: BorrowedFd<'_>) -> i32 {
    let strings = |items: Vec<Vec<u8>>| -> Result<Vec<CString>, Errno> {
        items
            .into_iter()
            .map(|item| CString::new(item).map_err(|_nul| Errno::EINVAL))
            .collect()
    };
    let env_items = spec.env.iter().map(|(name, value)| {
        // HOME, TMPDIR and their like: in landlock mode the folders lie elsewhere.
        let value = match std::str::from_utf8(value) {
            Ok(text) => boot.host_path(text).into_bytes(),
            Err(_not_text) => value.clone(),
        };
        [name.as_slice(), b"=", &value].concat()
    });
    let (argv, env) = match (strings(spec.argv.clone()), strings(env_items.collect())) {
        (Ok(argv), Ok(env)) if !argv.is_empty() => (argv, env),
        _ => return tell_exec(report, Errno::EINVAL, "", false),
    };
    let program = spec.argv.first().map(Vec::as_slice).unwrap_or_default();
    let mut last = (Errno::ENOENT, program.to_vec());
    let own = boot.plan.own.filter(|_| boot.own.is_some());
    let candidates = match own.map(OwnProgram::path) {
        Some(path) if program == path.as_bytes() => vec![boot.host_path(path).into_bytes()],
        _ => candidates(program, &spec.env),
    };
    for candidate in candidates {
        let Ok(path) = CString::new(candidate.clone()) else {
            continue;
        };
        let errno = sys::process::exec_path(&path, &argv, &env);
        // As a shell: a file that is there but cannot run is remembered over one that is missing.
        if errno != Errno::ENOENT && errno != Errno::ENOTDIR {
            last = (errno, candidate);
            break;
        }
        if std::path::Path::new(std::ffi::OsStr::from_bytes(&candidate)).exists() {
            last = (errno, candidate);
        }
    }
    let (errno, path) = last;
    let missing = !std::path::Path::new(std::ffi::OsStr::from_bytes(&path)).exists()
        && matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
    tell_exec(report, errno, &String::from_utf8_lossy(&path), missing)
}

fn candidates(program: &[u8], env: &[(Vec<u8>, Vec<u8>)]) -> Vec<Vec<u8>> {
    if program.contains(&b'/') {
        return vec![program.to_vec()];
    }
    let path = env
        .iter()
        .find(|(name, _)| name == b"PATH")
        .map_or(DEFAULT_PATH, |(_, value)| value);
    path.split(|byte| *byte == b':')
        .filter(|dir| dir.starts_with(b"/"))
        .map(|dir| [dir, b"/".as_slice(), program].concat())
        .collect()
}

fn tell_step(report: BorrowedFd<'_>, step: &str, errno: Errno, doing: &str) -> i32 {
    let frame = ChildFrame::StepFailed {
        step: step.to_owned(),
        errno: errno as i32,
        reason: format!("{doing}: {}", errno.desc()),
    };
    // The exit code tells as much if the socket is gone.
    i32::from(packet::send(report, &frame, &[]).is_err()).saturating_add(125)
}

fn tell_exec(report: BorrowedFd<'_>, errno: Errno, path: &str, missing: bool) -> i32 {
    let code = if missing { 127 } else { 126 };
    let frame = ChildFrame::ExecFailed {
        code,
        errno: errno as i32,
        path: path.to_owned(),
    };
    match packet::send(report, &frame, &[]) {
        Ok(()) => i32::from(code),
        Err(_gone) => 125,
    }
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn relative_search_path_entries_are_not_searched() {
        let env = vec![(b"PATH".to_vec(), b"/a::.:/b".to_vec())];
        assert_eq!(
            candidates(b"x", &env),
            vec![b"/a/x".to_vec(), b"/b/x".to_vec()]
        );
        assert_eq!(candidates(b"./x", &env), vec![b"./x".to_vec()]);
    }
}
