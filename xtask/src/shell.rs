//! Starting other programs: shown before they run, their output passed on line by line and kept.
//! It does not know what the programs are.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

/// What a program left behind that was watched while it ran.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Whether it exited with 0.
    pub(crate) succeeded: bool,
    /// Both output streams, in the order their lines arrived per stream: stdout first, then stderr.
    pub(crate) text: String,
}

/// Runs `command` with its output shown as it comes. True when it exited with 0.
///
/// # Errors
/// When the program cannot be started.
pub(crate) fn run(command: &mut Command) -> Result<bool> {
    announce(command);
    let status = command
        .status()
        .with_context(|| format!("start {}", line(command)))?;
    Ok(status.success())
}

/// As [`run`], and an exit other than 0 is an error too.
///
/// # Errors
/// When the program cannot be started or fails.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    if run(command)? {
        Ok(())
    } else {
        bail!("failed: {}", line(command))
    }
}

/// Runs `command` unseen and gives its stdout.
///
/// # Errors
/// When it cannot be started, fails, or prints bytes that are no UTF-8.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("start {}", line(command)))?;
    if !output.status.success() {
        bail!(
            "failed: {}\n{}",
            line(command),
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("read the output of {}", line(command)))
}

/// Runs `command`, shows its output as it comes and keeps it.
///
/// # Errors
/// When it cannot be started or its output cannot be read.
pub(crate) fn watch(command: &mut Command) -> Result<Watched> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {}", line(command)))?;
    let stdout = child.stdout.take().context("take the child's stdout")?;
    let stderr = child.stderr.take().context("take the child's stderr")?;
    let (out, err) = std::thread::scope(|scope| {
        let out = scope.spawn(|| pass_on(stdout, &mut std::io::stdout()));
        let err = pass_on(stderr, &mut std::io::stderr());
        (out.join(), err)
    });
    let out = match out {
        Ok(read) => read?,
        Err(_panic) => bail!("the reader of {} stopped", line(command)),
    };
    let status = child
        .wait()
        .with_context(|| format!("wait for {}", line(command)))?;
    Ok(Watched {
        succeeded: status.success(),
        text: out + &err?,
    })
}

fn pass_on(from: impl Read, to: &mut impl Write) -> Result<String> {
    let mut kept = String::new();
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    while reader
        .read_until(b'\n', &mut bytes)
        .context("read a program's output")?
        > 0
    {
        to.write_all(&bytes).context("pass a program's output on")?;
        kept.push_str(&String::from_utf8_lossy(&bytes));
        bytes.clear();
    }
    Ok(kept)
}

fn announce(command: &Command) {
    eprintln!("$ {}", line(command));
}

/// The command as a person would type it; for messages only.
fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|argument| argument.to_string_lossy().into_owned()),
    );
    words.join(" ")
}
