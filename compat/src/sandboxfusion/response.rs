//! The answers of `/run_code` as SandboxFusion's clients read them.

use std::collections::BTreeMap;

use serde::Serialize;

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// How it came out.
    pub status: Status,
    /// What the stages do not say: a limit that ended one, a file that was not there.
    pub message: String,
    /// Building the program; none where the language is not built.
    pub compile_result: Option<StageAnswer>,
    /// Running it; none where building failed.
    pub run_result: Option<StageAnswer>,
    /// The node that did it.
    pub executor_pod_name: Option<String>,
    /// Files that were asked for, in base64.
    pub files: BTreeMap<String, String>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageAnswer {
    /// How it ended.
    pub status: StageStatus,
    /// Wall-clock time in seconds.
    pub execution_time: f64,
    /// CPU time of all its processes in seconds.
    pub cpu_time: f64,
    /// Its exit code; negative: the signal that ended it; none: its time was up.
    pub return_code: Option<i32>,
    /// Standard output; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
}

/// How a request came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Status {
    /// All stages ended with exit code 0.
    Success,
    /// The program did not compile, exited otherwise, or reached a limit.
    Failed,
    /// Nothing can be said about the program. Sent only with an HTTP status that is not 200.
    SandboxError,
}

/// How a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum StageStatus {
    /// It ended by itself, or a limit other than time ended it.
    Finished,
    /// Its time was up.
    TimeLimitExceeded,
}

impl Answer {
    /// The answer to a request that says nothing about its program.
    #[must_use]
    pub fn sandbox_error(message: impl Into<String>) -> Self {
        Self {
            status: Status::SandboxError,
            message: message.into(),
            compile_result: None,
            run_result: None,
            executor_pod_name: None,
            files: BTreeMap::new(),
        }
    }
}

impl StageAnswer {
    /// Whether the next stage may follow.
    pub(crate) fn is_success(&self) -> bool {
        self.status == StageStatus::Finished && self.return_code == Some(0)
    }
}
