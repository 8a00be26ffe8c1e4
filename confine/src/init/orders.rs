//! What the api orders over the channel: files in, commands, signals, files out, the end.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use landlock::RulesetCreated;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::child::{self, Born};
use super::files;
use super::serve::{Child, Init, Role};
use crate::packet::{self, PacketError};
use crate::plan::Mode;
use crate::steps::command::Command;
use crate::wire::{CommandToken, FromInit, SpawnSpec, ToInit};

impl Init {
    pub(super) fn serve_channel(&mut self) -> Result<(), PacketError> {
        let Some((frame, fds)) = packet::receive::<ToInit>(self.channel.as_fd(), true)? else {
            self.finishing = true;
            return Ok(());
        };
        match frame {
            ToInit::Stage => self.stage(fds),
            ToInit::Spawn { command, last } => self.spawn(command, last, fds),
            ToInit::Signal { command, signal } => self.signal(command, signal),
            ToInit::Collect { alone } => self.collect(alone, fds),
            ToInit::Finish => {
                self.finishing = true;
                Ok(())
            }
        }
    }

    fn command(&self) -> Result<Command, PacketError> {
        let copies = self
            .cgroups
            .iter()
            .map(|fd| fd.try_clone())
            .collect::<Result<Vec<_>, _>>();
        let rules = self
            .rules
            .as_ref()
            .map(RulesetCreated::try_clone)
            .transpose();
        let failed = |error: std::io::Error| PacketError::Os {
            doing: "copy a descriptor",
            errno: error.raw_os_error().map_or(Errno::EIO, Errno::from_raw),
        };
        Ok(Command {
            boot: self.boot.clone(),
            cgroups: copies.map_err(failed)?,
            rules: rules.map_err(failed)?,
            keep_below: 3,
            listener: None,
        })
    }

    fn adopt(&mut self, role: Role, born: Born, at: Instant) {
        let child = Child {
            role,
            report: Some(born.report),
            born: at,
            steps: None,
            failed: false,
        };
        self.children.insert(born.pid, child);
    }

    fn stage(&mut self, mut fds: Vec<OwnedFd>) -> Result<(), PacketError> {
        let archive = fds
            .pop()
            .ok_or(PacketError::Malformed { what: "no archive" })?;
        let command = self.command()?;
        let at = Instant::now();
        let born = child::fork_child(move |report| files::stage(command, archive, report))?;
        self.adopt(Role::Stage, born, at);
        Ok(())
    }

    /// Kills and reaps everything else in the sandbox. The main command has been told as ended
    /// before; what else of it is there is told nowhere.
    pub(super) fn end_commands(&mut self) -> Result<(), PacketError> {
        if self.boot.plan.mode == Mode::Landlock {
            super::tree::kill_descendants();
        } else {
            match nix::sys::signal::kill(Pid::from_raw(-1), Signal::SIGKILL) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(errno) => {
                    return Err(PacketError::Os {
                        doing: "kill the rest",
                        errno,
                    });
                }
            }
        }
        while let Ok(_) | Err(Errno::EINTR) = waitpid(None, None) {}
        self.children.clear();
        Ok(())
    }

    fn collect(&mut self, alone: bool, mut fds: Vec<OwnedFd>) -> Result<(), PacketError> {
        let missing = PacketError::Malformed {
            what: "no collect descriptors",
        };
        let (Some(pipe), Some(spec)) = (fds.pop(), fds.pop()) else {
            return Err(missing);
        };
        if alone {
            self.end_commands()?;
        }
        let command = self.command()?;
        let at = Instant::now();
        let born = child::fork_child(move |report| files::collect(command, spec, pipe, report))?;
        self.adopt(Role::Collect, born, at);
        Ok(())
    }

    fn spawn(
        &mut self,
        token: CommandToken,
        last: bool,
        mut fds: Vec<OwnedFd>,
    ) -> Result<(), PacketError> {
        let at = Instant::now();
        if fds.len() < 4 {
            return Err(PacketError::Malformed {
                what: "fewer than four spawn descriptors",
            });
        }
        if self.incomplete {
            self.finishing = last;
            return self.tell(&FromInit::SpawnFailed {
                command: token,
                step: "stage".into(),
                errno: 0,
                reason: "not all files could be written".into(),
            });
        }
        let stdio = fds.split_off(1);
        let spec: SpawnSpec = packet::unseal(
            fds.pop()
                .ok_or(PacketError::Malformed { what: "no spec" })?,
        )?;
        let command = self.command()?;
        let spawned =
            child::fork_child(move |report| child::become_command(command, &spec, &stdio, report));
        match spawned {
            Ok(born) => self.adopt(Role::Command { token, last }, born, at),
            Err(error) => {
                self.finishing = last;
                self.tell(&FromInit::SpawnFailed {
                    command: token,
                    step: "fork".into(),
                    errno: error.errno() as i32,
                    reason: error.to_string(),
                })?;
            }
        }
        Ok(())
    }

    fn signal(&self, token: CommandToken, signal: i32) -> Result<(), PacketError> {
        let Ok(signal) = Signal::try_from(signal) else {
            return Ok(());
        };
        let found = self.children.iter().find(
            |(_, child)| matches!(child.role, Role::Command { token: own, .. } if own == token),
        );
        if let Some((pid, _)) = found {
            match nix::sys::signal::killpg(Pid::from_raw(*pid), signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(errno) => {
                    return Err(PacketError::Os {
                        doing: "signal a command",
                        errno,
                    });
                }
            }
        }
        Ok(())
    }
}
