//! What stands behind the endpoints, and the three ways in which it gives no result. Knows no wire.

use std::fmt;

use futures::future::BoxFuture;
use proto::v1::{RunRequest, RunResult};

/// What runs programs.
pub trait Daemon: fmt::Debug + Send + Sync + 'static {
    /// Runs one program. Dropping the future cancels the run.
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<Ran, Trouble>>;

    /// What the policy of this name gives at most.
    fn ceilings<'a>(&'a self, policy: &'a str) -> BoxFuture<'a, Result<Ceilings, Trouble>>;
}

/// A result with all of its output.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// The result.
    pub result: RunResult,
    /// All that was written to standard output, also where the result keeps only head and tail.
    pub stdout: Vec<u8>,
    /// The same of standard error.
    pub stderr: Vec<u8>,
}

/// What a policy gives at most, as far as the endpoints ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Wall-clock time in milliseconds.
    pub wall_ms_max: u64,
    /// CPU time of all processes in milliseconds.
    pub cpu_ms_max: u64,
    /// CPU rate in thousandths of a core.
    pub cpu_millicores_max: u64,
    /// Memory in bytes.
    pub memory_bytes_max: u64,
    /// Bytes of both output streams together, beyond which a run is ended.
    pub output_bytes_total_max: u64,
}

/// Why there is no result. None of these says anything about the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The caller asks for what it cannot have.
    #[error("{message}")]
    Refused {
        /// Path of the field to blame in the request to the daemon, for example `limits.wall_ms_max`.
        field: Option<String>,
        /// For people: field, value and what is allowed.
        message: String,
    },
    /// The daemon is full; the same request may work later.
    #[error("{message}")]
    Busy {
        /// For people.
        message: String,
        /// When to try again, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The daemon or its host is at fault, or cannot be reached.
    #[error("{message}")]
    Fault {
        /// For people.
        message: String,
    },
}

impl Trouble {
    /// A fault, in words.
    #[must_use]
    pub fn fault(message: impl Into<String>) -> Self {
        Self::Fault {
            message: message.into(),
        }
    }
}
