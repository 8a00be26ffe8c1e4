//! Writing and reading the payload's files, done by children that are the payload's user and sit
//! in its cgroups: whatever a path leads to, it cannot reach more than the payload itself.

mod patterns;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::{Mode as FileMode, fchmod, mkdirat};

use self::patterns::path_matches;
use super::child::ChildFrame;
use crate::packet;
use crate::steps::StepError;
use crate::steps::command::{self, Command};
use crate::wire::{Archive, ArchiveFile, CollectProblem, CollectSpec, CollectedFile};

/// Where files live.
pub(super) const WORKSPACE: &str = "/workspace";
/// Entries looked at for wildcards, so that a million files cannot keep us busy.
const ENTRIES_MAX: usize = 200_000;

fn beneath(flags: OFlag, mode: u32) -> OpenHow {
    let resolve = ResolveFlag::RESOLVE_BENEATH
        | ResolveFlag::RESOLVE_NO_SYMLINKS
        | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .mode(FileMode::from_bits_truncate(mode))
        .resolve(resolve)
}

fn open_folder(path: &str) -> Result<OwnedFd, Errno> {
    nix::fcntl::open(
        path,
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        FileMode::empty(),
    )
}

/// Body of the child that writes files. Its exit code is 0 if it could tell how it went.
pub(super) fn stage(mut command: Command, archive: OwnedFd, report: BorrowedFd<'_>) -> i32 {
    let (frame, kept) = match settle(&mut command, report, vec![archive]) {
        Ok((own, mut rest)) => {
            let folder = command.boot.host_path(WORKSPACE);
            let frame = match rest.pop() {
                Some(archive) => write_all(archive, &folder),
                None => failed("", Errno::EBADF),
            };
            (frame, Some(own))
        }
        Err(error) => (failed("", error.errno), None),
    };
    let report = kept.as_ref().map_or(report, AsFd::as_fd);
    i32::from(packet::send(report, &frame, &[]).is_err())
}

/// Becomes the payload with nothing but a report socket and `fds`.
fn settle(
    command: &mut Command,
    report: BorrowedFd<'_>,
    mut fds: Vec<OwnedFd>,
) -> Result<(OwnedFd, Vec<OwnedFd>), StepError> {
    let copy = report
        .try_clone_to_owned()
        .map_err(StepError::io("copy the report socket"))?;
    fds.push(copy);
    let mut kept = command::become_payload(command, fds)?;
    let own = kept.pop().ok_or(StepError {
        doing: "keep the report socket".into(),
        errno: Errno::EBADF,
    })?;
    Ok((own, kept))
}

fn failed(path: &str, errno: Errno) -> ChildFrame {
    ChildFrame::StageFailed {
        path: path.to_owned(),
        errno: errno as i32,
    }
}

fn write_all(archive: OwnedFd, folder: &str) -> ChildFrame {
    let archive: Archive = match packet::unseal(archive) {
        Ok(archive) => archive,
        Err(error) => return failed("", error.errno()),
    };
    let root = match open_folder(folder) {
        Ok(root) => root,
        Err(errno) => return failed(WORKSPACE, errno),
    };
    let mut bytes = 0u64;
    for file in &archive.files {
        if let Err(errno) = write_one(&root, file) {
            return failed(&file.path, errno);
        }
        bytes = bytes.saturating_add(file.content.len() as u64);
    }
    ChildFrame::Staged {
        files: u32::try_from(archive.files.len()).unwrap_or(u32::MAX),
        bytes,
    }
}

fn write_one(root: &OwnedFd, file: &ArchiveFile) -> Result<(), Errno> {
    let path = Path::new(&file.path);
    let plain = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    if file.path.is_empty() || !plain {
        return Err(Errno::EINVAL);
    }
    let mut made = None;
    for parent in path.parent().into_iter().flat_map(Path::components) {
        let above = made.as_ref().unwrap_or(root);
        match mkdirat(
            above,
            parent.as_os_str(),
            FileMode::from_bits_truncate(0o755),
        ) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(errno),
        }
        // By descriptor: a link in the middle of a path would be followed.
        let folder = OFlag::O_PATH | OFlag::O_DIRECTORY;
        made = Some(openat2(above, parent.as_os_str(), beneath(folder, 0))?);
    }
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC | OFlag::O_NOFOLLOW;
    let fd = openat2(root, path, beneath(flags, 0o600))?;
    let mut out = std::fs::File::from(fd);
    out.write_all(&file.content)
        .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
    fchmod(out.as_fd(), FileMode::from_bits_truncate(file.mode & 0o777))
}

/// Body of the child that reads files into a pipe.
pub(super) fn collect(
    mut command: Command,
    spec: OwnedFd,
    pipe: OwnedFd,
    report: BorrowedFd<'_>,
) -> i32 {
    let nothing = |reason: String| ChildFrame::Collected {
        files: 0,
        problems: vec![CollectProblem {
            path: String::new(),
            reason,
        }],
    };
    let (frame, kept) = match settle(&mut command, report, vec![spec, pipe]) {
        Ok((own, mut rest)) => {
            let folder = command.boot.host_path(WORKSPACE);
            let frame = match (rest.pop(), rest.pop()) {
                (Some(pipe), Some(spec)) => match packet::unseal::<CollectSpec>(spec) {
                    Ok(spec) => read_all(&spec, pipe, &folder),
                    Err(error) => nothing(error.to_string()),
                },
                _ => nothing("descriptors are missing".to_owned()),
            };
            (frame, Some(own))
        }
        Err(error) => (nothing(error.to_string()), None),
    };
    let report = kept.as_ref().map_or(report, AsFd::as_fd);
    i32::from(packet::send(report, &frame, &[]).is_err())
}

fn read_all(spec: &CollectSpec, pipe: OwnedFd, folder: &str) -> ChildFrame {
    let mut collector = Collector::new(pipe);
    collector.run(spec, folder);
    ChildFrame::Collected {
        files: collector.files,
        problems: collector.problems,
    }
}

/// Problems told one by one; a program can make any number of unreadable files.
const PROBLEMS_MAX: usize = 256;

/// Why one file is not returned.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("is or leads through a symbolic link")]
    Link,
    #[error("is not a regular file")]
    Kind,
    #[error("has {bytes} bytes, {left} are left of the cap")]
    Size { bytes: u64, left: u64 },
    #[error("is beyond the cap of {max} files")]
    Count { max: u32 },
    #[error("{}", .0.desc())]
    Os(Errno),
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    #[error("cannot be encoded")]
    Encoding,
}

struct Collector {
    pipe: std::fs::File,
    files: u32,
    bytes: u64,
    problems: Vec<CollectProblem>,
    /// What was sent or told already: patterns may mean the same file.
    seen: BTreeSet<PathBuf>,
}

impl Collector {
    fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: pipe.into(),
            files: 0,
            bytes: 0,
            problems: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn problem(&mut self, path: &str, reason: &str) {
        if self.problems.len() < PROBLEMS_MAX {
            let cut = path.chars().take(128).collect();
            self.problems.push(CollectProblem {
                path: cut,
                reason: reason.to_owned(),
            });
        }
    }

    fn run(&mut self, spec: &CollectSpec, folder: &str) {
        let root = match open_folder(folder) {
            Ok(root) => root,
            Err(errno) => return self.problem(WORKSPACE, errno.desc()),
        };
        for pattern in &spec.patterns {
            if pattern.contains(['*', '?']) {
                let found = matches_below(&root, pattern, ENTRIES_MAX);
                if found.cut {
                    let reason = format!(
                        "not all of /workspace was looked at: more than {ENTRIES_MAX} entries"
                    );
                    self.problem(pattern, &reason);
                } else if found.paths.is_empty() {
                    self.problem(pattern, "matches no file");
                }
                for path in found.paths {
                    self.send(&root, &path, spec);
                }
            } else {
                self.send(&root, Path::new(pattern), spec);
            }
        }
    }

    fn send(&mut self, root: &OwnedFd, path: &Path, spec: &CollectSpec) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        let shown = path.to_string_lossy().into_owned();
        match self.send_one(root, path, spec) {
            Ok(()) => {}
            Err(reason) => self.problem(&shown, &reason.to_string()),
        }
    }

    fn send_one(
        &mut self,
        root: &OwnedFd,
        path: &Path,
        spec: &CollectSpec,
    ) -> Result<(), Unreadable> {
        // Non-blocking and no-follow: a FIFO, device or link in place of a file must not hold us.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let fd = openat2(root, path, beneath(flags, 0)).map_err(|errno| match errno {
            Errno::ELOOP | Errno::EXDEV => Unreadable::Link,
            other => Unreadable::Os(other),
        })?;
        let file = std::fs::File::from(fd);
        let meta = file.metadata().map_err(Unreadable::Io)?;
        if !meta.is_file() {
            return Err(Unreadable::Kind);
        }
        let left = spec.bytes_max.saturating_sub(self.bytes);
        if meta.size() > left {
            return Err(Unreadable::Size {
                bytes: meta.size(),
                left,
            });
        }
        if self.files >= spec.files_max {
            return Err(Unreadable::Count {
                max: spec.files_max,
            });
        }
        let mut content = Vec::new();
        // The file may still grow: never more than the cap.
        file.take(left)
            .read_to_end(&mut content)
            .map_err(Unreadable::Io)?;
        self.bytes = self.bytes.saturating_add(content.len() as u64);
        self.files = self.files.saturating_add(1);
        let collected = CollectedFile {
            path: path.as_os_str().as_bytes().to_vec(),
            mode: meta.permissions().mode() & 0o777,
            content,
        };
        let encoded = postcard::to_stdvec(&collected).map_err(|_error| Unreadable::Encoding)?;
        let length = u32::try_from(encoded.len()).map_err(|_wide| Unreadable::Encoding)?;
        self.pipe
            .write_all(&length.to_le_bytes())
            .map_err(Unreadable::Io)?;
        self.pipe.write_all(&encoded).map_err(Unreadable::Io)
    }
}

/// What a pattern matches.
struct Found {
    /// Relative paths, sorted.
    paths: Vec<PathBuf>,
    /// There were more entries than are looked at.
    cut: bool,
}

/// Regular files below `root` that match, among the first `entries_max` entries.
fn matches_below(root: &OwnedFd, pattern: &str, entries_max: usize) -> Found {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0usize;
    while let Some(folder) = folders.pop() {
        // By descriptor: a folder that is replaced by a link meanwhile is not followed.
        let place = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &folder
        };
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let Ok(mut entries) = openat2(root, place, beneath(flags, 0)).and_then(Dir::from_fd) else {
            continue;
        };
        for entry in entries.iter().flatten() {
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            seen += 1;
            if seen > entries_max {
                found.sort();
                return Found {
                    paths: found,
                    cut: true,
                };
            }
            let path = folder.join(OsStr::from_bytes(name));
            match entry.file_type() {
                Some(Type::Directory) => folders.push(path),
                Some(Type::File) if path_matches(&parts, &path) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Found {
        paths: found,
        cut: false,
    }
}
