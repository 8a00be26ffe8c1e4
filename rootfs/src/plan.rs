//! A root file system as an ordered list of few operations: pure data.
//!
//! It does not know how an operation is done. Targets are absolute paths inside the new root,
//! sources are absolute paths on the host that only root can change. An operation's target
//! directory has been made by an earlier one.

use serde::{Deserialize, Serialize};

/// One step of building a root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "op")]
pub enum RootOp {
    /// Makes a directory, owned by root of the sandbox.
    Dir {
        /// Where.
        path: String,
        /// Permission bits, to be set whatever the umask.
        mode: u32,
    },
    /// Makes a symbolic link.
    Symlink {
        /// What it points to, as written into it.
        target: String,
        /// Where it stands.
        link: String,
    },
    /// Shows a host directory, with what is mounted below it, always nosuid.
    Bind {
        /// Host path.
        source: String,
        /// Directory that an earlier operation made.
        target: String,
        /// Whether nothing can be written through it. Device nodes still can.
        read_only: bool,
        /// Whether device nodes in it work; otherwise the mount is nodev.
        devices: bool,
    },
}

/// A whole root, to be executed in order into an empty directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootPlan {
    /// The operations.
    pub ops: Vec<RootOp>,
}

impl RootPlan {
    /// Whether an operation makes or shows exactly this path.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.ops.iter().any(|op| op.target() == path)
    }

    /// Adds a directory and the parents it lacks, each with `mode` 0755 but the last.
    pub(crate) fn dir(&mut self, path: &str, mode: u32) {
        for (slash, _) in path.match_indices('/').skip(1) {
            if let Some(parent) = path.get(..slash)
                && !self.has(parent)
            {
                self.ops.push(RootOp::Dir {
                    path: parent.to_owned(),
                    mode: 0o755,
                });
            }
        }
        if !self.has(path) {
            self.ops.push(RootOp::Dir {
                path: path.to_owned(),
                mode,
            });
        }
    }

    /// Adds a read-only bind and the directories it needs.
    pub(crate) fn bind(&mut self, source: &str, target: &str, devices: bool) {
        self.dir(target, 0o755);
        self.ops.push(RootOp::Bind {
            source: source.to_owned(),
            target: target.to_owned(),
            read_only: true,
            devices,
        });
    }
}

impl RootOp {
    /// The path inside the root that the operation makes or covers.
    #[must_use]
    pub fn target(&self) -> &str {
        match self {
            Self::Dir { path, .. } => path,
            Self::Symlink { link, .. } => link,
            Self::Bind { target, .. } => target,
        }
    }
}
