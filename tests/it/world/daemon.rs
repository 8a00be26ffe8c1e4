//! One daemon process: started, waited for by its ready line, ended, and looked for afterwards.
//! Every process of it holds the write end of its log's pipe: the log's end is the proof that they
//! are all gone.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::host::{Instance, take_turn};
use crate::skips;

/// The first daemon of a boot tests its host, which takes long on an emulated one.
const READY_MAX: Duration = Duration::from_secs(300);
const END_MAX: Duration = Duration::from_secs(40);
const LOG_END_MAX: Duration = Duration::from_secs(10);

/// A running daemon.
pub(super) struct Daemon {
    pid: Pid,
    ended: Receiver<std::io::Result<std::process::ExitStatus>>,
    log: Arc<Mutex<String>>,
    log_ended: Receiver<()>,
    pub(super) instance: Instance,
}

impl Daemon {
    /// Starts `sandboxd serve` and waits until it says that it is ready. `under` is a program, with
    /// its arguments, that prepares the daemon's place and then becomes it.
    pub(super) fn start(config: &Path, under: &[String]) -> Self {
        let _turn = take_turn();
        let (ready, ready_write) = ready_pipe();
        let mut words = under
            .iter()
            .map(std::ffi::OsString::from)
            .collect::<Vec<_>>();
        words.push(skips::bin_dir().join("sandboxd").into());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .arg("serve")
            .arg("--ready-fd")
            .arg(ready_write.as_raw_fd().to_string());
        command.env("ROLLCAGE_CONFIG", config);
        for name in ["ROLLCAGE_SOCKET", "ROLLCAGE_STATE_DIR", "ROLLCAGE_LOG"] {
            command.env_remove(name);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start sandboxd");
        drop(ready_write);
        let stderr = child.stderr.take().expect("its stderr");
        let (log, log_ended) = follow(stderr);
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        let ended = wait_in_thread(child);
        let line = within(READY_MAX, move || {
            let mut line = String::new();
            BufReader::new(File::from(ready))
                .read_line(&mut line)
                .expect("read the ready line");
            line
        });
        let instance = Instance::of(pid.as_raw());
        match (line.as_deref(), instance) {
            (Some(line), Some(instance)) if line.ends_with('\n') => Self {
                pid,
                ended,
                log,
                log_ended,
                instance,
            },
            (line, instance) => {
                // Nothing is known of it; it must not outlive the test. It may have ended by itself.
                let killed = kill(pid, Signal::SIGKILL);
                let ended = ended.recv_timeout(END_MAX);
                let log = log.lock().expect("the log").clone();
                panic!("not ready: {line:?}, {instance:?}, {killed:?}, {ended:?}, log:\n{log}");
            }
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    pub(super) fn log(&self) -> String {
        self.log.lock().expect("the log").clone()
    }

    /// Waits for its own end, whatever that is.
    pub(super) fn wait_for_end(&self) {
        let ended = self.ended.recv_timeout(END_MAX);
        let ended = ended.unwrap_or_else(|_late| panic!("it does not end:\n{}", self.log()));
        ended.expect("wait for the daemon");
    }

    /// Ends it in order. Gives everything that is wrong afterwards.
    pub(super) fn terminate(&mut self, allowed_log: &[String]) -> Vec<String> {
        let _turn = take_turn();
        let mut problems = Vec::new();
        if let Err(errno) = kill(self.pid, Signal::SIGTERM) {
            problems.push(format!("the daemon was gone before SIGTERM: {errno}"));
        }
        match self.ended.recv_timeout(END_MAX) {
            Ok(Ok(status)) if status.success() => {}
            Ok(status) => problems.push(format!("the daemon ended with {status:?}")),
            Err(_late) => {
                problems.push(format!(
                    "the daemon did not end within {END_MAX:?} of SIGTERM"
                ));
                if let Err(errno) = kill(self.pid, Signal::SIGKILL) {
                    problems.push(format!("and could not be killed: {errno}"));
                }
            }
        }
        if self.log_ended.recv_timeout(LOG_END_MAX).is_err() {
            problems.push("a process of the daemon still holds its log".to_owned());
        }
        problems.extend(self.instance.leftovers_at_end());
        let log = self.log();
        problems.extend(log_problems(&log, allowed_log));
        if !problems.is_empty() {
            problems.push(format!("the daemon's log:\n{log}"));
        }
        problems
    }
}

/// A pipe whose write end, and nothing else, is inherited.
fn ready_pipe() -> (OwnedFd, OwnedFd) {
    let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC).expect("a pipe");
    fcntl(&write, FcntlArg::F_SETFD(FdFlag::empty())).expect("let it be inherited");
    (read, write)
}

fn follow(mut stream: impl Read + Send + 'static) -> (Arc<Mutex<String>>, Receiver<()>) {
    let log = Arc::new(Mutex::new(String::new()));
    let (done, ended) = mpsc::channel();
    let kept = Arc::clone(&log);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..count]);
            kept.lock().expect("the log").push_str(&text);
        }
        done.send(())
    });
    (log, ended)
}

fn wait_in_thread(mut child: Child) -> Receiver<std::io::Result<std::process::ExitStatus>> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait()));
    ended
}

/// The value of `work` if it is there in time.
fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(time).ok()
}

fn log_problems(log: &str, allowed: &[String]) -> Vec<String> {
    let bad = |line: &&str| {
        (line.contains("ERROR") || line.contains("WARN") || line.contains("panicked"))
            && !allowed.iter().any(|part| line.contains(part.as_str()))
    };
    log.lines()
        .filter(bad)
        .map(|line| format!("log: {line}"))
        .collect()
}
