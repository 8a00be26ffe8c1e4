//! A launcher of our own, without daemon and without audit process: its frames from our side.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use confine::host::HostFacts;
use confine::packet;
use confine::plan::Plan;
use confine::wire::{
    CommandToken, FromInit, FromLauncher, SandboxToken, SpawnSpec, ToInit, ToLauncher,
};
use nix::fcntl::{FcntlArg, FdFlag, Flock, OFlag, fcntl};

use crate::host::{Instance, take_turn};
use crate::skips;

/// An answer that takes longer does not come.
const ANSWER_MAX_MS: u16 = 20_000;
const END_MAX: Duration = Duration::from_secs(30);

/// A running launcher.
pub(super) struct Launched {
    api: OwnedFd,
    // Kept open and not read: what a launcher attests is not the matter here.
    _audit: OwnedFd,
    pid: i32,
    ended: Receiver<std::io::Result<ExitStatus>>,
    is_over: bool,
    instance: Instance,
    host: HostFacts,
    next_token: u64,
    /// Held all the time: what is left of this launcher is not for another one to clean up.
    _turn: Option<Flock<File>>,
}

fn inherited() -> (OwnedFd, OwnedFd) {
    let (ours, theirs) = packet::pair().expect("a pair");
    fcntl(&theirs, FcntlArg::F_SETFD(FdFlag::empty())).expect("let it be inherited");
    (ours, theirs)
}

impl Launched {
    /// Starts one; `None`, told and counted, for a user who is not root.
    pub(super) fn start(test: &str, options: &[&str]) -> Option<Self> {
        if !skips::is_root(test) {
            return None;
        }
        let turn = take_turn();
        let (api, api_theirs) = inherited();
        let (audit, audit_theirs) = inherited();
        let mut command = Command::new(skips::bin_dir().join("sandbox-launcher"));
        command.arg("serve").args(options);
        command
            .arg("--api-fd")
            .arg(api_theirs.as_raw_fd().to_string());
        command
            .arg("--audit-fd")
            .arg(audit_theirs.as_raw_fd().to_string());
        command
            .arg("--init")
            .arg(skips::bin_dir().join("sandbox-init"));
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .expect("start the launcher");
        drop((api_theirs, audit_theirs));
        let pid = i32::try_from(child.id()).expect("a pid");
        let ended = wait_in_thread(child);
        let hello = receive::<FromLauncher>(api.as_fd()).expect("a greeting");
        let FromLauncher::Hello { host, .. } = hello else {
            panic!("{hello:?}")
        };
        let instance = Instance::of(pid).expect("a launcher holds its lock");
        Some(Self {
            api,
            _audit: audit,
            pid,
            ended,
            is_over: false,
            instance,
            host: *host,
            next_token: 1_000,
            _turn: Some(turn),
        })
    }

    pub(super) fn instance(&self) -> &Instance {
        &self.instance
    }

    pub(super) fn api(&self) -> &OwnedFd {
        &self.api
    }

    /// A plan that the daemon would send for policy `shell`.
    pub(super) fn plan(&self) -> Plan {
        let catalog = policies::Catalog::builtin().expect("the catalog");
        let policy = &catalog.get("shell").expect("policy shell").policy;
        let limits = policy
            .effective_limits(&Default::default())
            .expect("default limits");
        confine::make_plan(policy, &limits, &self.host).expect("a plan")
    }

    pub(super) fn send(&self, frame: &ToLauncher, fds: &[BorrowedFd<'_>]) {
        packet::send(self.api.as_fd(), frame, fds).expect("send to the launcher");
    }

    /// Asks for a sandbox; gives our end of its channel.
    pub(super) fn ask(&self, token: SandboxToken, id: &str, plan: Plan) -> OwnedFd {
        let (ours, theirs) = packet::pair().expect("a pair");
        let start = ToLauncher::Start {
            token,
            id: id.to_owned(),
            plan: Box::new(plan),
            group: None,
        };
        self.send(&start, &[theirs.as_fd()]);
        ours
    }

    /// The launcher's next frame.
    pub(super) fn answer(&self) -> FromLauncher {
        receive(self.api.as_fd()).expect("an answer")
    }

    /// The launcher's next frame is a refusal.
    #[track_caller]
    pub(super) fn refused(&self) {
        let answer = self.answer();
        let refused = matches!(answer, FromLauncher::StartFailed { refused: true, .. });
        assert!(refused, "{answer:?}");
    }

    /// Waits for the end of a sandbox; nothing may be left of it.
    pub(super) fn reaped(&self, token: SandboxToken) {
        match self.answer() {
            FromLauncher::Reaped {
                token: of,
                leftovers,
                ..
            } => {
                assert_eq!(of, token);
                assert!(leftovers.is_empty(), "{leftovers:?}");
            }
            other => panic!("{other:?}"),
        }
    }

    /// Starts a command as the last one of its sandbox; gives its standard output.
    pub(super) fn begin(&self, channel: &OwnedFd, argv: &[&str]) -> OwnedFd {
        let spec = SpawnSpec {
            argv: argv.iter().map(|word| word.as_bytes().to_vec()).collect(),
            env: vec![(b"PATH".to_vec(), b"/usr/local/bin:/usr/bin:/bin".to_vec())],
            cwd: "/workspace".to_owned(),
        };
        let spec = packet::seal(&spec).expect("seal the order");
        let null = File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .expect("/dev/null");
        let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC).expect("a pipe");
        let spawn = ToInit::Spawn {
            command: CommandToken(1),
            last: true,
        };
        let beside = [spec.as_fd(), null.as_fd(), write.as_fd(), null.as_fd()];
        packet::send(channel.as_fd(), &spawn, &beside).expect("spawn");
        read
    }

    /// Runs a command to the end of its sandbox; gives what it wrote.
    pub(super) fn command(&self, channel: &OwnedFd, argv: &[&str]) -> String {
        let output = self.begin(channel, argv);
        let frames = frames(channel);
        let exited = frames
            .iter()
            .any(|frame| matches!(frame, FromInit::Exited { code: Some(0), .. }));
        assert!(exited, "{frames:?}");
        let mut text = String::new();
        File::from(output)
            .read_to_string(&mut text)
            .expect("its output");
        text
    }

    /// A whole sandbox for one command.
    pub(super) fn run(&mut self, id: &str, plan: Plan, argv: &[&str]) -> String {
        self.next_token += 1;
        let token = SandboxToken(self.next_token);
        let channel = self.ask(token, id, plan);
        let answer = self.answer();
        assert!(matches!(answer, FromLauncher::Started { .. }), "{answer:?}");
        let text = self.command(&channel, argv);
        self.reaped(token);
        text
    }

    /// Waits for its end.
    pub(super) fn ended(&mut self) -> ExitStatus {
        self.is_over = true;
        self.ended
            .recv_timeout(END_MAX)
            .expect("it ends")
            .expect("wait for it")
    }

    /// Waits for its end, and takes what it still says meanwhile: `listen` is called again and
    /// again, and says whether it took something.
    pub(super) fn ended_while(&mut self, listen: impl Fn(BorrowedFd<'_>) -> bool) -> ExitStatus {
        self.is_over = true;
        let until = std::time::Instant::now() + END_MAX;
        loop {
            while listen(self.api.as_fd()) {
                assert!(
                    std::time::Instant::now() < until,
                    "it speaks and does not end"
                );
            }
            match self.ended.recv_timeout(Duration::from_millis(20)) {
                Ok(status) => return status.expect("wait for it"),
                Err(_not_yet) => {
                    assert!(std::time::Instant::now() < until, "it does not end");
                }
            }
        }
    }

    /// Tells it to stop; nothing may be left.
    pub(super) fn end(&mut self) {
        self.send(&ToLauncher::Stop, &[]);
        let status = self.ended();
        assert!(status.success(), "{status}");
        let left = self.instance.leftovers_at_end();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Kills it as a crash would, and lets the next one start.
    pub(super) fn kill9(&mut self) {
        self.kill();
        self._turn = None;
    }

    fn kill(&mut self) {
        let pid = nix::unistd::Pid::from_raw(self.pid);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("kill it");
        self.ended();
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

fn wait_in_thread(mut child: Child) -> Receiver<std::io::Result<ExitStatus>> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait()));
    ended
}

/// The next frame in time; `None` when the other side has closed.
fn receive<T: serde::de::DeserializeOwned>(socket: BorrowedFd<'_>) -> Option<T> {
    let ready = packet::wait_readable(socket, ANSWER_MAX_MS).expect("wait for a frame");
    assert!(ready, "no frame within {ANSWER_MAX_MS} ms");
    match packet::receive::<T>(socket, false) {
        Ok(frame) => frame.map(|(frame, _fds)| frame),
        // It ended with frames of ours unread.
        Err(error) if error.errno() == nix::errno::Errno::ECONNRESET => None,
        Err(error) => panic!("{error}"),
    }
}

/// All frames of a sandbox up to its end.
pub(super) fn frames(channel: &OwnedFd) -> Vec<FromInit> {
    let mut frames = Vec::new();
    while let Some(frame) = receive::<FromInit>(channel.as_fd()) {
        frames.push(frame);
    }
    frames
}
