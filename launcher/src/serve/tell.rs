//! What the launcher says to the api.

use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, Result};
use confine::packet::{self, PacketError};
use confine::wire::FromLauncher;
use nix::errno::Errno;

use super::Launcher;
use crate::attest::warn;

impl Launcher {
    pub(super) fn tell(&mut self, frame: &FromLauncher, fds: &[&OwnedFd]) -> Result<()> {
        let borrowed: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        let mut sent = packet::send(self.api.as_fd(), frame, &borrowed);
        if let Err(PacketError::Os {
            errno: Errno::ETOOMANYREFS,
            ..
        }) = sent
        {
            // Too many descriptors of root's are on their way, which need not be ours. Without them
            // the api gives up this one sandbox, as where it could not take them itself.
            warn("descriptors cannot be handed over: too many are on their way");
            sent = packet::send(self.api.as_fd(), frame, &[]);
        }
        sent.context("tell the api")
    }
}
