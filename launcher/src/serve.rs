//! The launcher's loop: one poll over the api, the forkers and the pidfds of all sandboxes. All
//! state is here and in [`slot`].

mod burial;
mod look;
mod orders;
mod private_folder;
mod setup;
mod slot;
mod tell;

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, Result, bail};
use confine::boot::RootOp;
use confine::host::{self, HostFacts};
use confine::packet::{self, PacketError};
use confine::plan::{Mode, OwnProgram, Plan};
use confine::seccomp::{self, FilterSpec};
use confine::wire::{FromLauncher, SandboxToken, ToLauncher};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::attest::{Attestor, warn};
use crate::ceilings::{self, Ceilings};
use crate::cgroup::Groups;
use crate::cpus::Cpus;
use crate::forker::{CloneRequest, Forker, ForkerReply, ForkerRequest, Instructions};
use crate::image::{self, Image, Own};
use crate::instance::Instance;
use crate::options::ServeArgs;
use crate::pressure;
use setup::{memory_bytes_total, missing_controls, own_mounts, seal_init, set_cloexec};
use slot::{Slot, State};

/// How often a dying sandbox's groups are tried again, in milliseconds.
const RETRY_MS: u16 = 5;
/// Tries after which what is left is reported instead.
const RETRIES_MAX: u32 = 2_000;

/// The launcher.
struct Launcher {
    api: OwnedFd,
    attestor: Attestor,
    host: HostFacts,
    ceilings: Ceilings,
    groups: Groups,
    cpus: Cpus,
    image: Image,
    own: Vec<Own>,
    forkers: Vec<Forker>,
    slots: BTreeMap<SandboxToken, Slot>,
    free_ranges: VecDeque<u16>,
    instance: Instance,
    filters: Vec<(FilterSpec, Vec<seccomp::program::SockFilter>)>,
    stopping: bool,
}

/// Why a start is refused or failed, as told to the api.
struct StartFault {
    step: &'static str,
    reason: String,
    refused: bool,
}

fn fault<E: std::fmt::Display>(step: &'static str) -> impl FnOnce(E) -> StartFault {
    move |error| StartFault {
        step,
        reason: error.to_string(),
        refused: false,
    }
}

/// The host, as far as it decides what kind of sandboxes there will be.
fn look_at_host(args: &ServeArgs) -> Result<HostFacts> {
    let mut host = host::inspect();
    host.landlock_mode_accepted = args.accept_landlock_mode;
    if args.force_landlock {
        host.mode = Mode::Landlock;
        host.mode_reason = "asked for by --force-landlock".into();
        host.mode_fix = "start the launcher without --force-landlock".into();
    }
    if host.mode == Mode::Landlock && nix::unistd::geteuid().is_root() {
        bail!(
            "{}; without them programs run under our own user, which must not be root; fix: {}, or \
             start as another user",
            host.mode_reason,
            host.mode_fix
        );
    }
    Ok(host)
}

/// Runs until the api is gone or asks to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    let api = confine::sys::adopt_fd(args.api_fd).context("adopt --api-fd")?;
    let audit = confine::sys::adopt_fd(args.audit_fd).context("adopt --audit-fd")?;
    set_cloexec(&api)?;
    set_cloexec(&audit)?;
    confine::sys::process::die_with_parent().context("die with the daemon")?;
    let host = look_at_host(args)?;
    let root = host.mode == Mode::Root;
    if root {
        nix::unistd::setgroups(&[]).context("drop the supplementary groups")?;
    }
    let instance = Instance::claim(&args.runtime_dir)?;
    if root {
        own_mounts(instance.dir())?;
    }
    let image = image::prepare(instance.dir(), &args.extra_read_path, root)?;
    let own = [
        (OwnProgram::Probe, &args.probe),
        (OwnProgram::Check, &args.check),
    ];
    let own = own
        .into_iter()
        .filter_map(|(program, named)| Some(image::own(program, named.as_deref()?)))
        .collect::<Result<Vec<Own>>>()?;
    let groups = Groups::create(&host.cgroups, &instance.cgroup_name()).context("make cgroups")?;
    let init = seal_init(&args.init)?;
    let shown: Vec<&RootOp> = image
        .ops
        .iter()
        .chain(own.iter().flat_map(|own| &own.ops))
        .collect();
    let instructions = Instructions {
        init: &init,
        image: &shown,
        mode: host.mode,
        ids: instance.ids(),
        folder: instance.dir(),
    };
    let forkers = (0..args.forkers.max(1))
        .map(|_number| Forker::start(&instructions))
        .collect::<Result<Vec<_>>>()?;
    let mut launcher = Launcher {
        api,
        attestor: Attestor::new(audit),
        ceilings: Ceilings {
            mode: host.mode,
            memory_bytes_max: memory_bytes_total(),
            missing: missing_controls(&host),
            own: own.iter().map(|own| own.program).collect(),
        },
        groups,
        cpus: Cpus::inspect(instance.number()),
        image,
        own,
        forkers,
        slots: BTreeMap::new(),
        free_ranges: (0..args.sandboxes_max.min(256)).collect(),
        instance,
        filters: Vec::new(),
        stopping: false,
        host,
    };
    setup::lock_up(&launcher.instance).context("lock the launcher up")?;
    let hello = FromLauncher::Hello {
        host: Box::new(launcher.host.clone()),
        image_sha256: launcher.image.sha256.clone(),
    };
    packet::send(launcher.api.as_fd(), &hello, &[]).context("greet the api")?;
    let served = launcher.serve();
    launcher.finish()?;
    served
}

impl Launcher {
    fn serve(&mut self) -> Result<()> {
        while !self.stopping {
            let ready = self.wait()?;
            // Kills come first: they must not wait behind starts.
            if ready.api {
                self.serve_api()?;
            }
            for index in ready.forkers {
                self.serve_forker(index)?;
            }
            for token in ready.dead {
                self.init_died(token)?;
            }
            self.bury()?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<Ready> {
        let mut set = vec![PollFd::new(self.api.as_fd(), PollFlags::POLLIN)];
        set.extend(
            self.forkers
                .iter()
                .map(|f| PollFd::new(f.socket.as_fd(), PollFlags::POLLIN)),
        );
        let mut running = Vec::new();
        for (token, slot) in &self.slots {
            if let Some(pidfd) = slot.pidfd() {
                running.push(*token);
                set.push(PollFd::new(pidfd.as_fd(), PollFlags::POLLIN));
            }
        }
        let dying = self
            .slots
            .values()
            .any(|slot| matches!(slot.state, State::Dead { .. }));
        let timeout = if dying {
            PollTimeout::from(RETRY_MS)
        } else {
            PollTimeout::NONE
        };
        match poll(&mut set, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno).context("wait for events"),
        }
        let hit: Vec<bool> = set
            .iter()
            .map(|fd| fd.revents().is_some_and(|flags| !flags.is_empty()))
            .collect();
        let at = |index: usize| hit.get(index).copied().unwrap_or(false);
        let first = 1 + self.forkers.len();
        Ok(Ready {
            api: at(0),
            forkers: (0..self.forkers.len()).filter(|i| at(1 + i)).collect(),
            dead: (first..)
                .zip(running)
                .filter(|(i, _)| at(*i))
                .map(|(_, t)| t)
                .collect(),
        })
    }

    fn serve_api(&mut self) -> Result<()> {
        loop {
            match packet::receive::<ToLauncher>(self.api.as_fd(), true) {
                Ok(Some((
                    ToLauncher::Start {
                        token,
                        id,
                        plan,
                        group,
                    },
                    fds,
                ))) => self.start(token, &id, (*plan, group), fds)?,
                Ok(Some((ToLauncher::Kill { token }, _))) => self.kill(token),
                Ok(Some((ToLauncher::Inspect { token }, _))) => self.inspect(token)?,
                Ok(Some((ToLauncher::Stop, _)) | None) => {
                    self.stopping = true;
                    return Ok(());
                }
                Err(PacketError::Os {
                    errno: Errno::EAGAIN,
                    ..
                }) => return Ok(()),
                // A broken or captured api: nothing it says can be trusted any more.
                Err(error) => return Err(error).context("read from the api"),
            }
        }
    }

    fn start(
        &mut self,
        token: SandboxToken,
        id: &str,
        asked: (Plan, Option<u64>),
        mut fds: Vec<OwnedFd>,
    ) -> Result<()> {
        // Whose token this is already is not touched by another one's failure.
        let was_taken = self.slots.contains_key(&token);
        let begun = match fds.pop() {
            Some(channel) if fds.is_empty() => self.begin(token, id, asked, &channel),
            _ => Err(StartFault {
                step: "request",
                reason: "a start needs exactly one descriptor".into(),
                refused: true,
            }),
        };
        if let Err(StartFault {
            step,
            reason,
            refused,
        }) = begun
        {
            if !was_taken {
                self.release(token);
            }
            let frame = FromLauncher::StartFailed {
                token,
                step: step.into(),
                reason,
                refused,
            };
            self.tell(&frame, &[])?;
        }
        Ok(())
    }

    /// Everything up to the request to a forker. Kernel objects made so far hang on the slot.
    fn begin(
        &mut self,
        token: SandboxToken,
        id: &str,
        (plan, group): (Plan, Option<u64>),
        channel: &OwnedFd,
    ) -> Result<(), StartFault> {
        let refuse = |reason: String| StartFault {
            step: "ceilings",
            reason,
            refused: true,
        };
        ceilings::check_id(id).map_err(|over| refuse(over.to_string()))?;
        self.ceilings
            .check(&plan)
            .map_err(|over| refuse(over.to_string()))?;
        if self.slots.contains_key(&token) || self.slots.values().any(|slot| slot.id == id) {
            return Err(refuse(format!("token {} or id {id} is in use", token.0)));
        }
        let range = self.free_ranges.pop_front().ok_or_else(|| StartFault {
            step: "uid_range",
            reason: "all leased uid ranges are in use".into(),
            refused: false,
        })?;
        let uid_base = self.instance.uid_base(range);
        let mut slot = Slot::new(id, range, uid_base, plan.limits.clone());
        let beside = self.slots.values();
        let beside = beside.filter(|other| group.is_some() && other.group == group);
        slot.cpus = (self.cpus).lease(&plan.limits, beside.map(|other| &other.cpus).next());
        slot.group = group;
        let cpus = self.cpus.view(&slot.cpus, plan.proc);
        self.slots.insert(token, slot);
        let made = self
            .groups
            .sandbox(id, &plan.limits)
            .map_err(fault("cgroups"))?;
        let into = made.init_dir().map_err(fault("cgroups"))?;
        let attach = made.attach_files().map_err(fault("cgroups"))?;
        if let Some(slot) = self.slots.get_mut(&token) {
            if !made.tells_pressure() {
                slot.pressure_before = pressure::of_host();
            }
            slot.groups = made;
        }
        let boot = self.boot(id, plan, uid_base, cpus)?;
        let request = CloneRequest {
            token,
            mode: self.host.mode,
            uid_base,
            into_cgroup: into.is_some(),
        };
        let boot = packet::seal(&boot).map_err(fault("boot_orders"))?;
        let mut beside = vec![boot.as_fd(), channel.as_fd()];
        beside.extend(into.as_ref().map(AsFd::as_fd));
        beside.extend(attach.iter().map(AsFd::as_fd));
        let forker = self
            .forkers
            .iter_mut()
            .min_by_key(|forker| forker.pending)
            .ok_or_else(|| StartFault {
                step: "forker",
                reason: "no forker is left".into(),
                refused: false,
            })?;
        packet::send(
            forker.socket.as_fd(),
            &ForkerRequest::Clone(request),
            &beside,
        )
        .map_err(fault("forker"))?;
        forker.pending += 1;
        Ok(())
    }

    fn serve_forker(&mut self, index: usize) -> Result<()> {
        loop {
            let Some(forker) = self.forkers.get(index) else {
                return Ok(());
            };
            match packet::receive::<ForkerReply>(forker.socket.as_fd(), true) {
                Ok(Some((ForkerReply::Cloned { token, pid }, mut fds))) => {
                    let pidfd = fds.pop().context("a clone came without its pidfd")?;
                    self.cloned(token, pid, pidfd)?;
                }
                Ok(Some((ForkerReply::Failed { token, step, errno }, _))) => {
                    self.forker_done(index);
                    self.release(token);
                    let reason = Errno::from_raw(errno).desc().to_owned();
                    let frame = FromLauncher::StartFailed {
                        token,
                        step,
                        reason,
                        refused: false,
                    };
                    self.tell(&frame, &[])?;
                }
                Ok(Some((ForkerReply::Done { .. }, _))) => self.forker_done(index),
                Ok(Some((ForkerReply::Inspected { token, facts }, _))) => {
                    self.inspected(token, facts)?;
                }
                Ok(Some((ForkerReply::Retired { .. }, _))) => bail!("a forker retires unasked"),
                Err(PacketError::Os {
                    errno: Errno::EAGAIN,
                    ..
                }) => return Ok(()),
                Ok(None) => bail!("a forker has died; sandboxes may be half made"),
                Err(error) => return Err(error).context("read from a forker"),
            }
        }
    }

    fn forker_done(&mut self, index: usize) {
        if let Some(forker) = self.forkers.get_mut(index) {
            forker.pending = forker.pending.saturating_sub(1);
        }
    }

    fn cloned(&mut self, token: SandboxToken, pid: i32, pidfd: OwnedFd) -> Result<()> {
        let Some(slot) = self.slots.get_mut(&token) else {
            confine::sys::process::kill_pidfd(pidfd.as_fd()).context("kill an unknown sandbox")?;
            return Ok(());
        };
        let wanted_dead = slot.kill_asked;
        slot.state = State::Running { pidfd, pid };
        let uid_base = slot.uid_base;
        let id = slot.id.clone();
        let controls = slot.groups.report(&slot.limits);
        let files = slot.groups.control_files().context("open control files")?;
        self.attestor.spawned(&id, pid, uid_base);
        let frame = FromLauncher::Started {
            token,
            pid,
            uid_base,
            controls,
            fds: files.iter().map(|(kind, _)| *kind).collect(),
        };
        let fds: Vec<&OwnedFd> = files.iter().map(|(_, fd)| fd).collect();
        self.tell(&frame, &fds)?;
        if self
            .slots
            .get(&token)
            .is_some_and(|slot| slot.inspect_asked)
        {
            self.inspect(token)?;
        }
        if wanted_dead {
            self.kill(token);
        }
        Ok(())
    }

    fn kill(&mut self, token: SandboxToken) {
        let Some(slot) = self.slots.get_mut(&token) else {
            return;
        };
        slot.kill_asked = true;
        let by_group = slot.groups.kill();
        let by_pid = slot.pidfd().map_or(Ok(()), |pidfd| {
            confine::sys::process::kill_pidfd(pidfd.as_fd())
        });
        if let (Err(group), Err(pid)) = (&by_group, &by_pid) {
            warn(&format!("kill sandbox {}: {group}; {pid}", slot.id));
        }
    }

    fn init_died(&mut self, token: SandboxToken) -> Result<()> {
        let Some(slot) = self.slots.get_mut(&token) else {
            return Ok(());
        };
        let Some(pidfd) = slot.pidfd() else {
            return Ok(());
        };
        let Some((status, _core)) =
            confine::sys::process::wait_pidfd(pidfd.as_fd()).context("reap a sandbox")?
        else {
            return Ok(());
        };
        // With pid 1 the kernel has ended every process of its namespace; in landlock mode there
        // is none, and the group or nothing holds the rest.
        if let Err(error) = slot.groups.kill() {
            warn(&format!("kill the rest of sandbox {}: {error}", slot.id));
        }
        slot.state = State::Dead {
            status,
            counters: None,
            tries: 0,
        };
        Ok(())
    }
}

struct Ready {
    api: bool,
    forkers: Vec<usize>,
    dead: Vec<SandboxToken>,
}
