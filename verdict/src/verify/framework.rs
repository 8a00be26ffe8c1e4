//! Test frameworks, and commands that write a report of tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::phase::{Phase, Required};
use super::{VerifyError, check_path};
use crate::formats::ReportFormat;

/// Most repetitions of one verification.
pub const REPEAT_MAX: u32 = 5;

/// What runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    /// pytest, with our plugin.
    Pytest,
    /// Python's unittest, with our runner.
    Unittest,
    /// cargo test.
    CargoTest,
    /// go test.
    GoTest,
    /// Node's own test runner.
    NodeTest,
    /// jest.
    Jest,
    /// A command that writes JUnit XML.
    JunitXml,
    /// A command that writes TAP.
    Tap,
    /// A command that writes CTRF.
    Ctrf,
    /// A command that writes a report in the format named.
    #[default]
    Command,
}

impl Framework {
    /// The name of its kind.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::CargoTest => "cargo_test",
            Self::GoTest => "go_test",
            Self::NodeTest => "node_test",
            Self::Jest => "jest",
            Self::JunitXml => "junit_xml",
            Self::Tap => "tap",
            Self::Ctrf => "ctrf",
            Self::Command => "command",
        }
    }

    /// Whether the whole command is the author's, in `argv`.
    #[must_use]
    pub fn takes_argv(self) -> bool {
        matches!(
            self,
            Self::JunitXml | Self::Tap | Self::Ctrf | Self::Command
        )
    }
}

/// Where a report is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportFrom {
    /// What was written to descriptor 4, a private pipe.
    #[default]
    Descriptor,
    /// What was written to descriptor 4 by whoever has it, or opens it by path.
    Path,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, relative to `/workspace`, read when every process is gone.
    File(String),
}

impl ReportFrom {
    /// As requests write it: `descriptor`, `stdout`, `stderr`, the path of descriptor 4, or one
    /// below `/workspace`; empty = the default.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "" | "descriptor" => Self::Descriptor,
            "stdout" => Self::Stdout,
            "stderr" => Self::Stderr,
            "/dev/fd/4" | "/proc/self/fd/4" => Self::Path,
            path => Self::File(path.to_owned()),
        }
    }

    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        match self {
            Self::File(path) => check_path("report", path),
            _ => Ok(()),
        }
    }
}

/// Judged by tests that a framework or a command of the author runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarnessSpec {
    /// What runs the tests.
    pub framework: Framework,
    /// Further arguments of the framework.
    pub args: Vec<String>,
    /// The whole command, where the framework takes one.
    pub argv: Vec<String>,
    /// Environment of the command.
    pub env: BTreeMap<String, String>,
    /// Its working folder, relative to `/workspace`; empty = that.
    pub cwd: String,
    /// Format of the report, where it is the author's to say.
    pub format: Option<ReportFormat>,
    /// Where the report is.
    pub report: ReportFrom,
    /// Which tests must have passed.
    pub required: Required,
    /// Whose files are there.
    pub phase: Phase,
    /// How often it is done, 1 to 5 (0 = 1): all repetitions must agree.
    pub repeat: u32,
}

impl HarnessSpec {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        check_command(&self.argv, self.framework.takes_argv(), "argv")?;
        check_command(&self.args, false, "args")?;
        check_env(&self.env)?;
        if !self.cwd.is_empty() {
            check_path("cwd", &self.cwd)?;
        }
        if self.framework == Framework::Command && self.format.is_none() {
            let fix = "name the format of the report, for example junit_xml";
            return Err(VerifyError::Missing {
                field: "format",
                fix,
            });
        }
        self.report.validate()?;
        if self.repeat > REPEAT_MAX {
            let value = self.repeat.to_string();
            return Err(VerifyError::invalid(
                "repeat",
                &value,
                "give a number from 1 to 5",
            ));
        }
        self.required.validate()?;
        self.phase.validate()
    }
}

/// Checks the words of a command.
pub(super) fn check_command(
    words: &[String],
    needed: bool,
    field: &'static str,
) -> Result<(), VerifyError> {
    if needed && words.first().is_none_or(String::is_empty) {
        let fix = "name the program that runs the tests, and its arguments";
        return Err(VerifyError::Missing { field, fix });
    }
    match words.iter().find(|word| word.contains('\0')) {
        Some(word) => Err(VerifyError::invalid(
            field,
            word,
            "no argument can have a NUL byte",
        )),
        None => Ok(()),
    }
}

/// Checks an environment.
pub(super) fn check_env(env: &BTreeMap<String, String>) -> Result<(), VerifyError> {
    for (name, value) in env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            let expected = "a name must not be empty nor have a `=`, and neither part a NUL byte";
            return Err(VerifyError::invalid("env", name, expected));
        }
    }
    Ok(())
}
