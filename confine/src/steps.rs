//! The steps of the sequence, grouped by who takes them.

pub mod command;
pub mod cpu_files;
pub mod proc_view;
pub mod session;

use nix::errno::Errno;

use crate::report::Status;

/// What a step came to.
#[derive(Debug, Clone)]
pub struct Taken {
    /// In force, degraded or not asked.
    pub status: Status,
    /// Value applied, in words.
    pub applied: String,
}

impl Taken {
    /// In force, with the value in words.
    pub fn enforced(applied: impl Into<String>) -> Self {
        Self {
            status: Status::Enforced,
            applied: applied.into(),
        }
    }

    /// The policy or mode does not ask for it.
    pub fn not_asked(why: impl Into<String>) -> Self {
        Self {
            status: Status::NotAsked,
            applied: why.into(),
        }
    }

    /// Missing, and the policy lets that pass.
    pub fn degraded(why: impl Into<String>) -> Self {
        Self {
            status: Status::Degraded(why.into()),
            applied: String::new(),
        }
    }
}

/// Why a step failed. The program then never starts.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{doing}")]
pub struct StepError {
    /// What was being done.
    pub doing: String,
    /// The kernel's answer.
    #[source]
    pub errno: Errno,
}

impl StepError {
    /// For use in `map_err`.
    pub fn at(doing: impl Into<String>) -> impl FnOnce(Errno) -> Self {
        let doing = doing.into();
        move |errno| Self { doing, errno }
    }

    /// From an error of std.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |error| Self {
            doing,
            errno: error.raw_os_error().map_or(Errno::EIO, Errno::from_raw),
        }
    }
}
