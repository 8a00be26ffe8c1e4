//! Taking the files that a request asked for out of a sandbox.
//!
//! They come as frames through a pipe whose other end a sandbox holds: lengths, counts and names
//! are allegations. Nothing here touches a file system.

use std::io;
use std::os::fd::OwnedFd;

use confine::wire::{CollectProblem, CollectSpec, CollectedFile};
use policies::EffectiveLimits;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

use super::streams::output_pipe;

/// Most bytes of one run's collected files: half of the largest message.
pub const COLLECT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Most files of one run.
const COLLECT_FILES_MAX: u32 = 10_000;
/// Most bytes of a workspace that a verification starts from.
pub(crate) const EVERYTHING_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most files of it.
pub(crate) const EVERYTHING_FILES_MAX: u32 = 50_000;
/// What a frame may have beside the file's content, in bytes: path, mode, lengths.
pub const FRAME_EXTRA_BYTES_MAX: u64 = 8 * 1024;

/// Files could not be taken out.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The pipe failed, or ended in the middle of a frame.
    #[error("the files' pipe ended early")]
    Pipe(#[source] io::Error),
    /// More than was asked for.
    #[error("more files or bytes than were asked for")]
    TooMuch,
    /// Not a file's frame.
    #[error("a frame is no file")]
    Decode(#[source] postcard::Error),
}

/// What to ask init for, with the end of the pipe for it.
pub(crate) type Asking = (CollectSpec, OwnedFd);
/// The task at our end of the pipe: files, and why there are not more of them.
pub(crate) type Collecting = JoinHandle<(Vec<CollectedFile>, Option<CollectError>)>;

/// What is wanted of a sandbox when its program is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The files that were asked for.
    Asked,
    /// The same where it is us who ask: as much as a verification may start from.
    AskedByUs,
    /// Besides them all of `/workspace`, for a verification.
    Everything,
}

/// The pattern of [`Wanted::Everything`].
pub(crate) const EVERYTHING: &str = "**";

/// Prepares collecting; `None` if nothing was asked for.
///
/// # Errors
/// If no more pipes can be made.
pub(crate) fn begin(
    patterns: &[String],
    limits: &EffectiveLimits,
    wanted: Wanted,
) -> io::Result<Option<(Asking, Collecting)>> {
    let mut patterns = patterns.to_vec();
    let (bytes_max, files_max) = match wanted {
        Wanted::Asked if patterns.is_empty() => return Ok(None),
        Wanted::Asked => (COLLECT_BYTES_MAX, COLLECT_FILES_MAX),
        Wanted::AskedByUs => (EVERYTHING_BYTES_MAX, EVERYTHING_FILES_MAX),
        Wanted::Everything => {
            patterns.push(EVERYTHING.to_owned());
            (EVERYTHING_BYTES_MAX, EVERYTHING_FILES_MAX)
        }
    };
    let (ours, theirs) = output_pipe()?;
    let spec = CollectSpec {
        patterns,
        bytes_max: limits.disk_bytes_max.min(bytes_max),
        files_max,
    };
    let bounds = Bounds {
        bytes_max,
        files_max,
    };
    Ok(Some(((spec, theirs), tokio::spawn(read(ours, bounds)))))
}

/// The most that is read, whatever init says.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    bytes_max: u64,
    files_max: u32,
}

/// Waits for the files; what is wrong with them is added to `problems`.
pub(crate) async fn finish(
    collecting: Collecting,
    problems: &mut Vec<CollectProblem>,
) -> Vec<CollectedFile> {
    let (files, problem) = match collecting.await {
        Ok((files, problem)) => (files, problem.map(|error| error.to_string())),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    if let Some(reason) = problem {
        let path = String::new();
        problems.push(CollectProblem { path, reason });
    }
    files
}

/// Reads files until the end of `pipe`, or until something is wrong with them, which is told
/// beside those that came before.
pub async fn read_files(
    pipe: impl AsyncRead + Unpin,
) -> (Vec<CollectedFile>, Option<CollectError>) {
    let bounds = Bounds {
        bytes_max: COLLECT_BYTES_MAX,
        files_max: COLLECT_FILES_MAX,
    };
    read(pipe, bounds).await
}

async fn read(
    mut pipe: impl AsyncRead + Unpin,
    bounds: Bounds,
) -> (Vec<CollectedFile>, Option<CollectError>) {
    let mut files = Vec::new();
    let mut bytes_left = bounds.bytes_max;
    loop {
        if files.len() >= bounds.files_max as usize {
            return (files, Some(CollectError::TooMuch));
        }
        match read_file(&mut pipe, &mut bytes_left).await {
            Ok(Some(file)) => files.push(file),
            Ok(None) => return (files, None),
            Err(error) => return (files, Some(error)),
        }
    }
}

async fn read_file(
    pipe: &mut (impl AsyncRead + Unpin),
    bytes_left: &mut u64,
) -> Result<Option<CollectedFile>, CollectError> {
    let mut prefix = [0; 4];
    let first = pipe.read(&mut prefix).await.map_err(CollectError::Pipe)?;
    if first == 0 {
        return Ok(None);
    }
    let rest = prefix.get_mut(first..).unwrap_or_default();
    pipe.read_exact(rest).await.map_err(CollectError::Pipe)?;
    let length = u32::from_le_bytes(prefix);
    if u64::from(length) > bytes_left.saturating_add(FRAME_EXTRA_BYTES_MAX) {
        return Err(CollectError::TooMuch);
    }
    let mut frame = Vec::new();
    let mut part = pipe.take(u64::from(length));
    part.read_to_end(&mut frame)
        .await
        .map_err(CollectError::Pipe)?;
    if frame.len() < length as usize {
        return Err(CollectError::Pipe(io::ErrorKind::UnexpectedEof.into()));
    }
    let file: CollectedFile = postcard::from_bytes(&frame).map_err(CollectError::Decode)?;
    *bytes_left = bytes_left.saturating_sub(file.content.len() as u64);
    Ok(Some(file))
}

#[cfg(test)]
mod tests;
