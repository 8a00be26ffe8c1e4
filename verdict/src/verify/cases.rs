//! Many inputs with their outputs, each in a process of its own, compared on the host's side.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Language, VerifyError, check_path, framework, plain};

/// Most cases of one request.
pub const CASES_MAX: usize = 10_000;

/// One case: of a program (`stdin`, `argv` -> `stdout`, `exit_code`), or of a function
/// (`args` -> `expected`, both JSON).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Case {
    /// Its id, unique within the request.
    pub id: String,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Further arguments of the command.
    pub argv: Vec<String>,
    /// What standard output must be; none = any.
    pub stdout: Option<Vec<u8>>,
    /// The exit code that is right.
    pub exit_code: i32,
    /// Arguments of the call, a JSON list.
    pub args: String,
    /// What it must return, as JSON.
    pub expected: String,
}

/// Judged by cases.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CasesSpec {
    /// The solution's file, relative to `/workspace`.
    pub file: String,
    /// Its language.
    pub language: Language,
    /// The command of every case; empty = the language's for `file`.
    pub argv: Vec<String>,
    /// The function to call; empty = the program is run.
    pub function: String,
    /// Compiled languages: the function, as the language writes it.
    pub declaration: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// Whether the first case that fails ends it.
    pub stop_on_first_fail: bool,
    /// Wall time of one case in milliseconds; 0 = the request's own.
    pub case_wall_ms: u32,
    /// White space at the ends of lines and of the output does not count.
    pub ignore_trailing_space: bool,
    /// Numbers may differ by this much, absolutely or relative to the expected one.
    pub float_tolerance: Option<f64>,
    /// Ids that must have passed; empty = all.
    pub test_ids: Vec<String>,
    /// Whether the share of required cases that passed is the reward of a failure.
    pub partial_credit: bool,
}

impl CasesSpec {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        if self.argv.is_empty() || !self.file.is_empty() {
            check_path("file", &self.file)?;
        }
        framework::check_command(&self.argv, false, "argv")?;
        plain::check_tolerance(self.float_tolerance)?;
        if self.cases.is_empty() {
            let fix = "give at least one case";
            return Err(VerifyError::Missing {
                field: "cases",
                fix,
            });
        }
        if self.cases.len() > CASES_MAX {
            let value = self.cases.len().to_string();
            return Err(VerifyError::invalid(
                "cases",
                &value,
                "give at most 10000 cases",
            ));
        }
        let mut seen = BTreeSet::new();
        for case in &self.cases {
            plain::check_exit_code(case.exit_code)?;
            if case.id.is_empty() || !seen.insert(case.id.as_str()) {
                let expected = "every id must be given and unique";
                return Err(VerifyError::invalid("cases", &case.id, expected));
            }
        }
        match self.test_ids.iter().find(|id| !seen.contains(id.as_str())) {
            Some(id) => Err(VerifyError::invalid(
                "test_ids",
                id,
                "name only cases of this task",
            )),
            None => Ok(()),
        }
    }
}
