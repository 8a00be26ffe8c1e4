//! What somebody hands in for a task: files that are laid over its own, a patch, or a script that
//! does the work in the sandbox.

use std::path::Path;

use super::super::failure::Failure;
use super::patch;
use super::task::{Task, TaskError, invalid};
use super::tree::{self, Tree};
use crate::pb;

/// Longest script that goes as an argument.
const SCRIPT_BYTES_MAX: usize = 120 << 10;
/// Files that say how tests are run. A task's own are the judge's, whatever a solution makes of them.
const OF_THE_HARNESS: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    ".coveragerc",
    "package.json",
    "jest.config.js",
    "babel.config.js",
    "go.mod",
    "go.sum",
    "Cargo.toml",
    "Makefile",
    "CMakeLists.txt",
];

/// One solution.
#[derive(Debug, Clone)]
pub(super) enum Solution {
    /// Nothing at all.
    Empty,
    /// Files laid over the environment.
    Files(Tree),
    /// A unified diff against the environment.
    Patch { name: String, content: Vec<u8> },
    /// A bash script that is run in the environment first.
    Script(String),
}

impl Solution {
    /// What lies at a path: a folder, a patch, or a script (`.sh`).
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Ok(Self::Files(tree::read(path)?));
        }
        let content = std::fs::read(path).map_err(|source| Failure::Read {
            path: path.to_owned(),
            source,
        })?;
        let name = path.display().to_string();
        if path.extension().is_none_or(|extension| extension != "sh") {
            return Ok(Self::Patch { name, content });
        }
        match String::from_utf8(content) {
            Ok(script) => Ok(Self::Script(script)),
            Err(_not_text) => Err(invalid(path, "a script must be UTF-8 text")),
        }
    }
}

/// The request that judges a solution of a task.
pub(super) fn request(task: &Task, solution: &Solution) -> Result<pb::RunRequest, Failure> {
    let mut request = task.request.clone();
    let mut files = task.environment.clone();
    match solution {
        Solution::Empty => {}
        Solution::Files(over) => files.extend(over.clone()),
        Solution::Patch { name, content } => {
            files = patch::apply(&files, content).map_err(|source| TaskError::Patch {
                name: name.clone(),
                source,
            })?;
        }
        Solution::Script(script) => run_first(&mut request, script)?,
    }
    if let Some(verify) = &mut request.verify {
        // The solution's file is judged also where there is none yet.
        if !verify.file.is_empty() && !files.contains_key(&verify.file) {
            files.insert(verify.file.clone(), pb::File::default());
        }
        if takes_test_files(verify.kind()) {
            for (path, file) in &task.environment {
                // Also where a solution left it alone: what is not the author's may not count.
                let name = path.rsplit('/').next().unwrap_or(path);
                if OF_THE_HARNESS.contains(&name) {
                    let own = verify.test_files.entry(path.clone());
                    own.or_insert_with(|| file.clone());
                }
            }
        }
    }
    request.files = files;
    Ok(request)
}

fn run_first(request: &mut pb::RunRequest, script: &str) -> Result<(), Failure> {
    if !request.argv.is_empty() {
        let message = "the task runs a program of its own (argv), so that a solution cannot be a \
                       script; give a folder or a patch";
        return Err(Failure::Usage {
            message: message.to_owned(),
        });
    }
    request.argv = vec!["bash".to_owned()];
    if script.len() > SCRIPT_BYTES_MAX {
        request.argv.push("-s".to_owned());
        request.stdin = Some(script.as_bytes().to_vec());
    } else {
        request.argv.extend(["-c".to_owned(), script.to_owned()]);
    }
    Ok(())
}

/// Whether a kind lays the author's files over the solution's.
pub(super) fn takes_test_files(kind: pb::VerifyKind) -> bool {
    use pb::VerifyKind as Kind;
    !matches!(
        kind,
        Kind::Unspecified
            | Kind::ExitCode
            | Kind::Stdout
            | Kind::Asserts
            | Kind::Answer
            | Kind::Cases
            | Kind::Combined
    )
}
