//! Kinds that the run itself answers: exit code and standard output.

use serde::{Deserialize, Serialize};

use super::VerifyError;

/// Judged by the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExitCodeSpec {
    /// The code that passes, 0 to 255.
    pub exit_code: i32,
}

/// Judged by standard output; the exit code must be right as well.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StdoutSpec {
    /// What standard output must be.
    pub stdout: Vec<u8>,
    /// White space at the ends of lines and of the output does not count.
    pub ignore_trailing_space: bool,
    /// Numbers may differ by this much, absolutely or relative to the expected one; implies
    /// that runs of white space within a line are one separator.
    pub float_tolerance: Option<f64>,
    /// The exit code that is right, 0 to 255.
    pub exit_code: i32,
}

impl ExitCodeSpec {
    pub(super) fn validate(self) -> Result<(), VerifyError> {
        check_exit_code(self.exit_code)
    }
}

impl StdoutSpec {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        check_exit_code(self.exit_code)?;
        check_tolerance(self.float_tolerance)
    }
}

/// Checks an exit code.
pub(super) fn check_exit_code(code: i32) -> Result<(), VerifyError> {
    if (0..=255).contains(&code) {
        return Ok(());
    }
    Err(VerifyError::Invalid {
        field: "exit_code",
        value: code.to_string(),
        expected: "give a number from 0 to 255",
    })
}

/// Checks the tolerance of numbers.
pub(super) fn check_tolerance(tolerance: Option<f64>) -> Result<(), VerifyError> {
    match tolerance {
        Some(by) if !(by.is_finite() && by >= 0.0) => Err(VerifyError::Invalid {
            field: "float_tolerance",
            value: by.to_string(),
            expected: "give a finite number of at least 0",
        }),
        _ => Ok(()),
    }
}
