//! Who starts a program: we, nobody (a bare process), or a peer that is installed here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::super::failure::Failure;
use super::super::outcome;
use super::Program;
use super::oci::Bundle;
use crate::client::Client;
use crate::env_vars;
use crate::error::ClientError;
use crate::pb;

/// Name of the bare contender, which ratios are to.
pub(super) const BARE: &str = "bare";
/// Name of the peer that ratios are to.
pub(super) const RUNC: &str = "runc";

/// Somebody who starts programs.
pub(super) enum Contender {
    /// `posix_spawn` and `waitpid`.
    Bare,
    /// A gRPC call.
    Rollcage,
    /// A command that takes the program's words after its own.
    Wrapper {
        name: &'static str,
        path: PathBuf,
        options: &'static [&'static str],
    },
    /// A command that takes an OCI bundle.
    Oci {
        name: &'static str,
        path: PathBuf,
        bundle: Bundle,
    },
}

/// Everybody who could be measured here.
pub(super) struct Contenders {
    pub(super) present: Vec<Contender>,
    pub(super) absent: Vec<&'static str>,
}

/// Name, command and the usual options of peers that take the program after them.
pub(super) const WRAPPERS: &[(&str, &str, &[&str])] = &[
    (
        "bubblewrap",
        "bwrap",
        &[
            "--unshare-all",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
            "--die-with-parent",
            "--new-session",
            "--",
        ],
    ),
    (
        "firejail",
        "firejail",
        &[
            "--quiet",
            "--noprofile",
            "--net=none",
            "--caps.drop=all",
            "--seccomp",
            "--",
        ],
    ),
];

const OCI_RUNTIMES: &[(&str, &str)] = &[(RUNC, "runc"), ("crun", "crun")];

impl Contenders {
    /// Looks for every peer on PATH.
    pub(super) fn find() -> Result<Self, Failure> {
        let mut found = Self {
            present: vec![Contender::Bare, Contender::Rollcage],
            absent: vec![],
        };
        for (name, command, options) in WRAPPERS {
            match on_path(command) {
                Some(path) => found.present.push(Contender::Wrapper {
                    name,
                    path,
                    options,
                }),
                None => found.absent.push(name),
            }
        }
        for (name, command) in OCI_RUNTIMES {
            match on_path(command) {
                Some(path) => {
                    let bundle = Bundle::new()?;
                    found.present.push(Contender::Oci { name, path, bundle });
                }
                None => found.absent.push(name),
            }
        }
        Ok(found)
    }
}

/// A command of this host.
pub(super) fn on_path(command: &str) -> Option<PathBuf> {
    let path = env_vars::read("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .map(|folder| folder.join(command))
        .find(|file| file.is_absolute() && file.is_file())
}

impl Contender {
    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Bare => BARE,
            Self::Rollcage => "rollcage",
            Self::Wrapper { name, .. } | Self::Oci { name, .. } => name,
        }
    }

    /// Whether a failure of it is a failure of the measurement.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Bare | Self::Rollcage)
    }

    /// How it starts a program, for people.
    pub(super) fn how(&self) -> String {
        match self {
            Self::Bare => "posix_spawn and waitpid, nothing confined".to_owned(),
            Self::Rollcage => "Runs.Run over the unix socket, policy of the program".to_owned(),
            Self::Wrapper { path, options, .. } => {
                format!("{} {} PROGRAM", path.display(), options.join(" "))
            }
            Self::Oci { path, .. } => format!(
                "{} run: pid, network, ipc, uts, mount and cgroup namespaces, host folders bound \
                 read-only, no capabilities",
                path.display()
            ),
        }
    }

    /// Runs a program once; microseconds from the call to its end.
    pub(super) async fn run(&self, client: &Client, program: &Program) -> Result<u64, Failure> {
        match self {
            Self::Rollcage => run_ours(client, program).await,
            Self::Bare => {
                let (first, rest) = program.argv.split_first().ok_or_else(no_program)?;
                let mut command = Command::new(first);
                command.args(rest);
                run_command(command)
            }
            Self::Wrapper { path, options, .. } => {
                let mut command = Command::new(path);
                command.args(*options).args(&program.argv);
                run_command(command)
            }
            Self::Oci { path, bundle, .. } => {
                let mut command = Command::new(path);
                command
                    .arg("run")
                    .arg("--bundle")
                    .arg(bundle.for_program(&program.argv)?)
                    .arg(bundle.next_id());
                run_command(command)
            }
        }
    }
}

fn no_program() -> Failure {
    Failure::Measure {
        what: "start a program without a name".to_owned(),
    }
}

async fn run_ours(client: &Client, program: &Program) -> Result<u64, Failure> {
    let request = pb::RunRequest {
        policy: program.policy.to_owned(),
        argv: program.argv.clone(),
        ..pb::RunRequest::default()
    };
    let started = Instant::now();
    let result = client.run(request).await?;
    let micros = elapsed_micros(started);
    if let Some(fault) = result.error {
        return Err(ClientError::from(fault).into());
    }
    match outcome::ending_of(&result)? {
        verdict::Ending::Exited { code: 0 } => Ok(micros),
        other => Err(Failure::Measure {
            what: format!("run {}: {}", program.name, outcome::sentence(&other)),
        }),
    }
}

fn run_command(mut command: Command) -> Result<u64, Failure> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let path = Path::new(command.get_program()).to_owned();
    let failed = |source| Failure::Local {
        what: format!("execute {}", path.display()),
        source,
    };
    let started = Instant::now();
    let output = command
        .spawn()
        .map_err(failed)?
        .wait_with_output()
        .map_err(failed)?;
    let micros = elapsed_micros(started);
    if output.status.success() {
        return Ok(micros);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .next_back()
        .unwrap_or("it said nothing")
        .to_owned();
    Err(Failure::Measure {
        what: format!("{}: {}: {line}", path.display(), output.status),
    })
}

pub(super) fn elapsed_micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}
