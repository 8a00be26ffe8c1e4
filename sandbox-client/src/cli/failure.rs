//! Why a command could not do its work, and the exit code of each such reason.
//! What a program did is never here.

use std::path::PathBuf;

use serde_json::json;

use super::grade::TaskError;
use super::terminal::Terminal;
use crate::client::MESSAGE_BYTES_MAX;
use crate::embedded::EmbeddedError;
use crate::endpoint::EndpointError;
use crate::error::ClientError;

/// Exit code: the answer is no (a log that does not verify, a policy with errors).
pub(crate) const NEGATIVE: u8 = 1;
/// Exit code: the command line or an input file cannot be used.
pub(crate) const USAGE: u8 = 2;
/// Exit code: the sandbox failed or the request was refused.
pub(crate) const SANDBOX: u8 = 125;
/// Exit code: interrupted from the keyboard.
pub(crate) const INTERRUPTED: u8 = 130;
/// Exit code: the reader of our stdout went away, as if SIGPIPE had ended us.
const STDOUT_CLOSED: u8 = 141;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line asks for something that cannot be.
    #[error("{message}")]
    Usage { message: String },
    /// A local file cannot be read.
    #[error("read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A local file cannot be written.
    #[error("write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Files and standard input of one request are too much for one message.
    #[error(
        "{what} takes {bytes} bytes; the files and standard input of one run may take {} MiB together",
        MESSAGE_BYTES_MAX >> 20
    )]
    TooLarge { what: String, bytes: u64 },
    /// An endpoint that cannot be used.
    #[error("use --connect")]
    Endpoint(#[source] EndpointError),
    /// No daemon of our own.
    #[error("no daemon is running and none could be started")]
    Embedded(#[source] EmbeddedError),
    /// The daemon refused or failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The daemon's answer does not fit this version of the contract.
    #[error("read the daemon's answer: {what}")]
    Answer { what: String },
    /// A file of keys that cannot be used.
    #[error("use {}", path.display())]
    Keys {
        path: PathBuf,
        #[source]
        source: compat::server::KeyFileError,
    },
    /// An endpoint that cannot be served.
    #[error("serve the endpoint")]
    Serve(#[source] compat::ServeError),
    /// A folder that cannot be graded as a task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Something of this process or machine.
    #[error("{what}")]
    Local {
        what: String,
        #[source]
        source: std::io::Error,
    },
    /// A measurement that could not be made.
    #[error("{what}")]
    Measure { what: String },
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
    /// The reader of our stdout has enough.
    #[error("stdout is closed")]
    StdoutClosed,
}

impl Failure {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Task(TaskError::Needs { .. }) => SANDBOX,
            Self::Task(_)
            | Self::Usage { .. }
            | Self::Read { .. }
            | Self::TooLarge { .. }
            | Self::Keys { .. }
            | Self::Serve(compat::ServeError::OpenToAll { .. })
            | Self::Endpoint(_) => USAGE,
            Self::Embedded(_)
            | Self::Client(_)
            | Self::Answer { .. }
            | Self::Write { .. }
            | Self::Measure { .. }
            | Self::Serve(_)
            | Self::Local { .. } => SANDBOX,
            Self::Interrupted => INTERRUPTED,
            Self::StdoutClosed => STDOUT_CLOSED,
        }
    }

    /// Tells people on stderr and, if asked for JSON, programs on stdout; gives the exit code.
    pub(crate) fn report(&self, terminal: &Terminal) -> u8 {
        if matches!(self, Self::StdoutClosed) {
            return self.code();
        }
        let text = chain(self);
        terminal.talk(&text);
        if terminal.json && !matches!(self, Self::Interrupted) {
            let answer = match self {
                Self::Client(error) => error.answer(),
                _ => None,
            };
            let document = json!({"error": {
                "code": answer.map_or("local", |answer| answer.code.as_str()),
                "reason": answer.map_or("", |answer| answer.reason.as_str()),
                "field": answer.and_then(|answer| answer.field.clone()),
                "message": answer.map_or(text.as_str(), |answer| answer.message.as_str()),
            }});
            if let Err(failure) = terminal.json_line(&document) {
                return failure.code();
            }
        }
        self.code()
    }
}

/// An error and its causes, outermost first.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some libraries repeat their cause in their own text.
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
