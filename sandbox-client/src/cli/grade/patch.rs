//! Unified diffs, as `git diff` and `diff -ru` write them, applied to files in memory. Strict: every
//! line of context must be there; a hunk may only have moved as a whole, to the one place where it
//! fits. It knows no binary patches and asks no version control.

use std::collections::BTreeMap;

use super::tree::{Tree, wrong_path};
use crate::pb;

/// Why a patch cannot be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    /// A line that no unified diff has there.
    #[error("line {line}: {problem}")]
    Syntax { line: usize, problem: String },
    /// Nothing in it.
    #[error(
        "no file is changed: this is no unified diff, and neither a folder nor a script named .sh"
    )]
    Empty,
    /// A file name that leads elsewhere.
    #[error("line {line}: the file name `{path}` {problem}")]
    Path {
        line: usize,
        path: String,
        problem: &'static str,
    },
    /// It does not fit the files.
    #[error("{path}: {misfit}")]
    Unfit { path: String, misfit: Misfit },
}

/// In what way a change does not fit the files.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("there is no file {from} to change")]
    NoFile { from: String },
    #[error("it is to be made and is there already")]
    IsThere,
    #[error("it is to be removed, and more is in it")]
    MoreInIt,
    #[error("hunk {hunk}: the lines that it changes (from line {line}) are not in the file")]
    Lost { hunk: usize, line: usize },
    #[error("hunk {hunk}: its lines are not at line {line}, and at more than one other place")]
    Twice { hunk: usize, line: usize },
}

/// What becomes of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Its path before; `None`: it is made.
    from: Option<String>,
    /// Its path after; `None`: it is removed.
    to: Option<String>,
    mode: Option<u32>,
    hunks: Vec<Hunk>,
}

#[derive(Debug, PartialEq, Eq)]
struct Hunk {
    /// First line of the old file, from 1; 0 where that file is empty.
    old_start: usize,
    lines: Vec<HunkLine>,
}

#[derive(Debug, PartialEq, Eq)]
struct HunkLine {
    kind: u8,
    /// With its line end, unless the file ends without one.
    text: Vec<u8>,
}

impl Hunk {
    /// The lines of one side: `-` the old, `+` the new.
    fn side(&self, sign: u8) -> impl Iterator<Item = &[u8]> {
        self.lines
            .iter()
            .filter(move |line| line.kind == b' ' || line.kind == sign)
            .map(|line| line.text.as_slice())
    }
}

/// Applies a patch to files; all of it or nothing.
pub(super) fn apply(files: &Tree, patch: &[u8]) -> Result<Tree, PatchError> {
    let changes = parse(patch)?;
    let mut after = files.clone();
    for change in &changes {
        apply_one(&mut after, change)?;
    }
    Ok(after)
}

fn apply_one(files: &mut Tree, change: &Change) -> Result<(), PatchError> {
    let named = change.to.as_ref().or(change.from.as_ref());
    let path = named.cloned().unwrap_or_default();
    let unfit = |misfit| PatchError::Unfit {
        path: path.clone(),
        misfit,
    };
    let old = match &change.from {
        Some(from) => match files.remove(from) {
            Some(file) => Some(file),
            None => return Err(unfit(Misfit::NoFile { from: from.clone() })),
        },
        None if files.contains_key(&path) => return Err(unfit(Misfit::IsThere)),
        None => None,
    };
    let (content, old_mode) = old.map_or((Vec::new(), None), |file| (file.content, file.mode));
    let content = patched(&content, &change.hunks).map_err(unfit)?;
    match &change.to {
        Some(to) => {
            let mode = change.mode.or(old_mode);
            files.insert(to.clone(), pb::File { content, mode });
        }
        None if content.is_empty() => {}
        None => return Err(unfit(Misfit::MoreInIt)),
    }
    Ok(())
}

fn patched(content: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Misfit> {
    let old: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let mut new = Vec::new();
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let wanted: Vec<&[u8]> = hunk.side(b'-').collect();
        let start = place_of(&old, &wanted, (index + 1, hunk.old_start), at)?;
        for line in old.get(at..start).unwrap_or_default() {
            new.extend_from_slice(line);
        }
        for line in hunk.side(b'+') {
            new.extend_from_slice(line);
        }
        at = start + wanted.len();
    }
    for line in old.get(at..).unwrap_or_default() {
        new.extend_from_slice(line);
    }
    Ok(new)
}

/// Where a hunk's old lines stand: where it says, else the one other place, not before `from`.
fn place_of(
    old: &[&[u8]],
    wanted: &[&[u8]],
    (hunk, line): (usize, usize),
    from: usize,
) -> Result<usize, Misfit> {
    let fits = |start: usize| {
        let end = start.checked_add(wanted.len());
        end.and_then(|end| old.get(start..end))
            .is_some_and(|lines| lines == wanted)
    };
    let said = if wanted.is_empty() {
        line
    } else {
        line.saturating_sub(1)
    };
    if said >= from && fits(said) {
        return Ok(said);
    }
    let mut places = (from..=old.len()).filter(|start| !wanted.is_empty() && fits(*start));
    match (places.next(), places.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Misfit::Twice { hunk, line }),
        (None, _) => Err(Misfit::Lost { hunk, line }),
    }
}

/// Reads a patch.
pub(super) fn parse(patch: &[u8]) -> Result<Vec<Change>, PatchError> {
    let lines: Vec<&[u8]> = patch.split_inclusive(|byte| *byte == b'\n').collect();
    let mut reader = Reader { lines, at: 0 };
    let mut changes = Vec::new();
    while let Some(line) = reader.text() {
        if line.starts_with("diff --git ") {
            changes.push(reader.git_change()?);
        } else if line.starts_with("--- ")
            && reader
                .text_at(1)
                .is_some_and(|next| next.starts_with("+++ "))
        {
            let mut change = Change::default();
            reader.names_and_hunks(&mut change)?;
            changes.push(change);
        } else if line.starts_with("@@ ") {
            return Err(reader.syntax("a hunk before any file name"));
        } else {
            // Words between files, as in a mail.
            reader.at += 1;
        }
    }
    if changes.is_empty() {
        return Err(PatchError::Empty);
    }
    Ok(changes)
}

struct Reader<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
}

impl Reader<'_> {
    fn text_at(&self, ahead: usize) -> Option<String> {
        let line = self.lines.get(self.at + ahead)?;
        let text = String::from_utf8_lossy(line).into_owned();
        Some(text.trim_end_matches(['\n', '\r']).to_owned())
    }

    fn text(&self) -> Option<String> {
        self.text_at(0)
    }

    fn syntax(&self, problem: &str) -> PatchError {
        PatchError::Syntax {
            line: self.at + 1,
            problem: problem.to_owned(),
        }
    }

    /// From `diff --git` to the next file.
    fn git_change(&mut self) -> Result<Change, PatchError> {
        let header = self.text().unwrap_or_default();
        let (mut is_new, mut is_gone) = (false, false);
        let mut headers: BTreeMap<&str, String> = BTreeMap::new();
        let mut change = Change::default();
        self.at += 1;
        while let Some(line) = self.text() {
            if line.starts_with("diff --git ") || line.starts_with("--- ") {
                break;
            }
            if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(self.syntax("a binary change, which is not read here"));
            }
            if let Some(mode) = line.strip_prefix("new file mode ") {
                is_new = true;
                change.mode = Some(self.mode(mode)?);
            } else if let Some(mode) = line.strip_prefix("new mode ") {
                change.mode = Some(self.mode(mode)?);
            }
            is_gone |= line.starts_with("deleted file mode ");
            for key in ["rename from ", "rename to ", "copy from ", "copy to "] {
                if let Some(path) = line.strip_prefix(key) {
                    headers.insert(key, self.name(path)?);
                }
            }
            let known = [
                "index ",
                "old mode ",
                "new ",
                "deleted ",
                "similarity ",
                "dissimilarity ",
                "rename ",
                "copy ",
            ];
            if !known.iter().any(|known| line.starts_with(known)) {
                break;
            }
            self.at += 1;
        }
        if headers.contains_key("copy from ") {
            return Err(self.syntax("a copied file, which is not read here"));
        }
        if self.text().is_some_and(|line| line.starts_with("--- ")) {
            self.names_and_hunks(&mut change)?;
        } else {
            // No hunk: a rename, a change of mode, or an empty file made or removed.
            let path = self.only_name(&header)?;
            change.from = (!is_new).then(|| path.clone());
            change.to = (!is_gone).then_some(path);
        }
        change.from = headers.remove("rename from ").or(change.from);
        change.to = headers.remove("rename to ").or(change.to);
        Ok(change)
    }

    /// The name in `diff --git a/X b/X`; of a rename it is asked and not used.
    fn only_name(&self, header: &str) -> Result<String, PatchError> {
        let both = header.strip_prefix("diff --git ").unwrap_or(header);
        let half = both.len() / 2;
        let name = both.get(..half).unwrap_or(both);
        self.name(name.strip_prefix("a/").unwrap_or(name))
    }

    fn mode(&self, written: &str) -> Result<u32, PatchError> {
        match written {
            "100644" => Ok(0o644),
            "100755" => Ok(0o755),
            _ => Err(self.syntax("only regular files, of mode 100644 or 100755, can be changed")),
        }
    }

    fn names_and_hunks(&mut self, change: &mut Change) -> Result<(), PatchError> {
        change.from = self.side("--- ", "a/")?;
        change.to = self.side("+++ ", "b/")?;
        if change.from.is_none() && change.to.is_none() {
            return Err(self.syntax("both names are /dev/null"));
        }
        while self.text().is_some_and(|line| line.starts_with("@@ ")) {
            let hunk = self.hunk()?;
            change.hunks.push(hunk);
        }
        if change.hunks.is_empty() {
            return Err(self.syntax("a file name without a hunk (`@@ -N,N +N,N @@`)"));
        }
        Ok(())
    }

    fn side(&mut self, key: &str, prefix: &str) -> Result<Option<String>, PatchError> {
        let line = self.text().unwrap_or_default();
        let Some(written) = line.strip_prefix(key) else {
            return Err(self.syntax(&format!("`{key}NAME` is missing")));
        };
        // `diff -u` writes a tab and the time after the name.
        let written = written.split('\t').next().unwrap_or(written);
        let name = if written == "/dev/null" {
            None
        } else {
            Some(self.name(written.strip_prefix(prefix).unwrap_or(written))?)
        };
        self.at += 1;
        Ok(name)
    }

    fn name(&self, path: &str) -> Result<String, PatchError> {
        let path = path.trim_start_matches("./");
        let problem = if path.starts_with('"') {
            Some("is written with escapes, which are not read here")
        } else {
            wrong_path(path)
        };
        match problem {
            Some(problem) => Err(PatchError::Path {
                line: self.at + 1,
                path: path.to_owned(),
                problem,
            }),
            None => Ok(path.to_owned()),
        }
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let header = self.text().unwrap_or_default();
        let Some([old, new]) = ranges(&header) else {
            return Err(self.syntax("write a hunk's head as `@@ -N,N +N,N @@`"));
        };
        self.at += 1;
        let (mut old_left, mut new_left) = (old.1, new.1);
        let mut lines: Vec<HunkLine> = Vec::new();
        while old_left > 0 || new_left > 0 {
            let Some(line) = self.lines.get(self.at).copied() else {
                return Err(self.syntax("it ends in the middle of a hunk"));
            };
            // Mail programs take the space of an empty line away.
            let (kind, text) = match line.split_first() {
                None | Some((b'\n' | b'\r', _)) => (b' ', line),
                Some((kind, text)) => (*kind, text),
            };
            let (old, new) = match kind {
                b' ' => (1, 1),
                b'-' => (1, 0),
                b'+' => (0, 1),
                _ => {
                    return Err(self.syntax("a line of a hunk begins with space, `-`, `+` or `\\`"));
                }
            };
            let (Some(old), Some(new)) = (old_left.checked_sub(old), new_left.checked_sub(new))
            else {
                return Err(self.syntax("a hunk has more lines than its head says"));
            };
            (old_left, new_left) = (old, new);
            let text = text.to_vec();
            lines.push(HunkLine { kind, text });
            self.at += 1;
            if self.text().is_some_and(|next| next.starts_with('\\')) {
                let last = lines.last_mut().map(|line| &mut line.text);
                if let Some(text) = last
                    && text.last() == Some(&b'\n')
                {
                    text.pop();
                }
                self.at += 1;
            }
        }
        Ok(Hunk {
            old_start: old.0,
            lines,
        })
    }
}

/// `@@ -1,2 +3,4 @@`: start and count of each side.
fn ranges(header: &str) -> Option<[(usize, usize); 2]> {
    let mut words = header.split(' ');
    let range = |word: Option<&str>, sign: char| {
        let word = word?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    if words.next() != Some("@@") {
        return None;
    }
    let (old, new) = (range(words.next(), '-')?, range(words.next(), '+')?);
    (words.next() == Some("@@")).then_some([old, new])
}

#[cfg(test)]
mod tests;
