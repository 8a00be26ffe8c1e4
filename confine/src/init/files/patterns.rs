//! What a pattern of files matches, by names alone: `*` and `?` within one name, `**` across folders.
//! It opens nothing. Patterns come from outside, so that none may take long.

#[cfg(test)]
mod tests;

use std::path::Path;

/// Whether the names of `path` are those that a pattern's `parts` stand for.
pub(super) fn path_matches(parts: &[&str], path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    parts_match(parts, &names)
}

/// `**` stands for any number of folders; iterative like [`name_matches`], and for the same reason.
fn parts_match(parts: &[&str], names: &[&str]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while let Some(name) = names.get(n) {
        match parts.get(p) {
            Some(&"**") => {
                star = Some((p, n));
                p += 1;
            }
            Some(part) if name_matches(part.as_bytes(), name.as_bytes()) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((star_p, star_n)) => {
                    p = star_p + 1;
                    n = star_n + 1;
                    star = Some((star_p, n));
                }
                None => return false,
            },
        }
    }
    parts
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|part| *part == "**"))
}

/// `*` and `?` within one name; iterative, so that no pattern is slow.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((star_p, star_n)) => {
                    p = star_p + 1;
                    n = star_n + 1;
                    star = Some((star_p, n));
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}
