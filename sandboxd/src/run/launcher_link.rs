//! Our client of the launcher: requests go out, answers are handed to the sandbox they name.
//!
//! The launcher is trusted (it is root and ours); a frame of its that makes no sense ends the
//! link, and with it the daemon. What a start or an end means for a run is not known here.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use confine::host::HostFacts;
use confine::packet::PacketError;
use confine::plan::Plan;
use confine::report::ControlReport;
use confine::wire::{Fact, FdKind, FromLauncher, KernelCounters, SandboxToken, ToLauncher};
use nix::errno::Errno;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::packet::PacketSocket;

/// How long the launcher may take for its first frame.
const HELLO_TIMEOUT: Duration = Duration::from_secs(30);
/// Frames about one sandbox that may wait unread: a launcher sends two, three to a self-test.
const EVENTS_MAX: usize = 4;

/// The launcher cannot be talked to.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The link has ended.
    #[error("the launcher is gone")]
    Gone,
    /// The descriptor cannot be used.
    #[error("the launcher's socket cannot be used")]
    Socket(#[source] io::Error),
    /// No or another first frame.
    #[error("the launcher's first frame is not a greeting: {got}")]
    NoHello {
        /// What came instead.
        got: String,
    },
    /// A frame cannot be sent.
    #[error("a frame could not be sent to the launcher")]
    Send(#[source] PacketError),
}

/// What the launcher says about one sandbox.
#[derive(Debug)]
pub(crate) enum LauncherEvent {
    /// Pid 1 runs.
    Started(Started),
    /// No program ran, and nothing is left.
    StartFailed {
        /// Name of the step.
        step: String,
        /// Why.
        reason: String,
        /// Whether the request went beyond the launcher's ceilings.
        refused: bool,
    },
    /// What it sees of it, as asked.
    Inspected(Vec<Fact>),
    /// Everything is gone.
    Reaped(Reaped),
}

/// A sandbox that runs.
#[derive(Debug)]
pub(crate) struct Started {
    /// Controls applied from outside.
    pub controls: Vec<ControlReport>,
    /// Descriptors of its control groups.
    pub fds: Vec<(FdKind, OwnedFd)>,
}

/// A sandbox that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reaped {
    /// Exit code of init, or -signal.
    pub init_status: i32,
    /// The kernel's counters.
    pub counters: KernelCounters,
    /// What could not be cleaned.
    pub leftovers: Vec<String>,
}

#[derive(Debug, Default)]
struct Routes {
    /// False once the link has ended: nothing may be registered any more.
    closed: bool,
    by_token: HashMap<SandboxToken, mpsc::Sender<LauncherEvent>>,
}

#[derive(Debug)]
struct Shared {
    socket: PacketSocket,
    routes: Mutex<Routes>,
    gone: CancellationToken,
    /// We asked it to go.
    stopping: AtomicBool,
}

impl Shared {
    fn routes(&self) -> MutexGuard<'_, Routes> {
        // A poisoned map is still a map: no code path leaves it half changed.
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the link: every waiting sandbox sees its channel close.
    fn close(&self) {
        let mut routes = self.routes();
        routes.closed = true;
        routes.by_token.clear();
        drop(routes);
        self.gone.cancel();
    }
}

/// The link. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LauncherLink {
    shared: Arc<Shared>,
    host: Arc<HostFacts>,
    image_sha256: Arc<str>,
    next_token: Arc<AtomicU64>,
}

impl LauncherLink {
    /// Takes our end of the socket pair and waits for the greeting.
    ///
    /// # Errors
    /// If there is no greeting within 30 seconds.
    pub async fn connect(fd: OwnedFd) -> Result<Self, LinkError> {
        let socket = PacketSocket::new(fd).map_err(LinkError::Socket)?;
        let hello = tokio::time::timeout(HELLO_TIMEOUT, socket.receive_with_fds()).await;
        let (host, image_sha256) = match hello {
            Ok(Ok(Some((FromLauncher::Hello { host, image_sha256 }, _)))) => (host, image_sha256),
            Ok(Ok(Some(_))) => return Err(no_hello("another frame")),
            Ok(Ok(None)) => return Err(no_hello("the end of the stream")),
            Ok(Err(error)) => return Err(no_hello(&error.to_string())),
            Err(_elapsed) => return Err(no_hello("nothing within 30 seconds")),
        };
        let shared = Arc::new(Shared {
            socket,
            routes: Mutex::default(),
            gone: CancellationToken::new(),
            stopping: AtomicBool::new(false),
        });
        tokio::spawn(read_frames(Arc::clone(&shared)));
        Ok(Self {
            shared,
            host: Arc::from(host),
            image_sha256: image_sha256.into(),
            next_token: Arc::new(AtomicU64::new(1)),
        })
    }

    /// What the launcher's host can do.
    #[must_use]
    pub fn host(&self) -> &HostFacts {
        &self.host
    }

    /// Digest of the host image.
    #[must_use]
    pub fn image_sha256(&self) -> &str {
        &self.image_sha256
    }

    /// Whether the link has ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.shared.gone.is_cancelled()
    }

    /// Waits until the link has ended. The daemon must stop then.
    pub async fn gone(&self) {
        self.shared.gone.cancelled().await;
    }

    /// A number for sandboxes that take turns; never given twice.
    pub(crate) fn next_group(&self) -> u64 {
        self.next_token.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks for a sandbox. Its answers come through the returned handle.
    ///
    /// # Errors
    /// If the link has ended or the plan does not fit a frame.
    pub(crate) async fn start(
        &self,
        id: &str,
        plan: &Plan,
        group: Option<u64>,
        guest: OwnedFd,
    ) -> Result<Launched, LinkError> {
        let token = SandboxToken(self.next_token.fetch_add(1, Ordering::Relaxed));
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        {
            let mut routes = self.shared.routes();
            if routes.closed {
                return Err(LinkError::Gone);
            }
            routes.by_token.insert(token, sender);
        }
        let launched = Launched {
            link: self.clone(),
            token,
            events,
        };
        let frame = ToLauncher::Start {
            token,
            id: id.to_owned(),
            plan: Box::new(plan.clone()),
            group,
        };
        self.send(&frame, Some(&guest)).await?;
        Ok(launched)
    }

    /// Asks the launcher to kill everything, clean up and exit.
    ///
    /// # Errors
    /// If the link has ended.
    pub async fn stop(&self) -> Result<(), LinkError> {
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.send(&ToLauncher::Stop, None).await
    }

    async fn send(&self, frame: &ToLauncher, fd: Option<&OwnedFd>) -> Result<(), LinkError> {
        let fds: Vec<_> = fd.iter().map(|fd| fd.as_fd()).collect();
        let sent = tokio::select! {
            sent = self.shared.socket.send(frame, &fds) => sent,
            () = self.shared.gone.cancelled() => return Err(LinkError::Gone),
        };
        sent.map_err(|error| match error.errno() {
            Errno::EPIPE | Errno::ECONNRESET => LinkError::Gone,
            _ => LinkError::Send(error),
        })
    }
}

/// A sandbox that was asked for: what the launcher says about it comes here.
#[derive(Debug)]
pub(crate) struct Launched {
    link: LauncherLink,
    token: SandboxToken,
    events: mpsc::Receiver<LauncherEvent>,
}

impl Launched {
    /// What the launcher says next; `None` = the launcher is gone. Safe to drop and call again.
    pub(crate) async fn next(&mut self) -> Option<LauncherEvent> {
        self.events.recv().await
    }

    /// Asks the launcher to kill it.
    ///
    /// # Errors
    /// If the link has ended.
    pub(crate) async fn kill(&self) -> Result<(), LinkError> {
        let token = self.token;
        self.link.send(&ToLauncher::Kill { token }, None).await
    }

    /// Asks the launcher what it sees of it.
    ///
    /// # Errors
    /// If the link has ended.
    pub(crate) async fn inspect(&self) -> Result<(), LinkError> {
        let token = self.token;
        self.link.send(&ToLauncher::Inspect { token }, None).await
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.link.shared.routes().by_token.remove(&self.token);
    }
}

fn no_hello(got: &str) -> LinkError {
    let got = got.to_owned();
    LinkError::NoHello { got }
}

#[derive(Debug, thiserror::Error)]
enum FrameError {
    #[error("a frame of the launcher could not be received")]
    Receive(#[source] PacketError),
    #[error("a second greeting")]
    SecondHello,
    #[error("more frames about sandbox {0} than it can have")]
    TooMany(u64),
}

async fn read_frames(shared: Arc<Shared>) {
    loop {
        let outcome = match shared.socket.receive_with_fds().await {
            Ok(Some((frame, fds))) => dispatch(&shared, frame, fds),
            Ok(None) if shared.stopping.load(Ordering::Relaxed) => break,
            Ok(None) => {
                tracing::error!("the launcher has closed its end");
                break;
            }
            Err(error) => Err(FrameError::Receive(error)),
        };
        if let Err(error) = outcome {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "launcher link failed"
            );
            break;
        }
    }
    shared.close();
}

fn dispatch(shared: &Shared, frame: FromLauncher, fds: Vec<OwnedFd>) -> Result<(), FrameError> {
    let (token, event) = event_of(frame, fds)?;
    let last = matches!(
        event,
        LauncherEvent::StartFailed { .. } | LauncherEvent::Reaped(_)
    );
    let mut routes = shared.routes();
    // A sandbox nobody waits for any more is one whose run gave up on it; it is logged there.
    let Some(sender) = routes.by_token.get(&token) else {
        return Ok(());
    };
    let sent = sender.try_send(event);
    if last {
        routes.by_token.remove(&token);
    }
    match sent {
        Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
        Err(mpsc::error::TrySendError::Full(_)) => Err(FrameError::TooMany(token.0)),
    }
}

fn event_of(
    frame: FromLauncher,
    fds: Vec<OwnedFd>,
) -> Result<(SandboxToken, LauncherEvent), FrameError> {
    Ok(match frame {
        FromLauncher::Hello { .. } => return Err(FrameError::SecondHello),
        FromLauncher::Started {
            token,
            controls,
            fds: kinds,
            ..
        } => {
            // The kernel had no number free for one of them: this run fails, and its sandbox ends
            // with the channel that nobody keeps; the daemon goes on.
            if kinds.len() != fds.len() {
                let reason = format!(
                    "{} of its {} descriptors could not be taken over: too many open files",
                    kinds.len().saturating_sub(fds.len()),
                    kinds.len()
                );
                let failed = LauncherEvent::StartFailed {
                    step: "launch".to_owned(),
                    reason,
                    refused: false,
                };
                return Ok((token, failed));
            }
            let fds = kinds.into_iter().zip(fds).collect();
            (token, LauncherEvent::Started(Started { controls, fds }))
        }
        FromLauncher::StartFailed {
            token,
            step,
            reason,
            refused,
        } => (
            token,
            LauncherEvent::StartFailed {
                step,
                reason,
                refused,
            },
        ),
        FromLauncher::Inspected { token, facts } => (token, LauncherEvent::Inspected(facts)),
        FromLauncher::Reaped {
            token,
            init_status,
            counters,
            leftovers,
        } => (
            token,
            LauncherEvent::Reaped(Reaped {
                init_status,
                counters: *counters,
                leftovers,
            }),
        ),
    })
}
