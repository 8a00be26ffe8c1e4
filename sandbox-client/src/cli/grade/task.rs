//! A task as `grade` needs it, whatever format it was written in: what the sandbox starts with, how
//! the work is judged, and a solution that is known to be right. It asks no daemon.

use std::path::{Path, PathBuf};

use super::super::failure::Failure;
use super::archive::ArchiveError;
use super::patch::PatchError;
use super::solution::Solution;
use super::tree::Tree;
use super::{harbor, own, swe, terminal_bench};
use crate::pb;

/// In what format a task is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Own,
    Harbor,
    TerminalBench,
    Swe,
}

impl Format {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "rollcage",
            Self::Harbor => "harbor",
            Self::TerminalBench => "terminal_bench",
            Self::Swe => "swe",
        }
    }
}

/// One task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) format: Format,
    pub(super) name: String,
    pub(super) description: String,
    /// Whether its author lets models learn from it; `None`: not said.
    pub(super) may_be_trained_on: Option<bool>,
    /// Files below `/workspace` before any solution.
    pub(super) environment: Tree,
    /// Everything of the request but the files.
    pub(super) request: pb::RunRequest,
    /// A solution that must pass.
    pub(super) oracle: Option<Solution>,
    /// What was done otherwise than the task asks, for people.
    pub(super) notes: Vec<String>,
}

/// Why a folder cannot be graded as a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// No format that is read here.
    #[error(
        "{} is no task: it has neither task.toml (ours with [verify], or Harbor's with tests/test.sh) \
         nor task.yaml (Terminal-Bench) nor a .json file with FAIL_TO_PASS (SWE-bench)",
        folder.display()
    )]
    Unknown { folder: PathBuf },
    /// A file of the task is wrong.
    #[error("{}: {problem}", file.display())]
    Invalid { file: PathBuf, problem: String },
    /// A patch is none, or does not fit the environment.
    #[error("the patch {name} does not apply")]
    Patch {
        name: String,
        #[source]
        source: PatchError,
    },
    /// An archive of the environment.
    #[error("{}", file.display())]
    Archive {
        file: PathBuf,
        #[source]
        source: ArchiveError,
    },
    /// It is right, and not for this machine's own programs.
    #[error(
        "the task needs what the image `host` (this machine's own programs, no network) cannot \
         give: {}", needs.join("; ")
    )]
    Needs { needs: Vec<String> },
}

/// The task in a folder.
pub(super) fn read(folder: &Path) -> Result<Task, Failure> {
    let toml = folder.join("task.toml");
    if toml.is_file() {
        let document = own::parse(&toml)?;
        return if document.contains_key("verify") {
            own::read(folder, document)
        } else {
            harbor::read(folder, &document)
        };
    }
    let yaml = folder.join("task.yaml");
    if yaml.is_file() {
        return terminal_bench::read(folder, &yaml);
    }
    if let Some(found) = swe::find(folder)? {
        return swe::read(folder, &found);
    }
    let folder = folder.to_owned();
    Err(TaskError::Unknown { folder }.into())
}

/// What is said of a file of the task.
pub(super) fn invalid(file: &Path, problem: impl Into<String>) -> Failure {
    TaskError::Invalid {
        file: file.to_owned(),
        problem: problem.into(),
    }
    .into()
}

/// The name of a folder, for tasks that have none of their own.
pub(super) fn folder_name(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_gone| folder.to_owned());
    let name = whole.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
