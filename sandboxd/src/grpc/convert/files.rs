//! Input files and the patterns of `collect`: paths that stay below `/workspace`, sizes that fit.

use std::collections::{BTreeMap, BTreeSet};

use policies::EffectiveLimits;
use proto::v1;

use super::{COLLECT_MAX, FILES_BYTES_MAX, size};
use crate::grpc::status::{ApiError, shorten};
use crate::run::request::InputFile;

/// Longest path in bytes.
pub(super) const PATH_BYTES_MAX: usize = 4096;
/// Longest component of a path in bytes: the kernel's own limit.
const COMPONENT_BYTES_MAX: usize = 255;
/// Permission bits of a file that names none.
const MODE_DEFAULT: u32 = 0o644;

/// All files of a request's `name`, with paths relative to `/workspace`.
pub(super) fn checked(
    name: &str,
    files: BTreeMap<String, v1::File>,
    limits: &EffectiveLimits,
) -> Result<Vec<InputFile>, ApiError> {
    if size(files.len()) > limits.files_max {
        let problem = format!(
            "{} files; at most {} (limits.files_max)",
            files.len(),
            limits.files_max
        );
        return Err(ApiError::invalid("FILES_TOO_MANY", name, problem));
    }
    let total: u64 = files.values().map(|file| size(file.content.len())).sum();
    if total > FILES_BYTES_MAX || total > limits.disk_bytes_max {
        let problem = format!(
            "{total} bytes in all; at most {} (the smaller of {FILES_BYTES_MAX} and limits.disk_bytes_max)",
            FILES_BYTES_MAX.min(limits.disk_bytes_max),
        );
        return Err(ApiError::invalid("FILES_TOO_LARGE", name, problem));
    }
    let mut paths = BTreeSet::new();
    let mut inputs = Vec::with_capacity(files.len());
    for (written, file) in files {
        let field = format!("{name}[{:?}]", shorten(&written));
        let path = relative_path(&field, &written)?;
        let mode = file.mode.unwrap_or(MODE_DEFAULT);
        if mode > 0o777 {
            let problem = format!("{mode:#o} is outside 0..=0o777");
            return Err(ApiError::invalid(
                "FILE_MODE_INVALID",
                format!("{field}.mode"),
                problem,
            ));
        }
        if !paths.insert(path.to_owned()) {
            return Err(ApiError::invalid(
                "FILE_TWICE",
                field,
                "another path means the same file",
            ));
        }
        inputs.push(InputFile {
            path: path.to_owned(),
            content: file.content,
            mode,
        });
    }
    check_no_file_is_a_folder(name, &paths)?;
    Ok(inputs)
}

/// With `a` a file there can be no `a/b`.
fn check_no_file_is_a_folder(name: &str, paths: &BTreeSet<String>) -> Result<(), ApiError> {
    for path in paths {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some(folder) = folders.into_iter().find(|folder| paths.contains(*folder)) {
            let problem = format!(
                "{:?} is a file of this request and cannot be a folder",
                shorten(folder)
            );
            let field = format!("{name}[{:?}]", shorten(path));
            return Err(ApiError::invalid("FILE_IS_FOLDER", field, problem));
        }
    }
    Ok(())
}

/// A path relative to `/workspace`; absolute ones must lie below it.
fn relative_path<'a>(field: &str, written: &'a str) -> Result<&'a str, ApiError> {
    let refuse = |problem: &str| Err(ApiError::invalid("PATH_INVALID", field, problem));
    if written.len() > PATH_BYTES_MAX {
        let problem = format!("{} bytes; at most {PATH_BYTES_MAX}", written.len());
        return refuse(&problem);
    }
    let path = match written.strip_prefix("/workspace/") {
        Some(below) => below,
        None if written.starts_with('/') => {
            return refuse("an absolute path must lie below /workspace");
        }
        None => written,
    };
    if path.contains('\0') {
        return refuse("has a NUL byte");
    }
    for part in path.split('/') {
        match part {
            "" => return refuse("has an empty component"),
            "." | ".." => return refuse("must not have `.` or `..` as a component"),
            part if part.len() > COMPONENT_BYTES_MAX => {
                return refuse("has a component of more than 255 bytes");
            }
            _ => {}
        }
    }
    Ok(path)
}

/// The patterns of `collect`, relative to `/workspace`.
pub(super) fn patterns(collect: &[String]) -> Result<Vec<String>, ApiError> {
    if collect.len() > COLLECT_MAX {
        let problem = format!("{} patterns; at most {COLLECT_MAX}", collect.len());
        return Err(ApiError::invalid("COLLECT_TOO_MANY", "collect", problem));
    }
    collect
        .iter()
        .enumerate()
        .map(|(index, pattern)| {
            relative_path(&format!("collect[{index}]"), pattern).map(str::to_owned)
        })
        .collect()
}

#[cfg(test)]
mod tests;
