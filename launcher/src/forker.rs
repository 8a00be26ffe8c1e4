//! The forkers: small single-threaded children of the launcher that do the cloning, so that a kill
//! never queues behind a mount. Each serves one request after the other.
//!
//! A sandbox's pid 1 is made with CLONE_PARENT: it is the launcher's child, dies with the
//! launcher, and is reaped by it.
//!
//! What needs capabilities after the start is done here, the launcher has none: besides the
//! cloning, the look at a sandbox from outside and the last unmounting.

mod mounts;

use std::ffi::CString;
use std::fs;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use confine::boot::{BOOT_FD, CHANNEL_FD, FromBoot, RootOp, ToBoot};
use confine::mutation;
use confine::own::{OwnProcess, Reach};
use confine::packet;
use confine::plan::Mode;
use confine::sys::inherited;
use confine::sys::process::{
    CLONE_PARENT, CloneFlags, Fork, clone_process, exec_fd, exit_now, set_dumpable,
};
use confine::wire::{Fact, SandboxToken};
use nix::errno::Errno;
use nix::libc;
use serde::{Deserialize, Serialize};

use crate::inspect;
use crate::instance::IDS_PER_SANDBOX;

/// How long pid 1 may take from its first instruction to asking for its id maps.
const BOOT_MS_MAX: u16 = 10_000;

/// launcher -> forker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ForkerRequest {
    /// Make a sandbox. Beside it: the boot memfd, the guest end of the channel, the v2 directory
    /// to be born in if `into_cgroup`, then the cgroup files of the payload.
    Clone(CloneRequest),
    /// Look at a sandbox from outside.
    Inspect {
        token: SandboxToken,
        pid: i32,
        uid_base: u32,
    },
    /// Take the folder of the instance away; the last request there is.
    Retire,
}

/// A sandbox to make.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CloneRequest {
    pub(crate) token: SandboxToken,
    pub(crate) mode: Mode,
    pub(crate) uid_base: u32,
    pub(crate) into_cgroup: bool,
}

/// forker -> launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ForkerReply {
    /// Pid 1 runs. Beside it its pidfd.
    Cloned { token: SandboxToken, pid: i32 },
    /// It could not be made.
    Failed {
        token: SandboxToken,
        step: String,
        errno: i32,
    },
    /// The request is done with, well or not: pid 1 has its maps or is dead or dying.
    Done { token: SandboxToken },
    /// What was seen of it from outside.
    Inspected {
        token: SandboxToken,
        facts: Vec<Fact>,
    },
    /// The folder is gone, or why not.
    Retired { problem: Option<String> },
}

/// What a forker knows of its launcher from the start, whatever it is told later.
#[derive(Debug)]
pub(crate) struct Instructions<'a> {
    /// Pid 1 of sandboxes.
    pub(crate) init: &'a OwnedFd,
    /// What they show of the host.
    pub(crate) image: &'a [&'a RootOp],
    /// Grade of this launcher.
    pub(crate) mode: Mode,
    /// Host ids that may be leased.
    pub(crate) ids: Range<u32>,
    /// The instance's folder.
    pub(crate) folder: &'a Path,
}

/// A forker as the launcher sees it.
#[derive(Debug)]
pub(crate) struct Forker {
    pub(crate) socket: OwnedFd,
    pub(crate) pidfd: OwnedFd,
    /// Requests it has not done with.
    pub(crate) pending: usize,
}

impl Forker {
    /// Forks one.
    pub(crate) fn start(instructions: &Instructions<'_>) -> Result<Self> {
        let (ours, theirs) = packet::pair().context("make a forker socket")?;
        match clone_process(CloneFlags::default(), None).context("fork a forker")? {
            Fork::Child => {
                let served = prepare(&theirs, instructions)
                    .and_then(|(socket, init)| serve(&socket, &init, instructions));
                let code = match served {
                    Ok(()) => 0,
                    Err(error) => {
                        crate::attest::warn(&format!("forker ends: {error:#}"));
                        1
                    }
                };
                exit_now(code)
            }
            Fork::Parent { pidfd, .. } => Ok(Self {
                socket: ours,
                pidfd,
                pending: 0,
            }),
        }
    }
}

/// Lets go of all that a forker has no use for: descriptors and, with the rights to, mounts and
/// capabilities.
fn prepare(socket: &OwnedFd, instructions: &Instructions<'_>) -> Result<(OwnedFd, OwnedFd)> {
    let kept = keep_only(socket, instructions.init)?;
    give_up_favours()?;
    if instructions.mode == Mode::Root {
        mounts::keep_only(instructions.image)?;
    }
    lock_up(instructions.mode)?;
    Ok(kept)
}

/// What the daemon has from its starter is not for its sandboxes: programs run the same whoever
/// started it, and have no better chance than others when memory or CPU time is short. Here, since
/// pid 1 and programs have it from a forker, which still has the rights to.
fn give_up_favours() -> Result<()> {
    const SCORE: &str = "/proc/self/oom_score_adj";
    inherited::native_execution().context("leave an execution domain")?;
    inherited::ordinary_scheduling().context("leave a priority")?;
    inherited::ordinary_timers_and_pages().context("reset timers and pages")?;
    inherited::ordinary_limits().context("reset limits")?;
    let score = fs::read_to_string(SCORE).context("read the own oom score")?;
    if score.trim().starts_with('-') {
        fs::write(SCORE, "0").context("give up a lowered oom score")?;
    }
    Ok(())
}

/// Pid 1 and every program inherit these locks; see `confine/src/seccomp/own.rs`.
fn lock_up(mode: Mode) -> Result<()> {
    if mutation::is_any_off() {
        return Ok(());
    }
    let forker = OwnProcess::Forker;
    forker.drop_bounding()?;
    forker.reduce_capabilities()?;
    if mode != Mode::Rootless {
        // Without root, the id maps of a child that is not dumpable could not be written.
        set_dumpable(false).context("hide a forker's memory")?;
    }
    forker.lock(Reach::default()).context("lock a forker up")?;
    Ok(())
}

/// Closes all that the launcher has open but the two descriptors a forker needs: a copy of the
/// api's or another forker's socket here would keep those from seeing its end.
fn keep_only(socket: &OwnedFd, init: &OwnedFd) -> Result<(OwnedFd, OwnedFd)> {
    const KEPT: i32 = 3;
    let socket = raise(socket.as_fd()).context("move the forker's socket")?;
    let init = raise(init.as_fd()).context("move the descriptor of sandbox-init")?;
    confine::sys::dup_onto(socket.as_fd(), KEPT).context("place the forker's socket")?;
    confine::sys::dup_onto(init.as_fd(), KEPT + 1).context("place sandbox-init")?;
    drop((socket, init));
    // Whatever owns the rest is on the launcher's stack, which this process never returns to.
    confine::sys::close_range(KEPT.unsigned_abs() + 2, false).context("close the rest")?;
    let own = |fd| confine::sys::adopt_fd(fd).context("adopt a kept descriptor");
    // Raised above the two descriptors that pid 1 is given, which would overwrite them.
    let (socket, init) = (own(KEPT)?, own(KEPT + 1)?);
    Ok((raise(socket.as_fd())?, raise(init.as_fd())?))
}

fn serve(socket: &OwnedFd, init: &OwnedFd, instructions: &Instructions<'_>) -> Result<()> {
    confine::sys::process::die_with_parent().context("die with the launcher")?;
    while let Some((request, fds)) = packet::receive::<ForkerRequest>(socket.as_fd(), false)? {
        let reply = match request {
            ForkerRequest::Clone(request) => {
                let token = request.token;
                match may_clone(&request, instructions)
                    .and_then(|()| clone_one(socket, init, &request, fds))
                {
                    Ok(()) | Err(CloneFault::After) => ForkerReply::Done { token },
                    Err(CloneFault::Before { step, errno }) => ForkerReply::Failed {
                        token,
                        step: step.into(),
                        errno: errno as i32,
                    },
                }
            }
            ForkerRequest::Inspect {
                token,
                pid,
                uid_base,
            } => ForkerReply::Inspected {
                token,
                facts: inspect::facts(pid, uid_base),
            },
            ForkerRequest::Retire => ForkerReply::Retired {
                problem: mounts::take_away(instructions.folder)
                    .err()
                    .map(|error| format!("{error:#}")),
            },
        };
        packet::send(socket.as_fd(), &reply, &[])?;
    }
    Ok(())
}

/// A captured launcher is not to get ids that are no lease of its instance.
fn may_clone(request: &CloneRequest, instructions: &Instructions<'_>) -> Result<(), CloneFault> {
    let ids = &instructions.ids;
    let last = request.uid_base.checked_add(IDS_PER_SANDBOX - 1);
    let leased = ids.contains(&request.uid_base) && last.is_some_and(|last| ids.contains(&last));
    if leased && request.mode == instructions.mode {
        return Ok(());
    }
    Err(CloneFault::Before {
        step: "lease",
        errno: Errno::EPERM,
    })
}

/// What went wrong, before or after pid 1 existed. Afterwards its own report and death tell.
enum CloneFault {
    Before { step: &'static str, errno: Errno },
    After,
}

/// The namespaces of a sandbox, each with the name of its lock.
const NAMESPACES: [(&str, i32); 6] = [
    ("ns_mnt", libc::CLONE_NEWNS),
    ("ns_pid", libc::CLONE_NEWPID),
    ("ns_net", libc::CLONE_NEWNET),
    ("ns_ipc", libc::CLONE_NEWIPC),
    ("ns_uts", libc::CLONE_NEWUTS),
    ("ns_cgroup", libc::CLONE_NEWCGROUP),
];

fn flags(mode: Mode) -> u64 {
    let wanted = |all: &[(&str, i32)]| {
        all.iter()
            .filter(|(name, _)| !mutation::is_off(name))
            .fold(0, |flags, (_, flag)| flags | flag)
    };
    let wanted = match mode {
        Mode::Root => wanted(&NAMESPACES),
        Mode::Rootless => wanted(&NAMESPACES) | wanted(&[("ns_user", libc::CLONE_NEWUSER)]),
        Mode::Landlock => 0,
    };
    u64::from(wanted.cast_unsigned()) | CLONE_PARENT
}

fn clone_one(
    socket: &OwnedFd,
    init: &OwnedFd,
    request: &CloneRequest,
    mut fds: Vec<OwnedFd>,
) -> Result<(), CloneFault> {
    let before = |step: &'static str| move |errno| CloneFault::Before { step, errno };
    let needed = if request.into_cgroup { 3 } else { 2 };
    if fds.len() < needed {
        return Err(CloneFault::Before {
            step: "request",
            errno: Errno::EPROTO,
        });
    }
    let attach = fds.split_off(needed);
    let into = if request.into_cgroup { fds.pop() } else { None };
    let (Some(channel), Some(boot)) = (fds.pop(), fds.pop()) else {
        return Err(CloneFault::Before {
            step: "request",
            errno: Errno::EPROTO,
        });
    };
    let (link, guest_link) = packet::pair().map_err(|error| CloneFault::Before {
        step: "boot_socket",
        errno: error.errno(),
    })?;
    let clone = clone_process(
        CloneFlags(flags(request.mode)),
        into.as_ref().map(AsFd::as_fd),
    );
    match clone.map_err(before("clone"))? {
        Fork::Child => exit_now(become_init(init, request.mode, &channel, &guest_link)),
        Fork::Parent { pid, pidfd } => {
            drop((channel, guest_link, into));
            let token = request.token;
            let reply = ForkerReply::Cloned { token, pid };
            packet::send(socket.as_fd(), &reply, &[pidfd.as_fd()])
                .map_err(|_gone| CloneFault::After)?;
            boot_init(&link, request, pid, &boot, &attach)
        }
    }
}

/// The child: two descriptors in place, everything else closing, then the static pid 1.
fn become_init(init: &OwnedFd, mode: Mode, channel: &OwnedFd, link: &OwnedFd) -> i32 {
    const FAILED: i32 = 70;
    // An exec under an unmapped id would drop the capabilities that the new namespace gave.
    if mode == Mode::Rootless
        && !matches!(
            packet::receive::<ToBoot>(link.as_fd(), false),
            Ok(Some((ToBoot::Mapped, _)))
        )
    {
        return FAILED;
    }
    // Move both above the targets first, so that neither overwrites the other.
    let raised = |fd: &OwnedFd| raise(fd.as_fd()).ok();
    let (Some(channel), Some(link)) = (raised(channel), raised(link)) else {
        return FAILED;
    };
    let placed = confine::sys::dup_onto(channel.as_fd(), CHANNEL_FD)
        .and_then(|()| confine::sys::dup_onto(link.as_fd(), BOOT_FD))
        .and_then(|()| confine::sys::close_range(BOOT_FD.unsigned_abs() + 1, true));
    let Ok(name) = CString::new("sandbox-init") else {
        return FAILED;
    };
    if placed.is_ok() {
        // Returns only on failure.
        exec_fd(init.as_fd(), &[name], &[]);
    }
    FAILED
}

fn raise(fd: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let raw = nix::fcntl::fcntl(fd, nix::fcntl::FcntlArg::F_DUPFD_CLOEXEC(32))?;
    confine::sys::adopt_fd(raw)
}

/// Gives pid 1 its orders and its id maps.
fn boot_init(
    link: &OwnedFd,
    request: &CloneRequest,
    pid: i32,
    boot: &OwnedFd,
    attach: &[OwnedFd],
) -> Result<(), CloneFault> {
    if request.mode == Mode::Rootless {
        map_ids(link, request, pid)?;
    }
    let mut beside = vec![boot.as_fd()];
    beside.extend(attach.iter().map(AsFd::as_fd));
    packet::send(link.as_fd(), &ToBoot::Start, &beside).map_err(|_gone| CloneFault::After)?;
    if request.mode != Mode::Root {
        return Ok(());
    }
    let ready = packet::wait_readable(link.as_fd(), BOOT_MS_MAX).unwrap_or(false);
    if !ready {
        crate::attest::warn(&format!(
            "pid 1 ({pid}) did not ask for its id maps in time"
        ));
        return Err(CloneFault::After);
    }
    match packet::receive::<FromBoot>(link.as_fd(), true) {
        Ok(Some((FromBoot::NeedMaps, _))) => {}
        // It died or failed in an earlier step, and has told the api which.
        Ok(None) | Err(_) => return Err(CloneFault::After),
    }
    map_ids(link, request, pid)
}

fn map_ids(link: &OwnedFd, request: &CloneRequest, pid: i32) -> Result<(), CloneFault> {
    if let Err(error) = write_maps(request, pid) {
        crate::attest::warn(&format!("write the id maps of {pid}: {error}"));
        return Err(CloneFault::After);
    }
    packet::send(link.as_fd(), &ToBoot::Mapped, &[]).map_err(|_gone| CloneFault::After)
}

fn write_maps(request: &CloneRequest, pid: i32) -> std::io::Result<()> {
    let proc = format!("/proc/{pid}");
    match request.mode {
        Mode::Root => {
            let first = if mutation::is_off("lease") {
                0
            } else {
                request.uid_base
            };
            let map = format!("0 {first} {IDS_PER_SANDBOX}");
            fs::write(format!("{proc}/uid_map"), &map)?;
            fs::write(format!("{proc}/gid_map"), &map)
        }
        Mode::Rootless if mutation::is_off("maps") => Ok(()),
        Mode::Rootless => {
            let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
            fs::write(format!("{proc}/setgroups"), "deny")?;
            fs::write(format!("{proc}/uid_map"), format!("0 {uid} 1"))?;
            fs::write(format!("{proc}/gid_map"), format!("0 {gid} 1"))
        }
        Mode::Landlock => Ok(()),
    }
}
