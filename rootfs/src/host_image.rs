//! The `host` image: the programs of this very machine, read-only, with an `/etc` and a `/dev`
//! of ours. It needs no preparation and no download, and is therefore not pinned: its digest says
//! what was installed, not what every byte was.
//!
//! It reads the host but changes nothing, and does not know how the plan is executed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::plan::{RootOp, RootPlan};

/// What the operator says about the host image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostImageConfig {
    /// Further host directories that sandboxes may read, such as `/opt/toolchain`: absolute, with
    /// no link in them. They appear at the same place, read-only.
    pub extra_read_paths: Vec<String>,
}

/// The host image as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostImage {
    top: Vec<TopEntry>,
    extra: Vec<String>,
    digest: ImageDigest,
}

/// What names the image in evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageDigest {
    /// SHA-256 over the package list and the extra paths, in hex.
    pub sha256: String,
    /// The file that the package list was taken from.
    pub source: String,
    /// Always true for the host image: files outside packages can change under the same digest.
    pub unpinned: bool,
}

/// A directory beside `/usr` that programs expect.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TopEntry {
    /// `/bin -> usr/bin`, as on every merged system.
    Link { link: String, target: String },
    /// A directory of its own.
    Real { path: String },
}

/// Why the host cannot serve as an image.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootfsError {
    /// Something of the host could not be read.
    #[error("{act} {path}")]
    Io {
        /// What was being done.
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// A directory that an image needs is not one.
    #[error("{path} is not a directory")]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// A link where programs live leads out of `/usr`.
    #[error("{path} points to {target}, which is neither in /usr nor beside it")]
    StrayLink {
        /// The link.
        path: PathBuf,
        /// Where it points.
        target: PathBuf,
    },
    /// An extra path that may not be shown.
    #[error("host_image.extra_read_paths has {path:?}, {reason}")]
    ExtraPath {
        /// The path as written.
        path: String,
        /// Why not, and what to write instead.
        reason: String,
    },
    /// No file says what is installed.
    #[error("no package list and no os-release found below {root}")]
    NoPackageList {
        /// The host's root.
        root: PathBuf,
    },
}

/// What stands beside `/usr` on some system.
const BESIDE_USR: &[&str] = &["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Directories every sandbox has, with their permission bits.
const OWN_DIRS: &[(&str, u32)] = &[
    ("/proc", 0o555),
    ("/tmp", 0o1777),
    ("/workspace", 0o755),
    ("/run", 0o755),
    ("/var/tmp", 0o1777),
    // Open, as an extra path may lie in it; nothing else does.
    ("/root", 0o755),
    ("/home", 0o755),
    ("/opt", 0o755),
];

/// Files that say what is installed, the best first.
const PACKAGE_LISTS: &[&str] = &[
    "var/lib/dpkg/status",
    "usr/lib/sysimage/rpm/rpmdb.sqlite",
    "var/lib/rpm/rpmdb.sqlite",
    "lib/apk/db/installed",
    "usr/lib/os-release",
    "etc/os-release",
];

/// Most bytes read of a package list.
const PACKAGE_LIST_BYTES_MAX: u64 = 512 << 20;
/// Most extra paths.
const EXTRA_PATHS_MAX: usize = 64;

/// Trees that are never shown, nor anything in them.
const CLOSED_TREES: &[&str] = &[
    "/proc",
    "/sys",
    "/dev",
    "/etc",
    "/run",
    "/boot",
    "/tmp",
    "/workspace",
    "/lost+found",
];
/// Directories that are never shown as a whole.
const CLOSED_TOPS: &[&str] = &[
    "/", "/root", "/home", "/var", "/var/lib", "/var/log", "/mnt",
];
/// Names of directories that hold credentials, wherever they are.
const CLOSED_NAMES: &[&str] = &[
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".netrc", ".pki",
];

impl HostImage {
    /// Looks at this host.
    ///
    /// # Errors
    /// `/usr` is missing, the layout is not a known one, or an extra path may not be shown.
    pub fn inspect(config: &HostImageConfig) -> Result<Self, RootfsError> {
        Self::inspect_at(Path::new("/"), config)
    }

    /// The same for a host whose root is elsewhere, as in tests.
    fn inspect_at(root: &Path, config: &HostImageConfig) -> Result<Self, RootfsError> {
        let usr = root.join("usr");
        if !look_at(&usr)?.is_some_and(|metadata| metadata.is_dir()) {
            return Err(RootfsError::NoDirectory { path: usr });
        }
        let mut top = Vec::new();
        for name in BESIDE_USR {
            top.extend(top_entry(root, name)?);
        }
        let extra = extra_paths(root, config)?;
        let digest = image_digest(root, &extra)?;
        Ok(Self { top, extra, digest })
    }

    /// The root of a sandbox from this image, with the trees that [`crate::prepare_etc`] and
    /// [`crate::prepare_dev`] made at these host paths.
    ///
    /// `/proc`, `/tmp`, `/workspace`, `/dev/pts` and `/dev/shm` are left empty, to be mounted on.
    #[must_use]
    pub fn plan(&self, etc: &str, dev: &str) -> RootPlan {
        let mut plan = RootPlan::default();
        plan.bind("/usr", "/usr", false);
        for entry in &self.top {
            match entry {
                TopEntry::Link { link, target } => plan.ops.push(RootOp::Symlink {
                    target: target.clone(),
                    link: link.clone(),
                }),
                TopEntry::Real { path } => plan.bind(path, path, false),
            }
        }
        plan.bind(etc, "/etc", false);
        plan.bind(dev, "/dev", true);
        for &(path, mode) in OWN_DIRS {
            plan.dir(path, mode);
        }
        for path in &self.extra {
            plan.bind(path, path, false);
        }
        plan
    }

    /// What names this image in evidence.
    #[must_use]
    pub fn digest(&self) -> &ImageDigest {
        &self.digest
    }

    /// The extra paths that are shown: those of the config, less what `/usr` has anyway.
    #[must_use]
    pub fn extra_read_paths(&self) -> &[String] {
        &self.extra
    }
}

fn look_at(path: &Path) -> Result<Option<fs::Metadata>, RootfsError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RootfsError::Io {
            act: "look at",
            path: path.to_path_buf(),
            source,
        }),
    }
}

fn top_entry(root: &Path, name: &str) -> Result<Option<TopEntry>, RootfsError> {
    let path = root.join(name);
    let Some(metadata) = look_at(&path)? else {
        return Ok(None);
    };
    let link = format!("/{name}");
    if metadata.is_dir() {
        return Ok(Some(TopEntry::Real { path: link }));
    }
    if !metadata.is_symlink() {
        return Err(RootfsError::NoDirectory { path });
    }
    let written = fs::read_link(&path).map_err(|source| RootfsError::Io {
        act: "read link",
        path: path.clone(),
        source,
    })?;
    let resolved = normalize(&Path::new("/").join(&written));
    let relative = resolved.strip_prefix("/").unwrap_or(&resolved);
    let beside = BESIDE_USR
        .iter()
        .any(|other| relative == Path::new(other) && *other != name);
    match relative.to_str() {
        Some(target) if beside || (relative.starts_with("usr") && relative != Path::new("usr")) => {
            Ok(Some(TopEntry::Link {
                link,
                target: target.to_owned(),
            }))
        }
        _ => Err(RootfsError::StrayLink {
            path,
            target: written,
        }),
    }
}

/// Takes `.` and `..` out of an absolute path, without looking at the disk.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

fn extra_paths(root: &Path, config: &HostImageConfig) -> Result<Vec<String>, RootfsError> {
    let mut paths = config.extra_read_paths.clone();
    paths.sort();
    paths.dedup();
    if let Some(path) = paths.get(EXTRA_PATHS_MAX) {
        let reason = format!("one of more than {EXTRA_PATHS_MAX}; show a common parent instead");
        return Err(RootfsError::ExtraPath {
            path: path.clone(),
            reason,
        });
    }
    let mut shown: Vec<String> = Vec::new();
    for path in paths {
        check_extra(root, &path)?;
        let covered = Path::new(&path).starts_with("/usr")
            || shown
                .iter()
                .any(|other| Path::new(&path).starts_with(other));
        if !covered {
            shown.push(path);
        }
    }
    Ok(shown)
}

/// Refuses a path that may not be shown.
fn check_extra(root: &Path, written: &str) -> Result<(), RootfsError> {
    let refuse = |reason: String| RootfsError::ExtraPath {
        path: written.to_owned(),
        reason,
    };
    let path = Path::new(written);
    if !path.is_absolute() || normalize(path).to_str() != Some(written) {
        return Err(refuse(
            "which is not an absolute path in its shortest form".to_owned(),
        ));
    }
    if CLOSED_TREES.iter().any(|tree| path.starts_with(tree)) {
        return Err(refuse(
            "which is in a tree that sandboxes never see".to_owned(),
        ));
    }
    let is_home = path.parent() == Some(Path::new("/home"));
    if is_home || CLOSED_TOPS.contains(&written) {
        return Err(refuse(
            "which holds more than programs; name the folder of the toolchain".to_owned(),
        ));
    }
    let names = path
        .components()
        .filter_map(|component| component.as_os_str().to_str());
    if let Some(name) = names.into_iter().find(|name| CLOSED_NAMES.contains(name)) {
        return Err(refuse(format!(
            "which is in {name}, where credentials are kept"
        )));
    }
    let on_disk = root.join(written.trim_start_matches('/'));
    let real = fs::canonicalize(&on_disk)
        .map_err(|error| refuse(format!("which cannot be found: {error}")))?;
    let real_root =
        fs::canonicalize(root).map_err(|error| refuse(format!("whose root is lost: {error}")))?;
    let inside = Path::new("/").join(real.strip_prefix(&real_root).unwrap_or(&real));
    if inside != path {
        let inside = inside.display();
        return Err(refuse(format!("which leads over a link; write {inside}")));
    }
    let metadata =
        fs::metadata(&real).map_err(|error| refuse(format!("which cannot be read: {error}")))?;
    if !metadata.is_dir() {
        return Err(refuse("which is not a directory".to_owned()));
    }
    match metadata.mode() {
        mode if mode & 0o005 != 0o005 => Err(refuse(format!(
            "which others cannot read (mode {:o}); chmod o+rx it",
            mode & 0o7777
        ))),
        mode if mode & 0o002 != 0 => Err(refuse(format!(
            "which everyone can write (mode {:o}); chmod o-w it",
            mode & 0o7777
        ))),
        _ => Ok(()),
    }
}

fn image_digest(root: &Path, extra: &[String]) -> Result<ImageDigest, RootfsError> {
    for list in PACKAGE_LISTS {
        let path = root.join(list);
        let failed = |act| {
            let path = path.clone();
            move |source| RootfsError::Io { act, path, source }
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed("open")(error)),
        };
        let mut hasher = Sha256::new();
        hasher.update(b"rollcage host image 1\n");
        hasher.update(format!("/{list}\n"));
        hash_file(&mut hasher, file).map_err(failed("read"))?;
        for path in extra {
            hasher.update(b"\nextra ");
            hasher.update(path);
        }
        let sha256 = hex::encode(hasher.finalize());
        return Ok(ImageDigest {
            sha256,
            source: format!("/{list}"),
            unpinned: true,
        });
    }
    Err(RootfsError::NoPackageList {
        root: root.to_path_buf(),
    })
}

fn hash_file(hasher: &mut Sha256, file: File) -> io::Result<()> {
    let mut reader = file.take(PACKAGE_LIST_BYTES_MAX);
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        let count = reader.read(&mut buffer)?;
        match buffer.get(..count) {
            None | Some([]) => return Ok(()),
            Some(bytes) => hasher.update(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
