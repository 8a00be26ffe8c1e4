//! A private daemon for one test: booted from the built programs, asked over gRPC or through the
//! `rollcage` command, and ended with proof that nothing of it is left on the host.
//!
//! It uses the host's usual runtime folder on purpose: launchers share it, so that their numbers
//! (control groups, leased ids) never meet.

mod command;
mod daemon;

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sandbox_client::{Client, ClientError, Endpoint, pb};
use serde_json::{Value, json};
use verdict::Ending;

pub(crate) use command::{Spoken, rollcage, speak, speak_within};
use daemon::Daemon;

use crate::host::{self, Instance};
use crate::skips;

/// A daemon of one test. Dropping it ends it and checks what is left.
pub(crate) struct World {
    folder: tempfile::TempDir,
    config: PathBuf,
    daemon: Option<Daemon>,
    runtime: tokio::runtime::Runtime,
    allowed_log: RefCell<Vec<String>>,
    state: PathBuf,
    under: Vec<String>,
}

/// What is out of the ordinary about a daemon's place.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// More configuration (TOML, top-level keys first).
    pub(crate) config: String,
    /// Its state folder; `None`: one in the world's own folder.
    pub(crate) state: Option<PathBuf>,
    /// A program, with its arguments, that becomes the daemon.
    pub(crate) under: Vec<String>,
}

/// A result with its ending in the words of the contract.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) result: pb::RunResult,
}

impl Outcome {
    /// From a result; a result without an ending fails the test.
    pub(crate) fn new(result: pb::RunResult) -> Self {
        assert!(result.error.is_none(), "not run: {:?}", result.error);
        let ending = result.ending.as_ref().expect("a result has an ending");
        let ending = proto::json::to_json(ending).expect("an ending as JSON");
        let ending = serde_json::from_value(ending).expect("an ending of the contract");
        Self { ending, result }
    }

    /// Standard output as text.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.result.stdout).into_owned()
    }

    /// Standard error as text.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.result.stderr).into_owned()
    }

    /// What was used.
    pub(crate) fn usage(&self) -> &pb::Usage {
        self.result.usage.as_ref().expect("a result has usage")
    }

    /// Fails the test unless the program exited with `code`; shows what it said.
    #[track_caller]
    pub(crate) fn exited(&self, code: i32) -> &Self {
        let shown = (self.stdout(), self.stderr(), &self.result.denials);
        assert_eq!(self.ending, Ending::Exited { code }, "{shown:?}");
        self
    }

    /// The outcome of the verdict.
    pub(crate) fn verdict(&self) -> pb::Outcome {
        self.result
            .verdict
            .as_ref()
            .expect("a result has a verdict")
            .outcome()
    }
}

impl World {
    /// Boots a daemon with the default configuration; `None`, told and counted, where that cannot be.
    pub(crate) fn start(test: &str) -> Option<Self> {
        Self::with_config(test, "")
    }

    /// Boots a daemon with more configuration (TOML, top-level keys first).
    pub(crate) fn with_config(test: &str, config: &str) -> Option<Self> {
        let config = config.to_owned();
        Self::in_place(
            test,
            Place {
                config,
                ..Place::default()
            },
        )
    }

    /// Boots a daemon in a place that the test has prepared.
    pub(crate) fn in_place(test: &str, place: Place) -> Option<Self> {
        if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/python3") {
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("rollcage-it-")
            .tempdir()
            .expect("a folder");
        // The daemon drops to a user of its own, which has to reach its socket and its state.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), open).expect("open the folder");
        fs::create_dir(folder.path().join("work")).expect("a work folder");
        let file = folder.path().join("sandboxd.toml");
        let Place {
            config,
            state,
            under,
        } = place;
        let state = state.unwrap_or_else(|| folder.path().join("state"));
        let text = format!(
            "socket = {:?}\nstate_dir = {:?}\npolicies_dir = {:?}\ndrain_ms = 3000\n{config}",
            folder.path().join("s.sock"),
            state,
            folder.path().join("policies"),
        );
        fs::write(&file, text).expect("write the configuration");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut world = Self {
            folder,
            config: file,
            daemon: None,
            runtime,
            allowed_log: RefCell::default(),
            state,
            under,
        };
        world.boot();
        Some(world)
    }

    /// Starts the daemon, the first time or again after [`World::stop`] or [`World::crashed`].
    pub(crate) fn boot(&mut self) {
        assert!(self.daemon.is_none(), "the daemon runs already");
        self.daemon = Some(Daemon::start(&self.config, &self.under));
    }

    /// Ends the daemon in order and checks what is left; its log is checked too.
    pub(crate) fn stop(&mut self) {
        let daemon = self.daemon.take().expect("a running daemon");
        let problems = self.end(daemon);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Waits for the end of a daemon that was killed, or lost a process of its own.
    pub(crate) fn crashed(&mut self) -> Instance {
        let daemon = self.daemon.take().expect("a running daemon");
        daemon.wait_for_end();
        daemon.instance
    }

    /// Lets log lines of level WARN or ERROR pass that hold `part`.
    pub(crate) fn allow_log(&self, part: &str) {
        self.allowed_log.borrow_mut().push(part.to_owned());
    }

    fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("a running daemon")
    }

    /// The daemon's process.
    pub(crate) fn pid(&self) -> i32 {
        self.daemon().pid()
    }

    /// Its launcher, as seen from the host.
    pub(crate) fn instance(&self) -> &Instance {
        &self.daemon().instance
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        self.daemon().log()
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("s.sock")
    }

    /// Its state folder.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.state.clone()
    }

    /// The folder of policies that it reads.
    pub(crate) fn policies_dir(&self) -> PathBuf {
        self.folder.path().join("policies")
    }

    /// A folder for files of the test, and the working folder of commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file into the work folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::write(&path, content).expect("write a file");
        path
    }

    /// The `rollcage` command with this daemon, to be given arguments.
    pub(crate) fn rollcage(&self) -> std::process::Command {
        let mut command = rollcage(&self.work());
        command
            .env("ROLLCAGE_SOCKET", self.socket())
            .env("ROLLCAGE_STATE_DIR", self.state_dir());
        command
    }

    /// Runs the `rollcage` command to its end.
    pub(crate) fn cli(&self, arguments: &[&str]) -> Spoken {
        speak(self.rollcage().args(arguments), b"")
    }

    /// Gives the `rollcage` command lines of JSON and reads lines of JSON.
    pub(crate) fn batch(&self, lines: &str) -> (Spoken, Vec<Value>) {
        let spoken = speak(self.rollcage().arg("batch"), lines.as_bytes());
        let text = spoken.stdout();
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let results = text.lines().map(parse).collect();
        (spoken, results)
    }

    /// A connected client.
    pub(crate) fn client(&self) -> Client {
        let endpoint = Endpoint::Unix(self.socket());
        self.wait(Client::connect(&endpoint))
            .expect("connect to the daemon")
    }

    /// Waits for a future.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Runs a request (JSON of the contract) and gives its result.
    #[track_caller]
    pub(crate) fn run(&self, request: &Value) -> Outcome {
        match self.try_run(request) {
            Ok(outcome) => outcome,
            Err(error) => panic!("{request}\nwas refused: {error:?}\n{}", self.log()),
        }
    }

    /// Runs a request that may be refused.
    pub(crate) fn try_run(&self, request: &Value) -> Result<Outcome, ClientError> {
        let client = self.client();
        self.wait(client.run(message(request))).map(Outcome::new)
    }

    /// Runs Python code under policy `python`.
    #[track_caller]
    pub(crate) fn python(&self, code: &str) -> Outcome {
        self.run(&python(code))
    }

    /// Runs requests at once and gives their results in their order.
    pub(crate) fn run_at_once(&self, requests: &[Value]) -> Vec<Outcome> {
        let client = self.client();
        let runs = requests.iter().map(|request| {
            let client = client.clone();
            let message = message(request);
            async move { client.run(message).await.map(Outcome::new) }
        });
        let results = self.wait(futures::future::join_all(runs));
        results
            .into_iter()
            .map(|result| result.expect("a result"))
            .collect()
    }

    fn end(&self, mut daemon: Daemon) -> Vec<String> {
        let mut problems = daemon.terminate(&self.allowed_log.borrow());
        let mounts = host::mounts_with(self.folder.path());
        problems.extend(mounts.into_iter().map(|mount| format!("mount {mount}")));
        problems
    }
}

/// A request for Python code under policy `python`.
pub(crate) fn python(code: &str) -> Value {
    json!({ "policy": "python", "files": { "main.py": code }, "argv": ["python3", "main.py"] })
}

/// A request for a shell script under policy `shell`.
pub(crate) fn shell(code: &str) -> Value {
    json!({ "policy": "shell", "argv": ["sh", "-c", code] })
}

/// `request` with limits.
pub(crate) fn limited(mut request: Value, limits: Value) -> Value {
    request["limits"] = limits;
    request
}

/// A request message from the contract's JSON.
pub(crate) fn message(request: &Value) -> pb::RunRequest {
    let message = proto::json::from_json(&request.to_string());
    message.unwrap_or_else(|error| panic!("{error}: {request}"))
}

/// Whether a path names a file that can be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

impl Drop for World {
    fn drop(&mut self) {
        let Some(daemon) = self.daemon.take() else {
            return;
        };
        let problems = self.end(daemon);
        if problems.is_empty() {
            return;
        }
        let text = problems.join("\n");
        if std::thread::panicking() {
            eprintln!("{text}");
        } else {
            panic!("{text}");
        }
    }
}
