//! The `rollcage` command as a user calls it: arguments and standard input in; output, messages and
//! exit code out, within a time.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::skips;

/// A command that takes longer hangs.
const COMMAND_MAX: Duration = Duration::from_secs(180);

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Spoken {
    /// Exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout_bytes: Vec<u8>,
    pub(crate) stderr_bytes: Vec<u8>,
}

impl Spoken {
    /// Standard output as text.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout_bytes).into_owned()
    }

    /// Standard error as text.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr_bytes).into_owned()
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = self.stdout();
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}\nstderr: {}", self.stderr()))
    }

    /// Fails the test unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn ended(&self, code: i32) -> &Self {
        let shown = (self.stdout(), self.stderr());
        assert_eq!(self.code, Some(code), "{shown:?}");
        self
    }
}

/// The `rollcage` command without anything of this process's own environment that it reads.
pub(crate) fn rollcage(work: &Path) -> Command {
    let mut command = Command::new(skips::bin_dir().join("rollcage"));
    command
        .current_dir(work)
        .env("ROLLCAGE_BIN_DIR", skips::bin_dir());
    for name in [
        "ROLLCAGE_LOG",
        "ROLLCAGE_CONFIG",
        "ROLLCAGE_TOKEN",
        "NO_COLOR",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end with `stdin`.
pub(crate) fn speak(command: &mut Command, stdin: &[u8]) -> Spoken {
    speak_within(command, stdin, COMMAND_MAX)
}

/// The same for a command that may take longer.
pub(crate) fn speak_within(command: &mut Command, stdin: &[u8], time: Duration) -> Spoken {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut input = child.stdin.take().expect("its stdin");
    let stdin = stdin.to_vec();
    // It may end without reading all of it, which is for the test to judge by its output.
    let writer = std::thread::spawn(move || input.write_all(&stdin).is_ok());
    let stdout = read_all(child.stdout.take().expect("its stdout"));
    let stderr = read_all(child.stderr.take().expect("its stderr"));
    let pid = i32::try_from(child.id()).expect("a pid");
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait()));
    let status = match ended.recv_timeout(time) {
        Ok(status) => status.expect("wait for a command"),
        Err(_late) => {
            let pid = nix::unistd::Pid::from_raw(pid);
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("kill it");
            let stderr = stderr.join().expect("its stderr");
            panic!("{command:?} hangs: {}", String::from_utf8_lossy(&stderr));
        }
    };
    writer.join().expect("its stdin is written");
    Spoken {
        code: status.code(),
        stdout_bytes: stdout.join().expect("its stdout"),
        stderr_bytes: stderr.join().expect("its stderr"),
    }
}

fn read_all(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream
            .read_to_end(&mut bytes)
            .expect("read a command's output");
        bytes
    })
}
