//! Programs with one lock switched off, and a daemon of them: started to see it refuse.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Duration;

use confine::mutation::{MARKER, NAME_BYTES_MAX};
use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use serde_json::Value;

use super::matrix::Noticed;
use crate::host::{Instance, take_turn};
use crate::user::User;
use crate::{skips, wait};

/// Programs that have locks.
pub(super) const PROGRAMS: [&str; 2] = ["sandbox-init", "sandbox-launcher"];
/// A refusal that takes longer is none.
const REFUSED_MAX: Duration = Duration::from_secs(150);

/// The folder with the marked programs, which `./x test` and `./x it mutation` build.
fn folder() -> PathBuf {
    let folder = std::env::var_os("ROLLCAGE_MUTATION_BIN_DIR");
    let folder = folder.expect("not built: use `./x test` or `./x it mutation`");
    PathBuf::from(folder)
}

/// Where the matrix is left: beside that folder.
pub(super) fn folder_of_tables() -> PathBuf {
    folder().parent().expect("the folder above").to_owned()
}

/// Whether this host has the lock at all.
pub(super) fn is_there(name: &str) -> bool {
    // v2 has no list of devices.
    name != "cgroup_devices" || Path::new("/sys/fs/cgroup/devices").is_dir()
}

/// Places of the marker in a program.
pub(super) fn markers(program: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let marker = MARKER.as_bytes();
    // The first byte alone is looked for in an unoptimized build.
    program
        .windows(marker.len())
        .enumerate()
        .filter(move |(_, window)| window[0] == marker[0] && *window == marker)
        .map(|(at, _)| at)
}

/// A program as it was built, and where the name goes.
struct Marked {
    program: &'static str,
    bytes: Vec<u8>,
    at: usize,
}

/// Both programs, read once.
fn marked() -> &'static [Marked] {
    static MARKED: OnceLock<Vec<Marked>> = OnceLock::new();
    MARKED.get_or_init(|| {
        let read = |program| {
            let bytes = fs::read(folder().join(program)).expect("read a marked program");
            let places: Vec<usize> = markers(&bytes).collect();
            assert_eq!(places.len(), 1, "markers of {program}");
            let at = places[0] + MARKER.len();
            Marked { program, bytes, at }
        };
        PROGRAMS.map(read).into()
    })
}

/// Writes a program with `name` behind its marker.
fn write_program(marked: &Marked, name: &str, to: &Path) {
    let mut bytes = marked.bytes.clone();
    let place = &mut bytes[marked.at..marked.at + NAME_BYTES_MAX];
    place.fill(0);
    place[..name.len()].copy_from_slice(name.as_bytes());
    let path = to.join(marked.program);
    fs::write(&path, bytes).expect("write a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it a program");
}

/// Programs with one lock switched off, in a folder of their own.
pub(super) struct Mutant {
    folder: tempfile::TempDir,
}

impl Mutant {
    /// With the lock of this name switched off; none for an empty name.
    pub(super) fn new(name: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-mutant-")
            .tempdir()
            .expect("a folder");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), open).expect("open the folder");
        for program in marked() {
            write_program(program, name, folder.path());
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Configuration of a daemon that uses them.
    pub(super) fn programs(&self) -> String {
        format!(
            "launcher = {:?}\ninit = {:?}\n[self_test]\nat_start = true\ncache_dir = {:?}\n",
            self.path("sandbox-launcher"),
            self.path("sandbox-init"),
            self.path("proof"),
        )
    }

    /// Starts a daemon for root, or for an ordinary user from that user's own copy of the programs;
    /// waits until it has refused, and gives why.
    pub(super) fn start(&self, user: Option<&User>) -> Noticed {
        let config = self.path("sandboxd.toml");
        let text = format!(
            "socket = {:?}\nstate_dir = {:?}\npolicies_dir = {:?}\n{}",
            self.path("s.sock"),
            self.path("state"),
            self.path("policies"),
            self.programs(),
        );
        fs::write(&config, text).expect("write the configuration");
        let mut command = match user {
            None => Command::new(skips::bin_dir().join("sandboxd")),
            Some(user) => as_on_most_hosts(user),
        };
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("ROLLCAGE_CONFIG", &config);
        if let Some(user) = user {
            let run = self.path("run");
            fs::create_dir(&run).expect("a runtime folder");
            for folder in [self.folder.path(), &run] {
                chown(folder, Some(user.id), Some(user.id)).expect("give it away");
            }
            command.env("HOME", self.folder.path());
            command.env("XDG_RUNTIME_DIR", &run);
        }
        let refused = refusal(&mut command, user.map(|user| user.id));
        Noticed::new(refused, &self.records())
    }

    /// What the daemon recorded.
    fn records(&self) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.path("state/audit")) else {
            return Vec::new();
        };
        let segments = entries.map(|entry| entry.expect("an entry").path());
        let segments = segments.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let texts = segments.map(|path| fs::read_to_string(path).expect("a segment"));
        let lines = texts.collect::<String>();
        let parse = |line| serde_json::from_str(line).expect("a record");
        lines.lines().map(parse).collect()
    }
}

/// The daemon as an ordinary user, where mounts are shared with all who copy them, as on a host that
/// systemd has booted: where they are private already nobody could notice that a step makes them so.
fn as_on_most_hosts(user: &User) -> Command {
    let id = user.id.to_string();
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["--mount", "--propagation", "shared", "--"]);
    command.args(["/usr/bin/setpriv", "--reuid", &id, "--regid", &id]);
    command.args(["--clear-groups", "--"]);
    command.arg(user.path("bin/sandboxd"));
    command
}

/// How a daemon ended that was to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// Whether it served nevertheless, and was ended by us.
    pub(super) served: bool,
    /// Exit code.
    pub(super) code: Option<i32>,
    /// All that it said.
    pub(super) log: String,
}

/// Starts `command serve` and waits for its end; one that serves is ended.
fn refusal(command: &mut Command, user: Option<u32>) -> Refused {
    let (reading, writing) = nix::unistd::pipe2(OFlag::O_CLOEXEC).expect("a pipe");
    // The daemon opens it by name, which only the pipe's owner may.
    let owner = user.map(Uid::from_raw);
    nix::unistd::fchown(&writing, owner, None).expect("give it away");
    command
        .args(["serve", "--ready-fd", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::from(writing))
        .stderr(Stdio::piped());
    let turn = take_turn();
    let mut child = command.spawn().expect("start sandboxd");
    // Our own copy of the other end.
    command.stdout(Stdio::null());
    let ready = line_in_thread(File::from(reading));
    let log = read_in_thread(child.stderr.take().expect("its stderr"));
    let pid = i32::try_from(child.id()).expect("a pid");
    // Until it has swept up what dead daemons left no other test may look for leftovers.
    wait::until_it_holds("its launcher has a number", REFUSED_MAX, || {
        Instance::of(pid).is_some() || is_over(&mut child)
    });
    drop(turn);
    // The line that it is ready, or the end of the descriptor without one.
    let ready = ready.join().expect("its ready line");
    let served = !ready.is_empty();
    if served {
        kill(Pid::from_raw(pid), Signal::SIGTERM).expect("end it");
    }
    wait::until_it_holds("it ends", REFUSED_MAX, || is_over(&mut child));
    let status = child.wait().expect("wait for it");
    Refused {
        served,
        code: status.code(),
        log: log.join().expect("its log"),
    }
}

fn is_over(child: &mut Child) -> bool {
    child.try_wait().expect("ask for its end").is_some()
}

fn line_in_thread(stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut line = String::new();
        BufReader::new(stream)
            .read_line(&mut line)
            .expect("read its ready line");
        line
    })
}

fn read_in_thread(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("read what it says");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
