//! One live sandbox: the launcher's word about it and init's, merged into one stream of inputs.
//!
//! It asks and listens; what follows from what it hears is decided in [`super::watch`].
//! Frames for init may be sent right after [`Sandbox::open`]: the channel keeps them until
//! init reads, which saves a round trip for each.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use confine::packet::{self, PacketError};
use confine::plan::Plan;
use confine::wire::{CollectSpec, EXTRA_FDS_MAX, FdKind, SpawnSpec, ToInit};
use nix::errno::Errno;
use serde::{Serialize, Serializer};
use tokio::time::Instant;
use verdict::ending::SandboxFault;

use super::channel::InitChannel;
use super::cpu_clock;
use super::launcher_link::{Launched, LauncherEvent, LauncherLink, LinkError};
use super::request::InputFile;
use super::watch::{Input, KillBy, MAIN};

/// How long a request to the launcher may wait for its queue.
const LAUNCHER_SEND_MAX: Duration = Duration::from_secs(2);
/// How long frames of a dead init may take to be read.
const LAST_FRAMES_MAX: Duration = Duration::from_secs(1);

/// A sandbox could not be asked for, or not be told what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartFault {
    /// No channel.
    #[error("the channel to sandbox-init could not be made")]
    Channel(#[source] io::Error),
    /// No pipe.
    #[error("a pipe for the program could not be made")]
    Pipe(#[source] io::Error),
    /// The launcher.
    #[error("the launcher could not be asked for a sandbox")]
    Launcher(#[source] LinkError),
    /// Memory for what is sent.
    #[error("a memory file for {what} could not be made")]
    Seal {
        /// What it was for.
        what: &'static str,
        /// Why.
        #[source]
        source: PacketError,
    },
    /// Sending failed.
    #[error("{what} could not be sent to sandbox-init")]
    Send {
        /// What.
        what: &'static str,
        /// Why.
        #[source]
        source: PacketError,
    },
    /// More extra descriptors than a command can have.
    #[error("{count} extra descriptors asked, at most {EXTRA_FDS_MAX} are possible")]
    ExtraFds {
        /// How many.
        count: usize,
    },
}

impl StartFault {
    /// Whether it only says that init is gone already: why is told elsewhere.
    pub(crate) fn is_hangup(&self) -> bool {
        matches!(self, Self::Send { source, .. }
            if matches!(source.errno(), Errno::EPIPE | Errno::ECONNRESET))
    }
}

impl From<StartFault> for SandboxFault {
    fn from(fault: StartFault) -> Self {
        let mut reason = fault.to_string();
        let mut source = std::error::Error::source(&fault);
        while let Some(error) = source {
            reason = format!("{reason}: {error}");
            source = error.source();
        }
        let step = "launch".to_owned();
        Self { step, reason }
    }
}

/// The program's ends of its descriptors.
#[derive(Debug)]
pub(crate) struct Stdio {
    /// 0.
    pub stdin: OwnedFd,
    /// 1.
    pub stdout: OwnedFd,
    /// 2.
    pub stderr: OwnedFd,
    /// 3, 4, ...
    pub extra: Vec<OwnedFd>,
}

/// A live sandbox. To be followed with [`Sandbox::next`] until it is over.
#[derive(Debug)]
pub(crate) struct Sandbox {
    launched: Launched,
    channel: InitChannel,
    opened_at: Instant,
    kill_file: Option<File>,
    cpu_file: Option<OwnedFd>,
    had_cpu_clock: bool,
    launcher_done: bool,
    init_done: bool,
    /// The launcher's last word, kept back until init's last frames are read.
    last_word: Option<(LauncherEvent, Instant)>,
}

impl Sandbox {
    /// Asks the launcher for a sandbox called `id`; does not wait for it.
    ///
    /// # Errors
    /// If there is no channel or the launcher cannot be asked.
    pub(crate) async fn open(
        link: &LauncherLink,
        id: &str,
        plan: &Plan,
        group: Option<u64>,
    ) -> Result<Self, StartFault> {
        let opened_at = Instant::now();
        let (channel, guest) = InitChannel::pair().map_err(StartFault::Channel)?;
        let launched = link.start(id, plan, group, guest).await;
        Ok(Self {
            launched: launched.map_err(StartFault::Launcher)?,
            channel,
            opened_at,
            kill_file: None,
            cpu_file: None,
            had_cpu_clock: false,
            launcher_done: false,
            init_done: false,
            last_word: None,
        })
    }

    /// When it was asked for: the zero of all times about it.
    pub(crate) fn opened_at(&self) -> Instant {
        self.opened_at
    }

    /// Sends files to be written below `/workspace`.
    ///
    /// # Errors
    /// If they cannot be sent.
    pub(crate) async fn stage(&self, files: &[InputFile]) -> Result<(), StartFault> {
        let what = "the files";
        let archive = packet::seal(&ArchiveView::of(files))
            .map_err(|source| StartFault::Seal { what, source })?;
        self.tell(&ToInit::Stage, &[archive.as_fd()], what).await
    }

    /// Sends the command; with `last`, init ends the sandbox by itself when it is over.
    ///
    /// # Errors
    /// If it cannot be sent.
    pub(crate) async fn spawn(
        &self,
        spec: &SpawnSpec,
        stdio: Stdio,
        last: bool,
    ) -> Result<(), StartFault> {
        let what = "the command";
        if stdio.extra.len() > EXTRA_FDS_MAX {
            let count = stdio.extra.len();
            return Err(StartFault::ExtraFds { count });
        }
        let spec = packet::seal(spec).map_err(|source| StartFault::Seal { what, source })?;
        let mut fds = vec![
            spec.as_fd(),
            stdio.stdin.as_fd(),
            stdio.stdout.as_fd(),
            stdio.stderr.as_fd(),
        ];
        fds.extend(stdio.extra.iter().map(AsFd::as_fd));
        let frame = ToInit::Spawn {
            command: MAIN,
            last,
        };
        self.tell(&frame, &fds, what).await
    }

    /// Asks for files; they come through `pipe`.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub(crate) async fn collect(
        &self,
        spec: &CollectSpec,
        pipe: OwnedFd,
    ) -> Result<(), StartFault> {
        let what = "the list of files to collect";
        let spec = packet::seal(spec).map_err(|source| StartFault::Seal { what, source })?;
        // A one-shot sandbox has nothing more to do: what is read is what stays.
        let order = ToInit::Collect { alone: true };
        self.tell(&order, &[spec.as_fd(), pipe.as_fd()], what).await
    }

    /// Asks the launcher what it sees of the sandbox.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub(crate) async fn inspect(&self) -> Result<(), StartFault> {
        self.launched.inspect().await.map_err(StartFault::Launcher)
    }

    /// Tells init to end the sandbox.
    ///
    /// # Errors
    /// If it cannot be told.
    pub(crate) async fn finish(&self) -> Result<(), StartFault> {
        self.tell(&ToInit::Finish, &[], "the end").await
    }

    async fn tell(
        &self,
        frame: &ToInit,
        fds: &[BorrowedFd<'_>],
        what: &'static str,
    ) -> Result<(), StartFault> {
        let sent = self.channel.send(frame, fds).await;
        sent.map_err(|source| StartFault::Send { what, source })
    }

    /// What happens next. The launcher's last word comes after all of init's. Safe to drop and
    /// call again; waits for ever once there is nothing more to come.
    pub(crate) async fn next(&mut self) -> Input {
        loop {
            if self.last_word.is_some() && self.init_done {
                return Input::Launcher(self.last_word.take().map(|(event, _)| event));
            }
            let last_frames_until = self.last_word.as_ref().map(|(_, until)| *until);
            tokio::select! {
                biased;
                frame = self.channel.recv(), if !self.init_done => match frame {
                    Ok(frame) => {
                        self.init_done = frame.is_none();
                        return Input::Init(frame);
                    }
                    Err(error) => {
                        self.init_done = true;
                        return Input::InitGarbage { reason: error.to_string() };
                    }
                },
                event = self.launched.next(), if !self.launcher_done => {
                    if let Some(input) = self.on_launcher(event) {
                        return input;
                    }
                }
                () = until(last_frames_until) => self.init_done = true,
            }
        }
    }

    fn on_launcher(&mut self, event: Option<LauncherEvent>) -> Option<Input> {
        match event {
            Some(LauncherEvent::Started(mut started)) => {
                for (kind, fd) in std::mem::take(&mut started.fds) {
                    match kind {
                        FdKind::CgroupKill => self.kill_file = Some(File::from(fd)),
                        FdKind::CpuUsage => {
                            self.cpu_file = Some(fd);
                            self.had_cpu_clock = true;
                        }
                        FdKind::CgroupFreeze => {}
                    }
                }
                Some(Input::Launcher(Some(LauncherEvent::Started(started))))
            }
            Some(seen @ LauncherEvent::Inspected(_)) => Some(Input::Launcher(Some(seen))),
            Some(last) => {
                self.launcher_done = true;
                self.last_word = Some((last, Instant::now() + LAST_FRAMES_MAX));
                None
            }
            None => {
                self.launcher_done = true;
                Some(Input::Launcher(None))
            }
        }
    }

    /// Whether its CPU time could be read while it lived.
    pub(crate) fn had_cpu_clock(&self) -> bool {
        self.had_cpu_clock
    }

    /// Whether its CPU time can be read.
    pub(crate) fn has_cpu_clock(&self) -> bool {
        self.cpu_file.is_some()
    }

    /// CPU time used so far in microseconds; `None` where it cannot be read (any more).
    pub(crate) fn cpu_used_us(&mut self) -> Option<u64> {
        let file = self.cpu_file.as_ref()?;
        match cpu_clock::read_us(file) {
            Ok(us) => Some(us),
            Err(error) => {
                // The group may just have been removed.
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "CPU time unreadable"
                );
                self.cpu_file = None;
                None
            }
        }
    }

    /// Kills every process of it. That it worked shows in what comes from [`Sandbox::next`].
    pub(crate) async fn kill(&self, by: KillBy) {
        if by == KillBy::Cgroup
            && let Some(mut file) = self.kill_file.as_ref()
        {
            match file.write_all(b"1") {
                Ok(()) => return,
                // The launcher has removed the group: nothing is left to kill.
                Err(error) if group_is_gone(&error) => return,
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cgroup.kill failed, asking the launcher"
                ),
            }
        }
        match tokio::time::timeout(LAUNCHER_SEND_MAX, self.launched.kill()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(error = &error as &dyn std::error::Error, "kill not sent");
            }
            Err(_elapsed) => tracing::error!("kill not sent: the launcher does not read"),
        }
    }
}

/// Waits until `at`; for ever without one.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// An [`confine::wire::Archive`] that borrows its contents; the encoding is the same.
#[derive(Debug, Serialize)]
struct ArchiveView<'a> {
    files: Vec<ArchiveFileView<'a>>,
}

#[derive(Debug, Serialize)]
struct ArchiveFileView<'a> {
    path: &'a str,
    mode: u32,
    #[serde(serialize_with = "as_bytes")]
    content: &'a [u8],
}

/// As one block; the derived form would go byte by byte.
fn as_bytes<S: Serializer>(content: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(content)
}

impl<'a> ArchiveView<'a> {
    fn of(files: &'a [InputFile]) -> Self {
        let files = files.iter().map(|file| ArchiveFileView {
            path: &file.path,
            mode: file.mode,
            content: &file.content,
        });
        Self {
            files: files.collect(),
        }
    }
}

/// Whether a write to a control file failed because its group has been removed.
fn group_is_gone(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::ENOENT | Errno::ENODEV))
}

#[cfg(test)]
mod tests;
