//! Files of the command line, checked one after the other. It knows no file but those that are named.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use syntax::{FILE_BYTES_MAX, Image, Language, Source, check_imports, check_syntax};

/// Checks `paths` and writes what was found.
///
/// # Errors
/// When standard output takes no more.
pub(crate) fn check_all(paths: &[OsString], imports: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let image = Image::here(Path::new("."));
    let (mut checked, mut skipped) = (0_u64, 0_u64);
    for path in paths {
        let Some((name, language, text)) = readable(Path::new(path)) else {
            skipped += 1;
            continue;
        };
        checked += 1;
        let source = Source {
            path: &name,
            text: &text,
            language,
        };
        let mut found = check_syntax(&source);
        if imports && found.is_empty() {
            found = check_imports(&source, &image);
        }
        for diagnostic in &found {
            serde_json::to_writer(&mut out, diagnostic)?;
            out.write_all(b"\n")?;
        }
    }
    let end = serde_json::json!({"checked": checked, "skipped": skipped});
    serde_json::to_writer(&mut out, &end)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A plain file of a known language and bearable size.
fn readable(path: &Path) -> Option<(String, Language, Vec<u8>)> {
    let language = Language::of_path(path)?;
    let name = path.to_str()?.to_owned();
    let about = fs::symlink_metadata(path).ok()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    let text = fs::read(path).ok()?;
    Some((name, language, text))
}
