//! The launcher's own catalog of images: `host` and nothing else yet. Its parts are prepared once
//! per start, in our own folder; a plan can only name it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use confine::boot::RootOp;
use confine::plan::OwnProgram;
use rootfs::{HostImage, HostImageConfig};

/// The prepared image.
#[derive(Debug)]
pub(crate) struct Image {
    /// Operations that build its tree.
    pub(crate) ops: Vec<RootOp>,
    /// What identifies it; not pinned.
    pub(crate) sha256: String,
}

/// Prepares the host image below `dir`. Without privileges device nodes cannot be made, so the
/// host's own are shown one by one.
pub(crate) fn prepare(dir: &Path, extra_read_paths: &[String], root: bool) -> Result<Image> {
    let config = HostImageConfig {
        extra_read_paths: extra_read_paths.to_vec(),
    };
    let host = HostImage::inspect(&config).context("inspect the host image")?;
    let etc = dir.join("etc");
    let dev = dir.join("dev");
    rootfs::prepare_etc(&etc, extra_read_paths).context("prepare /etc")?;
    if root {
        rootfs::prepare_dev(&dev).context("prepare /dev")?;
    }
    let plan = host.plan(&etc.to_string_lossy(), &dev.to_string_lossy());
    let mut ops: Vec<RootOp> = plan.ops.iter().map(convert).collect();
    if !root {
        replace_devices(&mut ops);
    }
    Ok(Image {
        ops,
        sha256: host.digest().sha256.clone(),
    })
}

/// A program of ours, for sandboxes whose plan asks for it.
#[derive(Debug)]
pub(crate) struct Own {
    /// Which.
    pub(crate) program: OwnProgram,
    /// Where it lies on the host.
    pub(crate) path: String,
    /// Operations that show it, after those of the image.
    pub(crate) ops: Vec<RootOp>,
}

/// Looks at the program that the command line names: a plain file, found by its real path.
pub(crate) fn own(program: OwnProgram, named: &Path) -> Result<Own> {
    let found: PathBuf =
        std::fs::canonicalize(named).with_context(|| format!("resolve {}", named.display()))?;
    if !found.is_file() {
        bail!("{} is no plain file", found.display());
    }
    let path = found
        .to_str()
        .with_context(|| format!("{} is no UTF-8 path", found.display()))?
        .to_owned();
    let ops = vec![
        RootOp::Dir {
            path: relative(program.folder()),
            mode: 0o755,
        },
        RootOp::File {
            path: relative(program.path()),
        },
        RootOp::Bind {
            source: path.clone(),
            target: relative(program.path()),
            devices: false,
            executable: true,
        },
    ];
    Ok(Own { program, path, ops })
}

fn relative(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}

fn convert(op: &rootfs::RootOp) -> RootOp {
    match op {
        rootfs::RootOp::Dir { path, mode } => RootOp::Dir {
            path: relative(path),
            mode: *mode,
        },
        rootfs::RootOp::Symlink { target, link } => RootOp::Symlink {
            target: target.clone(),
            link: relative(link),
        },
        rootfs::RootOp::Bind {
            source,
            target,
            devices,
            ..
        } => RootOp::Bind {
            source: source.clone(),
            target: relative(target),
            devices: *devices,
            executable: target != "/etc" && target != "/dev",
        },
    }
}

/// Swaps the one bind of a prepared `/dev` for binds of the host's harmless nodes.
fn replace_devices(ops: &mut Vec<RootOp>) {
    ops.retain(|op| !matches!(op, RootOp::Bind { target, .. } if target == "dev"));
    for folder in ["dev/pts", "dev/shm"] {
        ops.push(RootOp::Dir {
            path: folder.into(),
            mode: 0o755,
        });
    }
    for (target, link) in [
        ("/proc/self/fd", "dev/fd"),
        ("/proc/self/fd/0", "dev/stdin"),
        ("/proc/self/fd/1", "dev/stdout"),
        ("/proc/self/fd/2", "dev/stderr"),
        ("pts/ptmx", "dev/ptmx"),
    ] {
        ops.push(RootOp::Symlink {
            target: target.into(),
            link: link.into(),
        });
    }
    for node in ["null", "zero", "full", "random", "urandom", "tty"] {
        ops.push(RootOp::File {
            path: format!("dev/{node}"),
        });
        ops.push(RootOp::Bind {
            source: format!("/dev/{node}"),
            target: format!("dev/{node}"),
            devices: true,
            executable: false,
        });
    }
}
