//! Globs over paths: `*` and `?` within one component, `**` across any number of them.

/// Steps that comparing files with globs may take; as many as nobody has to wait long for.
pub const STEPS_MAX: u64 = 1_000_000_000;

/// Steps that it takes at most to compare each of `paths` with each of `globs`.
pub fn steps(
    globs: impl Iterator<Item: AsRef<str>>,
    paths: impl Iterator<Item: AsRef<str>>,
) -> u64 {
    fn parts(texts: impl Iterator<Item: AsRef<str>>) -> u64 {
        let parts = |text: &str| text.split('/').count() as u64;
        texts.map(|text| parts(text.as_ref())).sum()
    }
    parts(globs).saturating_mul(parts(paths))
}

/// Whether `glob` means `path`, or a folder that it lies in.
#[must_use]
pub fn matches(glob: &str, path: &str) -> bool {
    leads(glob, path).0
}

/// Whether `glob` means `path` itself.
#[must_use]
pub fn matches_whole(glob: &str, path: &str) -> bool {
    leads(glob, path).1
}

/// Whether `glob` matches the first components of `path`, and whether it matches all of them.
fn leads(glob: &str, path: &str) -> (bool, bool) {
    let glob: Vec<&str> = glob.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    let glob = glob.as_slice();
    let mut leading = false;
    // Which rests of the glob may still match, one flag each: no more work than components.
    let mut open = vec![false; glob.len() + 1];
    if let Some(first) = open.first_mut() {
        *first = true;
    }
    skip_any(glob, &mut open);
    for part in path {
        let mut next = vec![false; glob.len() + 1];
        for (at, piece) in glob.iter().enumerate() {
            if !open[at] {
                continue;
            }
            if *piece == "**" {
                next[at] = true;
            } else if component(piece.as_bytes(), part.as_bytes()) {
                next[at + 1] = true;
            }
        }
        skip_any(glob, &mut next);
        leading |= next[glob.len()];
        open = next;
    }
    (leading, open[glob.len()])
}

/// `**` also matches no component at all.
fn skip_any(glob: &[&str], open: &mut [bool]) {
    for (at, piece) in glob.iter().enumerate() {
        if open[at] && *piece == "**" {
            open[at + 1] = true;
        }
    }
}

fn component(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the last `*` stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(b'?') => (at, from) = (at + 1, from + 1),
            Some(byte) if *byte == text[from] => (at, from) = (at + 1, from + 1),
            _ => match star {
                Some((back, taken)) => {
                    star = Some((back, taken + 1));
                    (at, from) = (back + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}
