//! The look at a sandbox from outside, for the self-test: a forker reads what needs its rights, the
//! launcher adds the groups.

use std::os::fd::AsFd;

use anyhow::{Context, Result};
use confine::packet;
use confine::wire::{Fact, FromLauncher, SandboxToken};

use super::Launcher;
use super::slot::State;
use crate::forker::ForkerRequest;
use crate::inspect;

impl Launcher {
    /// Asks a forker; nothing is seen of a sandbox that does not live, nor of one that is being
    /// looked at: an api that asks faster than it is answered must not fill the forkers' queues.
    /// Pid 1 may be ready before the forker's word of it is read: then it is looked at afterwards.
    pub(super) fn inspect(&mut self, token: SandboxToken) -> Result<()> {
        if let Some(slot) = self.slots.get_mut(&token)
            && matches!(slot.state, State::Starting)
        {
            slot.inspect_asked = true;
            return Ok(());
        }
        let asked = self.slots.get_mut(&token).and_then(|slot| {
            let pid = slot.pid().filter(|_pid| !slot.being_inspected)?;
            slot.being_inspected = true;
            Some((pid, slot.uid_base))
        });
        let forker = self.forkers.iter().min_by_key(|forker| forker.pending);
        let (Some((pid, uid_base)), Some(forker)) = (asked, forker) else {
            let facts = Vec::new();
            return self.tell(&FromLauncher::Inspected { token, facts }, &[]);
        };
        let request = ForkerRequest::Inspect {
            token,
            pid,
            uid_base,
        };
        packet::send(forker.socket.as_fd(), &request, &[]).context("ask a forker to look")
    }

    /// Passes on what was seen.
    pub(super) fn inspected(&mut self, token: SandboxToken, mut facts: Vec<Fact>) -> Result<()> {
        match self
            .slots
            .get_mut(&token)
            .filter(|slot| slot.pid().is_some())
        {
            Some(slot) => {
                slot.being_inspected = false;
                facts.extend(inspect::group_facts(&slot.groups, &slot.limits));
            }
            // It died meanwhile: what was seen may be of nothing.
            None => facts.clear(),
        }
        self.tell(&FromLauncher::Inspected { token, facts }, &[])
    }
}
