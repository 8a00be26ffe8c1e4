//! Whose files a verification starts from: those of the request, what the run changed of them, and
//! the author's tests over both. What steers a test framework from within the solution's reach is
//! put back or left out, and told. It knows paths and bytes only, and runs nothing.

mod glob;
mod lists;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use glob::{STEPS_MAX, matches, matches_whole, steps};
pub use lists::Lists;

use crate::plan::touches_harness;
use crate::verdict::TamperNote;
use crate::verify::{Framework, GitScrub, Phase, TestFile, VerifySpec};

/// Files by path relative to `/workspace`.
pub type Files = BTreeMap<String, TestFile>;

/// Most notes of one verification: a run can leave any number of files.
const NOTES_MAX: usize = 100;

/// What the sandbox of a verification is filled with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// Its files.
    pub files: Files,
    /// What was put back, replaced or left out, because the tests could have been steered by it.
    pub tamper: Vec<TamperNote>,
}

/// Lays out a verification. `requested` are the request's own files; `left` is what its run left
/// of them and beside them, and `None` where nothing was run: then the request's files are the
/// solution's and its environment's, and only what no environment needs is left out.
#[must_use]
pub fn lay_out(phase: &Phase, lists: &Lists, requested: &Files, left: Option<Files>) -> Workspace {
    let mut laid = Layout {
        phase,
        lists,
        requested,
        ran: left.is_some(),
        notes: Vec::new(),
    };
    let mut files = left.unwrap_or_else(|| requested.clone());
    files.retain(|path, file| laid.stays(path, file));
    laid.put_back(&mut files);
    laid.lay_tests(&mut files);
    Workspace {
        files,
        tamper: laid.notes,
    }
}

/// `spec` as its harness is to be told of it where a run came before: files of the request that the
/// author protects by name are the author's, for the run could not change them, and so they are
/// obeyed. Only for kinds whose runner obeys nobody else's.
#[must_use]
pub fn with_protected(spec: &VerifySpec, requested: &Files) -> VerifySpec {
    let mut spec = spec.clone();
    if let VerifySpec::Harness(harness) = &mut spec
        && matches!(harness.framework, Framework::Pytest | Framework::Unittest)
        && !harness.phase.test_files.is_empty()
    {
        let Phase {
            test_files,
            protected,
            ..
        } = &mut harness.phase;
        let is_named = |path: &String| protected.iter().any(|glob| matches(glob, path));
        for (path, file) in requested.iter().filter(|(path, _)| is_named(path)) {
            (test_files.entry(path.clone())).or_insert_with(|| file.clone());
        }
    }
    spec
}

struct Layout<'a> {
    phase: &'a Phase,
    lists: &'a Lists,
    requested: &'a Files,
    ran: bool,
    notes: Vec<TamperNote>,
}

impl Layout<'_> {
    fn note(&mut self, path: &str, what: &str) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(TamperNote {
                path: path.to_owned(),
                what: what.to_owned(),
            });
        }
    }

    fn is_protected(&self, path: &str) -> bool {
        let own = self.phase.protected.iter().map(String::as_str);
        let kinds = self.lists.protected.iter().copied();
        own.chain(kinds).any(|glob| matches(glob, path))
    }

    /// Whether a file belongs to a repository that was made anew: what a run did to it is its own
    /// affair, and is not there when it is judged.
    fn is_history(&self, path: &str) -> bool {
        self.ran && self.phase.git == GitScrub::Scrub && path.split('/').any(|part| part == ".git")
    }

    /// Whether a file is taken over as it is; a protected one that was changed is put back later.
    fn stays(&mut self, path: &str, file: &TestFile) -> bool {
        let before = self.requested.get(path);
        let unchanged = self.ran && before == Some(file);
        if touches_harness(path) {
            if !unchanged {
                self.note(path, "lies where the verifier's own files go; left out");
            }
            return false;
        }
        if self.lists.is_report(path) {
            self.note(path, "lies where the report goes; left out");
            return false;
        }
        if unchanged {
            return true;
        }
        if let Some(test) = self.phase.test_files.get(path) {
            // The author's file is laid over it in any case.
            if self.ran && file.content != test.content {
                self.note(path, "a file of the tests; replaced by the author's");
            }
            return false;
        }
        if self.is_history(path) {
            return false;
        }
        if self.lists.is_start_up(path) {
            self.note(path, "is loaded before the tests are; left out");
            return false;
        }
        if self.lists.is_cache(path) {
            return false;
        }
        if self.ran && self.is_protected(path) {
            match before {
                Some(_) => self.note(path, "steers the tests and was changed; put back"),
                None => self.note(path, "steers the tests and was added; left out"),
            }
            return false;
        }
        true
    }

    /// Protected files of the request that the run changed or removed.
    fn put_back(&mut self, files: &mut Files) {
        if !self.ran {
            return;
        }
        let mut back = Files::new();
        for (path, file) in self.requested {
            if files.contains_key(path) || touches_harness(path) {
                continue;
            }
            if self.is_history(path) {
                back.insert(path.clone(), file.clone());
                continue;
            }
            if !self.is_protected(path) {
                continue;
            }
            let told = |note: &TamperNote| note.path == *path;
            if !self.notes.iter().any(told) {
                self.note(path, "steers the tests and was removed; put back");
            }
            back.insert(path.clone(), file.clone());
        }
        self.win(files, &back);
    }

    /// The author's tests win over all.
    fn lay_tests(&mut self, files: &mut Files) {
        let phase = self.phase;
        self.win(files, &phase.test_files);
    }

    /// Lays `winners` over `files`: also over a folder of their name, and over a file where they
    /// need a folder.
    fn win(&mut self, files: &mut Files, winners: &Files) {
        let needed: BTreeSet<&str> = winners.keys().flat_map(|path| folders_of(path)).collect();
        let mut stale = Vec::new();
        files.retain(|path, _| {
            let in_the_way = needed.contains(path.as_str())
                || folders_of(path).any(|folder| winners.contains_key(folder));
            if in_the_way {
                stale.push(path.clone());
            }
            !in_the_way
        });
        for path in stale {
            self.note(&path, "lies where the tests go; left out");
        }
        let winners = winners.iter().filter(|(path, _)| !touches_harness(path));
        files.extend(winners.map(|(path, file)| (path.clone(), file.clone())));
    }
}

/// The folders that a path leads through, outermost first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
