//! Who else confines a program, with the options under which the battery is tried there: the usual
//! ones, or the runtime's own default specification.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::contender::{WRAPPERS, on_path};
use super::oci::HOST_FOLDERS;
use crate::cli::failure::Failure;
use crate::env_vars;

/// One of them.
pub(super) enum Peer {
    /// Nobody: the program's own controls.
    Bare,
    /// Namespaces alone.
    Namespaces { path: PathBuf },
    /// A command that takes the program's words after its own.
    Wrapper {
        name: &'static str,
        path: PathBuf,
        options: &'static [&'static str],
    },
    /// A command that takes an OCI bundle, here with the specification that it writes itself.
    Oci { name: &'static str, path: PathBuf },
}

/// Before all of them: what works there must not change the host's name, nor its mounts.
const ASIDE: [&str; 6] = [
    "unshare",
    "--uts",
    "--ipc",
    "--mount",
    "--propagation=private",
    "--",
];

const NAMESPACES: [&str; 7] = [
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--net",
    "--mount-proc",
    "--",
];

/// Where an OCI bundle shows the probe.
const SHOWN: &str = "/sandbox-probe";

impl Peer {
    /// All that are installed.
    pub(super) fn find() -> Vec<Self> {
        let mut found = Vec::new();
        found.extend(on_path("unshare").map(|path| Self::Namespaces { path }));
        for (name, command, options) in WRAPPERS {
            found.extend(on_path(command).map(|path| Self::Wrapper {
                name,
                path,
                options,
            }));
        }
        for name in ["runc", "crun"] {
            found.extend(on_path(name).map(|path| Self::Oci { name, path }));
        }
        found
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Bare => "unconfined",
            Self::Namespaces { .. } => "namespaces",
            Self::Wrapper { name, .. } | Self::Oci { name, .. } => name,
        }
    }

    /// How it starts the probe, for people.
    pub(super) fn how(&self, probe: &Path) -> String {
        match self {
            Self::Bare => "nothing confined".to_owned(),
            Self::Namespaces { .. } => format!("unshare {} PROGRAM", NAMESPACES.join(" ")),
            Self::Wrapper { path, options, .. } => {
                let options = shown_to(options, &probe.to_string_lossy()).join(" ");
                format!("{} {options} PROGRAM", path.display())
            }
            Self::Oci { name, .. } => format!(
                "{name} run, with the specification of {name} spec and the host's programs bound \
                 read-only"
            ),
        }
    }

    /// The first line that it says about its version.
    pub(super) fn version(&self) -> String {
        let path = match self {
            Self::Bare => return String::new(),
            Self::Namespaces { path } | Self::Wrapper { path, .. } | Self::Oci { path, .. } => path,
        };
        let said = Command::new(path).arg("--version").output();
        said.map_or_else(
            |_silent| "version unknown".to_owned(),
            |output| {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                text.lines().next().unwrap_or("version unknown").to_owned()
            },
        )
    }

    /// Tries the battery within and gives what the probe said.
    pub(super) fn probe(&self, probe: &Path) -> Result<Vec<u8>, Failure> {
        let (aside, rest) = (ASIDE[0], &ASIDE[1..]);
        let mut command = started_clean(aside.as_ref());
        command.args(rest);
        // Removed when the command has ended.
        let mut kept = None;
        match self {
            Self::Bare => {
                let mut bare = started_clean(probe);
                bare.arg("outside");
                return output(bare);
            }
            Self::Namespaces { path } => {
                command.arg(path).args(NAMESPACES).arg(probe);
            }
            Self::Wrapper { path, options, .. } => {
                let options = shown_to(options, &probe.to_string_lossy());
                command.arg(path).args(options).arg(probe);
            }
            Self::Oci { path, .. } => {
                let bundle = bundle(path, probe)?;
                let id = format!("rollcage-locks-{}", std::process::id());
                // Where a runtime that is not root keeps its state; the program within has an
                // environment of the specification's.
                pass_on(&mut command, "XDG_RUNTIME_DIR");
                command.arg(path).args(["run", "--bundle"]);
                command.arg(bundle.path()).arg(id);
                kept = Some(bundle);
            }
        }
        let told = output(command);
        drop(kept);
        told
    }
}

/// A program with the same few variables whoever calls, so that answers depend on no one's shell.
fn started_clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ["PATH", "HOME", "LANG"] {
        pass_on(&mut command, name);
    }
    command
}

fn pass_on(command: &mut Command, name: &str) {
    if let Some(value) = env_vars::read(name) {
        command.env(name, value);
    }
}

/// The options, with the probe bound where one of them covers the folder that it lies in.
fn shown_to(options: &[&str], probe: &str) -> Vec<String> {
    let mut given: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
    let covers =
        |pair: &[&str]| matches!(pair, ["--tmpfs", folder] if Path::new(probe).starts_with(folder));
    if options.windows(2).any(covers) {
        // Before the `--` that ends them.
        let end = given.len().saturating_sub(1);
        given.splice(end..end, ["--ro-bind", probe, probe].map(str::to_owned));
    }
    given
}

fn output(mut command: Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).current_dir("/");
    let output = command.output().map_err(|source| Failure::Local {
        what: format!("execute {name}"),
        source,
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().next_back().unwrap_or("it said nothing");
    Err(Failure::Measure {
        what: format!("{name}: {}: {line}", output.status),
    })
}

/// The runtime's own specification, with the probe as its program.
fn bundle(runtime: &Path, probe: &Path) -> Result<tempfile::TempDir, Failure> {
    let local = |what: &str| {
        let what = what.to_owned();
        move |source| Failure::Local { what, source }
    };
    let folder = tempfile::Builder::new()
        .prefix("rollcage-locks-")
        .tempdir()
        .map_err(local("make a folder for a bundle"))?;
    std::fs::create_dir(folder.path().join("rootfs")).map_err(local("make a root"))?;
    let mut spec = Command::new(runtime);
    spec.arg("spec").arg("--bundle").arg(folder.path());
    output(spec)?;
    let file = folder.path().join("config.json");
    let text = std::fs::read_to_string(&file).map_err(local("read a specification"))?;
    let mut config: Value = serde_json::from_str(&text).map_err(|error| Failure::Measure {
        what: format!("read a specification: {error}"),
    })?;
    adapt(&mut config, probe);
    std::fs::write(&file, config.to_string()).map_err(local("write a specification"))?;
    Ok(folder)
}

fn adapt(config: &mut Value, probe: &Path) {
    config["process"]["terminal"] = json!(false);
    config["process"]["args"] = json!([SHOWN]);
    // Mount points in the root have to be made.
    config["root"]["readonly"] = json!(false);
    let bind = |from: &str, to: &str| {
        json!({"destination": to, "type": "bind", "source": from,
               "options": ["bind", "ro", "nosuid", "nodev"]})
    };
    if let Some(mounts) = config["mounts"].as_array_mut() {
        // An image has an /etc of its own, without the host's secrets.
        let there = HOST_FOLDERS
            .iter()
            .filter(|folder| **folder != "/etc" && Path::new(folder).is_dir());
        mounts.extend(there.map(|folder| bind(folder, folder)));
        mounts.push(bind(&probe.to_string_lossy(), SHOWN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_an_option_covers_is_bound() {
        let options = ["--tmpfs", "/tmp", "--"];
        let words = |probe| shown_to(&options, probe).join(" ");
        assert_eq!(words("/usr/bin/p"), "--tmpfs /tmp --");
        assert_eq!(words("/tmpx/p"), "--tmpfs /tmp --");
        assert_eq!(words("/tmp/p"), "--tmpfs /tmp --ro-bind /tmp/p /tmp/p --");
    }

    #[test]
    fn a_specification_is_left_as_it_is_but_for_the_program() {
        let mut config = json!({
            "process": {"terminal": true, "args": ["sh"], "user": {"uid": 0}},
            "root": {"path": "rootfs", "readonly": true},
            "mounts": [{"destination": "/proc"}],
            "linux": {"maskedPaths": ["/proc/kcore"]},
        });
        adapt(&mut config, Path::new("/x/sandbox-probe"));
        assert_eq!(config["process"]["args"], json!([SHOWN]));
        assert_eq!(config["process"]["terminal"], json!(false));
        assert_eq!(config["linux"]["maskedPaths"], json!(["/proc/kcore"]));
        let mounts = config["mounts"].as_array().unwrap();
        assert_eq!(mounts.first().unwrap()["destination"], "/proc");
        assert_eq!(mounts.last().unwrap()["source"], "/x/sandbox-probe");
    }
}
