//! What an image and a workspace have to import, as far as folders tell it. It starts nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders below which a language's own libraries lie. A folder that is not there counts for
/// nothing; `*` at the end of a part stands for any ending.
const PYTHON: [&str; 6] = [
    "/usr/lib/python3*",
    "/usr/lib/python3*/lib-dynload",
    "/usr/lib/python3/dist-packages",
    "/usr/local/lib/python3*",
    "/usr/local/lib/python3*/dist-packages",
    "/usr/local/lib/python3*/site-packages",
];
const C: [&str; 7] = [
    "/usr/include",
    "/usr/local/include",
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/lib/gcc/*/*/include",
    "/usr/include/c++/*",
    "/usr/include/*/c++/*",
];
const GO: [&str; 3] = [
    "/usr/lib/go*/src",
    "/usr/local/go/src",
    "/usr/share/gocode/src",
];
const NODE: [&str; 3] = [
    "/usr/share/nodejs",
    "/usr/lib/node_modules",
    "/usr/local/lib/node_modules",
];

/// Where things to import may lie.
#[derive(Debug, Default)]
pub struct Image {
    workspace: PathBuf,
    python: Vec<PathBuf>,
    c: Vec<PathBuf>,
    go: Vec<PathBuf>,
    node: Vec<PathBuf>,
}

impl Image {
    /// Looks at the folders of the file system it runs on, and at `workspace`.
    #[must_use]
    pub fn here(workspace: &Path) -> Self {
        let all = |patterns: &[&str]| {
            let found: BTreeSet<PathBuf> = patterns
                .iter()
                .flat_map(|pattern| expand(pattern))
                .collect();
            found.into_iter().collect()
        };
        Self {
            workspace: workspace.to_path_buf(),
            python: all(&PYTHON),
            c: all(&C),
            go: all(&GO),
            node: all(&NODE),
        }
    }

    /// Whether the image has libraries of Python at all: else nothing can be said.
    pub(crate) fn has_python(&self) -> bool {
        !self.python.is_empty()
    }

    pub(crate) fn has_c(&self) -> bool {
        self.c.iter().any(|folder| folder.join("stdio.h").exists())
    }

    pub(crate) fn has_go(&self) -> bool {
        self.go.iter().any(|folder| folder.join("fmt").exists())
    }

    /// A module: a folder, a source, or a compiled one.
    pub(crate) fn python_module(&self, name: &str) -> bool {
        let here = [self.workspace.clone(), self.workspace.join("src")];
        here.iter().chain(&self.python).any(|folder| {
            folder.join(name).is_dir()
                || folder.join(format!("{name}.py")).exists()
                || has_extension_module(folder, name)
        })
    }

    /// A header, beside the file that includes it, in the workspace, or in the image.
    pub(crate) fn header(&self, name: &str, beside: &str) -> bool {
        let own = Path::new(beside)
            .parent()
            .map(|folder| self.workspace.join(folder));
        let mut workspace = vec![self.workspace.clone(), self.workspace.join("include")];
        workspace.extend(own);
        (workspace.iter().chain(&self.c)).any(|folder| folder.join(name).exists())
    }

    /// A package of the standard library or of the image, or one that the workspace brings.
    pub(crate) fn go_package(&self, path: &str) -> bool {
        let vendored = self.workspace.join("vendor").join(path);
        vendored.is_dir() || self.go.iter().any(|folder| folder.join(path).is_dir())
    }

    /// A package below some `node_modules`.
    pub(crate) fn node_package(&self, name: &str) -> bool {
        let own = self.workspace.join("node_modules");
        std::iter::once(&own)
            .chain(&self.node)
            .any(|folder| folder.join(name).exists())
    }

    /// A file of the workspace, `name` relative to the folder of `beside`, with one of `endings`.
    pub(crate) fn beside(&self, name: &str, beside: &str, endings: &[&str]) -> bool {
        let folder = Path::new(beside).parent().unwrap_or(Path::new(""));
        let target = self.workspace.join(folder).join(name);
        let text = target.as_os_str().to_string_lossy().into_owned();
        endings
            .iter()
            .any(|ending| Path::new(&format!("{text}{ending}")).exists())
    }

    /// Whether the workspace has this file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.workspace.join(name).exists()
    }
}

/// `name.cpython-311-x86_64-linux-gnu.so` and the like.
fn has_extension_module(folder: &Path, name: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let beginning = format!("{name}.");
    entries.flatten().any(|entry| {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        file.starts_with(&beginning) && file.ends_with(".so")
    })
}

/// The folders that a pattern names.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.trim_start_matches('/').split('/') {
        found = match part.strip_suffix('*') {
            None => found.into_iter().map(|folder| folder.join(part)).collect(),
            Some(beginning) => found
                .iter()
                .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning))
                .map(|entry| entry.path())
                .collect(),
        };
    }
    found.retain(|folder| folder.is_dir());
    found
}
