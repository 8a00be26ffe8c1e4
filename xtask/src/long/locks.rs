//! The matrix of locks and the probes that notice their loss: found by the tests called
//! `mutation`, put together here as `docs/locks-matrix.md`.

use crate::{binaries, runs, shell};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Tables that the tests leave, in order.
const TABLES: [&str; 2] = ["root.md", "rootless.md"];

/// What the page says of its tables.
const INTRO: &str = "\
    A test build can have one step of the sequence, or one lock of the launcher, switched off, \
    and still reports it as enforced.\n\
    Such a build also leaves off the locks of the forkers themselves, which would hide the loss.\n\
    Each line is a daemon of such a build: its self-test has to notice, and the daemon has to \
    refuse to serve with a message that names a probe, or the step that failed where nothing \
    starts.\n\
    *Switched off* says what such a build does: most are left out, some are taken in a weaker \
    way, where leaving them out would show nothing or would be the host's loss.\n\
    A record names at most 16 wrong rows of a plan, so that \"and more\" has no number.\n\
    Rows called `host:` are seen by the launcher from outside, `init:` by process 1 of itself; \
    all others a program in the sandbox has tried.\n\
    \n\
    *No start* means that the kernel or a later step refuses to go on without it: no program \
    runs, so no probe can fail, and what is noticed is the failed step.\n\
    It is the answer for these alone:\n\
    \n\
    * `no_new_privs`: the kernel lays Landlock rules for a process without capabilities only \
    when it can gain none;\n\
    * `ns_mnt`: the steps that take the sandbox's files need a mount namespace that is the \
    sandbox's own;\n\
    * without root `maps`, `ns_pid` and `ns_user`: mounts need an id that is mapped, a procfs \
    needs an own pid namespace, and an ordinary user makes any other namespace only in a user \
    namespace of its own.\n";

/// Runs the tests and writes the page.
///
/// # Errors
/// When the tests cannot be run or left no table.
pub(crate) fn write(root: &Path) -> Result<ExitCode> {
    let folder = binaries::target_folder(root)?
        .join("rollcage")
        .join("mutation");
    for table in TABLES {
        let file = folder.join(table);
        if file.exists() {
            fs::remove_file(&file).with_context(|| format!("remove {}", file.display()))?;
        }
    }
    let code = runs::integration(root, &["mutation"])?;
    let kernel = shell::capture(Command::new("uname").arg("-r"))?;
    let mut page = format!(
        "# Which probe notices which lock\n\nWritten by `./x locks`, here on Linux {}.\n\n{INTRO}",
        kernel.trim()
    );
    for table in TABLES {
        let file = folder.join(table);
        let text = fs::read_to_string(&file)
            .with_context(|| format!("read {}, which the tests leave", file.display()))?;
        page.push('\n');
        page.push_str(&text);
    }
    let to = root.join("docs").join("locks-matrix.md");
    fs::write(&to, page).with_context(|| format!("write {}", to.display()))?;
    Ok(code)
}
