//! Many inputs with their outputs, each in a process of its own, compared on the host's side.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Language, VerifyError, check_path, framework, plain, shorten};
use crate::cases::literal;
use crate::plan::programs;

/// Most cases of one request.
pub const CASES_MAX: usize = 10_000;

/// Wall time of a case where none is given, in milliseconds.
pub const CASE_WALL_MS_DEFAULT: u32 = 10_000;

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
    /// What standard output must be; none = anything.
    pub stdout: Option<Vec<u8>>,
    /// The exit code that is right.
    pub exit_code: i32,
    /// Arguments of the call, a JSON list, see [`crate::cases::literal`]; empty = none.
    pub args: String,
    /// Named arguments of the call, a JSON object; empty = none.
    pub kwargs: String,
    /// What it must return, as JSON.
    pub expected: String,
}

/// What is run for each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form<'a> {
    /// A program, compiled once where its language is.
    Program {
        /// Its file.
        file: &'a str,
    },
    /// Any command.
    Command {
        /// The command.
        argv: &'a [String],
    },
    /// A function: of a Python module that is loaded once, or in a process for each call.
    Function {
        /// Its file.
        file: &'a str,
        /// The path of names.
        function: &'a str,
    },
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
    /// The function to call: a name of the module, or a path of names such as `Solution().solve`;
    /// empty = the program is run.
    pub function: String,
    /// Compiled languages: the function, as the language writes it.
    pub declaration: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// Whether the first case that fails ends it.
    pub stop_on_first_fail: bool,
    /// Wall time of one case in milliseconds; 0 = [`CASE_WALL_MS_DEFAULT`].
    pub case_wall_ms: u32,
    /// CPU time of one case in milliseconds; 0 = none but the request's for all together.
    pub case_cpu_ms: u32,
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
    /// What is run for each case.
    #[must_use]
    pub fn form(&self) -> Form<'_> {
        let file = self.file.as_str();
        if !self.function.is_empty() {
            let function = self.function.as_str();
            Form::Function { file, function }
        } else if self.argv.is_empty() {
            Form::Program { file }
        } else {
            Form::Command { argv: &self.argv }
        }
    }

    /// The id of the case with this number from 0.
    #[must_use]
    pub fn id(&self, number: usize) -> String {
        let case = self.cases.get(number);
        case.map_or_else(String::new, |case| case.id.clone())
    }

    /// Wall time of each case in milliseconds.
    #[must_use]
    pub fn wall_ms(&self) -> u32 {
        match self.case_wall_ms {
            0 => CASE_WALL_MS_DEFAULT,
            ms => ms,
        }
    }

    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        self.validate_form()?;
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
            let expected = "give at most 10000 cases; share more among several requests";
            return Err(VerifyError::invalid("cases", &value, expected));
        }
        let mut seen = BTreeSet::new();
        for case in &self.cases {
            plain::check_exit_code(case.exit_code)?;
            if case.id.is_empty() || !seen.insert(case.id.as_str()) {
                let expected = "every id must be given and unique";
                return Err(VerifyError::invalid("cases", &case.id, expected));
            }
            case.check(!self.function.is_empty())?;
            if self.language != Language::Python && !case.kwargs.is_empty() {
                let why = "kwargs are for python alone".to_owned();
                let id = shorten(&case.id);
                return Err(VerifyError::InCase { id, why });
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

    fn validate_form(&self) -> Result<(), VerifyError> {
        if !self.argv.is_empty() {
            framework::check_command(&self.argv, false, "argv")?;
            if !self.function.is_empty() {
                let expected = "name verify.file instead of verify.argv for calls of a function";
                return Err(VerifyError::invalid("function", &self.function, expected));
            }
            return Ok(());
        }
        check_path("file", &self.file)?;
        let is_python = self.language == Language::Python;
        if !is_python && !programs::is_made(self.language) {
            let expected = "give verify.argv, the command of every case, for this language";
            let name = self.language.name();
            return Err(VerifyError::invalid("language", name, expected));
        }
        if !is_python && !self.function.is_empty() && !programs::has_calls(self.language) {
            let expected = "verify.function is for python, javascript, c, cpp and rust";
            let name = self.language.name();
            return Err(VerifyError::invalid("language", name, expected));
        }
        let name = |part: &str| {
            let mut characters = part.chars();
            let is_first = |first: char| first == '_' || first.is_alphabetic();
            characters.next().is_some_and(is_first)
                && characters.all(|next| next == '_' || next.is_alphanumeric())
        };
        let mut parts = self.function.split('.').rev();
        let is_path = parts.next().is_some_and(name)
            && parts.all(|part| name(part.strip_suffix("()").unwrap_or(part)));
        let is_native = programs::is_native(self.language);
        if is_native && self.function.contains(['.', '(']) {
            let expected = "give the name of one function for this language";
            return Err(VerifyError::invalid("function", &self.function, expected));
        }
        if self.function.is_empty() || is_path {
            return Ok(());
        }
        let expected = "give a name, or a path of names such as Solution().solve";
        Err(VerifyError::invalid("function", &self.function, expected))
    }
}

impl Case {
    fn check(&self, calls: bool) -> Result<(), VerifyError> {
        let wrong = |why: String| VerifyError::InCase {
            id: shorten(&self.id),
            why,
        };
        let given = |fields: &[(&'static str, bool)]| {
            let found = fields.iter().find(|(_, given)| *given);
            found.map(|(field, _)| *field)
        };
        let (program, call) = (
            [
                ("stdin", !self.stdin.is_empty()),
                ("stdout", self.stdout.is_some()),
                ("exit_code", self.exit_code != 0),
                ("argv", !self.argv.is_empty()),
            ],
            [
                ("args", !self.args.is_empty()),
                ("kwargs", !self.kwargs.is_empty()),
                ("expected", !self.expected.is_empty()),
            ],
        );
        if !calls {
            return match given(&call) {
                Some(field) => Err(wrong(format!("{field} is for calls: name verify.function"))),
                None if self.argv.iter().any(|argument| argument.contains('\0')) => {
                    Err(wrong("argv has a NUL byte".to_owned()))
                }
                None => Ok(()),
            };
        }
        if let Some(field) = given(&program) {
            return Err(wrong(format!("{field} is for programs, not for calls")));
        }
        let not = |field: &str, error: literal::LiteralError| wrong(format!("{field} {error}"));
        if !self.args.is_empty() {
            literal::parse_list(&self.args).map_err(|error| not("args", error))?;
        }
        if !self.kwargs.is_empty() {
            literal::parse_named(&self.kwargs).map_err(|error| not("kwargs", error))?;
        }
        if self.expected.is_empty() {
            return Err(wrong("expected is missing".to_owned()));
        }
        literal::parse(&self.expected).map_err(|error| not("expected", error))?;
        Ok(())
    }
}
