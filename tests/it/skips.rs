//! What a test needs and a host may lack: told in one line, counted by `./x test`, never silent.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Tells that a test, or `test/part`, cannot run here.
pub(crate) fn skip(name: &str, reason: &str) {
    let line = format!("SKIP {name}: {reason}");
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("ROLLCAGE_SKIP_LOG") {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&log)
            .expect("open the skip log");
        // One write of one short line: parallel tests do not mix theirs.
        file.write_all(format!("{line}\n").as_bytes())
            .expect("write the skip log");
    }
}

/// Whether this process is root; else the test is skipped.
pub(crate) fn is_root(test: &str) -> bool {
    let root = nix::unistd::Uid::effective().is_root();
    if !root {
        skip(
            test,
            "drives the daemon in root mode, and this user is not root",
        );
    }
    root
}

/// Whether a file of the host is there; else the test is skipped.
pub(crate) fn has_file(test: &str, file: &str) -> bool {
    let there = Path::new(file).exists();
    if !there {
        skip(test, &format!("{file} is missing"));
    }
    there
}

/// The folder with the six programs, which `./x test` names.
pub(crate) fn bin_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os("ROLLCAGE_BIN_DIR") {
        return PathBuf::from(folder);
    }
    let own = std::env::current_exe().expect("own path");
    let built = own
        .ancestors()
        .map(|folder| folder.join("rollcage/debug/bin"))
        .find(|folder| folder.join("sandboxd").is_file());
    built.expect("the programs are not built: use `./x test`, or `./x build` first")
}

/// The repository.
pub(crate) fn repository() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the folder above tests/").to_owned()
}
