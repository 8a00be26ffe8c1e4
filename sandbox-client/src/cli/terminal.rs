//! Where text goes: data on stdout, talk on stderr; whether there is colour, and how wide it may be.

use std::io::{ErrorKind, IsTerminal, Write};

use serde_json::Value;

use super::failure::Failure;
use super::visible;
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
    /// Whether each is a terminal, which acts on what strangers wrote.
    pub(crate) acts: Acts,
}

/// Which of the two streams a terminal reads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Acts {
    /// Standard output.
    pub(crate) stdout: bool,
    /// Standard error.
    pub(crate) stderr: bool,
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
            acts: Acts {
                stdout: stdout.is_terminal(),
                stderr: std::io::stderr().is_terminal(),
            },
        }
    }

    /// Says a line to people. What it quotes may be a stranger's.
    pub(crate) fn talk(&self, text: &str) {
        let text = visible::text(text);
        let mut stderr = std::io::stderr().lock();
        // Where nobody listens there is nothing to tell and nobody to tell it to.
        let (Ok(()) | Err(_)) = writeln!(stderr, "rollcage: {text}");
    }

    /// Writes data as it is.
    pub(crate) fn data(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(stdout_failure)
    }

    /// Writes to stderr what it is given.
    fn error_data(&self, bytes: &[u8]) {
        let mut stderr = std::io::stderr().lock();
        let (Ok(()) | Err(_)) = stderr.write_all(bytes);
    }

    /// Writes text with our own colours.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        if self.acts.stdout {
            self.data(visible::text(text).as_bytes())
        } else {
            self.data(text.as_bytes())
        }
    }

    /// Writes a line of text with our own colours.
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.text(&format!("{text}\n"))
    }

    /// Writes a JSON document on one line.
    pub(crate) fn json_line(&self, document: &Value) -> Result<(), Failure> {
        self.json_text(&document.to_string())
    }

    /// Writes a JSON document that is text already, byte for byte unless a terminal reads it.
    pub(crate) fn json_text(&self, document: &str) -> Result<(), Failure> {
        let line = if self.acts.stdout {
            format!("{}\n", visible::json(document))
        } else {
            format!("{document}\n")
        };
        self.data(line.as_bytes())
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

/// A program's output as it comes: byte for byte into files and pipes; on a terminal nothing in it is
/// acted on, unless the caller wants that.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    terminal: Terminal,
    stdout: Option<visible::Stream>,
    stderr: Option<visible::Stream>,
}

impl ProgramOutput {
    /// Nothing written yet; `raw`: terminals get everything.
    pub(crate) fn new(terminal: Terminal, raw: bool) -> Self {
        let shown = |acts: bool| (acts && !raw).then(visible::Stream::default);
        Self {
            terminal,
            stdout: shown(terminal.acts.stdout),
            stderr: shown(terminal.acts.stderr),
        }
    }

    /// The next part of standard output.
    pub(crate) fn stdout(&mut self, part: &[u8]) -> Result<(), Failure> {
        match &mut self.stdout {
            Some(stream) => self.terminal.data(stream.next(part).as_bytes()),
            None => self.terminal.data(part),
        }
    }

    /// The next part of standard error.
    pub(crate) fn stderr(&mut self, part: &[u8]) {
        match &mut self.stderr {
            Some(stream) => self.terminal.error_data(stream.next(part).as_bytes()),
            None => self.terminal.error_data(part),
        }
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        if let Some(stream) = &mut self.stderr {
            self.terminal.error_data(stream.end().as_bytes());
        }
        match &mut self.stdout {
            Some(stream) => self.terminal.data(stream.end().as_bytes()),
            None => Ok(()),
        }
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
