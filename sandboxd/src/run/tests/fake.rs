//! A launcher made of threads: it speaks the wire frames and plays sandbox-init as each test's
//! script says. No namespace, no root.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use confine::host::{CgroupLayout, HostFacts};
use confine::packet;
use confine::plan::{Mode, Plan};
use confine::report::{Layer, Status, StepReport};
use confine::wire::{
    Archive, CommandToken, DiskUse, Fact, FdKind, FromInit, FromLauncher, KernelCounters,
    SandboxToken, SpawnSpec, ToInit, ToLauncher,
};

/// What a sandbox does, played on a thread of its own.
pub(super) type Script = fn(&mut FakeSandbox);

/// Facts of a host that can do everything.
pub(super) fn host() -> HostFacts {
    let controllers = ["memory", "pids", "cpu"].map(str::to_owned).to_vec();
    HostFacts {
        cpus: 2,
        mode: Mode::Root,
        mode_reason: String::new(),
        mode_fix: String::new(),
        landlock_abi: 4,
        cgroups: CgroupLayout::V2 { controllers },
        user_namespaces: true,
        seccomp_notify: true,
        features: Vec::new(),
        ..confine::host::inspect()
    }
}

/// Starts a launcher that plays `script` for every sandbox; gives the api's end.
pub(super) fn launcher(script: Script) -> OwnedFd {
    let (ours, theirs) = packet::pair().unwrap();
    std::thread::spawn(move || serve(ours, script));
    theirs
}

fn serve(socket: OwnedFd, script: Script) {
    let hello = FromLauncher::Hello {
        host: Box::new(host()),
        image_sha256: "1".repeat(64),
    };
    packet::send(socket.as_fd(), &hello, &[]).unwrap();
    let socket = Arc::new(socket);
    let mut killers = std::collections::HashMap::new();
    while let Ok(Some((frame, mut fds))) = packet::receive::<ToLauncher>(socket.as_fd(), false) {
        match frame {
            ToLauncher::Start {
                token, id, plan, ..
            } => {
                let (killer, killed) = mpsc::channel();
                killers.insert(token, killer.clone());
                let mut sandbox = FakeSandbox {
                    token,
                    id,
                    plan: *plan,
                    channel: Some(fds.remove(0)),
                    launcher: Arc::clone(&socket),
                    killed: Some(killed),
                    killer,
                };
                std::thread::spawn(move || script(&mut sandbox));
            }
            ToLauncher::Kill { token } => {
                if let Some(killer) = killers.get(&token) {
                    send_kill(killer, "launcher");
                }
            }
            ToLauncher::Inspect { token } => {
                let facts = vec![Fact::new("host:ns_pid", "own")];
                let frame = FromLauncher::Inspected { token, facts };
                packet::send(socket.as_fd(), &frame, &[]).unwrap();
            }
            ToLauncher::Stop => return,
        }
    }
}

/// A script that has ended already needs no kill any more.
fn send_kill(killer: &mpsc::Sender<&'static str>, by: &'static str) {
    assert!(matches!(killer.send(by), Ok(()) | Err(mpsc::SendError(_))));
}

/// One sandbox, seen from inside the launcher and init.
pub(super) struct FakeSandbox {
    pub token: SandboxToken,
    pub id: String,
    pub plan: Plan,
    channel: Option<OwnedFd>,
    launcher: Arc<OwnedFd>,
    killed: Option<mpsc::Receiver<&'static str>>,
    killer: mpsc::Sender<&'static str>,
}

/// A command as init got it.
pub(super) struct FakeProgram {
    pub spec: SpawnSpec,
    pub last: bool,
    pub stdin: std::fs::File,
    pub stdout: std::fs::File,
    pub stderr: std::fs::File,
    pub extra: Vec<OwnedFd>,
}

pub(super) const MAIN: CommandToken = CommandToken(1);

/// Whether a step of the sequence is pid 1's own.
fn is_session(name: &str) -> bool {
    confine::sequence::SESSION
        .iter()
        .any(|step| step.name == name)
}

/// Reports of those steps of the whole sequence that `of` picks.
fn rows(of: impl Fn(&str) -> bool) -> Vec<StepReport> {
    confine::sequence::explain()
        .into_iter()
        .filter(|(name, ..)| of(name))
        .map(|(name, ..)| row(name))
        .collect()
}

fn row(step: &str) -> StepReport {
    StepReport {
        step: step.to_owned(),
        layer: Layer::Semantics,
        status: Status::Enforced,
        applied: String::new(),
    }
}

impl FakeSandbox {
    /// Something of the launcher about this sandbox.
    pub(super) fn tell(&self, frame: &FromLauncher) {
        drop(packet::send(self.launcher.as_fd(), frame, &[]));
    }

    /// Pid 1 runs; writing to the kill descriptor is noticed by [`FakeSandbox::wait_killed`].
    pub(super) fn started(&self) {
        let (mut read, write) = std::io::pipe().unwrap();
        let cpu = tempfile::tempfile().unwrap();
        (&cpu).write_all(b"1000\n").unwrap();
        self.started_with(&write.into(), &cpu);
        let killer = self.killer.clone();
        std::thread::spawn(move || {
            let mut one = [0];
            if read.read(&mut one).unwrap_or(0) == 1 {
                send_kill(&killer, "cgroup");
            }
        });
    }

    /// The same with the test's own descriptors.
    pub(super) fn started_with(&self, kill: &OwnedFd, cpu: &std::fs::File) {
        let frame = FromLauncher::Started {
            token: self.token,
            pid: 1,
            uid_base: 100_000,
            controls: vec![row("memory")],
            fds: vec![FdKind::CgroupKill, FdKind::CpuUsage],
        };
        packet::send(self.launcher.as_fd(), &frame, &[kill.as_fd(), cpu.as_fd()]).unwrap();
    }

    /// Something of init.
    pub(super) fn say(&self, frame: &FromInit) {
        if let Some(channel) = &self.channel {
            drop(packet::send(channel.as_fd(), frame, &[]));
        }
    }

    /// Bytes that are no frame.
    pub(super) fn say_raw(&self, bytes: &[u8]) {
        let channel = self.channel.as_ref().unwrap();
        let socket = std::os::unix::net::UnixDatagram::from(channel.try_clone().unwrap());
        socket.send(bytes).unwrap();
    }

    /// Says it often, on a thread of its own: nobody may be listening any more.
    pub(super) fn flood(&self, frame: &FromInit, times: u32) {
        let channel = self.channel.as_ref().unwrap().try_clone().unwrap();
        let frame = frame.clone();
        std::thread::spawn(move || {
            for _ in 0..times {
                if packet::send(channel.as_fd(), &frame, &[]).is_err() {
                    return;
                }
            }
        });
    }

    pub(super) fn hear(&self) -> Option<(ToInit, Vec<OwnedFd>)> {
        packet::receive(self.channel.as_ref()?.as_fd(), false).unwrap()
    }

    /// Takes the files, if there are any, and the command.
    pub(super) fn spawned(&self) -> (Archive, FakeProgram) {
        self.say(&FromInit::Entered {
            steps: rows(is_session),
            state: Vec::new(),
        });
        let mut archive = Archive::default();
        loop {
            match self.hear().unwrap() {
                (ToInit::Stage, mut fds) => archive = packet::unseal(fds.remove(0)).unwrap(),
                (ToInit::Spawn { command, last }, mut fds) => {
                    assert_eq!(command, MAIN);
                    let extra = fds.split_off(4);
                    let mut fds = fds.into_iter();
                    let mut next = || fds.next().unwrap();
                    let program = FakeProgram {
                        spec: packet::unseal(next()).unwrap(),
                        last,
                        stdin: next().into(),
                        stdout: next().into(),
                        stderr: next().into(),
                        extra,
                    };
                    self.say(&FromInit::Spawned {
                        command: MAIN,
                        pid: 2,
                        steps: rows(|name| !is_session(name)),
                        spawn_us: 321,
                    });
                    return (archive, program);
                }
                _ => panic!("neither files nor a command"),
            }
        }
    }

    pub(super) fn exited(&self, code: i32) {
        self.say(&FromInit::Exited {
            command: MAIN,
            code: Some(code),
            signal: None,
            core_dumped: false,
        });
    }

    pub(super) fn finished(&self) {
        let disk = DiskUse {
            bytes: 4096,
            bytes_max: 1 << 20,
            inodes: 3,
            inodes_max: 100,
        };
        self.say(&FromInit::Finished { disk, polled: None });
    }

    /// Waits for a kill; who did it.
    pub(super) fn wait_killed(&self) -> &'static str {
        self.killed.as_ref().unwrap().recv().unwrap()
    }

    /// Does something at the next kill; whether there was one can be seen in the flag.
    pub(super) fn on_kill(&mut self, act: impl FnOnce() + Send + 'static) -> Arc<AtomicBool> {
        let killed = self.killed.take().unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        std::thread::spawn(move || {
            if killed.recv().is_ok() {
                seen.store(true, Ordering::SeqCst);
                act();
            }
        });
        flag
    }

    /// All is gone.
    pub(super) fn reaped(&self) {
        self.reaped_with(KernelCounters {
            cpu_user_us: 7000,
            memory_peak_bytes: 1 << 20,
            ..KernelCounters::default()
        });
    }

    pub(super) fn reaped_with(&self, counters: KernelCounters) {
        self.reaped_leaving(counters, Vec::new());
    }

    pub(super) fn reaped_leaving(&self, counters: KernelCounters, leftovers: Vec<String>) {
        self.tell(&FromLauncher::Reaped {
            token: self.token,
            init_status: 0,
            counters: Box::new(counters),
            leftovers,
        });
    }

    /// Init closes its end.
    pub(super) fn close(&mut self) {
        self.channel = None;
    }
}
