//! How a task is to be judged, as meant: one type per kind that is supported, and clear refusals
//! for those that are not. It does not know how the judging is carried out.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Kinds that can be judged.
pub const SUPPORTED_KINDS: [&str; 3] = ["exit_code", "stdout", "asserts"];

/// Kinds of the contract that cannot be judged yet.
pub const PLANNED_KINDS: [&str; 17] = [
    "answer",
    "cases",
    "pytest",
    "unittest",
    "cargo_test",
    "go_test",
    "node_test",
    "jest",
    "junit_xml",
    "tap",
    "ctrf",
    "command",
    "compile",
    "coverage",
    "leaks",
    "lint",
    "combined",
];

/// Id of the only test when test code is given as a whole.
pub const WHOLE_TEST_ID: &str = "asserts";

/// Why a `verify` block is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VerifyError {
    /// A kind of the contract that this build cannot judge yet.
    #[error("verify.kind {kind:?} is not supported yet; supported: {}", supported.join(", "))]
    NotSupportedYet {
        /// The kind asked.
        kind: String,
        /// What can be asked instead.
        supported: Vec<String>,
    },
    /// No such kind.
    #[error("verify.kind {kind:?} is unknown; known: {}", known.join(", "))]
    UnknownKind {
        /// The kind asked.
        kind: String,
        /// Kinds that exist.
        known: Vec<String>,
    },
    /// A field this kind does not have.
    #[error("verify.{field} is no field of kind {kind:?}; its fields: {}", fields.join(", "))]
    UnknownField {
        /// The field.
        field: String,
        /// The kind.
        kind: String,
        /// Fields that exist.
        fields: Vec<String>,
    },
    /// A field that must be given.
    #[error("verify.{field} is missing; {fix}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What to write.
        fix: &'static str,
    },
    /// A field with a wrong value.
    #[error("verify.{field} is {value}; {expected}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The value, shortened.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
}

/// What a touched harness means for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTamper {
    /// The outcome is that of the grading, flagged.
    #[default]
    Grade,
    /// The outcome is `tampered`.
    Zero,
}

/// Language of test code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python 3.8 or later.
    #[default]
    Python,
}

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

/// One piece of test code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCode {
    /// Its id, unique within the task.
    pub id: String,
    /// Its source.
    pub code: String,
}

/// Judged by test code that calls the solution.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AssertsSpec {
    /// The solution's file, relative to `/workspace`.
    pub file: String,
    /// Test code. With `tests` it runs before them and is no test itself.
    pub code: String,
    /// Language of the test code.
    pub language: Language,
    /// Tests one by one, each with its own result; empty = `code` is the one test `asserts`.
    pub tests: Vec<TestCode>,
    /// Ids that must be reported and have passed; empty = all tests.
    pub test_ids: Vec<String>,
    /// What a touched harness means.
    pub on_tamper: OnTamper,
    /// Built-in names (such as `sum`) that the solution itself is asked to define. Every other
    /// built-in name means the judge's own in test code, whatever the solution defines.
    pub entry_points: Vec<String>,
}

/// How a task is to be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifySpec {
    /// By the exit code.
    ExitCode(ExitCodeSpec),
    /// By standard output.
    Stdout(StdoutSpec),
    /// By test code against the solution's functions.
    Asserts(AssertsSpec),
}

impl VerifySpec {
    /// The name of its kind, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ExitCode(_) => "exit_code",
            Self::Stdout(_) => "stdout",
            Self::Asserts(_) => "asserts",
        }
    }

    /// Whether the judging needs the end of a run of the request's own `argv`.
    #[must_use]
    pub fn needs_run(&self) -> bool {
        !matches!(self, Self::Asserts(_))
    }

    /// Reads a `verify` object of a request, `limits` aside (they are the caller's to read).
    ///
    /// # Errors
    /// Any [`VerifyError`], naming the field.
    pub fn from_json(value: &Value) -> Result<Self, VerifyError> {
        let object = value.as_object().ok_or_else(|| VerifyError::Invalid {
            field: "",
            value: shorten(&value.to_string()),
            expected: "write an object with a \"kind\"",
        })?;
        let fix = "give one of exit_code, stdout, asserts";
        let kind = match object.get("kind") {
            None | Some(Value::Null) => return Err(VerifyError::Missing { field: "kind", fix }),
            Some(Value::String(kind)) => kind.as_str(),
            Some(other) => {
                let value = shorten(&other.to_string());
                return Err(VerifyError::Invalid {
                    field: "kind",
                    value,
                    expected: "give a name",
                });
            }
        };
        check_kind(kind)?;
        let spec = match kind {
            "exit_code" => {
                known_fields(kind, object, &["exit_code"])?;
                Self::ExitCode(ExitCodeSpec {
                    exit_code: exit_code(object)?,
                })
            }
            "stdout" => Self::Stdout(stdout_spec(object)?),
            _ => Self::Asserts(asserts_spec(object)?),
        };
        spec.validate()?;
        Ok(spec)
    }

    /// Checks values that a caller has put together itself.
    ///
    /// # Errors
    /// [`VerifyError::Missing`] or [`VerifyError::Invalid`], naming the field.
    pub fn validate(&self) -> Result<(), VerifyError> {
        match self {
            Self::ExitCode(spec) => check_exit_code(spec.exit_code),
            Self::Stdout(spec) => {
                check_exit_code(spec.exit_code)?;
                match spec.float_tolerance {
                    Some(by) if !(by.is_finite() && by >= 0.0) => Err(VerifyError::Invalid {
                        field: "float_tolerance",
                        value: by.to_string(),
                        expected: "give a finite number of at least 0",
                    }),
                    _ => Ok(()),
                }
            }
            Self::Asserts(spec) => spec.validate(),
        }
    }
}

/// Checks that `kind` can be judged.
///
/// # Errors
/// [`VerifyError::NotSupportedYet`] or [`VerifyError::UnknownKind`].
pub fn check_kind(kind: &str) -> Result<(), VerifyError> {
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    if SUPPORTED_KINDS.contains(&kind) {
        Ok(())
    } else if PLANNED_KINDS.contains(&kind) {
        let supported = owned(&SUPPORTED_KINDS);
        Err(VerifyError::NotSupportedYet {
            kind: kind.to_owned(),
            supported,
        })
    } else {
        let known = [owned(&SUPPORTED_KINDS), owned(&PLANNED_KINDS)].concat();
        Err(VerifyError::UnknownKind {
            kind: shorten(kind),
            known,
        })
    }
}

impl AssertsSpec {
    /// Ids of the tests that will run, in order.
    #[must_use]
    pub fn planned_ids(&self) -> Vec<&str> {
        if self.tests.is_empty() {
            return vec![WHOLE_TEST_ID];
        }
        self.tests.iter().map(|test| test.id.as_str()).collect()
    }

    /// Ids that must have passed.
    #[must_use]
    pub fn required_ids(&self) -> Vec<&str> {
        if self.test_ids.is_empty() {
            return self.planned_ids();
        }
        self.test_ids.iter().map(String::as_str).collect()
    }

    fn validate(&self) -> Result<(), VerifyError> {
        check_path(&self.file)?;
        if self.tests.is_empty() && self.code.trim().is_empty() {
            let fix = "give test code, or a list in verify.tests";
            return Err(VerifyError::Missing { field: "code", fix });
        }
        let invalid = |field, value: &str, expected| VerifyError::Invalid {
            field,
            value: format!("{:?}", shorten(value)),
            expected,
        };
        let mut seen = BTreeSet::new();
        for test in &self.tests {
            if test.id.is_empty() || !seen.insert(test.id.as_str()) {
                return Err(invalid(
                    "tests",
                    &test.id,
                    "every id must be given and unique",
                ));
            }
        }
        let planned = self.planned_ids();
        if let Some(id) = self
            .test_ids
            .iter()
            .find(|id| !planned.contains(&id.as_str()))
        {
            return Err(invalid("test_ids", id, "name only tests of this task"));
        }
        Ok(())
    }
}

fn check_exit_code(code: i32) -> Result<(), VerifyError> {
    if (0..=255).contains(&code) {
        return Ok(());
    }
    let value = code.to_string();
    Err(VerifyError::Invalid {
        field: "exit_code",
        value,
        expected: "give a number from 0 to 255",
    })
}

fn check_path(path: &str) -> Result<(), VerifyError> {
    if path.is_empty() {
        let fix = "name the solution's file, relative to /workspace";
        return Err(VerifyError::Missing { field: "file", fix });
    }
    let bad = path.starts_with('/')
        || path.contains('\0')
        || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    if bad {
        let value = format!("{:?}", shorten(path));
        let expected = "give a plain path relative to /workspace";
        return Err(VerifyError::Invalid {
            field: "file",
            value,
            expected,
        });
    }
    Ok(())
}

fn known_fields(
    kind: &str,
    object: &Map<String, Value>,
    fields: &[&str],
) -> Result<(), VerifyError> {
    for field in object.keys() {
        if !fields.contains(&field.as_str()) && field != "kind" && field != "limits" {
            return Err(VerifyError::UnknownField {
                field: shorten(field),
                kind: kind.to_owned(),
                fields: fields.iter().map(|&name| name.to_owned()).collect(),
            });
        }
    }
    Ok(())
}

/// Reads an optional field; absent or null = the default.
fn field<T: serde::de::DeserializeOwned + Default>(
    object: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<T, VerifyError> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => T::deserialize(value).map_err(|_error| VerifyError::Invalid {
            field,
            value: shorten(&value.to_string()),
            expected,
        }),
    }
}

fn exit_code(object: &Map<String, Value>) -> Result<i32, VerifyError> {
    field(object, "exit_code", "give a number from 0 to 255")
}

fn stdout_spec(object: &Map<String, Value>) -> Result<StdoutSpec, VerifyError> {
    let fields = [
        "stdout",
        "ignore_trailing_space",
        "float_tolerance",
        "exit_code",
    ];
    known_fields("stdout", object, &fields)?;
    let expected: Option<String> = field(object, "stdout", "give text")?;
    let fix = "give the expected standard output";
    let expected = expected.ok_or(VerifyError::Missing {
        field: "stdout",
        fix,
    })?;
    Ok(StdoutSpec {
        stdout: expected.into_bytes(),
        ignore_trailing_space: field(object, "ignore_trailing_space", "give true or false")?,
        float_tolerance: field(object, "float_tolerance", "give a number of at least 0")?,
        exit_code: exit_code(object)?,
    })
}

/// A test in a list: its code alone, or with an id.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenTest {
    Code(String),
    Named(TestCode),
}

fn asserts_spec(object: &Map<String, Value>) -> Result<AssertsSpec, VerifyError> {
    let fields = [
        "file",
        "code",
        "language",
        "tests",
        "test_ids",
        "on_tamper",
        "entry_points",
        "isolation",
    ];
    known_fields("asserts", object, &fields)?;
    let isolation: Option<String> = field(object, "isolation", "give \"separate\"")?;
    if isolation.is_some_and(|isolation| isolation != "separate") {
        return Err(VerifyError::Invalid {
            field: "isolation",
            value: shorten(&object["isolation"].to_string()),
            expected: "only \"separate\" is supported for asserts",
        });
    }
    let written: Vec<WrittenTest> = field(
        object,
        "tests",
        "give a list of test code, or of {id, code}",
    )?;
    let tests = (1..).zip(written).map(|(number, test)| match test {
        WrittenTest::Code(code) => TestCode {
            id: format!("{WHOLE_TEST_ID}/{number}"),
            code,
        },
        WrittenTest::Named(test) => test,
    });
    Ok(AssertsSpec {
        file: field(object, "file", "give a path relative to /workspace")?,
        code: field(object, "code", "give test code as text")?,
        language: field(object, "language", "only \"python\" is supported")?,
        tests: tests.collect(),
        test_ids: field(object, "test_ids", "give a list of ids")?,
        on_tamper: field(object, "on_tamper", "give \"grade\" or \"zero\"")?,
        entry_points: field(object, "entry_points", "give a list of names")?,
    })
}

fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARS_MAX).chain(['…']).collect()
}
