//! Paths as a policy writes them: absolute, normal, each standing for all below it.
//!
//! Text only; whether a path exists is the host's business.

/// Whether `path` is absolute and normal: no empty, `.` or `..` part, no end slash, no NUL.
pub(crate) fn is_normal(path: &str) -> bool {
    if path == "/" {
        return true;
    }
    path.strip_prefix('/').is_some_and(|rest| {
        !rest.contains('\0') && rest.split('/').all(|part| !matches!(part, "" | "." | ".."))
    })
}

/// Whether `path` is `ancestor` or lies below it.
pub(crate) fn is_below(path: &str, ancestor: &str) -> bool {
    if ancestor == "/" {
        return path.starts_with('/');
    }
    path.strip_prefix(ancestor)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `path` is equal to or below one of `ancestors`.
pub(crate) fn is_below_any(path: &str, ancestors: &[String]) -> bool {
    ancestors.iter().any(|ancestor| is_below(path, ancestor))
}
