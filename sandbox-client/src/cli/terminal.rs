//! Where text goes: data on stdout, talk on stderr; whether there is colour, and how wide it may be.

use std::io::{ErrorKind, IsTerminal, Write};

use serde_json::Value;

use super::failure::Failure;
use crate::env_vars;

/// Standard output and error of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// JSON on stdout instead of text for people.
    pub(crate) json: bool,
    /// Whether stderr is a terminal, so that progress may move.
    pub(crate) moving: bool,
    /// Whether stdout may have colour. Colour never carries meaning of its own.
    pub(crate) color: bool,
    /// Columns of stdout, if it is a terminal.
    pub(crate) width: Option<usize>,
}

/// A colour of the sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Green,
    Yellow,
    Bold,
}

impl Terminal {
    /// Of this process, as its descriptors and environment say.
    pub(crate) fn of_process(json: bool) -> Self {
        let dumb = env_vars::read("TERM").is_some_and(|term| term == "dumb");
        let plain = dumb || env_vars::read(env_vars::NO_COLOR).is_some();
        let stdout = std::io::stdout();
        let width = terminal_size::terminal_size_of(&stdout)
            .map(|(terminal_size::Width(columns), _)| usize::from(columns));
        Self {
            json,
            moving: std::io::stderr().is_terminal() && !dumb,
            color: stdout.is_terminal() && !plain && !json,
            width: width.filter(|_| stdout.is_terminal()),
        }
    }

    /// Says a line to people.
    pub(crate) fn talk(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        // Where nobody listens there is nothing to tell and nobody to tell it to.
        let (Ok(()) | Err(_)) = writeln!(stderr, "rollcage: {text}");
    }

    /// Writes data.
    pub(crate) fn data(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(stdout_failure)
    }

    /// Writes a program's error output.
    pub(crate) fn program_stderr(&self, bytes: &[u8]) {
        let mut stderr = std::io::stderr().lock();
        let (Ok(()) | Err(_)) = stderr.write_all(bytes);
    }

    /// Writes a line of data.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.data(format!("{text}\n").as_bytes())
    }

    /// Writes a JSON document on one line.
    pub(crate) fn json_line(&self, document: &Value) -> Result<(), Failure> {
        self.line(&document.to_string())
    }

    /// Colours text for stdout, where that is wanted.
    pub(crate) fn paint(&self, color: Color, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match color {
            Color::Red => 31,
            Color::Green => 32,
            Color::Yellow => 33,
            Color::Bold => 1,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

fn stdout_failure(source: std::io::Error) -> Failure {
    match source.kind() {
        ErrorKind::BrokenPipe => Failure::StdoutClosed,
        _ => Failure::Local {
            what: "write to stdout".to_owned(),
            source,
        },
    }
}
