//! Ctrl-C, SIGTERM and SIGHUP as something that can be awaited.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::Failure;

/// The signals that ask this process to end.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Takes the signals over: from now on they end nothing by themselves.
    pub(crate) fn take() -> Result<Self, Failure> {
        let take = |kind| {
            signal(kind).map_err(|source| Failure::Local {
                what: "listen for signals".to_owned(),
                source,
            })
        };
        Ok(Self {
            interrupt: take(SignalKind::interrupt())?,
            terminate: take(SignalKind::terminate())?,
            hangup: take(SignalKind::hangup())?,
        })
    }

    /// Waits for the next of them.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
