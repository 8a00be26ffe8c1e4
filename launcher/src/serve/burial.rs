//! The end of a sandbox: groups removed, counters read, range given back, the word sent.

use std::os::fd::AsFd;

use anyhow::{Context, Result};
use confine::packet;
use confine::plan::Mode;
use confine::wire::{FromLauncher, KernelCounters, SandboxToken};

use super::slot::State;
use super::{Launcher, RETRIES_MAX, private_folder};
use crate::attest::warn;
use crate::forker::{ForkerReply, ForkerRequest};
use crate::pressure;

impl Launcher {
    /// Removes the groups of dead sandboxes and tells the api; what is busy is tried again.
    pub(super) fn bury(&mut self) -> Result<()> {
        let mut gone = Vec::new();
        for (token, slot) in &mut self.slots {
            let State::Dead {
                status,
                counters,
                tries,
            } = &mut slot.state
            else {
                continue;
            };
            // The first reading after death: a second one could find removed files. None before:
            // reading takes the count of out-of-memory events away.
            let groups = &slot.groups;
            let before = slot.pressure_before;
            let counters = counters
                .get_or_insert_with(|| {
                    let mut counters = groups.counters();
                    let of_host = || pressure::since(&before?);
                    counters.pressure = counters.pressure.or_else(of_host);
                    Box::new(counters)
                })
                .clone();
            *tries += 1;
            let busy = slot.groups.remove();
            if busy.is_empty() || *tries > RETRIES_MAX {
                let leftovers = busy.iter().map(|dir| dir.display().to_string()).collect();
                gone.push((*token, *status, counters, leftovers));
            }
        }
        for (token, status, counters, leftovers) in gone {
            self.retire(token, status, counters, leftovers)?;
        }
        Ok(())
    }

    pub(super) fn retire(
        &mut self,
        token: SandboxToken,
        status: i32,
        counters: Box<KernelCounters>,
        leftovers: Vec<String>,
    ) -> Result<()> {
        let Some(slot) = self.slots.remove(&token) else {
            return Ok(());
        };
        if self.host.mode == Mode::Landlock {
            private_folder::remove(self.instance.dir(), &slot.id);
        }
        self.cpus.give_back(&slot.cpus);
        if leftovers.is_empty() {
            self.free_ranges.push_back(slot.range);
        } else {
            // Something may still run under these ids: nobody else gets them.
            warn(&format!(
                "sandbox {} left {leftovers:?}; its uid range stays taken",
                slot.id
            ));
        }
        self.attestor.reaped(&slot.id, status, &counters);
        let frame = FromLauncher::Reaped {
            token,
            init_status: status,
            counters,
            leftovers,
        };
        self.tell(&frame, &[])
    }

    /// Gives back what a start that came to nothing had taken.
    pub(super) fn release(&mut self, token: SandboxToken) {
        let never_ran = self
            .slots
            .get(&token)
            .is_some_and(|slot| matches!(slot.state, State::Starting));
        if !never_ran {
            return;
        }
        if let Some(slot) = self.slots.remove(&token) {
            if self.host.mode == Mode::Landlock {
                private_folder::remove(self.instance.dir(), &slot.id);
            }
            self.cpus.give_back(&slot.cpus);
            let busy = slot.groups.remove();
            if busy.is_empty() {
                self.free_ranges.push_back(slot.range);
            } else {
                warn(&format!("cannot remove {busy:?} after a failed start"));
            }
        }
    }

    /// Ends everything in order. Without it (SIGKILL) the next start cleans up.
    pub(super) fn finish(mut self) -> Result<()> {
        let tokens: Vec<SandboxToken> = self.slots.keys().copied().collect();
        for token in tokens {
            self.kill(token);
        }
        for slot in self.slots.values() {
            if let Some(pidfd) = slot.pidfd() {
                packet::wait_readable(pidfd.as_fd(), 10_000).context("wait for a sandbox")?;
                confine::sys::process::wait_pidfd(pidfd.as_fd()).context("reap a sandbox")?;
            }
        }
        if self.host.mode == Mode::Root {
            self.take_folder_away()?;
        }
        for forker in self.forkers.drain(..) {
            drop(forker.socket);
            packet::wait_readable(forker.pidfd.as_fd(), 10_000).context("wait for a forker")?;
            confine::sys::process::wait_pidfd(forker.pidfd.as_fd()).context("reap a forker")?;
        }
        self.instance.retire()
    }

    /// The folder is a mount, which only a forker can take away. If none lives any more, it is the
    /// next launcher's to do.
    fn take_folder_away(&self) -> Result<()> {
        for forker in &self.forkers {
            if packet::send(forker.socket.as_fd(), &ForkerRequest::Retire, &[]).is_err() {
                continue;
            }
            // What it still says of earlier requests comes first.
            while packet::wait_readable(forker.socket.as_fd(), 10_000)? {
                match packet::receive::<ForkerReply>(forker.socket.as_fd(), false) {
                    Ok(Some((ForkerReply::Retired { problem: None }, _))) => return Ok(()),
                    Ok(Some((ForkerReply::Retired { problem }, _))) => {
                        warn(&problem.unwrap_or_default());
                        return Ok(());
                    }
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => break,
                }
            }
        }
        warn("no forker is left to take the folder of this instance away");
        Ok(())
    }
}
