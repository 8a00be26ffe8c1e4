//! Git repositories among a request's files, made anew so that nothing beyond the current commit is
//! in them. Pure: it says what to start in a sandbox of its own, and reads what comes of it. It
//! parses nothing of git's; that is done in the sandbox.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::plan::HARNESS_FOLDER;
use crate::untrusted::Untrusted;

const PROGRAM: &str = include_str!("../harness/git_scrub.py");
const FILE_MODE: u32 = 0o644;
/// Most repositories of one request.
const REPOSITORIES_MAX: usize = 64;
/// Bytes of the program's answer that are read at most.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Why a repository cannot be had without its future.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitScrubError {
    /// It lies elsewhere, where it cannot be seen.
    #[error("{path} points to a git repository elsewhere; bring the repository itself")]
    Elsewhere {
        /// The file.
        path: String,
    },
    /// The workspace is one itself, without a folder of its own for it.
    #[error("/workspace itself is a bare git repository; bring it in a folder")]
    AtRoot,
    /// More than are scrubbed.
    #[error("the files hold more than {REPOSITORIES_MAX} git repositories")]
    TooMany,
    /// The sandbox's program says so.
    #[error("the git repository {path} cannot be scrubbed: {why}")]
    Refused {
        /// The repository.
        path: String,
        /// In the program's words.
        why: String,
    },
    /// The program did not come to its end, or something else is there than it makes.
    #[error("the git repositories were not scrubbed: {why}")]
    Failed {
        /// What is wrong.
        why: String,
    },
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitScrubPlan {
    /// The repositories' folders, relative to `/workspace`.
    pub repositories: Vec<String>,
    /// Our own files: bytes and permission bits. Files of the request below the repositories, and
    /// no others, are to lie beside them.
    pub files: BTreeMap<String, (Vec<u8>, u32)>,
    /// The command.
    pub argv: Vec<String>,
    /// Patterns of files to read when it is over.
    pub collect: Vec<String>,
}

impl GitScrubPlan {
    /// Whether `path` belongs to a repository.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let below = |folder: &String| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
        };
        self.repositories.iter().any(below)
    }
}

/// Plans the scrubbing of all repositories among `paths`; `None` if there is none.
///
/// # Errors
/// [`GitScrubError::Elsewhere`], [`GitScrubError::AtRoot`] or [`GitScrubError::TooMany`].
pub fn plan_git_scrub<'a>(
    paths: impl IntoIterator<Item = &'a str>,
) -> Result<Option<GitScrubPlan>, GitScrubError> {
    let all: BTreeSet<&str> = paths.into_iter().collect();
    if let Some(path) = (all.iter()).find(|path| path.rsplit('/').next() == Some(".git")) {
        let path = (*path).to_owned();
        return Err(GitScrubError::Elsewhere { path });
    }
    let objects = |path: &&str| path.starts_with("objects/");
    let is_bare = all.contains("HEAD") && all.range("objects/"..).next().is_some_and(objects);
    if is_bare
        || all
            .iter()
            .any(|path| path.starts_with("objects/pack/pack-"))
    {
        return Err(GitScrubError::AtRoot);
    }
    let repositories = outermost(&all);
    if repositories.is_empty() {
        return Ok(None);
    }
    if repositories.len() > REPOSITORIES_MAX {
        return Err(GitScrubError::TooMany);
    }
    let ours = |name: &str| format!("{HARNESS_FOLDER}/{name}");
    // A list of texts cannot fail to be written; an empty file stops the program.
    let list = serde_json::to_vec(&repositories).unwrap_or_default();
    let files = BTreeMap::from([
        (
            ours("git_scrub.py"),
            (PROGRAM.as_bytes().to_vec(), FILE_MODE),
        ),
        (ours("git.json"), (list, FILE_MODE)),
    ]);
    let argv = ["python3", "-I", "-S", "-B", &ours("git_scrub.py")].map(str::to_owned);
    Ok(Some(GitScrubPlan {
        repositories,
        files,
        argv: argv.to_vec(),
        collect: vec![ours("git/**")],
    }))
}

/// Folders that hold a repository or its objects, without those that lie within another: what lies
/// within one, such as a module's, goes with it. A folder that git would not take for a repository
/// counts too, for its objects can be read without git; the program then says what it lacks.
fn outermost(all: &BTreeSet<&str>) -> Vec<String> {
    let has = |folder: &str, name: &str| {
        let below = format!("{folder}/{name}/");
        (all.range(below.as_str()..).next()).is_some_and(|path| path.starts_with(&below))
    };
    let folder_of = |path: &str| {
        let end = match path.find("/.git/") {
            _ if path.starts_with(".git/") => ".git".len(),
            Some(start) => start + "/.git".len(),
            None => {
                let head = path.strip_suffix("/HEAD");
                let head = head.filter(|folder| has(folder, "objects"));
                head.map(str::len).or(path.find("/objects/pack/pack-"))?
            }
        };
        path.get(..end).map(str::to_owned)
    };
    let found: BTreeSet<String> = all.iter().filter_map(|path| folder_of(path)).collect();
    let within = |folder: &String| {
        let mut outer = folder.match_indices('/').map(|(end, _)| &folder[..end]);
        outer.any(|outer| found.contains(outer))
    };
    (found.iter())
        .filter(|folder| !within(folder))
        .cloned()
        .collect()
}

/// Whether `paths` hold a repository or point to one.
#[must_use]
pub fn holds_git<'a>(paths: impl IntoIterator<Item = &'a str>) -> bool {
    !matches!(plan_git_scrub(paths), Ok(None))
}

/// The program's answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Refused { path: String, refused: String },
    Done { repositories: Vec<Done> },
}

#[derive(Deserialize)]
struct Done {
    path: String,
}

/// Files of the new repositories, by path relative to `/workspace`: they take the place of all
/// files for which [`GitScrubPlan::holds`].
///
/// # Errors
/// [`GitScrubError::Refused`] or [`GitScrubError::Failed`].
pub fn read_git_scrub(
    plan: &GitScrubPlan,
    stdout: &Untrusted<Vec<u8>>,
    files: Vec<(String, Vec<u8>)>,
) -> Result<BTreeMap<String, Vec<u8>>, GitScrubError> {
    let failed = |why: &str| GitScrubError::Failed {
        why: why.to_owned(),
    };
    let text = stdout.inner();
    let text = text
        .get(..text.len().min(ANSWER_BYTES_MAX))
        .unwrap_or_default();
    let answer =
        serde_json::from_slice(text).map_err(|_error| failed("the program gave no answer"))?;
    let done = match answer {
        Answer::Refused { path, refused } => {
            return Err(GitScrubError::Refused { path, why: refused });
        }
        Answer::Done { repositories } => repositories,
    };
    if !done
        .iter()
        .map(|row| &row.path)
        .eq(plan.repositories.iter())
    {
        return Err(failed("not every repository was made anew"));
    }
    let mut made = BTreeMap::new();
    for (path, content) in files {
        let place = path
            .strip_prefix(HARNESS_FOLDER)
            .and_then(|rest| rest.strip_prefix("/git/"));
        let place = place.and_then(|rest| rest.split_once('/'));
        let known = place.and_then(|(number, name)| {
            let number: usize = number.parse().ok()?;
            let folder = plan.repositories.get(number)?;
            is_made(name).then(|| format!("{folder}/{name}"))
        });
        let Some(known) = known else {
            return Err(failed(&format!("{path} is no file of a new repository")));
        };
        made.insert(known, content);
    }
    let headless = |folder: &&String| !made.contains_key(&format!("{folder}/HEAD"));
    if plan.repositories.iter().any(|folder| headless(&folder)) {
        return Err(failed("a new repository did not come back"));
    }
    Ok(made)
}

/// Whether the program makes such a file in a new repository. No reflog, no second list of
/// references, no hook and no link to other objects is among them.
fn is_made(name: &str) -> bool {
    let pack = name
        .strip_prefix("objects/pack/pack-")
        .and_then(|rest| rest.split_once('.'));
    let packed = pack.is_some_and(|(hash, kind)| {
        matches!(kind, "pack" | "idx" | "rev") && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    packed
        || matches!(name, "HEAD" | "config" | "index" | "shallow" | "refs/.keep")
        || name.starts_with("refs/heads/")
}
